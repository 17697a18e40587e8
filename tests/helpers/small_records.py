"""Small records and schemas that tests of the data room share, and ways to hand them over."""

import math
import re
import warnings

import pytest

import deptriad as dt

pd = pytest.importorskip("pandas")

INF = math.inf


def codes(attribute, values):
    """The codes of one column of values."""
    return dt.Schema([attribute]).encode(frame_of(attribute.name, values))[:, 0].tolist()


def frame_of(name, values):
    return values.to_frame(name) if isinstance(values, pd.Series) else pd.DataFrame({name: values})


def infer(data, **options):
    """A proposed schema, where nothing is worth a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return dt.Schema.infer(data, **options)


SEX = dt.Attribute("sex", categories=["f", "m"], missing="error")
AGE = dt.Attribute("age", edges=[0, 18, 65, INF])
KIDS = dt.Attribute("kids", categories=[0, 1, 2], unseen="other")
WED = dt.Attribute("wed", categories=[False, True])
ALL = dt.Schema([SEX, AGE, KIDS, WED])


def in_form(form, frame, folder):
    if form == "pandas":
        return frame
    if form == "csv":
        pytest.importorskip("duckdb")
        frame.to_csv(folder / "records.csv", index=False)
        return folder / "records.csv"
    arrow = pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)
    if form == "pyarrow":
        return arrow
    if form == "polars":
        return pytest.importorskip("polars").from_arrow(arrow)
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow.parquet").write_table(arrow, folder / "records.parquet")
    return folder / "records.parquet"


def refused(folder, data, schema, *said, **options):
    """The data is refused in words that match all of these, and no file is left beside it."""
    before = sorted(folder.rglob("*"))
    with pytest.raises(ValueError, match=r"(?s).") as caught:
        dt.Counts.from_data(data, schema, **options)
    assert sorted(folder.rglob("*")) == before
    message = str(caught.value)
    for words in said:
        assert re.search(words, message), message
    assert len(message) < 600
    return message


GOOD = pd.DataFrame(
    {
        "age": [10.0, 20.0, 30.0, 40.0],
        "sex": ["f", "m", "f", "m"],
        "state": ["TX", "TX", "CA", "CA"],
        "w": [1.0, 2.0, 0.5, 1.5],
    }
)

PERSON = dt.Schema(
    [
        dt.Attribute("age", edges=[0, 18, 65]),
        dt.Attribute("sex", categories=["f", "m"]),
    ]
)
