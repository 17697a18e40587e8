"""Profile: pure maths on a few floats."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import deptriad as dt
import oracle
from drawn import budgets

HALVES = st.integers(0, 64).map(lambda k: k / 64)


@st.composite
def curves(draw):
    """Knots of a convex decreasing curve from (1, E₁), with E in [0, 1]."""
    steps = draw(st.lists(st.integers(1, 50), min_size=0, max_size=5))
    slopes = sorted(draw(st.lists(st.integers(1, 99), min_size=len(steps), max_size=len(steps))))
    gammas, drops = [1.0], []
    for step, slope in zip(steps, slopes[::-1], strict=True):
        gammas.append(gammas[-1] + step / 8)
        drops.append(step / 8 * slope)
    total = sum(drops)
    first = draw(st.integers(1, 64)) / 64
    last = draw(HALVES) * first if drops else first
    values = [first]
    for drop in drops:
        values.append(values[-1] - drop / total * (first - last))
    assume(all(value >= 0 for value in values))
    return np.array(gammas), np.array(values)


# ----------------------------------------------------------------------------------------- profiles


@given(curves(), st.floats(1.0, 60.0))
def test_profile_interpolates_its_knots(curve, gamma):
    """Chords between the knots, flat beyond the last (maths.md §2)."""
    profile = dt.Profile.from_knots(*curve)
    assert profile.hockey_stick(gamma) == pytest.approx(np.interp(gamma, *curve), abs=1e-12)


@given(curves(), budgets())
def test_profile_leakage_is_the_root(curve, epsilon):
    """t·E ≤ γ − 1 at γ = e^L and not below: the largest root over all chords (maths.md §1)."""
    gammas, values = curve
    slopes = -np.diff(values) / np.diff(gammas)
    lines = [(v + s * (g - 1), s) for g, v, s in zip(gammas, values, slopes, strict=False)]
    lines.append((values[-1], 0.0))
    root = max(_line_root(gap, lower, epsilon) for gap, lower in lines)
    reported = dt.Profile.from_knots(gammas, values).leakage(epsilon)
    assert oracle.is_close(reported, min(root, oracle.decimal(epsilon)))
    assert reported <= epsilon


@oracle.exactly
def _line_root(gap, lower, epsilon):
    """ln γ where t·(gap − (γ − 1)·lower) = γ − 1."""
    t = oracle.gain(epsilon)
    return (1 + t * oracle.decimal(gap) / (1 + t * oracle.decimal(lower))).ln()


def test_profile_is_a_set_of_lines():
    """E = gap − (γ − 1)·lower, the largest of them: here .6 − .1(γ − 1) until γ = 3, then .4."""
    profile = dt.Profile(gap=[0.6, 0.4], lower=[0.1, 0.0])
    assert len(profile) == 2
    assert profile.knots == pytest.approx(np.array([[1.0, 0.6], [3.0, 0.4]]))
    assert profile.hockey_stick([1.0, 2.0, 3.0, 50.0]) == pytest.approx([0.6, 0.5, 0.4, 0.4])
    root = 1 + (math.e - 1) * 0.6 / (1 + (math.e - 1) * 0.1)
    assert profile.leakage(1.0) == pytest.approx(math.log(root), rel=1e-14)


@given(curves())
def test_knots_come_back(curve):
    """Knots in, knots out, less those on a straight line."""
    knots = dt.Profile.from_knots(*curve).knots
    assert knots.shape[1] == 2
    assert knots[0, 0] == 1.0
    assert (np.diff(knots[:, 0]) > 0).all()
    assert np.interp(knots[:, 0], *curve) == pytest.approx(knots[:, 1], abs=1e-12)
    assert np.interp(curve[0], *knots.T) == pytest.approx(curve[1], abs=1e-12)


def test_two_knots_are_a_triad():
    """The triad is the two-knot profile (maths.md §2)."""
    profile = dt.Profile.from_knots([1.0, math.exp(2.0)], [0.5, 0.1])
    triad = dt.Triad(alpha=2.0, phi=0.5, delta=0.1)
    grid = np.geomspace(1e-6, 1e3, 50)
    assert profile.leakage(grid) == pytest.approx(triad.leakage(grid), rel=1e-12)


@pytest.mark.parametrize(
    ("gammas", "values", "words"),
    [
        ([2.0, 3.0], [0.5, 0.1], r"(?i)1"),
        ([1.0, 1.0], [0.5, 0.1], r"(?i)increas|sort|distinct"),
        ([1.0, 3.0, 2.0], [0.5, 0.2, 0.1], r"(?i)increas|sort"),
        ([1.0, 2.0], [0.1, 0.5], r"(?i)decreas|convex|0\.5"),
        ([1.0, 2.0], [0.5, -0.1], r"-0\.1"),
        ([1.0, 2.0], [0.5, math.nan], r"(?i)nan"),
        ([1.0, 2.0], [0.5], r"(?i)shape|length|equal"),
        ([], [], r"(?i)empty|knot|at least"),
    ],
)
def test_profiles_refuse_what_is_no_curve(gammas, values, words):
    with pytest.raises(ValueError, match=words):
        dt.Profile.from_knots(gammas, values)


@pytest.mark.parametrize("epsilon", [-1.0, -1e-300, math.nan, [0.5, -2.0]])
def test_budgets_below_zero_are_refused(epsilon):
    triad = dt.Triad(alpha=1.0, phi=0.2, delta=0.1)
    profile = dt.Profile.from_knots([1.0, 2.0], [0.5, 0.1])
    for made in (triad, profile):
        with pytest.raises(ValueError, match=r"(?i)epsilon.*(-1|-2|-1e-300|nan)"):
            made.leakage(epsilon)


@pytest.mark.parametrize("gamma", [-1.0, math.nan, [1.0, -0.5]])
def test_slopes_below_zero_are_refused(gamma):
    for made in (dt.Triad(alpha=1.0, phi=0.2, delta=0.1), dt.Profile.from_knots([1.0], [0.5])):
        with pytest.raises(ValueError, match=r"(?i)gamma.*(-1|nan|-0\.5)"):
            made.hockey_stick(gamma)


def test_objects_are_frozen_and_print_their_numbers():
    triad = dt.Triad(alpha=1.25, phi=0.375, delta=0.125)
    with pytest.raises(AttributeError):
        triad.alpha = 2.0
    assert "1.25" in repr(triad)
    assert "0.125" in repr(triad)


# ------------------------------------------------------------------------------- at the end of the range


@pytest.mark.parametrize("alpha", [700.0, 709.0, 735.0, 744.0, 746.0, 1e4])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_a_triad_of_huge_ratios_is_never_below_its_own_formula(alpha, delta):
    """(φ − δ)/(e^α − 1) leaves the floats near α = 709 and loses its digits before it is gone."""
    made = dt.Triad(alpha=alpha, phi=0.3, delta=delta)
    for epsilon in (600.0, 700.0, 740.0, 745.0, 1e3, 1e5):
        truth = oracle.triad_leakage(oracle.exp(alpha), Decimal(0.3), Decimal(delta), epsilon)
        assert oracle.is_bound(made.leakage(epsilon), truth)
        assert made.leakage(epsilon) <= max(alpha, epsilon + math.log(0.3)) * (1 + 1e-12)
