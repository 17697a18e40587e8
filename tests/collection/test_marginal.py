"""Marginals: unbiased, with the right standard errors, for all strategies; and what post-processing does."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt
from deptriad.collection import report_format
from deptriad.collection.marginal import Marginal, estimate
from deptriad.collection.perturb import perturb
from deptriad.collection.post_processing import clip, norm_sub, raw
from deptriad.collection.sample import Sample
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.split import Separate, Split
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
from deptriad.metrics import total_variation_distance
from luck import unless_unlucky
from quick_shares import quick

SCHEMA = dt.Schema(
    [
        dt.Attribute("a", ["x", "y"], missing="error"),
        dt.Attribute("b", ["p", "q", "r"], missing="error"),
        dt.Attribute("c", ["k", "l", "m", "n"], missing="error"),
    ]
)
NAMES = SCHEMA.names
N, REPEATS = 1000, 100


def some_codes(n=N):
    rng = np.random.default_rng(0)
    a = rng.choice(2, n, p=[0.7, 0.3])
    b = (a + (rng.random(n) < 0.3)) % 3
    c = np.where(rng.random(n) < 0.6, b, rng.integers(0, 4, n))
    return np.column_stack([a, b, c])


CODES = some_codes()


def truth(names):
    places = [SCHEMA.index(name) for name in names]
    counts = np.zeros([SCHEMA.sizes[place] for place in places])
    np.add.at(counts, tuple(CODES[:, places].T), 1.0)
    return counts / len(CODES)


def as_frame(columns):
    return report_format.framed(columns, "pandas")


CHANNEL = Channel([[0.6, 0.3, 0.1], [0.2, 0.4, 0.4]])
CASES = {
    "split grr": (Split(SCHEMA, 6.0, "grr"), ("b", "a")),
    "three-way": (Split(SCHEMA, 9.0, "grr"), ("c", "a", "b")),
    "split olh": (Split(SCHEMA, 6.0, "olh"), ("a", "b")),
    "split oue": (Split(SCHEMA, 6.0, "oue"), ("c", "b")),
    "mixed": (
        Separate(SCHEMA, {"a": CHANNEL, "b": OLH(3, 2.0), "c": SubsetSelection(4, 1.0)}),
        NAMES,
    ),
    "mixed numbers": (
        Separate(SCHEMA, {"a": CHANNEL, "b": HadamardResponse(3, 2.0), "c": Staircase(4, 2.0)}),
        ("a", "c"),
    ),
    "mixed bits": (Separate(SCHEMA, {"a": SUE(2, 1.0), "b": GRR(3, 1.5)}), ("a", "b")),
    "sample one": (Sample(SCHEMA, 2.0, "grr"), ("c",)),
    "sample pair": (Sample(SCHEMA, 3.0, "grr", k=2), ("c", "a")),
    "sample pair olh": (Sample(SCHEMA, 3.0, "olh", k=2), ("b", "c")),
    "sample pair, one of it": (Sample(SCHEMA, 3.0, "grr", k=2), ("b",)),
    "sample pair oue, one of it": (Sample(SCHEMA, 3.0, "oue", k=2), ("a",)),
    "nearly no noise": (Sample(SCHEMA, 12.0, "grr"), ("b",)),
    "fakes": (SampleWithFakes(SCHEMA, 2.0, "grr"), ("c",)),
    "fakes oue": (SampleWithFakes(SCHEMA, 2.0, "oue"), ("b",)),
    "fakes olh": (SampleWithFakes(SCHEMA, 2.0, "olh"), ("c",)),
}


@pytest.mark.parametrize("case", CASES)
def test_estimates_are_unbiased_and_their_standard_errors_right(case, rng):
    """Means over repetitions within 4.5 standard errors; errors of all cells together right to 5 % or 3.5 errors.

    Of up to 24 cells one fails by chance in 3,000 draws, their sum in 1,000.
    """
    strategy, names = CASES[case]
    true = truth(names)

    def check():
        found = [quick(strategy, rng, names, CODES) for _ in range(REPEATS)]
        shares = np.array([each.frequencies for each in found])
        said = np.sqrt(np.mean([each.variances for each in found], axis=0))
        assert (np.abs(shares.mean(axis=0) - true) < 4.5 * said / math.sqrt(REPEATS) + 1e-9).all()
        seen = np.sqrt(((shares - true) ** 2).mean(axis=0))
        total = math.sqrt((seen**2).sum() / (said**2).sum())
        # a mean of REPEATS × cells squares, of which cells − 1 at best are independent
        free = REPEATS * max(1, true.size // 2)
        assert abs(total - 1.0) < max(0.05, 3.5 / math.sqrt(2 * free))
        np.testing.assert_allclose(seen, said, rtol=4.5 / math.sqrt(2 * REPEATS), atol=1e-12)

    unless_unlucky(check, 0.01)


@pytest.mark.parametrize("names", [("a",), ("c", "a"), NAMES])
def test_intervals_cover(names, rng):
    """Of one cell, 400 intervals of 90 % cover 87 to 93 % but in a draw of 20."""
    strategy, true = Split(SCHEMA, 6.0), truth(names)

    def check():
        hits = []
        for _ in range(400):
            shares = quick(strategy, rng, names, CODES)
            found = Marginal(
                names, (), shares.frequencies, np.sqrt(shares.variances), shares.frequencies, N
            )
            lower, upper = found.interval(0.9)
            hits.append((lower <= true) & (true <= upper))
        assert abs(np.mean(hits) - 0.9) < 0.03

    unless_unlucky(check, 0.1)


def brute_inverse(names, strategy, reports):
    """Joint distribution of the reports, solved for that of the values by one big matrix."""
    places = [SCHEMA.index(name) for name in names]
    tables = [strategy.questions[place].mechanism.matrix() for place in places]
    big = tables[0]
    for table in tables[1:]:
        big = np.kron(big, table)
    labels = [list(SCHEMA[name].values) for name in names]
    codes = [reports[name].map(values.index) for name, values in zip(names, labels, strict=True)]
    sizes = [len(values) for values in labels]
    cells = np.ravel_multi_index([np.asarray(each, dtype=int) for each in codes], sizes)
    seen = np.bincount(cells, minlength=math.prod(sizes)) / len(reports)
    return np.linalg.solve(big.T, seen).reshape(sizes)


@pytest.mark.parametrize("names", [("a",), ("b", "a"), ("c", "b", "a")])
def test_mode_by_mode_is_the_inverse_of_the_big_matrix(names):
    strategy = Split(SCHEMA, 3.0, "grr")
    reports = as_frame(strategy.report(CODES, np.random.default_rng(1)))
    found = estimate(strategy, reports, names, "raw").frequencies
    np.testing.assert_allclose(found, brute_inverse(names, strategy, reports), atol=1e-10)


def test_one_attribute_is_what_the_mechanism_estimates():
    for key in mechanisms:
        split = Split(SCHEMA, 6.0, key)
        mechanism = split.questions[2].mechanism
        rng = np.random.default_rng(2)
        reports = mechanism.perturb(CODES[:, 2], rng)
        frame = as_frame(split.questions[2].written(reports))
        found, expected = estimate(split, frame, "c", "raw"), mechanism.estimate(reports)
        np.testing.assert_allclose(found.frequencies, expected.frequencies, atol=1e-12)
        np.testing.assert_allclose(found.standard_errors, expected.standard_errors, rtol=1e-9)


def test_fakes_have_the_published_estimator():
    """(c·d·b − n(d − 1 + q·b))/(n·b·(p − q)), Arcolezi and others 2021."""
    fakes = SampleWithFakes(SCHEMA, 1.0, "grr")
    reports = as_frame(fakes.report(CODES, np.random.default_rng(3)))
    p, q = map(float, fakes.questions[2].mechanism.probabilities)
    counts = reports["c"].value_counts().reindex(SCHEMA["c"].values).to_numpy()
    d, b, n = 3, 4, len(reports)
    expected = (counts * d * b - n * (d - 1 + q * b)) / (n * b * (p - q))
    np.testing.assert_allclose(estimate(fakes, reports, "c", "raw").frequencies, expected)


@pytest.mark.parametrize("key", ["grr", "sue", "oue"])
def test_fakes_agree_with_multi_freq_ldpy(key):
    """The peer's estimators on the same reports, which it clips and scales; of unary ones those with random fakes."""
    peer = pytest.importorskip("multi_freq_ldpy.mdim_freq_est.RSpFD_solution")
    fakes = SampleWithFakes(SCHEMA, 1.0, key)
    columns = fakes.report(CODES, np.random.default_rng(3))
    reports = fakes.tell(CODES, np.random.default_rng(3)).reports
    if key == "grr":
        theirs = peer.RSpFD_GRR_Aggregator_MI(np.column_stack(reports), SCHEMA.sizes, 3, 1.0)
    else:
        pairs = zip(fakes.questions, reports, strict=True)
        bits = [each.mechanism.supported(own).astype(int) for each, own in pairs]
        tuples = [[own[row] for own in bits] for row in range(N)]
        theirs = peer.RSpFD_UE_rnd_Aggregator_MI(tuples, SCHEMA.sizes, 3, 1.0, key == "oue")
    for name, expected in zip(NAMES, theirs, strict=True):
        own = estimate(fakes, as_frame(columns), name, "clip").frequencies
        np.testing.assert_allclose(own, np.asarray(expected, dtype=float), atol=1e-5)


