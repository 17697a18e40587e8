"""Views: who is asked what, estimates over several of them, weights, and people who leave questions out."""

import itertools
import json
from functools import partial
from hashlib import sha256
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import deptriad as dt
from deptriad.collection.marginal import estimate, estimates
from deptriad.collection.perturb import perturb
from deptriad.collection.score_sums import Told, add_told
from deptriad.collection.split import Planned, Split
from deptriad.collection.view import WHOLE, View, drawn, parts_of
from luck import unless_unlucky
from quick_shares import quick
from worlds import schema_of

LISTED = ["grr", "sue", "oue", "subset", "hadamard", "staircase"]


def separate(names, budgets, ways, share=1.0):
    return View(
        tuple(names),
        dict(zip(names, budgets, strict=True)),
        dict(zip(names, ways, strict=True)),
        share=share,
    )


@st.composite
def some_views(draw, keys):
    """A schema of two or three small attributes, and one to three views of it with uneven shares."""
    schema = schema_of(draw(st.lists(st.integers(2, 3), min_size=2, max_size=3)))
    views, budgets = [], st.floats(0.5, 3.0)
    number = draw(st.integers(1, 3))
    for place in range(number):
        names = draw(st.lists(st.sampled_from(schema.names), min_size=1, max_size=2, unique=True))
        share = 1.0 if number == 1 else [0.5, 0.3, 0.2][place] / sum([0.5, 0.3, 0.2][:number])
        if draw(st.booleans()):
            views.append(View.of_one_value(names, draw(budgets), draw(keys), share))
        else:
            ways = [(draw(budgets), draw(keys)) for _ in names]
            views.append(separate(names, *zip(*ways, strict=True), share))
    return Planned(schema, tuple(views))


def outcomes(strategy, codes, view):
    """Every combination of reports of a record in a view, with its chance."""
    places = strategy.places[view]
    every = []
    for place in places:
        question = strategy.questions[place]
        value = strategy.values(question, codes[None])[0]
        row = question.mechanism.matrix()[value]
        every.append(list(zip(question.mechanism.listed(), row, strict=True)))
    for some in itertools.product(*every):
        yield [report for report, _ in some], np.prod([chance for _, chance in some])


@given(some_views(st.sampled_from(LISTED)), st.randoms(use_true_random=False))
def test_the_mean_over_all_reports_is_the_truth(strategy, chance):
    """By enumeration: of the people of a view the mean score of a cell, over all reports, is 1 for the true one.

    Estimates are means of these over views, whatever the weights are, so that they are unbiased. With the chances of
    the mechanisms as floats, sums of some hundred products are right to 1e-9.
    """
    codes = np.array([chance.randrange(size) for size in strategy.schema.sizes])
    for view, places in enumerate(strategy.places):
        names = [name for place in places for name in strategy.questions[place].names]
        names = chance.sample(names, chance.randrange(1, len(names) + 1))
        own = strategy.asking(names).index(view)
        mean = square = 0.0
        for reports, probability in outcomes(strategy, codes, view):
            sums = strategy.needed(names)[own]
            given_reports = dict(zip(places, reports, strict=True))
            told = {
                place: Told(np.ones(1, dtype=bool), np.asarray(given_reports[place])[None])
                for place in sums.places
            }
            add_told([sums], told, 1)
            found = strategy._summed(sums, names)
            mean = mean + probability * found.scores
            square = square + probability * found.squares
        truth = np.zeros([strategy.schema[name].size for name in names])
        truth[tuple(codes[strategy.schema.index(name)] for name in names)] = 1.0
        np.testing.assert_allclose(mean, truth, atol=1e-9)
        # the precision of the view is that of these very squares, or less
        assert square.sum() <= 1.0 / strategy.precision(view, names) * (1 + 1e-6)


VIEWS = Planned(
    schema_of([2, 3, 4]),
    (
        separate("ab", [1.5, 2.0], ["grr", "olh"], 0.35),
        View.of_one_value("bc", 2.5, "grr", 0.3),
        View.of_one_value("abc", 2.0, "olh", 0.2),
        View.of_one_value("b", 2.0, "oue", 0.15),
    ),
)


def population(n, rng):
    weights = rng.exponential(size=VIEWS.schema.sizes)
    cells = rng.choice(weights.size, n, p=(weights / weights.sum()).ravel())
    return np.column_stack(np.unravel_index(cells, weights.shape))


def frame_of(codes):
    return pd.DataFrame(
        {each.name: np.array(each.categories)[codes[:, i]] for i, each in enumerate(VIEWS.schema)}
    )


