"""profile(), triad(), leakage(): against all subsets in rational arithmetic, and HiGHS, and qif."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import deptriad as dt
import oracle
from drawn import (
    SOME_BUDGETS,
    Known,
    boxes,
    budgets,
    gammas,
    ordinary_tables,
    positive_tables,
    tables,
)

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


def assert_bound(known: Known, reported: float, truth_of) -> None:
    """Reported is not below the truth, whichever table the floats stand for (maths.md §9)."""
    for reading, table in oracle.readings(known.exact).items():
        truth = truth_of(table)
        assert oracle.is_bound(reported, truth), f"{reading}: {reported!r} is below {truth}"


def capped(points, epsilon):
    """The truth, which ε caps: raw floats may sum to a hair more than 1."""
    return min(oracle.leakage(points, epsilon), oracle.decimal(epsilon))


# ----------------------------------------------------------------------------------------- leakage


@given(tables(), budgets())
def test_leakage_is_never_below_the_truth_nor_above_epsilon(known, epsilon):
    reported = dt.leakage(known.floats, epsilon)
    assert_bound(known, reported, lambda table: capped(oracle.cloud(table), epsilon))
    assert reported <= epsilon


@given(tables(), budgets())
def test_leakage_is_exact(known, epsilon):
    truth = oracle.leakage(oracle.cloud(known.exact), epsilon)
    assert oracle.is_close(dt.leakage(known.floats, epsilon), truth)


@given(ordinary_tables(), st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3]))
def test_small_budgets_keep_their_digits(known, epsilon):
    """Relative, not absolute, accuracy where ε is tiny: L ≈ φε."""
    truth = oracle.leakage(oracle.cloud(known.exact), epsilon)
    assert dt.leakage(known.floats, epsilon) == pytest.approx(float(truth), rel=1e-10)


@given(tables())
def test_all_budgets_at_once_are_finite_and_the_same_as_one_by_one(known):
    """No NaN, no overflow from 0 and 1e-12 to 1e4."""
    together = dt.leakage(known.floats, SOME_BUDGETS)
    assert together.shape == (len(SOME_BUDGETS),)
    assert np.isfinite(together).all()
    alone = [dt.leakage(known.floats, epsilon) for epsilon in SOME_BUDGETS]
    assert together == pytest.approx(alone, rel=1e-13, abs=1e-300)


@given(tables(min_rows=2))
def test_the_limit_of_large_budgets(known):
    """ln of the largest ratio, or ε + ln δ where a zero allows it (maths.md §1)."""
    ratio = oracle.largest_ratio(known.exact, known.exact)
    delta = oracle.lost_mass(known.exact, known.exact)
    limit = dt.leakage(known.floats, math.inf)
    if delta > 0:
        assert limit == math.inf
        # L = max(ln(1 + tδ), what finite ratios give), and the first wins here.
        if delta > 1e-200:
            assert dt.leakage(known.floats, 1e4) == pytest.approx(1e4 + math.log(delta), rel=1e-12)
    else:
        assert oracle.is_close(limit, oracle.log(ratio), 1e-12)
        assert_bound(known, limit, lambda table: oracle.log(oracle.largest_ratio(table, table)))
        assert oracle.is_close(dt.leakage(known.floats, 1e4), oracle.log(ratio), 1e-12)


@pytest.mark.parametrize("mass", [1e-300, 5e-299, 3e-200, 7e-100, 1e-17, 0.3])
def test_a_small_mass_at_a_large_budget_is_not_rounded_down(mass):
    """L = ln(1 + tδ) = ε + ln δ in the end: two large numbers that nearly cancel (maths.md §1)."""
    table = [[1.0, 0.0], [1.0 - mass, mass]]
    points = oracle.cloud(oracle.as_fractions(table))
    turn = -math.log(mass)
    for epsilon in [*np.linspace(max(0.0, turn - 30), turn + 60, 40), 1e3, 1e4]:
        truth = oracle.leakage(points, epsilon)
        for reported in (
            dt.leakage(table, epsilon),
            dt.profile(table).leakage(epsilon),
            dt.triad(table).leakage(epsilon),
        ):
            assert oracle.is_bound(reported, min(truth, oracle.decimal(epsilon))), epsilon
            assert oracle.is_close(reported, truth)


def test_leakage_by_hand():
    """At e^ε = 2: max(1.7/1.1, 1.9/1.4, 1.6/1.1, 1.9/1.3) = 1.7/1.1."""
    assert dt.leakage(P, math.log(2)) == pytest.approx(math.log(17 / 11), rel=1e-14)


def test_identity_leaks_its_budget_and_nothing_leaks_nothing():
    assert list(dt.leakage(np.eye(3), SOME_BUDGETS)) == SOME_BUDGETS
    assert dt.leakage([[0.3, 0.7], [0.3, 0.7]], 5.0) == 0
    assert dt.leakage([[0.3, 0.7]], 5.0) == 0
    assert dt.leakage([[1.0], [1.0]], 5.0) == 0
    assert dt.leakage(P, 0.0) == 0


def test_scalars_in_scalars_out_arrays_in_arrays_out():
    assert isinstance(dt.leakage(P, 1.0), float)
    assert isinstance(dt.leakage(P, 1), float)
    assert dt.leakage(P, [1.0]).shape == (1,)
    assert dt.leakage(P, np.ones((2, 3))).shape == (2, 3)
    assert dt.leakage(P, []).shape == (0,)


def test_lists_conditionals_and_read_only_arrays_are_the_same():
    frozen = P.copy()
    frozen.setflags(write=False)
    for table in (P.tolist(), dt.Conditional(P), frozen, np.asfortranarray(P), P.astype(object)):
        assert dt.leakage(table, 1.0) == dt.leakage(P, 1.0)
        assert dt.triad(table).phi == dt.triad(P).phi


# ----------------------------------------------------------------------------------------- profile


@given(tables(), budgets())
def test_profile_leakage_is_never_below_the_truth_nor_above_epsilon(known, epsilon):
    reported = dt.profile(known.floats).leakage(epsilon)
    assert_bound(known, reported, lambda table: capped(oracle.cloud(table), epsilon))
    assert reported <= epsilon


@given(tables(), budgets())
def test_profile_leakage_is_exact(known, epsilon):
    truth = oracle.leakage(oracle.cloud(known.exact), epsilon)
    assert oracle.is_close(dt.profile(known.floats).leakage(epsilon), truth)


@given(tables(min_rows=2), gammas(least=0.0))
def test_profile_is_the_hockey_stick_curve(known, gamma):
    """E_γ = max_S G(S) − γG'(S) for γ on either side of 1, not below and within rounding (§1, §5)."""
    reported = dt.profile(known.floats).hockey_stick(gamma)
    assert_bound(known, reported, lambda table: oracle.hockey_stick(oracle.cloud(table), gamma))
    assert oracle.is_close(reported, oracle.hockey_stick(oracle.cloud(known.exact), gamma))
    assert reported <= 1


