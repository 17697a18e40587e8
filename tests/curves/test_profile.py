"""Profile and Triad: pure maths on a few floats."""

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
def triads(draw):
    """(α, φ, δ) with δ ≤ φ ≤ 1 − (1 − δ)e^{−α}, the triads that tables have."""
    alpha = draw(st.sampled_from([0.0, 1e-6, 0.01, 0.5, 1.0, 3.0, 10.0, 30.0, 650.0]))
    delta = draw(st.sampled_from([0.0, 1e-9, 0.01, 0.3, 0.9, 1.0]))
    cap = delta + (1 - delta) * -math.expm1(-alpha)
    phi = delta + draw(HALVES) * (cap - delta)
    return alpha, min(phi, cap), delta


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


# ------------------------------------------------------------------------------------------- triads


@given(triads(), budgets())
def test_triad_leakage_is_the_chord(triad, epsilon):
    """L̂ is the root of t·E = γ − 1 for the chord from (1, φ) to (e^α, δ) (maths.md §2)."""
    alpha, phi, delta = triad
    reported = dt.Triad(alpha=alpha, phi=phi, delta=delta).leakage(epsilon)
    truth = oracle.triad_leakage(oracle.exp(alpha), phi, delta, epsilon)
    assert oracle.is_close(reported, min(truth, oracle.decimal(epsilon)))
    assert reported <= epsilon


@given(triads(), budgets())
def test_triad_leakage_is_never_rounded_down(triad, epsilon):
    """Not below the chord, and so not below any curve under it (maths.md §9)."""
    alpha, phi, delta = triad
    reported = dt.Triad(alpha=alpha, phi=phi, delta=delta).leakage(epsilon)
    truth = oracle.triad_leakage(oracle.exp(alpha), phi, delta, epsilon)
    assert oracle.is_bound(reported, min(truth, oracle.decimal(epsilon)))


@given(st.floats(0.01, 20.0), st.floats(0.01, 20.0), st.floats(0.0, 0.99), budgets(1e-6, 100.0))
def test_triad_leakage_is_the_estimator_of_the_paper(alpha, beta, delta, epsilon):
    """The paper's formula in (α, β, δ), evaluated in 500 digits (maths.md §2)."""
    reported = dt.Triad(alpha=alpha, beta=beta, delta=delta).leakage(epsilon)
    assert oracle.is_close(reported, oracle.paper_leakage(alpha, beta, delta, epsilon))


@given(st.floats(0.0, 700.0), st.floats(0.0, 700.0), st.floats(0.0, 1.0))
def test_beta_turns_into_phi(alpha, beta, delta):
    """φ = δ + (1 − δ)(e^α − 1)(e^β − 1)/(e^{α+β} − 1) (maths.md §2)."""
    assume(alpha > 0 or beta > 0)
    triad = dt.Triad(alpha=alpha, beta=beta, delta=delta)
    assert oracle.is_close(triad.phi, oracle.phi_from_beta(alpha, beta, delta), 1e-12)
    assert (triad.alpha, triad.delta) == (alpha, delta)
    assert triad.beta == pytest.approx(beta, rel=1e-12, abs=1e-12)


@given(triads(), budgets(1e-6, 100.0))
def test_round_trip_through_beta(triad, epsilon):
    """(α, φ, δ) → β → φ and the leakage come back to 1e-12, β = ∞ included."""
    alpha, phi, delta = triad
    first = dt.Triad(alpha=alpha, phi=phi, delta=delta)
    second = dt.Triad(alpha=first.alpha, beta=first.beta, delta=first.delta)
    assert second.phi == pytest.approx(first.phi, rel=1e-12, abs=1e-12)
    assert second.leakage(epsilon) == pytest.approx(first.leakage(epsilon), rel=1e-12, abs=1e-12)


@given(st.floats(0.1, 5.0), st.floats(0.1, 5.0), st.floats(0.0, 0.9))
def test_round_trip_through_phi(alpha, beta, delta):
    """(α, β, δ) → φ → β comes back to 1e-12 of what one ulp of φ can tell."""
    first = dt.Triad(alpha=alpha, beta=beta, delta=delta)
    second = dt.Triad(alpha=first.alpha, phi=first.phi, delta=first.delta)
    room = (1 - delta) * math.exp(-alpha) * -math.expm1(-beta)  # how β's digits sit in φ's
    assert second.beta == pytest.approx(beta, rel=1e-12 / min(1.0, room))


def test_beta_is_infinite_at_the_cap():
    """β = ∞ means φ = 1 − (1 − δ)e^{−α} (maths.md §2)."""
    triad = dt.Triad(alpha=1.0, beta=math.inf, delta=0.25)
    assert triad.beta == math.inf
    assert triad.phi == pytest.approx(1 - 0.75 / math.e, abs=1e-15)
    assert math.isfinite(triad.leakage(2.0))


def test_phi_beyond_the_cap_is_cut_off():
    """The paper's relaxed φ reaches 1.55; it then says no more than β = ∞ (maths.md §2)."""
    relaxed = dt.Triad(alpha=1.0, phi=1.55, delta=0.25)
    capped = dt.Triad(alpha=1.0, beta=math.inf, delta=0.25)
    assert relaxed.phi == pytest.approx(capped.phi, abs=1e-15)
    assert relaxed.beta == math.inf
    assert relaxed.leakage([0.1, 1.0, 30.0]) == pytest.approx(capped.leakage([0.1, 1.0, 30.0]))


def test_delta_one_leaks_the_whole_budget():
    triad = dt.Triad(alpha=2.0, beta=1.0, delta=1.0)
    assert list(triad.leakage([0.0, 1e-12, 1.0, 1e4])) == [0.0, 1e-12, 1.0, 1e4]


