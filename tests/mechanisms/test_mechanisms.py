"""Mechanisms: exactly private, rightly random, unbiased, and unforgiving about what goes in."""

import hashlib
import itertools
import math
import os
import tracemalloc
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

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
    HadamardResponse,
    Staircase,
    SubsetSelection,
    mechanisms,
)
from deptriad.mechanisms.chance import word_source
from deptriad.mechanisms.olh import digits
from deptriad.rivals import measures

BUDGETS = [1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
SIZES = [2, 3, 4, 7, 10, 50, 64, 65, 130, 1000]
KINDS = list(mechanisms.values())
SUPPORT_KINDS = [kind for kind in KINDS if kind is not Staircase]
CHANNEL = [[0.5, 0.2, 0.2, 0.1], [0.2, 0.5, 0.1, 0.2], [0.3, 0.2, 0.4, 0.1]]


def make_all(size, epsilon):
    return [kind(size, epsilon) for kind in KINDS]


def named(mechanism):
    return repr(mechanism)


# ------------------------------------------------------------------------------- exactly within e^ε


def exp_below(epsilon):
    """A rational below e^ε, by twice as many digits as the package has."""
    with localcontext() as context:
        context.prec = 120
        return Fraction(Decimal(epsilon).exp()) * (1 - Fraction(1, 10**110))


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


def largest_ratio(matrix):
    return max(max(column) / min(column) for column in zip(*matrix, strict=True))


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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", BUDGETS)
def test_staircase_has_only_the_columns_it_says(size, epsilon):
    counts = Staircase(size, epsilon)._counts
    assert {sum(row) for row in counts.tolist()} == {2**63}
    bound = exp_below(epsilon)
    for most, least in zip(counts.max(axis=0).tolist(), counts.min(axis=0).tolist(), strict=True):
        assert most <= bound * least


@pytest.mark.parametrize("epsilon", [30.0, 50.0, 100.0, 1e6, 1e308])
@pytest.mark.parametrize("kind", KINDS)
def test_huge_budgets_stay_finite(kind, epsilon):
    mechanism = kind(10, epsilon)
    assert 20.0 < mechanism.realised_epsilon <= min(epsilon, 90.0)
    reports = mechanism.perturb(np.arange(10), np.random.default_rng(1))
    assert mechanism.estimate(reports).frequencies.shape == (10,)


# ------------------------------------------------------------- the loops do what the thresholds say


def tape(words):
    """A source that gives the words listed, in order."""
    left = iter(words)
    return lambda count: np.array([next(left, 0) for _ in range(count)], dtype=np.uint64)


@pytest.mark.parametrize("size, epsilon", [(50, 1.0), (5, 0.5), (1000, 1e-3), (50, 20.0)])
def test_randomised_response_cuts_words_where_it_says(size, epsilon):
    grr = GRR(size, epsilon)
    cell, bits = grr._cell
    assert bits == (32 if epsilon in (1.0, 0.5) else 64)
    numbers = sorted({k * cell + step for k in range(size + 1) for step in (-1, 0)} - {-1})
    numbers.append(2**bits - 1)
    expected = [n // cell if n < size * cell else 1 for n in numbers]
    words = numbers
    if bits == 32:
        even = numbers + [0] * (len(numbers) % 2)
        words = [low + (high << 32) for low, high in zip(even[::2], even[1::2], strict=True)]
    codes = np.ones(len(numbers), dtype=np.uint32)
    assert grr._report(codes, tape(words)).tolist() == expected
    assert grr.probabilities[1] == Fraction(cell, 2**bits)


@pytest.mark.parametrize("mechanism", [Channel(CHANNEL), Staircase(9, 1.0)], ids=named)
def test_tables_cut_words_where_they_say(mechanism):
    for value, row in enumerate(mechanism.probabilities):
        edges = [int(edge * 2**63) for edge in itertools.accumulate(row)]
        numbers = [0, *(edge + step for edge in edges[:-1] for step in (-1, 0)), 2**63 - 1]
        expected = [sum(edge <= number for edge in edges) for number in numbers]
        codes = np.full(len(numbers), value, dtype=np.uint32)
        words = [2 * number + 1 for number in numbers]
        assert mechanism._report(codes, tape(words)).tolist() == expected


@pytest.mark.parametrize("kind", [SUE, OUE])
@pytest.mark.parametrize("size", [3, 64, 70])
def test_unary_bits_are_set_below_the_threshold_only(kind, size):
    mechanism = kind(size, 1.0)
    keep, add = (int(chance * 2**64) for chance in mechanism.probabilities)
    for true, other in itertools.product((-1, 0), repeat=2):
        # bit i of the words is the number add + other in all lanes, most significant bit first
        needed = 64 - (add & -add).bit_length() + 1  # the last bit of the threshold decides
        lanes = [(2**64 - 1) * ((add + other) >> (63 - i) & 1) for i in range(needed)]
        words = [keep + true, *lanes, *lanes]
        report = mechanism._report(np.array([1], dtype=np.uint32), tape(words))
        bits = np.unpackbits(report, axis=1, bitorder="little")[0, :size]
        expected = [other < 0] * size
        expected[1] = true < 0
        assert bits.tolist() == expected


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 50, 1000, 65536, 65537])
def test_bounded_draws_are_exactly_uniform(count):
    from deptriad.mechanisms._kernels import _draw

    excess = 2**32 % count
    for number in {0, 1, count // 2, count - 1} & set(range(count)):
        first, after = -(-number * 2**32 // count), -(-(number + 1) * 2**32 // count)
        rejected = [
            half
            for half in range(first, min(first + 2, after))
            if _draw(np.uint64(half), count) < 0
        ]
        assert after - first - len(rejected) == 2**32 // count
        assert all(half * count % 2**32 < excess for half in rejected)
        assert _draw(np.uint64(after - 1), count) == number


def test_a_rejected_draw_starts_the_record_again():
    subset = SubsetSelection(10, 1.0)
    row = int(subset._words)
    good = [0] + [0x9ABCDEF012345678] * (row - 1)
    bad = [2**64 - 1] + [0] * (row - 1)  # zeros are rejected below any count but a power of two
    codes = np.array([4, 4], dtype=np.uint32)
    once = subset._report(codes, tape(good + good))
    again = subset._report(codes, tape(bad + good + good))
    assert once.tolist() == again.tolist()
    assert subset.supported(again)[:, 4].all()


def test_hadamard_halves():
    hadamard = HadamardResponse(5, 1.0)
    keep = int(hadamard.probabilities[0] * 2**64)
    for value in range(5):
        codes = np.full(8, value, dtype=np.uint32)
        for word, wanted in ((keep - 1, True), (keep, False)):
            reports = hadamard._report(codes, tape([word] * 8 + list(range(8))))
            assert (hadamard.supported(reports)[:, value] == wanted).all()
            assert np.bincount(reports.astype(int), minlength=8).max() == 2


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


def test_a_channel_follows_its_matrix():
    channel, rng = Channel(CHANNEL), np.random.default_rng(21)
    for value, row in enumerate(CHANNEL):
        seen = np.bincount(channel.perturb(np.full(200_000, value), rng), minlength=4)
        assert stats.chisquare(seen, np.array(row) * 200_000).pvalue > 1e-6


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


def test_hashes_of_any_two_values_are_independent():
    """The same hash in 8 bits instead of 32, over all seeds: 4-bit values, the upper 5 bits kept."""
    slope, shift = (part.ravel() for part in np.meshgrid(np.arange(256), np.arange(256)))
    hashes = [(slope * value + shift) % 256 >> 3 for value in range(16)]
    for one, other in itertools.combinations(hashes, 2):
        assert (np.bincount(one * 32 + other, minlength=1024) == 64).all()


@pytest.mark.parametrize("cells", [2, 4, 7, 1000, 4096])
def test_digits_collide_as_often_as_the_estimate_supposes(cells):
    held = np.bincount((np.arange(1 << 17) * cells) >> 17, minlength=cells)
    low, high = Fraction(1, 7), Fraction(3, 4)
    chance = Fraction(int((held**2).sum()), 1 << 34)

    olh = OLH(5, 1.0)
    olh.__dict__.pop("probabilities", None)
    olh.__dict__.update(cells=cells, levels=(high, low))
    assert olh.probabilities == (high, low + (high - low) * chance)
    seeds = np.random.default_rng(23).integers(0, 2**64, 200_000, dtype=np.uint64)
    same = [digits(np.uint32(value), seeds, cells) for value in (3, 40_000)]
    hits = int((same[0] == same[1]).sum())
    assert stats.binomtest(hits, seeds.size, float(chance)).pvalue > 1e-6


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


# ------------------------------------------------------------------------------------------- peers

PEERS = "pip install 'xxhash<4' multi-freq-ldpy==0.2.5 pure-ldp==1.2 scikit-learn"


@pytest.fixture
def multi_freq_ldpy():
    reason = f"multi-freq-ldpy cannot be imported: {PEERS}"
    return {
        name: pytest.importorskip(f"multi_freq_ldpy.pure_frequency_oracles.{name}", reason=reason)
        for name in ("GRR", "UE", "SS", "LH", "Variance_PURE")
    }


@pytest.fixture
def pure_ldp():
    reason = f"pure-ldp cannot be imported: {PEERS}"
    return pytest.importorskip("pure_ldp.frequency_oracles", reason=reason)


def normalised(mechanism, reports):
    clipped = mechanism.estimate(reports).frequencies.clip(0)
    return clipped / clipped.sum()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("size", [2, 5, 20])
def test_estimates_agree_with_multi_freq_ldpy(multi_freq_ldpy, size, epsilon, rng):
    codes = rng.integers(0, size, 3000)
    grr, sue, oue, subset = (kind(size, epsilon) for kind in (GRR, SUE, OUE, SubsetSelection))
    told = grr.perturb(codes, rng)
    theirs = multi_freq_ldpy["GRR"].GRR_Aggregator_MI(told.tolist(), size, epsilon)
    np.testing.assert_allclose(theirs, normalised(grr, told), atol=1e-4)
    for unary, optimal in ((sue, False), (oue, True)):
        told = unary.perturb(codes, rng)
        rows = list(unary.supported(told).astype(float))
        theirs = multi_freq_ldpy["UE"].UE_Aggregator_MI(rows, epsilon, optimal)
        np.testing.assert_allclose(theirs, normalised(unary, told), atol=1e-9)
    told = subset.perturb(codes, rng)
    sets = [np.flatnonzero(row) for row in subset.supported(told)]
    assert {len(chosen) for chosen in sets} == {subset.width}
    theirs = multi_freq_ldpy["SS"].SS_Aggregator_MI(sets, size, epsilon)
    np.testing.assert_allclose(theirs, normalised(subset, told), atol=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5, 5.0])
def test_variance_agrees_with_multi_freq_ldpy(multi_freq_ldpy, epsilon):
    base = np.exp(epsilon)
    cells = round(base) + 1
    peer = multi_freq_ldpy["Variance_PURE"].VAR_Pure
    half = np.exp(epsilon / 2)
    parameters = {
        GRR: (base / (base + 19), 1 / (base + 19)),
        SUE: (half / (half + 1), 1 / (half + 1)),
        OUE: (0.5, 1 / (base + 1)),
        OLH: (base / (base + cells - 1), 1 / cells),
        HadamardResponse: (base / (base + 1), 0.5),
    }
    for kind, (p, q) in parameters.items():
        mechanism = kind(20, epsilon)
        np.testing.assert_allclose(
            [float(chance) for chance in mechanism.probabilities], (p, q), rtol=1e-6
        )
        assert mechanism.variance(1000, 0.3) == pytest.approx(peer(p, q, 1000, 0.3), rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5, 5.0])
