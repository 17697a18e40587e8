"""Mechanisms: exactly private, rightly random, unbiased, and unforgiving about what goes in."""

import hashlib
import itertools
import math
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

import deptriad as dt
from deptriad.mechanisms import (
    GRR,
    OLH,
    OUE,
    SUE,
    Channel,
    Staircase,
    SubsetSelection,
    mechanisms,
)
from deptriad.mechanisms.olh import digits
from deptriad.rivals import measures
from some_mechanisms import (
    BUDGETS,
    CHANNEL,
    KINDS,
    SIZES,
    SUPPORT_KINDS,
    exp_below,
    largest_ratio,
    make_all,
    named,
)

# ------------------------------------------------------------------------------- exactly within e^ε


def exact_matrix(mechanism):
    """The transition matrix in fractions, from what each mechanism does with its thresholds."""
    size = mechanism.size
    if isinstance(mechanism, Staircase | Channel):
        return mechanism.probabilities
    p, q = mechanism.probabilities
    if isinstance(mechanism, GRR):
        return [[p if u == y else q for y in range(size)] for u in range(size)]
    if isinstance(mechanism, SUE | OUE):
        return [[exact_unary(p, q, size, u, y) for y in range(2**size)] for u in range(size)]
    if isinstance(mechanism, SubsetSelection):
        width = mechanism.width
        sets = sorted(sum(1 << u for u in s) for s in itertools.combinations(range(size), width))
        inside = p / math.comb(size - 1, width - 1)
        outside = (1 - p) / math.comb(size - 1, width)
        return [[inside if s >> u & 1 else outside for s in sets] for u in range(size)]
    columns = mechanism.columns
    sign = [[((u + 1) & y).bit_count() % 2 for y in range(columns)] for u in range(size)]
    return [[(1 - p if odd else p) * 2 / columns for odd in row] for row in sign]


def exact_unary(p, q, size, value, report):
    bits = [report >> u & 1 for u in range(size)]
    chances = [p if u == value else q for u in range(size)]
    return math.prod(c if bit else 1 - c for bit, c in zip(bits, chances, strict=True))


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not OLH])
@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_transition_probabilities_are_exactly_private(kind, size, epsilon):
    mechanism = kind(size, epsilon)
    matrix = exact_matrix(mechanism)
    assert all(sum(row) == 1 for row in matrix)
    assert largest_ratio(matrix) == mechanism.worst_ratio <= exp_below(epsilon)
    np.testing.assert_allclose(mechanism.matrix(), np.asarray(matrix, dtype=float), rtol=1e-12)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_budget_is_kept_and_used(kind, size, epsilon):
    mechanism = kind(size, epsilon)
    if not isinstance(mechanism, Staircase):
        high, low = mechanism.levels
        assert mechanism.worst_ratio == high / low
    assert mechanism.worst_ratio <= exp_below(epsilon)
    # rounding towards privacy costs next to nothing
    assert mechanism.realised_epsilon > epsilon * (1 - 1e-3)


@pytest.mark.parametrize("epsilon", [30.0, 50.0, 100.0, 1e6, 1e308])
@pytest.mark.parametrize("kind", KINDS)
def test_huge_budgets_stay_finite(kind, epsilon):
    mechanism = kind(10, epsilon)
    assert 20.0 < mechanism.realised_epsilon <= min(epsilon, 90.0)
    reports = mechanism.perturb(np.arange(10), np.random.default_rng(1))
    assert mechanism.estimate(reports).frequencies.shape == (10,)


# ------------------------------------------------------------------------------ frequencies by chance