@st.composite
def tables_and_kinks(draw):
    """A table and a γ at, or just below, one of its likelihood ratios: where the curve bends."""
    known = draw(tables(min_rows=2))
    pairs = oracle.ordered_pairs(known.exact)
    ratios = {g / h for row, other in pairs for g, h in zip(row, other, strict=True) if h}
    kinks = sorted(ratio for ratio in ratios if ratio >= 1)
    return known, float(draw(st.sampled_from(kinks or [1]))) * draw(st.sampled_from([1, 0.99]))


@given(tables_and_kinks())
def test_profile_is_not_below_the_curve_where_it_bends(drawn):
    """However little mass is left there."""
    known, gamma = drawn
    reported = dt.profile(known.floats).hockey_stick(gamma)
    assert_bound(known, reported, lambda table: oracle.hockey_stick(oracle.cloud(table), gamma))


def test_profile_keeps_the_ratio_of_the_smallest_mass():
    """The largest ratio, 101, is that of 1e-15 against 1e-17; the others end at 99."""
    table = [
        [9.900990099009891e-16, 0.00990099009900989, 0.9900990099009891],
        [9.80392156862745e-18, 0.9803921568627451, 0.0196078431372549],
    ]
    points, profile = oracle.cloud(oracle.as_fractions(table)), dt.profile(table)
    for gamma in (99.5, 100.0, 100.9):
        assert oracle.is_bound(profile.hockey_stick(gamma), oracle.hockey_stick(points, gamma))
    for epsilon in (40.0, 45.0, 100.0, 1e4):
        assert oracle.is_bound(profile.leakage(epsilon), oracle.leakage(points, epsilon))