def test_parameters_agree_with_pure_ldp(pure_ldp, epsilon):
    from pure_ldp.frequency_oracles.direct_encoding import DEClient
    from pure_ldp.frequency_oracles.local_hashing import LHClient
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    hashing = LHClient(epsilon, 20, use_olh=True)
    assert OLH(20, epsilon).cells == hashing.g
    pairs = [
        (GRR(20, epsilon).probabilities, DEClient(epsilon, 20)),
        (SUE(20, epsilon).probabilities, UEClient(epsilon, 20)),
        (OUE(20, epsilon).probabilities, UEClient(epsilon, 20, use_oue=True)),
        (OLH(20, epsilon).levels, hashing),
    ]
    for ours, theirs in pairs:
        np.testing.assert_allclose(
            [float(chance) for chance in ours], (theirs.p, theirs.q), rtol=1e-6
        )


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
    "olh": "db95fb6aa1a41386",
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


@pytest.mark.parametrize("mechanism", make_all(20, 1.0), ids=named)
def test_the_default_is_the_secure_source(mechanism, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "urandom", lambda count: asked.append(count) or bytes(count))
    codes = np.arange(1000) % 20
    monkeypatch.setattr(np.random, "default_rng", None)
    if not isinstance(
        mechanism, SubsetSelection
    ):  # for ever rejects the zeros that this source gives
        mechanism.perturb(codes)
        assert sum(asked) >= 4000