def shares_of(codes, names, weights=None):
    own = [VIEWS.schema.index(name) for name in names]
    truth = np.zeros([VIEWS.schema.sizes[place] for place in own])
    np.add.at(truth, tuple(codes[:, own].T), 1.0 if weights is None else weights)
    return truth / truth.sum()


def is_binomial(hits, n, chance):
    """Two-sided, at 1e-10."""
    return stats.binomtest(hits, n, chance).pvalue > 1e-10


@pytest.mark.parametrize("names", [("b",), ("b", "a"), ("c", "b"), ("a", "b", "c")])
def test_standard_errors_hold_over_several_views(names, rng):
    """Intervals of 95 % around 100 collections of 2,000 people; of one cell each, so that they are independent.

    Normal intervals of a sum of 400 and more bounded scores cover 95 ± 1 %: hits are compared with 94 and 96 %.
    """
    codes = population(2000, rng)
    truth = shares_of(codes, names)
    hits = 0
    for _ in range(100):
        found = quick(VIEWS, rng, names, codes)
        error = (found.frequencies - truth).ravel()[0] / np.sqrt(found.variances.ravel()[0])
        hits += abs(error) <= 1.959964
    assert is_binomial(hits, 100, 0.94) or is_binomial(hits, 100, 0.96)


def test_views_are_combined_by_their_precision(rng):
    """The variance that is expected (maths §11): [Σ n_v·h − F·Σ n_v·h²]/(Σ n_v·h)², summed over cells.

    What is told of it by 40,000 people is 0.3 % off: 5 % are 16 standard deviations.
    """
    codes, names = population(40_000, rng), ("b",)
    found = estimate(VIEWS, perturb(VIEWS, frame_of(codes), rng), names, seeded=True)
    worth = np.array([VIEWS.precision(view, names) for view in range(4)])
    people = np.array(VIEWS.parts) / WHOLE * 40_000
    square = float((shares_of(codes, names) ** 2).sum())
    noise = people @ worth - square * (people @ worth**2)
    # that is about a population; the shares among all who reported are known better by (1 − F)/n
    expected = noise / (people @ worth) ** 2 - (1.0 - square) / 40_000
    assert float((found.standard_errors**2).sum()) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("names", [("b",), ("b", "a")])
def test_weights_that_the_aggregator_knows(names, rng):
    """Weights that go with the answers: 80 collections of 2,000 people, whose intervals hold as above."""
    codes = population(2000, rng)
    weights = rng.gamma(2.0, 1.0, 2000) * (1.0 + codes[:, 1])
    truth, plain, hits = shares_of(codes, names, weights), shares_of(codes, names), 0
    for _ in range(80):
        found = quick(VIEWS, rng, names, codes, weights)
        error = (found.frequencies - truth).ravel()[0] / np.sqrt(found.variances.ravel()[0])
        hits += abs(error) <= 1.959964
    assert is_binomial(hits, 80, 0.94) or is_binomial(hits, 80, 0.96)
    assert abs(truth - plain).max() > 0.02


@pytest.mark.parametrize("names", [("b",), ("b", "a")])
def test_weights_may_be_a_column_of_the_reports(names, rng):
    codes, seed = population(2000, rng), int(rng.integers(1 << 30))
    weights = rng.gamma(2.0, 1.0, 2000)
    reports = perturb(VIEWS, frame_of(codes), np.random.default_rng(seed))
    reports["w"] = weights
    found = estimate(VIEWS, reports, names, "raw", weight="w")
    expected = quick(VIEWS, np.random.default_rng(seed), names, codes, weights)
    np.testing.assert_allclose(found.unbiased, expected.frequencies, rtol=1e-9)
    np.testing.assert_allclose(found.standard_errors**2, expected.variances, rtol=1e-9)
    reports["w"] = 3.0
    np.testing.assert_allclose(
        estimate(VIEWS, reports, names, weight="w").standard_errors,
        estimate(VIEWS, reports, names).standard_errors,
        rtol=1e-9,
    )


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_weights_that_are_none(bad, rng):
    reports = perturb(VIEWS, frame_of(population(50, rng)))
    reports["w"] = np.where(np.arange(50) == 7, bad, 1.0)
    with pytest.raises(ValueError, match="weights that are missing, below 0 or not finite"):
        estimate(VIEWS, reports, "b", weight="w")
    with pytest.raises(ValueError, match="a column of reports, expected another"):
        estimate(VIEWS, reports, "b", weight="a")


