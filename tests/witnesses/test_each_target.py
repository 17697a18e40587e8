"""A witness about each attribute in turn."""

import numpy as np

from deptriad.data.coded_records import coded_array
from deptriad.witnesses.each_target import witness_each
from deptriad.witnesses.witness import witness_of_codes


def test_each_is_the_witness_of_its_target_in_turn(rng):
    sizes, budgets = [2, 3, 2], {"a": 0.5, "b": 1.0, "c": 2.0}
    coded = coded_array(rng.integers(0, sizes, (300, 3)), sizes, rng.random(300), list("abc"))
    seed, steps = int(rng.integers(2**32)), []
    found = witness_each(
        coded,
        budgets,
        rng=np.random.default_rng(seed),
        progress=lambda done, total: steps.append((done, total)),
    )
    chance = np.random.default_rng(seed)
    assert list(found) == list("abc")
    for place, each in enumerate(found.values()):
        alone = witness_of_codes(
            coded.codes, sizes, list(budgets.values()), place, coded.weights, rng=chance
        )
        assert (each.overall, each.held_out) == (alone.overall, alone.held_out)
    assert steps == [(1, 3), (2, 3), (3, 3)]