@given(tables(min_rows=2))
def test_profile_knots_lie_on_the_curve_and_are_convex(known):
    profile = dt.profile(known.floats)
    points = oracle.cloud(known.exact)
    knots = profile.knots
    assert len(profile) == len(knots)
    assert knots[0, 0] == 1
    for gamma, height in knots:
        assert oracle.is_close(height, oracle.hockey_stick(points, gamma))
    assert (np.diff(knots[:, 0]) > 0).all()
    assert (np.diff(knots[:, 1]) <= 1e-15).all()


def test_profile_knots_by_hand():
    """One way .7 − .1γ. The other .9 − .3γ until γ = 1.5, then .6 − .1γ: below the first from 1 on."""
    profile = dt.profile(P)
    assert profile.knots == pytest.approx(np.array([[1.0, 0.6], [7.0, 0.0]]), abs=1e-14)


# ------------------------------------------------------------------------------------------- triad


@given(tables(), budgets())
def test_triad_is_never_below_the_truth_nor_above_epsilon(known, epsilon):
    """An upper bound for every ε, in floats too (maths.md §2, §9)."""
    reported = dt.triad(known.floats).leakage(epsilon)
    assert_bound(known, reported, lambda table: capped(oracle.cloud(table), epsilon))
    assert reported <= epsilon


@given(tables())
def test_triad_numbers_are_exact_and_rounded_up(known):
    """e^α the largest finite ratio, φ = E_1, δ the mass where G' = 0 (maths.md §2)."""
    triad = dt.triad(known.floats)
    facts = {
        "alpha": lambda table: oracle.log(oracle.largest_ratio(table, table)),
        "phi": lambda table: oracle.hockey_stick(oracle.cloud(table), 1),
        "delta": lambda table: oracle.lost_mass(table, table),
    }
    for name, fact in facts.items():
        reported = getattr(triad, name)
        assert oracle.is_close(reported, fact(known.exact), 1e-12), name
        if name == "alpha" and reported == 0:
            continue  # entries that are equal bit for bit are taken as equal (is_close has checked it)
        assert_bound(known, reported, fact)
    assert triad.exact


@given(tables(), gammas(least=0.0))
def test_triad_curve_is_never_below_the_truth(known, gamma):
    reported = dt.triad(known.floats).hockey_stick(gamma)
    assert_bound(known, reported, lambda table: oracle.hockey_stick(oracle.cloud(table), gamma))


@given(ordinary_tables(), budgets())  # where φ is tiny it rests on the last bits of large entries
def test_triad_estimate_is_the_chord(known, epsilon):
    points = oracle.cloud(known.exact)
    ratio = oracle.largest_ratio(known.exact, known.exact)
    delta = oracle.lost_mass(known.exact, known.exact)
    truth = oracle.triad_leakage(ratio, oracle.hockey_stick(points, 1), delta, epsilon)
    assert oracle.is_close(dt.triad(known.floats).leakage(epsilon), truth)