def test_answers_that_were_left_out(rng):
    """Who leaves out what does not depend on the answers: those who answered are as good as fewer people."""
    codes = population(3000, rng)
    reports = perturb(VIEWS, frame_of(codes), rng)
    whole = estimate(VIEWS, reports, ["a", "b"], "raw")
    asked = (reports["view"] == 1).to_numpy()
    gone = asked & (rng.random(3000) < 0.5)
    part = reports.copy()
    part["b"] = part["b"].where(~gone)
    left = estimate(VIEWS, part, ["a", "b"], "raw")
    assert left.n == whole.n - gone.sum()
    alone = estimate(VIEWS, part[~gone], ["a", "b"], "raw")
    np.testing.assert_allclose(left.unbiased, alone.unbiased, atol=1e-12)
    assert (left.standard_errors >= alone.standard_errors).all()
    assert estimate(VIEWS, part, ["a"]).n == estimate(VIEWS, reports, ["a"]).n


def test_a_report_where_the_view_asks_nothing_is_refused(rng):
    reports = perturb(VIEWS, frame_of(population(200, rng)))
    other = int(np.flatnonzero(reports["view"] == 4)[0])
    reports.loc[other, "a"] = "0"
    with pytest.raises(
        ValueError, match="column 'a' has reports of view 4, which writes none there"
    ):
        estimate(VIEWS, reports, "a", unmarked=True)
    reports["view"] = reports["view"].astype(float).where(reports.index != 3)
    with pytest.raises(ValueError, match="column 'view' has 1 missing values"):
        estimate(VIEWS, reports, "b")


def test_reports_without_a_view_are_those_of_the_only_one(rng):
    split = Split(VIEWS.schema, 6.0)
    reports = perturb(split, frame_of(population(200, rng)))
    one, two = (
        estimate(split, reports, ["a", "c"]),
        estimate(split, reports.drop(columns="view"), ["a", "c"]),
    )
    np.testing.assert_array_equal(one.unbiased, two.unbiased)
    with pytest.raises(ValueError, match="no column 'view'"):
        estimate(VIEWS, perturb(VIEWS, frame_of(population(9, rng))).drop(columns="view"), "b")


def test_old_plans_have_the_fingerprint_that_their_reports_carry():
    """As it was before there were views: the word "Separate", all attributes, and those that are asked."""
    schema = dt.Schema([dt.Attribute(name, ["n", "y"], missing="error") for name in "ab"])
    told = ["Separate", [["a", ["n", "y"]], ["b", ["n", "y"]]], [[["b"], "GRR", (1.5).hex()]]]
    view = View(("b",), {"b": 1.5}, {"b": "grr"})
    expected = sha256(json.dumps(told).encode("ascii")).hexdigest()
    assert Planned(schema, (view,)).fingerprint == expected


# --- who is asked which view ------------------------------------------------------------------------------------------


@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=40))
def test_parts_sum_to_the_whole_and_are_the_shares(shares):
    parts = parts_of(shares)
    assert sum(parts) == WHOLE
    for part, share in zip(parts, shares, strict=True):
        assert abs(part - share / sum(shares) * WHOLE) < 1.0 + 1e-3


def test_a_word_says_the_view():
    parts = parts_of([0.2, 0.5, 0.3])

    class Words(np.random.Generator):
        def integers(self, *args, **more):
            ends = np.cumsum([0, *parts])
            near = [(end + step) % WHOLE for end in ends.tolist() for step in (-1, 0)]
            return np.array(near, dtype=np.uint64) << np.uint64(32)

    found = drawn(8, parts, Words(np.random.PCG64()))
    assert found.tolist() == [2, 0, 0, 1, 1, 2, 2, 0]


def test_views_are_drawn_by_their_shares(rng):
    """A chi-square of 3 degrees above 43.8 has a chance below 1e-9 · 2."""
    found = np.bincount(drawn(100_000, VIEWS.parts, rng), minlength=4)
    expected = np.array(VIEWS.parts) / WHOLE * 100_000
    assert float(((found - expected) ** 2 / expected).sum()) < 48.0


# --- marginals that agree -------------------------------------------------------------------------------------------


def test_estimates_agree_and_are_distributions(rng):
    codes = population(3000, rng)
    found = estimates(VIEWS, perturb(VIEWS, frame_of(codes), rng))
    assert set(found) == {("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")}
    for names, marginal in found.items():
        assert marginal.frequencies.min() >= 0.0
        assert marginal.frequencies.sum() == pytest.approx(1.0, abs=1e-12)
        for axis, name in enumerate(names):
            others = tuple(place for place in range(len(names)) if place != axis)
            margin = marginal.frequencies.sum(axis=others)
            np.testing.assert_allclose(margin, found[name,].frequencies, atol=1e-12)