# ------------------------------------------------------------------------------------------ a marginal


def test_the_order_of_attributes_is_the_order_of_axes():
    for strategy in (Split(SCHEMA, 6.0), Sample(SCHEMA, 6.0, "grr", k=3), Sample(SCHEMA, 6.0, k=2)):
        reports = as_frame(strategy.report(CODES, np.random.default_rng(1)))
        one = estimate(strategy, reports, ["c", "a"])
        two = estimate(strategy, reports, ["a", "c"])
        assert one.frequencies.shape == one.standard_errors.shape == (4, 2)
        np.testing.assert_allclose(one.frequencies, two.frequencies.T, atol=1e-12)


def test_a_marginal_as_a_frame_and_in_words():
    split = Split(SCHEMA, 6.0)
    reports = as_frame(split.report(CODES, np.random.default_rng(1)))
    found = estimate(split, reports, ["b", "a"])
    frame = found.to_frame()
    assert list(frame.columns) == ["b", "a", "frequency", "standard_error"]
    assert frame["a"].tolist() == ["x", "y"] * 3
    assert math.isclose(frame["frequency"].sum(), 1.0)
    assert found.n == N
    assert repr(found).startswith("Marginal(b & a: 3 × 2, 1,000 reports")
    assert found.distance(truth(("b", "a"))) < 0.2