@given(positive_tables())
def test_triad_beta_is_that_of_the_paper(known):
    """β = ln (1 + φ + e^α(δ − 1) − 2δ)/(1 + (φ − 1)e^α − δ), where it is well-conditioned."""
    ratio = oracle.largest_ratio(known.exact, known.exact)
    phi = oracle.hockey_stick(oracle.cloud(known.exact), 1)
    delta = oracle.lost_mass(known.exact, known.exact)
    cap = 1 - (1 - delta) / ratio
    assume(phi > 1e-3 and cap - phi > 1e-3)
    truth = oracle.beta_from_phi(oracle.log(ratio), phi, delta)
    assert oracle.is_close(dt.triad(known.floats).beta, truth, 1e-10)


def test_triad_by_hand():
    """P: α = ln 7, φ = .6, δ = 0, e^β = (1 + .6 − 7)/(1 − .4·7) = 3."""
    triad = dt.triad(P)
    assert triad.alpha == pytest.approx(math.log(7), rel=1e-15)
    assert triad.phi == pytest.approx(0.6, rel=1e-15)
    assert triad.delta == 0
    assert triad.beta == pytest.approx(math.log(3), rel=1e-14)


def test_triad_of_a_table_that_says_nothing():
    for table in ([[0.3, 0.7]], [[1.0], [1.0]], [[0.3, 0.7]] * 3):
        triad = dt.triad(table)
        assert (triad.alpha, triad.phi, triad.delta) == (0, 0, 0)
        assert triad.leakage(1e4) == 0


@given(st.lists(tables(max_rows=4, max_columns=4), min_size=1, max_size=5))
def test_many_tables_at_once_are_the_same_one_by_one(many):
    together = dt.triads([known.floats for known in many])
    for i, known in enumerate(many):
        alone = dt.triad(known.floats)
        for name in ("alpha", "phi", "delta"):
            assert getattr(together, name)[i] == pytest.approx(getattr(alone, name), rel=1e-14)
        assert together.leakage(1.0)[i] == pytest.approx(alone.leakage(1.0), rel=1e-13)


def test_many_tables_as_one_array(rng):
    tables = rng.dirichlet(np.ones(3), size=(50, 2))
    together = dt.triads(tables)
    assert together.alpha.shape == together.phi.shape == together.delta.shape == (50,)
    assert together.leakage(1.0).shape == (50,)
    exact = np.array([dt.leakage(table, 1.0) for table in tables])
    assert (together.leakage(1.0) >= exact * (1 - 1e-13)).all()  # both are rounded up


@given(
    st.lists(tables(max_rows=4, max_columns=4), min_size=1, max_size=5),
    st.lists(budgets(), min_size=5, max_size=5),
)
def test_leakages_of_many_tables_are_the_same_one_by_one(many, epsilons):
    epsilons = epsilons[: len(many)]
    together = dt.leakages([known.floats for known in many], epsilons)
    for found, known, epsilon in zip(together, many, epsilons, strict=True):
        assert found == pytest.approx(dt.leakage(known.floats, epsilon), rel=1e-13, abs=1e-300)
        assert_bound(known, found, lambda table, e=epsilon: capped(oracle.cloud(table), e))
        assert found <= epsilon


def test_leakages_of_an_array_of_tables_on_many_threads(rng):
    tables = rng.dirichlet(np.ones(5), size=(2000, 4))
    epsilons = rng.uniform(0.0, 5.0, 2000)
    together = dt.leakages(tables, epsilons)
    alone = [dt.leakage(table, epsilon) for table, epsilon in zip(tables, epsilons, strict=True)]
    assert together == pytest.approx(alone, rel=1e-13)


@pytest.mark.parametrize("epsilons", [[1.0, 2.0], [[1.0]], -1.0, [math.nan]])
def test_budgets_that_do_not_fit_the_tables_are_refused(epsilons):
    with pytest.raises(ValueError, match="epsilons"):
        dt.leakages([P], epsilons)


# ---------------------------------------------------------- the other triads the paper compares with


