"""interactions(): the joint leakage of two sources against the sum of the two."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import deptriad as dt
from deptriad.witnesses.interactions import added_up, interactions, interactions_of_codes
from deptriad.witnesses.witness import witness_of_codes
from joints import SLACK, XOR, as_records, truth


def expected(joint, budgets, target):
    """Truth about one attribute of three, and the sum of the exact leakages of the other two."""
    first, second = (axis for axis in range(3) if axis != target)
    turned = np.transpose(joint, (target, first, second))
    turned = turned[turned.sum(axis=(1, 2)) > 0]
    added = 0.0
    for axis, source in ((2, first), (1, second)):
        table = turned.sum(axis=axis)
        added += dt.leakage(table / table.sum(axis=1, keepdims=True), budgets[source])
    return truth(turned, [budgets[first], budgets[second]]), added


def test_exact_on_small_joints(rng):
    for _ in range(50):
        shape = rng.integers(1, 5, size=3)
        joint = rng.integers(0, 20, size=shape)
        joint[0, 0, 0] += 1
        budgets = rng.choice([0.0, 0.1, 1.0, 4.0], size=3)
        codes, weights = as_records(joint)
        found = interactions_of_codes(codes, shape, budgets, weights)
        assert len(found) == 3
        for row in found:
            most, added = expected(joint, budgets, int(row.target))
            assert row.exact
            assert Decimal(row.joint) <= most + SLACK
            assert row.joint == pytest.approx(float(most), abs=1e-12)
            assert row.sum == pytest.approx(added, abs=1e-12)
            assert row.excess == row.joint - row.sum


def test_large_alphabets_are_flagged_and_never_above_the_truth(rng, monkeypatch):
    """With no sets tried at all, alternating maximisation still comes close."""
    monkeypatch.setattr("deptriad.witnesses.interactions.WORK", 0.0)
    close = 0
    for _ in range(30):
        joint = rng.integers(0, 20, size=(2, 3, 4)) + 1
        codes, weights = as_records(joint)
        (row,) = interactions_of_codes(codes, joint.shape, [1.0] * 3, weights, targets=[0])
        most, _ = expected(joint, [1.0] * 3, 0)
        assert not row.exact
        assert Decimal(row.joint) <= most + SLACK
        close += row.joint > float(most) - 1e-11
    assert close >= 25
    text = str(interactions_of_codes(XOR, [2] * 3, [1.0] * 3))
    assert "≥" in text


def test_xor_is_the_worst():
    noise = np.random.default_rng(3).integers(0, 2, size=(400, 1))
    codes = np.hstack([np.tile(XOR, (100, 1)), noise])
    found = interactions_of_codes(codes, [2] * 4, [1.0] * 4, names=["a", "b", "xor", "noise"])
    assert {found[row].target for row in range(3)} == {"a", "b", "xor"}
    assert found[0].joint == pytest.approx(0.4338, abs=1e-4)
    assert found[0].sum == 0.0
    assert len(found) == 12
    assert [row.excess for row in found] == sorted((row.excess for row in found), reverse=True)


def test_independence_given_the_target_is_never_understated(rng):
    """p(u, v | x) = p(u | x)·p(v | x), in whole numbers: the sum is a bound then."""
    for _ in range(50):
        first, second = rng.integers(1, 9, size=(3, 3)), rng.integers(1, 9, size=(3, 2))
        joint = first[:, :, None] * second[:, None, :]
        codes, weights = as_records(joint)
        (row,) = interactions_of_codes(codes, joint.shape, [1.0] * 3, weights, targets=[0])
        assert row.excess <= 0.0


@pytest.mark.parametrize("kind", ["tenths", "random"])
def test_fractional_weights_never_make_a_false_excess(rng, kind):
    """The second source is independent of all else, so that the joint leakage is that of the first alone."""
    count = 4000
    for _ in range(8):
        first = rng.integers(0, 2, count)
        target = np.where(rng.random(count) < 0.8, first, 1 - first)
        weights = rng.integers(1, 4, count) * 0.1 if kind == "tenths" else rng.random(count)
        codes = np.vstack([np.column_stack([first, target, np.full(count, v)]) for v in range(3)])
        order = np.concatenate([rng.permutation(count) + v * count for v in range(3)])
        found = interactions_of_codes(
            codes[order], [2, 2, 3], [1.0] * 3, np.tile(weights, 3)[order], targets=[1]
        )
        assert found.understated == 0
        assert found.excess[0] > -1e-9


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6, 1e-9, 1e-12])
def test_tiny_budgets_keep_their_digits(epsilon):
    """The xor of two coins: ln cosh ε = ε²/2 − ε⁴/12."""
    found = interactions_of_codes(XOR, [2] * 3, [epsilon] * 3)
    exact = epsilon**2 / 2 - epsilon**4 / 12
    assert found.exact.all()
    assert (found.joint <= exact).all()
    assert found.joint == pytest.approx(exact, rel=1e-9 if epsilon > 1e-5 else 0.05)


def test_sums_are_rounded_up(rng):
    codes = rng.integers(0, 3, size=(500, 4))
    budgets = [1.0, 0.7, 0.3, 0.01]
    for row in interactions_of_codes(codes, [3] * 4, budgets):
        added = Fraction(0)
        for source in (int(row.source_1), int(row.source_2)):
            table = pd.crosstab(codes[:, int(row.target)], codes[:, source], normalize="index")
            added += Fraction(float(dt.leakage(table, budgets[source])))
        assert Fraction(row.sum) >= added * (1 - Fraction(1, 2**46))
        assert float(added) == pytest.approx(row.sum, rel=1e-12)
    first, second = rng.random(1000), rng.random(1000)
    for one, two, both in zip(first, second, added_up(first, second), strict=True):
        assert Fraction(both) >= Fraction(one) + Fraction(two)
        assert both <= math.nextafter(one + two, 9.0)


@pytest.mark.parametrize("target", [7, -1, 1.0, "a"])
def test_targets_are_columns(target):
    with pytest.raises(ValueError, match="expected a column from 0 to 2"):
        interactions_of_codes(XOR, [2] * 3, [1.0] * 3, targets=[target])


def test_it_agrees_with_the_witness(rng):
    codes = rng.integers(0, 5, size=(300, 3))
    weights = rng.random(300)
    for row in interactions_of_codes(codes, [5] * 3, [1.0] * 3, weights):
        found = witness_of_codes(
            codes, [5] * 3, [1.0] * 3, int(row.target), weights, split=None, rng=rng
        )
        assert found.leakage <= row.joint + 1e-10
        assert found.leakage >= row.joint - 0.02


def test_frame_rows_and_words(rng):
    frame = pd.DataFrame(rng.integers(0, 3, size=(200, 4)), columns=list("abcd"))
    frame["w"] = rng.random(200)
    found = interactions(frame, 1.0, targets=["c"], weight="w")
    table = found.to_frame()
    assert list(table) == ["target", "source_1", "source_2", "joint", "sum", "excess", "exact"]
    assert set(table["target"]) == {"c"}
    assert len(table) == len(found) == 3
    assert (table["excess"] > 0).sum() == found.understated
    assert "triples" in str(found)
    pairs = {tuple(pair) for pair in table[["source_1", "source_2"]].to_numpy()}
    assert pairs == set(itertools.combinations("abd", 2))
    polars = pytest.importorskip("polars")
    assert isinstance(
        interactions(polars.DataFrame({c: frame[c].to_numpy() for c in "abcd"}), 1.0).to_frame(),
        polars.DataFrame,
    )


def test_two_attributes_have_no_triples():
    found = interactions_of_codes([[0, 0], [1, 1]], [2, 2], [1.0, 1.0])
    assert len(found) == found.understated == 0
    assert str(found)


def test_a_third_of_the_face_triples_are_understated(faces):
    """34 % of 29,640 triples at ε = 1 (maths §5)."""
    found = interactions(faces, 1.0)
    assert len(found) == 29_640
    assert found.exact.all()
    assert round(found.understated / len(found), 2) == 0.34
