"""Triad: pure maths on a few floats."""

import math

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


@given(triads(), st.floats(0.0, 1.0))
def test_slopes_below_one_are_the_other_direction(triad, gamma):
    """E_g(G‖G') = 1 − g + g·E_{1/g}(G'‖G), and the curve is that of both directions (§5)."""
    alpha, phi, delta = triad
    made = dt.Triad(alpha=alpha, phi=phi, delta=delta)
    mirrored = 1 - gamma + (gamma * made.hockey_stick(1 / gamma) if gamma > 1e-300 else 0)
    assert made.hockey_stick(gamma) == pytest.approx(mirrored, abs=1e-12)


def test_a_calibrated_triad_warns_below_its_budget():
    triad = dt.triad([[0.6, 0.3, 0.1], [0.05, 0.25, 0.7]], calibrate_at=0.5)
    with pytest.warns(UserWarning, match="0.5 is only an estimate"):
        triad.leakage([0.1, 1.0])


def test_triads_of_an_array_can_be_taken_out():
    many = dt.triads([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]]])
    assert len(many) == 2
    assert many[1].phi == pytest.approx(0.2)
    assert many[1].leakage(1.0) == pytest.approx(many.leakage(1.0)[1], rel=1e-14)
