"""Few tables that hold all that are wanted."""

import itertools
from math import prod

import numpy as np
import pytest

from deptriad.data.table_cover import MOST, ROOM, covering, pair_covering


def test_every_wanted_table_lies_within_a_counted_one(rng):
    for _ in range(50):
        sizes = rng.integers(1, 40, int(rng.integers(1, 12))).tolist()
        wanted = [
            rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)].tolist()
            for _ in range(rng.integers(1, 30))
        ]
        cover, within = covering(wanted, sizes)
        for places, place in zip(wanted, within, strict=True):
            assert {*places} <= {*cover[place]}
        cells = [prod(sizes[place] for place in table) for table in wanted]
        for table in cover:
            held = [c for places, c in zip(wanted, cells, strict=True) if {*places} <= {*table}]
            assert prod(sizes[place] for place in table) <= max(ROOM, *held)


@pytest.mark.parametrize(("attributes", "values", "most"), [(15, 8, 160), (40, 2, 200)])
def test_triples_take_far_fewer_tables_than_there_are(attributes, values, most):
    triples = list(itertools.combinations(range(attributes), 3))
    cover, _ = covering(triples, [values] * attributes)
    assert len(cover) < most < len(triples) / 2


def test_nothing_wanted_is_nothing_counted():
    assert covering([], [2, 3]) == ([], [])
    assert np.shape(covering([[0]], [2])[0]) == (1, 1)


def test_every_pair_lies_within_a_counted_table(rng):
    for most in (3, 20, 100, 300):
        for number in (1, 2, 3, 7, 30):
            sizes = rng.integers(1, most + 1, number).tolist()
            sets = pair_covering(sizes)
            held = {
                pair
                for places in sets
                for pair in itertools.combinations_with_replacement(places, 2)
            }
            assert held == {*itertools.combinations_with_replacement(range(number), 2)}
            assert all(list(places) == sorted({*places}) for places in sets)


@pytest.mark.parametrize(("sizes", "tables"), [([2] * 40, 21), ([8] * 15, 28), ([70] * 9, 36)])
def test_pairs_of_few_values_take_few_tables(sizes, tables):
    assert len(pair_covering(sizes)) == tables


def test_many_attributes_take_little_room():
    sizes = [2] * 600
    cells = sum(2 ** len(places) for places in pair_covering(sizes))
    assert cells <= MOST