@given(ordinary_tables(), budgets(0.01, 5.0), st.floats(1.0, 20.0))
def test_calibrated_triad_is_a_bound_from_its_budget_on(known, epsilon, factor):
    """Calibrated at ε₀ it is exact there and a bound for every ε ≥ ε₀ (maths.md §2)."""
    triad = dt.triad(known.floats, calibrate_at=epsilon)
    points = oracle.cloud(known.exact)
    assert triad.calibrated_at == epsilon
    assert oracle.is_close(triad.leakage(epsilon), oracle.leakage(points, epsilon), 1e-9)
    for later in (epsilon, epsilon * factor):
        reported = triad.leakage(later)
        assert_bound(known, reported, lambda table, at=later: capped(oracle.cloud(table), at))
        assert reported <= later


@given(ordinary_tables(), budgets(0.01, 5.0))
def test_calibrated_triad_is_never_looser_than_the_plain_one_beyond_its_budget(known, epsilon):
    """Its chord starts later on the same convex curve (maths.md §2)."""
    grid = epsilon * np.array([1.0, 1.5, 3.0, 10.0])
    calibrated = dt.triad(known.floats, calibrate_at=epsilon).leakage(grid)
    assert (calibrated <= dt.triad(known.floats).leakage(grid) + 1e-11).all()


@given(tables(), budgets())
def test_uncalibrated_triad_is_a_bound(known, epsilon):
    """The paper's (α, γ, δ)."""
    reported = dt.uncalibrated(known.floats).leakage(epsilon)
    assert_bound(known, reported, lambda table: capped(oracle.cloud(table), epsilon))
    assert reported <= epsilon


@given(ordinary_tables(), budgets())
def test_uncalibrated_triad_is_never_tighter_than_the_triad(known, epsilon):
    """β ≤ γ: that is what calibration is for."""
    plain, rough = dt.triad(known.floats), dt.uncalibrated(known.floats)
    assert rough.leakage(epsilon) >= plain.leakage(epsilon) * (1 - 1e-12) - 1e-300


def test_uncalibrated_triads_of_the_toy_example_of_the_paper():
    """Both scenarios have α = ln 4.5, γ = ln 4 and δ = 0, though they leak differently."""
    first = [[0.1, 0.1, 0.15, 0.2, 0.45], [0.4, 0.3, 0.1, 0.1, 0.1]]
    second = [[0.0025, 0.2975, 0.48, 0.13, 0.09], [0.01, 0.39, 0.47, 0.11, 0.02]]
    for table in (first, second):
        triad = dt.uncalibrated(table)
        assert triad.alpha == pytest.approx(math.log(4.5), rel=1e-12)
        assert triad.beta == pytest.approx(math.log(4), rel=1e-12)
        assert triad.delta == 0
    assert dt.leakage(first, 1.0) > 3 * dt.leakage(second, 1.0)


# ------------------------------------------------------------------------- boxes, the paper's part


@settings(max_examples=60)
@given(boxes(max_rows=3, max_columns=8))
def test_closed_form_equals_the_linear_program_of_the_paper(uncertain):
    """Two knapsacks and one sort give what HiGHS gives, cut off where β = ∞ (maths.md §3)."""
    box = uncertain.box
    triad = dt.triad(box, relaxation="paper")
    ratio = oracle.largest_ratio(oracle.as_fractions(box.lower), oracle.as_fractions(box.upper))
    delta = oracle.lost_mass(oracle.as_fractions(box.lower), oracle.as_fractions(box.upper))
    cap = float(1 - (1 - delta) / ratio)
    program = oracle.paper_phi(box.lower, box.upper)
    assert triad.phi == pytest.approx(min(program, cap), abs=1e-7)


