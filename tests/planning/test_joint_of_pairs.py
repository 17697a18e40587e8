"""Joint values by tables of pairs: never below what any joint table tells, and what can be reached is."""

import math

import numpy as np
import pytest

import deptriad as dt
from deptriad.collection.view import View
from deptriad.planning.guard import Guard
from deptriad.planning.joint_of_pairs import chances
from plain_totals import plain_totals

pd = pytest.importorskip("pandas")

NAMES = ("a", "b", "c", "d")


def survey(rng, sizes):
    """Dependent records in which every value occurs."""
    first = rng.integers(0, 60, 300)
    codes = np.stack(
        [
            np.where(rng.random(300) < 0.6, first % size, rng.integers(0, size, 300))
            for size in sizes
        ],
        axis=1,
    )
    codes[: max(sizes)] = np.arange(max(sizes))[:, None] % np.array(sizes)
    names = NAMES[: len(sizes)]
    schema = dt.Schema(
        [
            dt.Attribute(n, list(range(s)), missing="error")
            for n, s in zip(names, sizes, strict=True)
        ]
    )
    frame = pd.DataFrame(codes, columns=names)
    return dt.Prior.from_data(frame, schema, min_records=1), schema, codes


@pytest.mark.parametrize("uncertainty", [None, dt.Relative(0.1), dt.Confidence(0.9)])
def test_no_joint_table_tells_more(rng, uncertainty):
    prior, schema, codes = survey(rng, (2, 3, 2, 4))
    analysis = dt.analyze(prior, uncertainty)
    guard = Guard(schema, np.full(4, 0.5), analysis)
    for places in ([0, 1], [1, 3], [0, 1, 2], [0, 2, 3]):
        names = tuple(NAMES[place] for place in places)
        for epsilon in (0.6, 3.0, 12.0):
            view = View.of_one_value(names, epsilon, "grr")
            truth = plain_totals(codes, schema.sizes, places, [epsilon], joint=True)
            assert (guard.totals(view) >= truth).all()
            assert (guard.totals(view) <= epsilon).all()
            if uncertainty is None and len(places) == 2:  # exact inside a pair
                np.testing.assert_allclose(
                    guard.totals(view)[places], truth[places], rtol=1e-12, atol=1e-12
                )


def test_the_largest_gain_keeps_the_promise_and_no_more(rng):
    prior, schema, _ = survey(rng, (2, 3, 2))
    analysis = dt.analyze(prior)
    for target in schema.names:
        found = chances(analysis, ("a", "b"), target)
        gain = found.largest_gain(1.5)
        if math.isfinite(gain):
            assert found.told(math.log1p(gain)) == pytest.approx(1.5, rel=1e-9)
            assert found.told(math.log1p(gain) + 1e-3) > 1.5


def test_bounds_of_fréchet_are_reached():
    """p(a = 1 | x) is 0.9 and 0.2, p(b = 1 | x) is 0.8 and 0.4: as one value, both 1 has at most 0.8 and 0.2, at least
    0.7 and 0."""
    counts = {(0, 1, 1): 14, (0, 1, 0): 4, (0, 0, 1): 2, (1, 1, 1): 4, (1, 0, 1): 4, (1, 0, 0): 12}
    rows = [values for values, count in counts.items() for _ in range(count)]
    frame = pd.DataFrame(rows, columns=["x", "a", "b"])
    schema = dt.Schema([dt.Attribute(name, [0, 1], missing="error") for name in ("x", "a", "b")])
    analysis = dt.analyze(dt.Prior.from_data(frame, schema, min_records=1))
    found = chances(analysis, ("a", "b"), "x")
    most, least = found.most.reshape(2, 2, 2), found.least.reshape(2, 2, 2)
    assert most[0, 1, 1] == pytest.approx(0.8)
    assert most[1, 1, 1] == pytest.approx(0.2)
    assert least[1, 1, 1] == pytest.approx(0.7)  # of the other value
    assert least[0, 1, 1] == pytest.approx(0.0, abs=1e-12)


def test_certified_plans_gain_by_them(rng):
    prior, schema, codes = survey(rng, (2, 3, 3))
    plan = dt.calibrate(dt.analyze(prior), 2.0, guarantee="certified")
    above = [view for view in plan.views if view.joint and view.epsilon > 2.0]
    assert above
    for view in above:
        places = [schema.index(name) for name in view.attributes]
        truth = plain_totals(codes, schema.sizes, places, [view.epsilon], joint=True)
        assert (truth <= 2.0 * (1 + 1e-12)).all()
    assert plan.compare().best.two_way > 1.0