def test_estimates_that_agree_are_nearer_to_the_truth(rng):
    """Squares of three collections: of 12 populations the share that is left was 0.5 to 0.75."""
    codes = population(20_000, rng)
    frame = frame_of(codes)

    def check():
        plain = agreed = 0.0
        for _ in range(3):
            reports = perturb(VIEWS, frame, rng)
            alone = estimates(VIEWS, reports, post="norm_sub")
            for names, marginal in estimates(VIEWS, reports).items():
                truth = shares_of(codes, names)
                plain += float(((alone[names].frequencies - truth) ** 2).sum())
                agreed += float(((marginal.frequencies - truth) ** 2).sum())
        assert agreed < 0.95 * plain

    unless_unlucky(check, 0.02)


def test_what_is_wanted_of_estimates(rng):
    reports = perturb(VIEWS, frame_of(population(100, rng)))
    assert list(estimates(VIEWS, reports, [("c", "a"), "b"])) == [("c", "a"), ("b",)]
    assert len(estimates(VIEWS, reports, 3)) == sum(comb(3, size) for size in (1, 2, 3))
    with pytest.raises(ValueError, match="expected each name once"):
        estimates(VIEWS, reports, [("a", "a")])
    with pytest.raises(ValueError, match="post is 'agreed', expected 'agree', 'raw', 'clip' or"):
        estimates(VIEWS, reports, post="agreed")


@pytest.mark.parametrize("weight", [None, "w"])
def test_each_by_itself_is_what_estimate_gives(weight, rng):
    """Also where parts of one value are summed together; they agree only where they are made to."""
    reports = perturb(VIEWS, frame_of(population(500, rng)), rng)
    reports["w"] = 0.5 + rng.random(500)
    agree = estimates(VIEWS, reports, weight=weight)
    for post in ("raw", "clip", "norm_sub"):
        for names, found in estimates(VIEWS, reports, post=post, weight=weight).items():
            alone = estimate(VIEWS, reports, names, post, weight=weight)
            np.testing.assert_array_equal(found.frequencies, alone.frequencies)
            np.testing.assert_array_equal(agree[names].unbiased, alone.unbiased)
            np.testing.assert_array_equal(found.standard_errors, alone.standard_errors)


def test_views_are_simulated_as_they_are_collected(rng):
    """Means over 100 simulated collections of 3,000 people: six standard errors, 2e-9 a number."""
    codes = population(3000, rng)
    counts = np.zeros(VIEWS.schema.sizes, dtype=int)
    np.add.at(counts, tuple(codes.T), 1)

    def check(names):
        every = [estimate(VIEWS, dt.simulate(counts, VIEWS, rng), names) for _ in range(100)]
        found = np.array([each.unbiased for each in every])
        errors = np.mean([each.standard_errors**2 for each in every], axis=0)
        off = np.abs(found.mean(axis=0) - shares_of(codes, names))
        assert (off < 6 * np.sqrt(errors / 100)).all()
        # the variance of a variance of 100: 1/√50 of it, near normal
        assert (np.abs(found.var(axis=0, ddof=1) / errors - 1.0) < 6 / np.sqrt(50)).all()

    for names in (("b",), ("c", "b")):
        unless_unlucky(partial(check, names), 0.001)


def test_priors_are_learnt_from_views(rng):
    """Of ten million like these people a table's entry has a standard error of at most 0.004: 0.05 are 12 of them."""
    codes = population(20_000, np.random.default_rng(2))
    counts = np.zeros(VIEWS.schema.sizes, dtype=int)
    np.add.at(counts, tuple(codes.T), 500)
    prior = VIEWS.prior(dt.simulate(counts, VIEWS, rng))
    for source, target in itertools.permutations("abc", 2):
        joint = shares_of(codes, (target, source))
        truth = joint / joint.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(prior.table(source, target).table, truth, atol=0.05)
        box = prior.box(source, target, dt.Confidence(1.0 - 1e-11))
        assert (box.lower <= truth).all()
        assert (truth <= box.upper).all()


@pytest.mark.parametrize(
    "views, said",
    [
        ((), "expected at least one View"),
        ((View.of_one_value("a", 1.0, "grr", 0.5),), "sum to 0.5, expected 1"),
        ((View.of_one_value("z", 1.0, "grr"),), "'z'"),
    ],
)
def test_views_that_are_none(views, said):
    with pytest.raises((ValueError, KeyError), match=said):
        Planned(VIEWS.schema, views)