@pytest.mark.parametrize(
    "names, said",
    [
        ([], "attributes is empty"),
        (["a", "a"], "each name once"),
        (["d"], "no attribute 'd'"),
    ],
)
def test_wrong_names(names, said):
    split = Split(SCHEMA, 6.0)
    reports = as_frame(split.report(CODES[:10]))
    with pytest.raises(ValueError, match=said):
        estimate(split, reports, names)
    with pytest.raises(ValueError, match="post is 'none'"):
        estimate(split, reports, "a", post="none")


def test_what_a_strategy_cannot_tell():
    sample, fakes = Sample(SCHEMA, 1.0), SampleWithFakes(SCHEMA, 1.0)
    with pytest.raises(ValueError, match="never asked together"):
        estimate(sample, as_frame(sample.report(CODES)), ["a", "b"])
    with pytest.raises(ValueError, match="at most one of a user's reports is true"):
        estimate(fakes, as_frame(fakes.report(CODES)), ["a", "b"])
    with pytest.raises(ValueError, match="no reports"):
        estimate(sample, as_frame(sample.report(CODES[:0])), ["a"])


# -------------------------------------------------------------------------------------- distributions

SHARES = st.lists(st.floats(-3, 3), min_size=1, max_size=12)


@given(SHARES)
def test_post_processing_gives_distributions(shares):
    for post in (clip, norm_sub):
        found = post(shares)
        assert (found >= 0).all()
        assert math.isclose(found.sum(), 1.0, rel_tol=1e-9)
        order = np.argsort(shares)
        assert (np.diff(found[order]) >= -1e-12).all()
    assert raw(shares).tolist() == shares


@given(SHARES)
def test_norm_sub_is_the_nearest_distribution(shares):
    """Against corners and mixtures of the simplex: none is nearer."""
    found = norm_sub(shares)
    rng = np.random.default_rng(0)
    others = [*np.eye(len(shares)), *rng.dirichlet(np.ones(len(shares)), 20)]
    nearest = np.sum((found - shares) ** 2)
    for other in [*others, *((found + each) / 2 for each in others)]:
        assert nearest <= np.sum((other - shares) ** 2) + 1e-9