@given(boxes())
def test_robust_alpha_and_delta_of_the_paper(uncertain):
    """α: the largest Up/Lo' with Lo' > 0; δ: Σ Up where Lo' = 0, at most 1 and φ (maths.md §3)."""
    lower, upper = oracle.tightened(uncertain.lower, uncertain.upper)
    triad = dt.triad(uncertain.box, relaxation="paper")
    # a tightened edge inherits the roundings of its whole row, which may be large beside it
    assert oracle.is_close(triad.alpha, oracle.log(oracle.largest_ratio(lower, upper)), 1e-11)
    mass = oracle.lost_mass(lower, upper)
    assert oracle.is_bound(triad.delta, min(mass, oracle.hockey_stick(uncertain.cloud(), 1)))
    assert triad.delta <= float(mass) + 1e-12


@given(boxes(), budgets())
def test_triad_of_the_paper_is_a_bound_for_every_table_of_the_box(uncertain, epsilon):
    """Not below brute force over all subsets and all tables, not above ε (maths.md §3)."""
    reported = dt.triad(uncertain.box, relaxation="paper").leakage(epsilon)
    assert oracle.is_bound(reported, oracle.leakage(uncertain.cloud(), epsilon))
    assert reported <= epsilon


@given(boxes(), budgets())
def test_triad_of_a_box_is_a_bound_for_every_table_of_it(uncertain, epsilon):
    reported = dt.triad(uncertain.box).leakage(epsilon)
    assert oracle.is_bound(reported, oracle.leakage(uncertain.cloud(), epsilon))
    assert reported <= epsilon


@given(ordinary_tables(), st.sampled_from([0.0, 0.05, 0.1, 0.5, 1.0]), budgets())
def test_relative_uncertainty_is_a_bound_from_end_to_end(known, e, epsilon):
    """(1 ± e)P with P read in all three ways: nothing is lost on the way through the box."""
    reported = dt.triad(dt.Relative(e).box(known.floats)).leakage(epsilon)
    share = oracle.Fraction(e)
    for reading, table in oracle.readings(known.exact).items():
        if reading == "floats":
            continue  # does not sum to 1 exactly, so the box around it may be empty
        lower = [[max(oracle.Fraction(0), (1 - share) * entry) for entry in row] for row in table]
        upper = [[min(oracle.Fraction(1), (1 + share) * entry) for entry in row] for row in table]
        truth = oracle.leakage(oracle.box_cloud(lower, upper), epsilon)
        assert oracle.is_bound(reported, truth), reading


# ------------------------------------------------------------------------------------- invariances


@st.composite
def relabelled(draw):
    """A table, and the same with rows and columns in another order."""
    known = draw(tables(min_rows=2))
    rows = draw(st.permutations(range(len(known.exact))))
    columns = draw(st.permutations(range(len(known.exact[0]))))
    return known, Known([[known.exact[x][u] for u in columns] for x in rows])


@st.composite
def split(draw):
    """A table, and the same with one source value split into proportional copies."""
    known = draw(tables(min_rows=2, max_columns=5))
    column = draw(st.integers(0, len(known.exact[0]) - 1))
    share = oracle.Fraction(draw(st.integers(1, 9)), 10)
    wider = [
        [*row[:column], share * row[column], (1 - share) * row[column], *row[column + 1 :]]
        for row in known.exact
    ]
    return known, Known(wider)


@st.composite
def doubled(draw):
    """A table, and the same with one target row twice."""
    known = draw(tables(min_rows=2, max_rows=5))
    return known, Known([*known.exact, draw(st.sampled_from(known.exact))])


@given(relabelled() | split() | doubled(), budgets())
def test_what_does_not_matter_changes_nothing(pair, epsilon):
    """Relabelling, proportional copies of a source value, a target row twice (maths.md §9)."""
    one, other = pair[0].floats, pair[1].floats
    same = {"rel": 1e-12, "abs": 1e-15}
    assert dt.leakage(other, epsilon) == pytest.approx(dt.leakage(one, epsilon), **same)
    assert dt.profile(other).leakage(epsilon) == pytest.approx(
        dt.profile(one).leakage(epsilon), **same
    )
    for name in ("alpha", "phi", "delta"):
        expected = getattr(dt.triad(one), name)
        assert getattr(dt.triad(other), name) == pytest.approx(expected, **same)