@pytest.mark.parametrize("mechanism", make_all(20, 1.0), ids=named)
def test_no_global_seed_has_a_say(mechanism):
    codes = np.arange(1000) % 20
    np.random.seed(1)  # noqa: NPY002
    first = mechanism.perturb(codes)
    np.random.seed(1)  # noqa: NPY002
    assert (mechanism.perturb(codes) != first).any()
    assert mechanism.estimate(first).n == 1000


@pytest.mark.parametrize("count", [0, 1, 1000, 1 << 15, 100_001])
def test_secure_words_are_as_many_as_asked_for_and_differ(count):
    words = word_source(None)(count)
    assert words.size == count
    assert words.flags.writeable
    assert np.unique(words).size == count
    ones = np.bitwise_count(words).sum()
    assert stats.binomtest(int(ones), 64 * count).pvalue > 1e-9 if count else True


@pytest.mark.parametrize("wrong", [1, "seed", np.random.RandomState(1)])
def test_a_seed_is_not_a_generator(wrong):
    with pytest.raises(TypeError, match=r"expected numpy\.random\.default_rng"):
        GRR(3, 1.0).perturb([0], rng=wrong)


@pytest.mark.parametrize("mechanism", make_all(50, 1.0), ids=named)
def test_memory_does_not_grow_with_the_records(mechanism, rng):
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
def test_codes_outside_the_alphabet_are_refused(mechanism, kind, rng):
    for bad in (-1, 4, 100, -128):
        codes = np.array([0, 1, bad, 3], dtype=kind)
        with pytest.raises(ValueError, match=rf"codes\[2\] is {bad}, expected 0 … 3: .* missing"):
            mechanism.perturb(codes, rng)


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