def numbers_of(mechanism, reports):
    """Reports as numbers of columns of the matrix."""
    if not isinstance(mechanism, SUE | OUE | SubsetSelection):
        return reports.astype(np.int64)
    packed = sum(reports[:, byte].astype(np.int64) << 8 * byte for byte in range(reports.shape[1]))
    if isinstance(mechanism, SubsetSelection):
        combinations = itertools.combinations(range(mechanism.size), mechanism.width)
        return np.searchsorted(sorted(sum(1 << u for u in s) for s in combinations), packed)
    return packed


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("size", [2, 3, 5, 9])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not OLH])
def test_reports_follow_the_matrix(kind, size, epsilon):
    mechanism, rng = kind(size, epsilon), np.random.default_rng(20)
    matrix = mechanism.matrix()
    for value in range(size):
        reports = mechanism.perturb(np.full(100_000, value), rng)
        seen = np.bincount(numbers_of(mechanism, reports), minlength=matrix.shape[1])
        expected = matrix[value] * 100_000
        few = expected < 5.0
        if few.any():
            seen, expected = (np.append(part[~few], part[few].sum()) for part in (seen, expected))
        assert stats.chisquare(seen, expected, sum_check=False).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("size", [8, 64, 65, 130])
@pytest.mark.parametrize("kind", SUPPORT_KINDS)
def test_support_has_the_probabilities_it_says(kind, size, epsilon):
    mechanism, rng, n = kind(size, epsilon), np.random.default_rng(22), 50_000
    p, q = map(float, mechanism.probabilities)
    for value in (0, size // 2, size - 1):
        reports = mechanism.perturb(np.full(n, value), rng)
        counts = mechanism.support(reports)
        assert (counts == mechanism.supported(reports).sum(axis=0)).all()
        chance = np.where(np.arange(size) == value, p, q)
        low, high = (stats.binom.ppf(tail, n, chance) for tail in (1e-8, 1 - 1e-8))
        assert ((low <= counts) & (counts <= high)).all()


# ---------------------------------------------------------------------------- unbiased, and how sure

SHARES = np.array([0.4, 0.3, 0.2, 0.08, 0.02, 0.0])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("kind", [*KINDS, "channel"])
def test_estimates_are_unbiased_and_their_errors_right(kind, epsilon):
    mechanism = kind(6, epsilon) if kind != "channel" else Channel(GRR(6, epsilon).matrix())
    n, runs, rng = 500, 4000, np.random.default_rng(30)
    codes = np.repeat(np.arange(6), np.rint(SHARES * n).astype(int))
    reports = mechanism.perturb(np.tile(codes, runs), rng)
    estimates = [mechanism.estimate(reports[run * n : (run + 1) * n]) for run in range(runs)]
    found = np.array([estimate.frequencies for estimate in estimates])
    exact = np.sqrt(mechanism.variance(n, SHARES))
    assert (np.abs(found.mean(axis=0) - SHARES) < 4 * exact / np.sqrt(runs)).all()
    np.testing.assert_allclose(found.std(axis=0), exact, rtol=0.05)
    stated = np.array([estimate.standard_errors for estimate in estimates])
    np.testing.assert_allclose(np.sqrt((stated**2).mean(axis=0)), exact, rtol=0.05)
    np.testing.assert_allclose(stated.mean(axis=0), exact, rtol=0.05)
    assert {estimate.n for estimate in estimates} == {n}


@pytest.mark.parametrize("mechanism", [*make_all(70, 1.0), Channel(CHANNEL)], ids=named)
def test_scores_have_the_estimate_as_their_mean(mechanism):
    codes = np.arange(5000) % mechanism.size
    reports = mechanism.perturb(codes, np.random.default_rng(31))
    scores = mechanism.scores(reports)
    assert scores.shape == (5000, mechanism.size)
    estimate = mechanism.estimate(reports)
    np.testing.assert_allclose(scores.mean(axis=0), estimate.frequencies, atol=1e-9)


def test_variances_come_as_they_are_asked_for():
    grr = GRR(5, 1.0)
    assert isinstance(grr.variance(100, 0.2), float)
    assert grr.variance(100, [0.2, 0.3]).shape == (2,)
    assert grr.variance(200, 0.2) == pytest.approx(grr.variance(100, 0.2) / 2)
    shares = np.full(5, 0.2)
    np.testing.assert_allclose(
        Channel(grr.matrix()).variance(100, shares), grr.variance(100, shares), rtol=1e-9
    )
    with pytest.raises(ValueError, match="depends on the shares of all values"):
        Channel(grr.matrix()).variance(100, 0.2)
    with pytest.raises(ValueError, match=r"frequency is 1.5, expected a number in \[0, 1\]"):
        grr.variance(100, 1.5)


# ------------------------------------------------------------------------------------- privacy audit


def audited_epsilon(mechanism, rng, pairs=1_000_000, error=1e-6):
    """A lower bound on the budget really spent, sure up to ``error``: reports of two values, told apart by counts."""
    seen = []
    for value in (0, 1):
        reports = mechanism.perturb(np.full(pairs, value), rng)
        kinds = reports
        if hasattr(
            mechanism, "supported"
        ):  # all that tells the two apart is whether they are supported
            first, second = (
                np.concatenate(
                    [
                        mechanism.supported(reports[k : k + 50_000])[:, u]
                        for k in range(0, pairs, 50_000)
                    ]
                )
                for u in (0, 1)
            )
            kinds = first + 2 * second.astype(np.int64)
        seen.append(np.bincount(kinds, minlength=mechanism.size + 4))
    more, less = (np.concatenate([seen[a], seen[b]]) for a, b in ((0, 1), (1, 0)))
    tail = error / (2 * more.size)
    low = stats.beta.ppf(tail, np.maximum(more, 1), pairs - more + 1) * (more > 0)
    high = np.where(
        less < pairs, stats.beta.ppf(1 - tail, less + 1, np.maximum(pairs - less, 1)), 1
    )
    with np.errstate(divide="ignore"):
        return float(np.log(low / high).max())


@dataclass(frozen=True)
class Careless(GRR):
    """Promises ε and spends 1.05 ε."""

    @property
    def _cell(self):
        return GRR(self.size, 1.05 * self.epsilon)._cell


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("kind", KINDS)
def test_audit_finds_no_more_than_the_budget(kind, epsilon):
    found = audited_epsilon(kind(4, epsilon), np.random.default_rng(40))
    assert 0.9 * epsilon < found <= epsilon


@pytest.mark.slow
def test_audit_finds_a_mechanism_that_spends_more():
    assert audited_epsilon(Careless(4, 1.0), np.random.default_rng(41)) > 1.0
    assert Careless(4, 1.0).realised_epsilon > 1.0


def some_matrix(mechanism, rng):
    """The matrix; for OLH the one of a hash function, of which a report says which it used."""
    if not isinstance(mechanism, OLH):
        return mechanism.matrix()
    seed, values = rng.integers(0, 2**64, 1, dtype=np.uint64), np.arange(mechanism.size)
    hashed = digits(values.astype(np.uint32), seed, mechanism.cells)
    high, low = map(float, mechanism.levels)
    return np.where(hashed[:, None] == np.arange(mechanism.cells), high, low)


@pytest.mark.parametrize("mechanism", [*make_all(6, 1.2), Channel(CHANNEL)], ids=named)
def test_actual_leakage_is_within_the_exact_worst_case(mechanism, rng):
    hcc_1 = measures["hcc-1"].measure
    for _ in range(30):
        weights = rng.exponential(size=(rng.integers(2, 6), mechanism.size))
        table = weights * (rng.random(weights.shape) < 0.8) + 1e-3
        table /= table.sum(axis=1, keepdims=True)
        actual = hcc_1(table, 1.0, mechanism=some_matrix(mechanism, rng).T)
        assert actual <= dt.leakage(table, mechanism.epsilon) * (1 + 1e-12)


# ------------------------------------------------------------------------------- the same, and secure

DIGESTS = {
    "grr": "ed02c70b784fd0f0",
    "sue": "81d7d8f2fadf7cf0",
    "oue": "652bb2a22b359116",
    "olh": "208b9d2954613edd",
    "subset": "c29c3b9d215825b2",
    "hadamard": "5ec7a7edcbdf856b",
    "staircase": "3866aabfbb3b36ba",
}


def digest(reports):
    return hashlib.sha256(reports.astype(reports.dtype.newbyteorder("<")).tobytes()).hexdigest()[
        :16
    ]


@pytest.mark.parametrize("name", mechanisms)
def test_a_seed_gives_the_same_reports_for_ever(name):
    codes = np.arange(1000) % 70
    reports = mechanisms[name](70, 1.0).perturb(codes, np.random.default_rng(7))
    assert digest(reports) == DIGESTS[name]


@pytest.mark.parametrize("mechanism", [*make_all(20, 1.0), Channel(CHANNEL)], ids=named)
def test_reports_do_not_depend_on_how_codes_are_held(mechanism):
    codes = np.arange(1001) % mechanism.size
    frozen = codes.astype(np.int16)
    frozen.flags.writeable = False
    kinds = [
        codes.tolist(),
        codes.astype(np.uint8),
        frozen,
        codes.astype(">i4"),
        np.repeat(codes, 2)[::2],
    ]
    expected = mechanism.perturb(codes, np.random.default_rng(8))
    for kind in kinds:
        assert (mechanism.perturb(kind, np.random.default_rng(8)) == expected).all()
    assert len(mechanism.perturb([], np.random.default_rng(8))) == 0


@pytest.mark.parametrize("mechanism", make_all(50, 1.0), ids=named)
def test_memory_does_not_grow_with_the_records(mechanism):
    rng = np.random.default_rng(1)
    codes = np.zeros(1_500_000, dtype=np.int8)
    mechanism.perturb(codes[:1000], rng)
    tracemalloc.start()
    reports = mechanism.perturb(codes, rng)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < reports.nbytes + 12e6


# ----------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("mechanism", [*make_all(4, 1.0), Channel(np.eye(4))], ids=named)
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
def test_codes_outside_the_alphabet_are_refused(mechanism, kind):
    for bad in (-1, 4, 100, -128):
        codes = np.array([0, 1, bad, 3], dtype=kind)
        with pytest.raises(ValueError, match=rf"codes\[2\] is {bad}, expected 0 … 3: .* missing"):
            mechanism.perturb(codes)


@pytest.mark.parametrize(
    "codes, message",
    [
        ([0.0, 1.0], "type float64, expected whole numbers"),
        ([0, None], "type object, expected whole numbers"),
        (["a"], "expected whole numbers"),
        ([True, False], "type bool, expected whole numbers"),
        ([[0, 1]], "expected one number for each record"),
        (1, "expected one number for each record"),
        (np.ma.array([0, 1], mask=[False, True]), "masked entries"),
        (np.array([2**64 - 1], dtype=np.uint64), "expected 0 … 3"),
    ],
)
def test_codes_that_are_no_codes_are_refused(codes, message):
    with pytest.raises(ValueError, match=message):
        GRR(4, 1.0).perturb(codes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "epsilon", [0.0, -1.0, math.nan, math.inf, -math.inf, "much", None, [1.0, 2.0]]
)
def test_budgets_that_are_none_are_refused(kind, epsilon):
    with pytest.raises(ValueError, match=r"epsilon is .* expected"):
        kind(4, epsilon)


@pytest.mark.parametrize("kind", KINDS)
def test_budgets_too_small_for_the_bits_are_refused(kind):
    with pytest.raises(ValueError, match="too small for 4 values"):
        kind(4, 1e-25)
    least = 1e-7 if kind is Staircase else 1e-12  # whose two steps must differ by whole counts
    assert 0.9 * least < kind(4, least).realised_epsilon <= least


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 0, -3, 2.5, True, "3"])
def test_sizes_that_are_none_are_refused(kind, size):
    with pytest.raises(ValueError, match=r"size is .* at least 2"):
        kind(size, 1.0)


@pytest.mark.parametrize("mechanism", [*make_all(10, 1.0), Channel(CHANNEL)], ids=named)
def test_reports_of_another_shape_are_refused(mechanism):
    reports = mechanism.perturb(np.arange(3), np.random.default_rng(1))
    for wrong in (reports.astype(float), reports[None], reports[:0]):
        with pytest.raises(ValueError, match="reports"):
            mechanism.estimate(wrong)
    full = np.full_like(reports, np.iinfo(reports.dtype).max)
    with pytest.raises(ValueError, match="report"):
        mechanism.estimate(full)


def test_matrices_too_large_are_refused():
    for mechanism in (SUE(17, 1.0), OUE(17, 1.0), OLH(3, 1.0), SubsetSelection(50, 1.0)):
        with pytest.raises(ValueError, match="levels has the two likelihoods"):
            mechanism.matrix()
    with pytest.raises(ValueError, match="at most 65536 values for OLH"):
        OLH(65_537, 1.0)
