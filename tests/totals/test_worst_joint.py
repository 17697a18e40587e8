"""The worst joint of given tables, by linear programs, against certified totals (maths.md §5)."""

import itertools
import math
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import deptriad as dt
from deptriad.totals import own_mechanisms
from deptriad.totals._proof_joint import proved_planes
from deptriad.totals.certificate import Released, Tables
from deptriad.totals.least_denominator import avoiding, nested, planes
from deptriad.totals.pair_bounds import PairBounds
from deptriad.totals.proof import EVENTS, HULLS, verify
from deptriad.totals.totals import target_total
from total_cases import check, random_table

HIGHS = 1e-7
"""Relative accuracy of the linear programs."""


def expected(chances, epsilon, sign):
    """The largest (or least) E Π e^{ε·1{event}} over all joints of events with given chances."""
    cells = np.array(list(itertools.product((0.0, 1.0), repeat=len(chances))))
    weight = np.exp(cells @ np.asarray(epsilon))
    margins = np.vstack([np.ones(len(cells)), cells.T])
    found = linprog(-sign * weight, A_eq=margins, b_eq=[1.0, *chances], method="highs")
    return -sign * found.fun


def worst_joint(tables, budgets, sets=None):
    """ln of the largest likelihood ratio over all joints with these tables and all events: fixed events decouple."""
    tables = [table.table for table in tables.values()]
    proper = [
        [
            list(s)
            for k in range(1, t.shape[1])
            for s in itertools.combinations(range(t.shape[1]), k)
        ]
        for t in tables
    ]
    best = 0.0
    for events in itertools.product(*(sets or proper)):
        chances = [
            [t[x][s].sum() for t, s in zip(tables, events, strict=True)]
            for x in range(len(tables[0]))
        ]
        most, least = ([expected(c, budgets, sign) for c in chances] for sign in (1, -1))
        pairs = itertools.permutations(range(len(chances)), 2)
        best = max(best, *(math.log(most[x] / least[y]) for x, y in pairs))
    return best


def some_tables(rng, count, columns):
    return {str(i): dt.Conditional(rng.dirichlet(np.ones(columns), 2)) for i in range(count)}


@pytest.mark.parametrize(("sources", "columns"), [(2, 3), (3, 2), (4, 2)])
def test_certified_is_the_worst_joint_of_up_to_three_sources(rng, sources, columns):
    """Budgets from 0.01 to 8, alike and not: never below the linear programs, and equal for two and three sources."""
    tables = some_tables(rng, sources, columns)
    for budgets in (
        rng.choice([0.01, 0.1, 0.2, 1.0, 3.0, 8.0], sources).tolist(),
        [float(rng.choice([0.2, 1.0, 3.0]))] * sources,
    ):
        total = target_total(tables, dict(zip(tables, budgets, strict=True)))
        truth = worst_joint(tables, budgets)
        assert total.certified >= truth * (1 - HIGHS) - 1e-9
        if sources <= 3:
            assert total.certified <= truth * (1 + HIGHS) + 1e-9
        check(total, tables)


def two(first, second):
    return {"a": dt.Conditional(first), "b": dt.Conditional(second)}


@pytest.mark.parametrize(
    ("tables", "budgets", "truth"),
    [
        # a second source with next to no budget adds next to nothing
        (two([[0.3, 0.7], [0.4, 0.6]], [[0.1, 0.2, 0.7], [0.2, 0.2, 0.6]]), (0.01, 8.0), 0.7015),
        # a source that tells nearly its budget is best left out, though it is the larger one: 5.130
        (
            two([[0.08, 0, 0.92], [0.45, 0.55, 0]], [[0.55, 0.2, 0.25], [0.48, 0.23, 0.29]]),
            (5.0, 3.0),
            5.117,
        ),
    ],
)
def test_examples(tables, budgets, truth):
    total = target_total(tables, dict(zip(tables, budgets, strict=True)))
    assert total.certified == pytest.approx(truth, abs=6e-4)
    assert total.certified == pytest.approx(worst_joint(tables, budgets), rel=1e-6)
    assert set(total.proof.ways.tolist()) == {EVENTS}


def test_corners_of_hulls_would_understate():
    """The worst events need not be corners, of which none gives more than 0.159 about this pair."""
    tables = two(
        [[0.1, 0.86, 0.04], [0.11, 0.82, 0.07]],
        np.array([[54, 13, 32], [49.5, 10.89, 38.61]]) / 99,
    )
    pair = PairBounds(Released(Tables(list(tables.values())), [3.0, 0.5]), 0, 1)
    pair.sharpen(0.0)
    assert pair.bound == pytest.approx(0.289, abs=6e-4)


def test_leaving_out_small_budgets(rng):
    """Beside one large budget small ones hardly matter: the bound is the large one's own leakage, and all of theirs."""
    for _ in range(10):
        tables = {str(i): random_table(rng, 2, 4) for i in range(5)}
        budgets = {"0": 8.0} | dict.fromkeys(list(tables)[1:], 0.02)
        total = target_total(tables, budgets)
        assert total.certified <= dt.leakage(tables["0"], 8.0) + 0.08 + 1e-9
        check(total, tables)