# ------------------------------------------------------------------------------ channels, staircases


def test_a_channel_tells_its_true_budget():
    assert Channel([[0.75, 0.25], [0.25, 0.75]]).epsilon == pytest.approx(math.log(3), rel=1e-15)
    assert Channel([[0.75, 0.25], [0.25, 0.75]]).worst_ratio == 3
    assert Channel([[0.5, 0.5], [0.5, 0.5]]).epsilon == 0.0
    assert Channel(np.eye(3)).epsilon == math.inf
    assert Channel([[1 - 1e-300, 1e-300], [0.5, 0.5]]).epsilon < math.inf
    for kind in (GRR, Staircase, HadamardResponse, SUE):
        mechanism = kind(5, 1.0)
        assert Channel(mechanism.matrix()).epsilon == pytest.approx(1.0, rel=1e-6)


def test_channels_are_the_same_if_their_tables_are():
    one, same, other = Channel(CHANNEL), Channel(np.array(CHANNEL)), Channel(CHANNEL[::-1])
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert repr(one) == "Channel(3 × 4, epsilon=1.38629)"
    assert GRR(3, 1) == GRR(3, 1.0) != SUE(3, 1.0)
    assert repr(GRR(3, 1)) == "GRR(size=3, epsilon=1.0)"


def test_exact_rows_of_a_channel_sum_to_one(rng):
    table = rng.exponential(size=(50, 70)) * (rng.random((50, 70)) < 0.5) + 1e-30
    table /= table.sum(axis=1, keepdims=True)
    channel = Channel(table)
    assert all(sum(row) == 1 for row in channel.probabilities)
    np.testing.assert_allclose(channel.matrix(), table, rtol=1e-14, atol=2e-19)
    assert (channel.matrix() > 0).all()


@pytest.mark.parametrize(
    "matrix, message",
    [
        ([[0.5, 0.4], [0.5, 0.5]], "row 0 sums to 0.9"),
        ([[1.5, -0.5], [0.5, 0.5]], "expected a finite number"),
        ([[1.0, 0.0]], "number of rows is 1"),
    ],
)
def test_matrices_that_are_no_channels_are_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        Channel(matrix)


def test_a_channel_that_tells_too_little_can_be_used_but_not_inverted():
    narrow = [[0.5, 0.5], [0.3, 0.7], [0.4, 0.6]]
    level = np.full((3, 3), 1 / 3)
    twins = [[0.6, 0.3, 0.1], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
    for matrix in (narrow, level, twins):
        channel = Channel(matrix)
        reports = channel.perturb([0, 1, 2])
        with pytest.raises(ValueError, match="do not determine the frequencies"):
            channel.estimate(reports)


@pytest.mark.parametrize("size", [*range(2, 32), 100, 199])
def test_staircase_steps_are_those_with_an_inverse(size):
    for epsilon in (0.1, 1.0, 4.0):
        staircase = Staircase(size, epsilon)
        assert np.linalg.cond(staircase.matrix()) < 1e9
        if size > 31:
            continue
        for step in range(1, size):
            other = Staircase(size, epsilon)
            other.__dict__.update(step=step)
            other.__dict__.pop("_heights")
            assert (np.linalg.cond(other.matrix()) < 1e9) == staircase._tells_all(step)


def test_staircase_is_clamped_noise():
    staircase = Staircase(7, 1.0)
    ratio, step, reach = math.exp(-1.0), staircase.step, 6
    far = np.arange(-3000, 3001)
    noise = ratio ** (np.abs(far) // reach + (np.abs(far) % reach >= step))
    noise /= noise.sum()
    for value, row in enumerate(staircase.matrix()):
        clamped = np.clip(value + far, 0, reach)
        expected = np.bincount(clamped, weights=noise, minlength=7)
        np.testing.assert_allclose(row, expected, rtol=1e-9)