def test_independence_leaks_nothing():
    assert dt.Triad(alpha=0.0, phi=0.0, delta=0.0).leakage(1e4) == pytest.approx(0.0, abs=1e-300)
    assert dt.Triad(alpha=0.0, beta=0.0, delta=0.0).leakage(5.0) == pytest.approx(0.0, abs=1e-300)


@given(triads())
def test_triad_limit_of_large_budgets(triad):
    """α if δ = 0; ε + ln δ for δ > 0, and ∞ at ε = ∞ (maths.md §1, §2)."""
    alpha, phi, delta = triad
    assume(phi > delta or delta > 0 or alpha == 0)
    made = dt.Triad(alpha=alpha, phi=phi, delta=delta)
    if delta > 0:
        assert made.leakage(math.inf) == math.inf
        assert made.leakage(1e4) == pytest.approx(1e4 + math.log(delta), rel=1e-12)
    else:
        assert made.leakage(math.inf) == pytest.approx(alpha, rel=1e-12, abs=1e-12)
        assert made.leakage(1e4) == pytest.approx(alpha, rel=1e-12, abs=1e-12)


@given(triads(), st.floats(1.0, 1e6))
def test_triad_hockey_stick_is_the_chord_then_flat(triad, gamma):
    alpha, phi, delta = triad
    made = dt.Triad(alpha=alpha, phi=phi, delta=delta)
    share = (gamma - 1) / math.expm1(alpha) if alpha > 0 else math.inf
    chord = phi + min(share, 1.0) * (delta - phi) if gamma > 1 else phi
    assert made.hockey_stick(gamma) == pytest.approx(chord, rel=1e-9, abs=1e-12)


def test_triads_of_arrays_broadcast():
    triad = dt.Triad(alpha=[1.0, 2.0, 3.0], phi=[0.1, 0.2, 0.3], delta=0.0)
    out = triad.leakage([[0.1], [1.0]])
    assert out.shape == (2, 3)
    for i, epsilon in enumerate((0.1, 1.0)):
        for j in range(3):
            one = dt.Triad(alpha=1.0 + j, phi=(1 + j) / 10, delta=0.0)
            assert out[i, j] == pytest.approx(one.leakage(epsilon), rel=1e-15)


def test_scalars_in_scalars_out():
    triad = dt.Triad(alpha=1.0, phi=0.2, delta=0.1)
    profile = dt.Profile.from_knots([1.0, 2.0], [0.5, 0.1])
    for made in (triad, profile):
        assert isinstance(made.leakage(1.0), float)
        assert isinstance(made.hockey_stick(1.5), float)
        assert made.leakage([0.1, 1.0]).shape == (2,)
        assert made.leakage(np.ones((2, 3))).shape == (2, 3)
        assert made.hockey_stick([1.0, 1.5, 9.0]).shape == (3,)
    assert all(isinstance(value, float) for value in (triad.alpha, triad.beta, triad.phi))


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"alpha": -0.1, "phi": 0.1, "delta": 0.0}, r"alpha.*-0\.1"),
        ({"alpha": math.nan, "phi": 0.1, "delta": 0.0}, r"alpha.*nan"),
        ({"alpha": 1.0, "phi": -0.2, "delta": 0.0}, r"phi.*-0\.2"),
        ({"alpha": 1.0, "phi": math.nan, "delta": 0.0}, r"phi.*nan"),
        ({"alpha": 1.0, "beta": -0.3, "delta": 0.0}, r"beta.*-0\.3"),
        ({"alpha": 1.0, "beta": 1.0, "delta": 1.5}, r"delta.*1\.5"),
        ({"alpha": 1.0, "beta": 1.0, "delta": -0.5}, r"delta.*-0\.5"),
    ],
)
def test_triads_refuse_what_no_table_has(numbers, words):
    with pytest.raises(ValueError, match=words):
        dt.Triad(**numbers)


def test_triads_need_one_of_beta_and_phi():
    with pytest.raises((TypeError, ValueError), match=r"(?s)beta.*phi|phi.*beta"):
        dt.Triad(alpha=1.0, delta=0.0)
    with pytest.raises(TypeError):
        dt.Triad(1.0, 0.5, 0.0)


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


@given(triads(), st.floats(0.0, 1.0))
def test_slopes_below_one_are_the_other_direction(triad, gamma):
    """E_g(G‖G') = 1 − g + g·E_{1/g}(G'‖G), and the curve is that of both directions (§5)."""
    alpha, phi, delta = triad
    made = dt.Triad(alpha=alpha, phi=phi, delta=delta)
    mirrored = 1 - gamma + (gamma * made.hockey_stick(1 / gamma) if gamma > 1e-300 else 0)
    assert made.hockey_stick(gamma) == pytest.approx(mirrored, abs=1e-12)


def test_objects_are_frozen_and_print_their_numbers():
    triad = dt.Triad(alpha=1.25, phi=0.375, delta=0.125)
    with pytest.raises(AttributeError):
        triad.alpha = 2.0
    assert "1.25" in repr(triad)
    assert "0.125" in repr(triad)


def test_a_calibrated_triad_warns_below_its_budget():
    triad = dt.triad([[0.6, 0.3, 0.1], [0.05, 0.25, 0.7]], calibrate_at=0.5)
    with pytest.warns(UserWarning, match="0.5 is only an estimate"):
        triad.leakage([0.1, 1.0])


def test_triads_of_an_array_can_be_taken_out():
    many = dt.triads([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]]])
    assert len(many) == 2
    assert many[1].phi == pytest.approx(0.2)
    assert many[1].leakage(1.0) == pytest.approx(many.leakage(1.0)[1], rel=1e-14)


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
