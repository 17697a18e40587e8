"""What the tests of the data room are handed."""

import pytest


@pytest.fixture(params=["pandas", "polars", "pyarrow", "csv", "parquet"])
def given_as(request, tmp_path):
    """Hand a pandas frame over as another kind of data, or as a file in an otherwise empty folder."""
    from small_records import in_form

    return lambda frame: in_form(request.param, frame, tmp_path)