@given(tables())
def test_leakage_grows_with_the_budget(known):
    """Monotone in ε, to rounding (maths.md §9)."""
    grid = np.geomspace(1e-12, 1e4, 200)
    for curve in (dt.leakage(known.floats, grid), dt.triad(known.floats).leakage(grid)):
        assert (np.diff(curve) >= -1e-14 * np.maximum(1, curve[1:])).all()


@given(tables(), budgets())
def test_the_order_of_the_bounds(known, epsilon):
    """leakage = profile ≤ triad ≤ ε."""
    leakage, triad = dt.leakage(known.floats, epsilon), dt.triad(known.floats).leakage(epsilon)
    assert leakage <= triad * (1 + 1e-12) + 1e-300
    assert triad <= epsilon


# ------------------------------------------------------------------------------ concrete mechanisms


def composed_epsilon(qif, table, channel) -> float:
    """Log of the largest likelihood ratio about the target, by qif (maths.md §6, HCC-1)."""
    table = table if len(table) > 1 else np.vstack([table, table])
    return qif.measure.d_privacy.smallest_epsilon(
        table @ channel, lambda x, other: float(x != other)
    )


def test_randomised_response_never_leaks_more(rng):
    """A GRR channel built by qif, through random tables."""
    qif = pytest.importorskip("qif", reason="the oracle qif is not installed")
    for _ in range(50):
        a, b = rng.integers(2, 7, 2)
        table = rng.dirichlet(np.full(b, 0.5), size=a)
        epsilon = float(rng.choice([0.1, 1.0, 3.0]))
        channel = qif.mechanism.d_privacy.randomized_response(int(b), epsilon)
        assert composed_epsilon(qif, table, channel) <= dt.leakage(table, epsilon) + 1e-9


def test_random_channels_never_leak_more(rng):
    """Any channel, at the ε that qif finds it to have."""
    qif = pytest.importorskip("qif", reason="the oracle qif is not installed")
    for _ in range(100):
        a, b, outputs = rng.integers(2, 7, 3)
        table = rng.dirichlet(np.full(b, 0.5), size=a)
        channel = rng.dirichlet(np.full(outputs, 2.0), size=b)
        epsilon = composed_epsilon(qif, np.eye(b), channel)
        assert composed_epsilon(qif, table, channel) <= dt.leakage(table, epsilon) + 1e-9


def test_unary_encoding_attains_the_leakage(rng):
    """A full unary-encoding report, all 2^b outputs, leaks exactly L(ε) (maths.md §6)."""
    qif = pytest.importorskip("qif", reason="the oracle qif is not installed")
    for _ in range(20):
        a, b = int(rng.integers(2, 5)), int(rng.integers(2, 7))
        table = rng.dirichlet(np.ones(b), size=a)
        epsilon = float(rng.choice([0.5, 1.0, 4.0]))
        keep = 1 / (1 + math.exp(-epsilon / 2))
        bits = np.array([[word >> u & 1 for word in range(2**b)] for u in range(b)])
        likely = np.where(bits[None] == np.eye(b)[:, :, None], keep, 1 - keep)
        channel = likely.prod(axis=1)  # source value × report
        assert channel.sum(axis=1) == pytest.approx(np.ones(b))
        attained = composed_epsilon(qif, table, channel)
        assert attained == pytest.approx(dt.leakage(table, epsilon), abs=1e-9)


# ------------------------------------------------------------------------------------------ errors

