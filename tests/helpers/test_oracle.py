"""The oracle itself: hand-computed facts, and the formulas of maths.md against plain enumeration."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction as F

import pytest
from hypothesis import given, settings

import oracle
from drawn import boxes, budgets, gammas, ordinary_tables, tables

TWO_BY_TWO = [[F(9, 10), F(1, 10)], [F(2, 10), F(8, 10)]]
WITH_A_ZERO = [[F(1, 2), F(1, 2), F(0)], [F(1, 4), F(1, 4), F(1, 2)]]


def test_two_by_two_by_hand():
    """At e^ε = 2 the two rows give (1+.9)/(1+.2) = 19/12 and (1+.8)/(1+.1) = 18/11: the second."""
    points = oracle.cloud(TWO_BY_TWO)
    assert oracle.is_close(math.log(18 / 11), oracle.leakage(points, math.log(2)), 1e-15)
    assert oracle.hockey_stick(points, 1) == F(7, 10)
    assert oracle.hockey_stick(points, 2) == F(6, 10)  # .8 − 2·.1, not .9 − 2·.2
    assert oracle.hockey_stick(points, 8) == 0
    assert oracle.largest_ratio(TWO_BY_TWO, TWO_BY_TWO) == 8
    assert oracle.lost_mass(TWO_BY_TWO, TWO_BY_TWO) == 0


def test_a_zero_by_hand():
    """G' = 0 on the last column carries mass ½; the largest finite ratio is 2."""
    points = oracle.cloud(WITH_A_ZERO)
    assert oracle.largest_ratio(WITH_A_ZERO, WITH_A_ZERO) == 2
    assert oracle.lost_mass(WITH_A_ZERO, WITH_A_ZERO) == F(1, 2)
    assert oracle.hockey_stick(points, 1) == F(1, 2) == oracle.hockey_stick(points, 10**9)
    assert oracle.is_close(math.log(1 + 0.5 * (math.e - 1)), oracle.leakage(points, 1.0), 1e-15)


def test_identity_leaks_everything_and_equal_rows_nothing():
    assert oracle.is_close(3.0, oracle.leakage(oracle.cloud([[F(1), F(0)], [F(0), F(1)]]), 3.0), 0)
    assert oracle.leakage(oracle.cloud([[F(1, 3), F(2, 3)]] * 2), 3.0) == 0
    assert oracle.leakage(oracle.cloud([[F(1, 3), F(2, 3)]]), 3.0) == 0
    assert oracle.leakage(oracle.cloud([[F(1)], [F(1)]]), 3.0) == 0


def test_digits_survive_the_smallest_entries():
    """φ = 1e-300 at ε = 1e-12 leaks 1e-312 to many digits: L = ln(1 + tφ)."""
    tiny = F(1, 10**300)
    truth = oracle.leakage(oracle.cloud([[1 - tiny, tiny], [F(1), F(0)]]), 1e-12)
    assert abs(truth / (Decimal(1e-12) * Decimal("1e-300")) - 1) < Decimal("1e-11")


def test_directed_comparison_sees_one_ulp():
    truth = oracle.log(F(2))
    below = math.log(2)  # 0.6931471805599453 lies below ln 2
    assert not oracle.is_bound(below, truth)
    assert oracle.is_bound(math.nextafter(below, 1), truth)


def test_subset_sums_are_all_subsets():
    row = [F(1, 7), F(2, 7), F(4, 7)]
    by_hand = [sum(c, F(0)) for n in range(4) for c in itertools.combinations(row, n)]
    assert sorted(oracle.subset_sums(row)) == sorted(by_hand)


@given(boxes(max_columns=4), budgets(), gammas())
def test_the_worst_points_decide_all(uncertain, epsilon, gamma):
    points = uncertain.cloud()
    kept = oracle.worst(points)
    assert kept <= points
    assert oracle.leakage(kept, epsilon) == oracle.leakage(points, epsilon)
    assert oracle.hockey_stick(kept, gamma) == oracle.hockey_stick(points, gamma)
    for lost in (0.0, 1e-3):
        deltas = [oracle.delta_out(each, gamma, epsilon, lost) for each in (kept, points)]
        assert deltas[0] == deltas[1]


@given(tables(), gammas())
def test_hockey_stick_is_the_sum_of_positive_parts(table, gamma):
    """E_γ = Σ (G − γG')₊ (maths.md §1)."""
    pairs = oracle.ordered_pairs(table.exact)
    sums = [
        sum(max(g - F(gamma) * h, F(0)) for g, h in zip(row, other, strict=True))
        for row, other in pairs
    ]
    assert oracle.hockey_stick(oracle.cloud(table.exact), gamma) == max(sums, default=0)


@given(tables(), budgets(1e-3, 50.0))
def test_root_form(table, epsilon):
    """t·E_γ ≤ γ − 1 at γ = e^L, and not a hair below it (maths.md §1)."""
    points = oracle.cloud(table.exact)
    t, root = F(oracle.gain(epsilon)), F(oracle.exp(oracle.leakage(points, epsilon)))
    hair = F(1, 10**20)
    assert t * oracle.hockey_stick(points, root + hair) <= root + hair - 1
    if root > 1 + hair:
        assert t * oracle.hockey_stick(points, root - hair) > root - hair - 1


@given(tables(), budgets())
def test_the_triad_is_a_bound_and_never_above_epsilon(table, epsilon):
    """L ≤ L̂ ≤ ε for separate maxima of α, φ and δ (maths.md §2)."""
    points = oracle.cloud(table.exact)
    ratio = oracle.largest_ratio(table.exact, table.exact)
    delta = oracle.lost_mass(table.exact, table.exact)
    estimate = oracle.triad_leakage(ratio, oracle.hockey_stick(points, 1), delta, epsilon)
    assert oracle.is_bound(estimate, oracle.leakage(points, epsilon))
    assert oracle.is_bound(epsilon, estimate)


