"""where(): the pair and the set of source values that attain the leakage."""

import math
from fractions import Fraction as F

import pytest
from hypothesis import given

import deptriad as dt
import oracle
from drawn import boxes, budgets, ordinary_tables, tables

P = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]


@given(ordinary_tables(), budgets(1e-3, 50.0))
def test_the_pair_and_the_values_attain_the_leakage(known, epsilon):
    """(1 + tG(S))/(1 + tG'(S)) of what it names is L(ε) (maths.md §1)."""
    found = dt.where(known.floats, epsilon)
    row, other = (known.exact[x] for x in found.pair)
    above = sum((row[u] for u in found.values), F(0))
    below = sum((other[u] for u in found.values), F(0))
    truth = oracle.leakage(oracle.cloud(known.exact), epsilon)
    assert oracle.is_close(oracle.leakage({(below, above)}, epsilon), truth)
    assert oracle.is_close(found.leakage, truth)


@given(tables(min_rows=2, min_columns=2), budgets())
def test_its_leakage_is_a_bound(known, epsilon):
    found = dt.where(known.floats, epsilon)
    assert oracle.is_bound(found.leakage, oracle.leakage(oracle.cloud(known.exact), epsilon))
    assert found.leakage <= epsilon
    assert found.leakage == 0 or len(set(found.pair)) == 2
    assert len(set(found.values)) == len(found.values)


@given(boxes(max_rows=3, max_columns=6), budgets(1e-2, 20.0))
def test_the_set_in_a_box_comes_close(uncertain, epsilon):
    """The named set leaks at most what is reported, and the report is a bound."""
    found = dt.where(uncertain.box, epsilon)
    x, other = found.pair
    mask = sum(1 << u for u in found.values)
    most = oracle.extremes(uncertain.lower[x], uncertain.upper[x])[1][mask]
    least = oracle.extremes(uncertain.lower[other], uncertain.upper[other])[0][mask]
    assert oracle.is_bound(found.leakage, oracle.leakage(uncertain.cloud(), epsilon))
    assert oracle.is_bound(found.leakage, oracle.leakage({(least, most)}, epsilon))


def test_by_hand():
    """P at e^ε = 2: 1.7/1.1 from the first column, first row over second."""
    found = dt.where(P, math.log(2))
    assert tuple(found.pair) == (0, 1)
    assert tuple(found.values) == (0,)
    assert found.leakage == pytest.approx(math.log(17 / 11), rel=1e-13)


def test_the_sentence_names_source_target_values_and_size():
    """Like: seeing `relationship = wife` raises the odds of `sex = female` over `male` by e^0.44."""
    table = dt.Conditional(
        P,
        target="sex",
        source="relationship",
        target_values=["female", "male"],
        source_values=["wife", "other", "husband"],
    )
    sentence = str(dt.where(table, math.log(2)))
    for word in ("relationship", "wife", "sex", "female", "male", "0.4"):
        assert word in sentence
    assert "husband" not in sentence


def test_independence_is_said_plainly():
    found = dt.where([[0.3, 0.7], [0.3, 0.7]], 1.0)
    assert found.leakage == 0
    assert str(found)


def test_one_row_has_no_pair_and_still_answers():
    assert dt.where([[0.3, 0.7]], 1.0).leakage == 0