CALLS = {
    "leakage": lambda table: dt.leakage(table, 1.0),
    "profile": dt.profile,
    "triad": dt.triad,
    "triads": lambda table: dt.triads([table]),
    "leakages": lambda table: dt.leakages([table], 1.0),
    "uncalibrated": dt.uncalibrated,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0.5, 0.5], [1.1, -0.1]], r"-0\.1"),
        ([[0.5, 0.5], [np.nan, 1.0]], r"(?i)nan"),
        ([[0.5, 0.5], [0.5, 0.47]], r"row 1\b.*0\.97"),
        ([0.5, 0.5], r"(?i)2-D|two|dimension"),
        ([[0.5, 0.5], [1.0]], r"(?i)2-D|rectang|ragged|length|inhomogeneous|shape|dimension"),
    ],
    ids=["negative", "nan", "sum", "one-dimensional", "ragged"],
)
def test_bad_tables_are_refused_with_what_and_where(call, table, words):
    with pytest.raises(ValueError, match=words):
        call(table)


@pytest.mark.parametrize("epsilon", [-1.0, -1e-300, math.nan, [0.5, -2.0]])
def test_bad_budgets_are_refused_with_their_value(epsilon):
    with pytest.raises(ValueError, match=r"(?i)epsilon.*(-1|-2|-1e-300|nan)"):
        dt.leakage(P, epsilon)


@pytest.mark.parametrize("epsilon", [-1.0, math.nan])
def test_bad_calibration_budgets_are_refused(epsilon):
    with pytest.raises(ValueError, match=rf"(?i)calibrate_at.*{epsilon}"):
        dt.triad(P, calibrate_at=epsilon)


def test_unknown_relaxations_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"(?s)'?loose'?.*tight.*paper|paper.*tight"):
        dt.triad(dt.Relative(0.1).box(P), relaxation="loose")


# ------------------------------------------------------------------- light values behind a heavy one

LIGHT = [0.2, 0.8, 1e-17], [0.02, 0.98, 1e-24]


@pytest.mark.parametrize("epsilon", [38.0, 42.0, 50.0, 60.0])
def test_a_light_value_behind_the_kink_of_a_heavy_one_is_seen(epsilon):
    """η may rest on the kink of a heavy value; rounding must not hide lighter values with larger ratios there."""
    truth = oracle.leakage(oracle.cloud(oracle.as_fractions(np.array(LIGHT))), epsilon)
    curve = dt.profile(LIGHT)
    for reported in (dt.leakage(LIGHT, epsilon), curve.leakage(epsilon)):
        assert oracle.is_bound(reported, truth)
        assert oracle.is_close(reported, truth)
    assert oracle.is_bound(curve.thin(2).leakage(epsilon), truth)


def test_kinks_of_heavy_values_anywhere():
    for a in range(1, 100, 7):
        for b in range(1, 100, 7):
            table = [[a / 100, 1 - a / 100, 1e-17], [b / 100, 1 - b / 100, 1e-24]]
            truth = oracle.leakage(oracle.cloud(oracle.as_fractions(np.array(table))), 42.0)
            assert oracle.is_bound(dt.leakage(table, 42.0), truth), table
            assert oracle.is_bound(dt.profile(table).leakage(42.0), truth), table


def test_ratios_in_a_rounding_of_each_other():
    for step in range(1, 60, 4):
        ratio = 10 * (1 + step * 2.0**-50)
        top, bottom = [0.4, 1e-6 * ratio, 0.5], [0.04, 1e-6, 0.3]
        table = np.array([[*top, 1 - sum(top)], [*bottom, 1 - sum(bottom)]])
        truth = oracle.leakage(oracle.cloud(oracle.as_fractions(table)), 60.0)
        curve = dt.profile(table)
        for reported in (dt.leakage(table, 60.0), curve.leakage(60.0), curve.thin(2).leakage(60.0)):
            assert oracle.is_bound(reported, truth), step


@pytest.mark.parametrize("large", [605.0, 710.0, 1200.0, math.inf])
def test_triads_made_for_huge_budgets_are_plain_ones(large):
    for x in (P, np.eye(2), dt.Relative(0.1).box(P)):
        assert dt.triad(x, epsilon_max=large).leakage(1.0) >= dt.leakage(x, 1.0) * (1 - 1e-13)
    assert dt.triad(P, calibrate_at=large).leakage(max(large, 720.0)) == pytest.approx(math.log(7))