def test_distributions_stay_as_they_are():
    for post, shares in itertools.product(
        (clip, norm_sub, raw), ([1.0], [0.25, 0.75], [[0.5], [0.5]])
    ):
        np.testing.assert_allclose(post(shares), shares)


def test_total_variation():
    assert total_variation_distance([0.5, 0.5], [1.0, 0.0]) == 0.5


def test_the_shape_that_users_rely_on():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.choice(["x", "y", "z"], 500), "b": rng.choice(["p", "q", "r"], 500)}
    )
    split = Split(dt.Schema.infer(frame), 3.0)
    found = estimate(split, perturb(split, frame, rng=rng), ["a", "b"])
    assert np.asarray(found.frequencies).shape == np.asarray(found.standard_errors).shape == (3, 3)


def test_unary_reports_count_as_the_mechanism_says():
    schema = dt.Schema([dt.Attribute("v", list(range(50)), missing="error")])
    split = Split(schema, 1.0, "oue")
    assert isinstance(split.questions[0].mechanism, OUE)
    codes = np.random.default_rng(0).integers(0, 50, (3000, 1))
    reports = as_frame(split.report(codes, np.random.default_rng(1)))
    assert reports["v"].str.fullmatch("x[0-9a-f]{14}").all()
    assert estimate(split, reports, "v", "raw").frequencies.shape == (50,)


def test_records_in_place_of_reports_are_noticed(rng):
    schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in "ab"])
    frame = pd.DataFrame({name: rng.choice(["no", "yes"], 5000, p=[0.9, 0.1]) for name in "ab"})
    split = dt.Split(schema, 1.0, "grr")
    for names in ("a", ["a", "b"]):
        with pytest.raises(ValueError, match=r"no reports of 'a' by GRR: .* never perturbed"):
            estimate(split, frame, names)
        assert "taken all the same" in estimate(split, frame, names, implausible=True).note


def test_reports_are_not_taken_for_records(rng):
    schema = dt.Schema([dt.Attribute(name, ["no", "yes"], missing="error") for name in "ab"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (1, 3, 30, 3000):
            frame = pd.DataFrame(
                {name: rng.choice(["no", "yes"], n, p=[0.99, 0.01]) for name in "ab"}
            )
            for mechanism in ("grr", "oue", "olh", "hadamard"):
                split = dt.Split(schema, 1.0, mechanism)
                for names in ("a", ["a", "b"]):
                    estimate(split, perturb(split, frame, rng), names)
        # views of few users, in which most values are never reported
        wide = dt.Schema([dt.Attribute(name, list(range(20)), missing="error") for name in "ab"])
        many = pd.DataFrame({name: rng.integers(0, 20, 200) for name in "ab"})
        for strategy in (dt.Sample(wide, 1.0, "grr", k=2), dt.Split(wide, 1.0, "oue")):
            estimate(strategy, perturb(strategy, many, rng), ["a", "b"])


def test_parts_of_one_value_among_many_take_no_table_of_all_its_pairs(rng):
    """64,000 values: their table of scores would have 33 GB."""
    schema = dt.Schema(
        [
            dt.Attribute(name, [f"{name}{code}" for code in range(40)], missing="error")
            for name in "abc"
        ]
    )
    asked = dt.Sample(schema, 10.0, "grr", k=3)
    codes = rng.integers(0, 40, 3)
    same = {
        each.name: [each.values[code]] * 200_000 for each, code in zip(schema, codes, strict=True)
    }
    reports = perturb(asked, pd.DataFrame(same, dtype="category"), rng)
    found = estimate(asked, reports, ["c", "a"], "raw")
    whole = estimate(asked, reports, ["a", "b", "c"], "raw")
    truth = np.zeros((40, 40))
    truth[codes[2], codes[0]] = 1.0
    # cells have 93 lies on average: of 1,600 one is 12 of its standard errors off with a chance below 1e-10
    assert (np.abs(found.unbiased - truth) < 12.0 * found.standard_errors).all()
    np.testing.assert_allclose(found.unbiased, whole.unbiased.sum(axis=1).T, atol=1e-9)
    assert found.unbiased.sum() == pytest.approx(1.0, abs=1e-9)