def test_hulls_of_many_values(rng):
    """Two sources, one with ten more values without mass: never below the worst joint of the events."""
    for _ in range(4):
        small = some_tables(rng, 2, 3)
        padded = np.hstack([small["0"].table, np.zeros((2, 10))])
        wide = small | {"0": dt.Conditional(padded)}
        budgets = rng.uniform(0.2, 4.0, 2)
        given = dict(zip(small, budgets, strict=True))
        exact, total = target_total(small, given), target_total(wide, given)
        assert total.certified >= exact.certified * (1 - 1e-12)
        check(total, wide)
        assert set(total.proof.ways.tolist()) <= {0, HULLS}


def test_the_least_denominator(rng):
    """Its planes, and the joints that attain it, against the linear program."""
    for _ in range(40):
        size = int(rng.integers(1, 4))
        epsilon, chances = rng.choice([0.01, 0.5, 1.0, 3.0, 8.0], size), rng.random(size)
        least = 1.0 + (planes(epsilon)[:, : size + 1] @ np.append(1.0, chances)).max()
        assert least == pytest.approx(expected(chances, epsilon, -1), rel=HIGHS)
        cells = np.array([[s >> i & 1 for i in range(size)] for s in range(1 << size)])
        for joint, sign in ((avoiding(chances, epsilon), -1), (nested(chances), 1)):
            assert joint @ cells == pytest.approx(chances, abs=1e-8)
            value = joint @ np.exp(cells @ epsilon)
            assert value == pytest.approx(expected(chances, epsilon, sign), rel=HIGHS)


@pytest.mark.parametrize("budgets", [(5e-324, 1e-3), (1e-70, 1.0), (1e-310, 1e-45, 30.0)])
def test_planes_are_proved_for_every_budget(budgets):
    """In 60 digits e^ε is 1 for a faint ε, which no plane but a flat one is below."""
    assert (proved_planes(budgets)[:, 1:] > 0.0).any()


@pytest.mark.parametrize("columns", [2, 12])
@pytest.mark.parametrize(
    "budgets", [[5e-324], [5e-324] * 2, [1e-310] * 4, [1e-200] * 2, [5e-324, 1e-3], [1e-199] * 3]
)
def test_faint_budgets(rng, columns, budgets):
    """Where products with budgets are lost, a leakage is the whole budget: never below what one source tells."""
    tables = {str(i): random_table(rng, 2, columns) for i in range(len(budgets))}
    given = dict(zip(tables, budgets, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        total = target_total(tables, given)
        # the leakage of a source is ln(1 + t·A) − ln(1 + t·B), which is ε·(A − B) for such ε
        for name, table in tables.items():
            first, second = table.table
            apart = Fraction(np.maximum(first - second, 0.0).max()) * Fraction(given[name])
            assert Fraction(total.certified) >= apart * (1 - Fraction(1, 10**3))
            assert Fraction(dt.leakage(table, given[name])) >= apart * (1 - Fraction(1, 10**3))
    assert total.certified <= total.budgets
    check(total, tables)


# ------------------------------------------------------------------------------------------ own mechanisms


def test_own_mechanisms_are_looked_at_by_their_own_sets(rng):
    """For GRR single values: exactly the worst joint over those, and never above the bound for all mechanisms."""
    for _ in range(4):
        tables = some_tables(rng, 2, 4)
        budgets = rng.uniform(0.2, 4.0, 2).tolist()
        given = dict(zip(tables, budgets, strict=True))
        free, own = target_total(tables, given), target_total(tables, given, mechanisms="grr")
        singles = [[[u] for u in range(4)]] * 2
        assert own.certified == pytest.approx(worst_joint(tables, budgets, singles), rel=1e-6)
        assert own.certified <= free.certified * (1 + 1e-12)
        assert own.mechanisms == dict.fromkeys(tables, "grr")
        assert free.mechanisms is None
        assert free.joint is own.joint is None
        assert "mechanisms that are named" in free.joint_reason
        assert "only tables of pairs" in own.joint_reason
        check(own, tables)

        if own.certified < free.certified * (1 - 1e-6):  # for all mechanisms the claim is none
            with pytest.raises(ValueError, match="but proves only"):
                verify(replace(own.proof, mechanisms=None), tables)


@pytest.mark.parametrize("name", ["sue", "oue", "olh", "subset", "hadamard", "staircase"])
def test_every_mechanism_has_totals(rng, name):
    tables = {str(i): random_table(rng, 3, 5) for i in range(3)}
    given = dict.fromkeys(tables, 1.0)
    own = target_total(tables, given, mechanisms=name)
    assert own.certified <= target_total(tables, given).certified * (1 + 1e-9)
    check(own, tables)
    assert own_mechanisms.mechanisms_of({"0": name, "other": name}, ["0"]) == {"0": name}


def test_mechanisms_are_checked():
    tables = {"a": dt.Conditional(np.eye(2)), "b": dt.Conditional(np.eye(2))}
    with pytest.raises(ValueError, match="mechanisms is 'gr', expected one of"):
        target_total(tables, {"a": 1.0, "b": 1.0}, mechanisms="gr")
    with pytest.raises(ValueError, match="mechanisms has no entry for 'b'"):
        target_total(tables, {"a": 1.0, "b": 1.0}, mechanisms={"a": "grr"})
