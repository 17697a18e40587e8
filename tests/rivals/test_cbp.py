"""CBP-style enumeration."""

import numpy as np
import pytest

import deptriad as dt
from rival_measures import measured, same


def test_more_source_values_than_one_block_of_sets(rng):
    for columns in (12, 13, 15):
        table = rng.dirichlet(np.ones(columns), 3)
        assert measured("cbp", table, [0.5, 5.0]) == same(dt.leakage(table, [0.5, 5.0]))


def test_cbp_refuses_more_than_20_symbols_by_name():
    with pytest.raises(ValueError, match=r"cbp got 21 source values, expected at most 20"):
        measured("cbp", np.full((2, 21), 1 / 21), 1.0)
    assert measured("cbp", np.full((2, 20), 1 / 20), 1.0) == 0
