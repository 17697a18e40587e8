"""Real faces."""

import pandas as pd
import pytest


@pytest.fixture(scope="session")
def faces(shared_dir):
    path = shared_dir / "data" / "celeba.parquet"
    if not path.is_file():
        pytest.skip(f"no face attributes: {path} is absent")
    return pd.read_parquet(path)
