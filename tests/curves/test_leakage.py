"""leakage(), leakages(), where(): against all subsets in rational arithmetic, and qif."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import deptriad as dt
import oracle
from bounds import assert_bound, capped
from deptriad.tables.table import LEAST
from drawn import (
    SOME_BUDGETS,
    Known,
    boxes,
    budgets,
    ordinary_tables,
    tables,
)

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])

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
    assume(all(not row[column] or row[column] > 10 * LEAST for row in known.exact))
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


# --------------------------------------------------------------------------------------- where


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