@given(ordinary_tables(), budgets(0.01, 20.0))
def test_phi_and_beta_tell_the_same_story(table, epsilon):
    """The paper's estimator in β equals the chord in φ, wherever β is finite (maths.md §2)."""
    points = oracle.cloud(table.exact)
    ratio = oracle.largest_ratio(table.exact, table.exact)
    phi = oracle.hockey_stick(points, 1)
    delta = oracle.lost_mass(table.exact, table.exact)
    cap = 1 - (1 - delta) / ratio
    assert phi <= cap
    if ratio == 1 or phi in (cap, delta):
        return
    alpha, chord = oracle.log(ratio), oracle.triad_leakage(ratio, phi, delta, epsilon)
    beta = oracle.beta_from_phi(alpha, phi, delta)
    assert oracle.is_close(phi, oracle.phi_from_beta(alpha, beta, delta), 1e-60)
    assert oracle.is_close(chord, oracle.paper_leakage(alpha, beta, delta, epsilon), 1e-60)


@settings(max_examples=15)
@given(boxes(max_rows=2, max_columns=5))
def test_extremes_of_a_box_are_those_of_the_linear_programs(uncertain):
    """max G(S) = min(Up(S), 1 − Lo(Sᶜ)) and min G(S) = max(Lo(S), 1 − Up(Sᶜ)) (maths.md §3)."""
    lower, upper = uncertain.lower[0], uncertain.upper[0]
    least, most = oracle.extremes(lower, upper)
    size = len(lower)
    for mask in range(2**size):
        chosen = [u for u in range(size) if mask >> u & 1]
        largest = oracle.extreme_program(lower, upper, chosen, 1)
        smallest = oracle.extreme_program(lower, upper, chosen, -1)
        assert float(most[mask]) == pytest.approx(largest, abs=1e-9)
        assert float(least[mask]) == pytest.approx(smallest, abs=1e-9)


@given(boxes(max_rows=3, max_columns=6), gammas(20.0))
def test_a_box_contains_its_centre_and_tightening_changes_nothing(uncertain, gamma):
    """The robust curve lies above every table of the box, and edges no row reaches do not matter."""
    robust = oracle.hockey_stick(uncertain.cloud(), gamma)
    assert robust >= oracle.hockey_stick(oracle.cloud(uncertain.centre), gamma)
    tight = oracle.box_cloud(*oracle.tightened(uncertain.lower, uncertain.upper))
    assert robust == oracle.hockey_stick(tight, gamma)


@settings(max_examples=20)
@given(boxes(max_rows=2, max_columns=7), gammas(5.0))
def test_mixed_integer_program_agrees_with_enumeration(uncertain, gamma):
    pairs = list(oracle.ordered_pairs(range(2)))
    found = [
        oracle.hockey_stick_milp(
            uncertain.lower[x], uncertain.upper[x], uncertain.lower[y], uncertain.upper[y], gamma
        )
        for x, y in pairs
    ]
    truth = oracle.hockey_stick(uncertain.cloud(), gamma)
    assert max(value for value, _ in found) <= truth
    assert max(value for value, _ in found) == pytest.approx(float(truth), abs=1e-6)
    assert max(bound for _, bound in found) == pytest.approx(float(truth), abs=1e-6)


def test_the_relaxation_of_the_paper_by_hand():
    """With rows [½ ± ½] twice the program gives Σ c(G − G' + M⁻) = ½·(0 + 2) = 1, the truth."""
    zero, one = [F(0), F(0)], [F(1), F(1)]
    assert oracle.paper_program(zero, one, zero, one) == pytest.approx(1)
    assert oracle.hockey_stick(oracle.box_cloud([zero] * 2, [one] * 2), 1) == 1


@settings(max_examples=15)
@given(boxes(max_rows=2, max_columns=6))
def test_the_relaxation_of_the_paper_is_a_relaxation(uncertain):
    """Its program is never below the robust φ (maths.md §3)."""
    truth = oracle.hockey_stick(uncertain.cloud(), 1)
    assert oracle.paper_phi(uncertain.lower, uncertain.upper) >= float(truth) - 1e-9


@settings(max_examples=15)
@given(ordinary_tables(max_rows=2, max_columns=5), budgets(0.01, 3.0), gammas(5.0))
def test_corner_responses_are_the_worst_binary_channels(table, epsilon, gamma):
    """The polygon's corners give the optimum of the program over all binary channels (§4)."""
    for slack in (0.0, 0.05, 0.5):
        programs = [
            oracle.channel_program(row, other, gamma, epsilon, slack)
            for row, other in oracle.ordered_pairs(table.exact)
        ]
        truth = oracle.delta_out(oracle.cloud(table.exact), gamma, epsilon, slack)
        assert float(truth) == pytest.approx(max(programs), abs=1e-7)


@given(ordinary_tables(), budgets(0.01, 10.0), gammas(20.0))
def test_approximate_formula(table, epsilon, gamma):
    """δ' = max{0, δ_m·E, [(e^ε − 1 + 2δ_m)·E − (1 − δ_m)(γ' − 1)]/(1 + e^ε)} (maths.md §4)."""
    points = oracle.cloud(table.exact)
    height, growth = F(oracle.hockey_stick(points, gamma)), F(oracle.gain(epsilon))
    for slack in (F(0), F(1, 20), F(1, 2)):
        third = (growth + 2 * slack) * height - (1 - slack) * (F(gamma) - 1)
        formula = max(F(0), slack * height, third / (2 + growth))
        assert oracle.is_close(formula, oracle.delta_out(points, gamma, epsilon, slack), 1e-60)
