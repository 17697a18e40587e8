"""What is allowed is a bound: against every report that a strategy can give, written out."""

import itertools
import math

import numpy as np
import pytest

import deptriad as dt
from deptriad.attacks.allowed import OfAnalysis, OfRecords, allowed
from deptriad.collection.sample import Sample
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.split import Planned, Separate, Split
from deptriad.collection.view import WHOLE, View
from deptriad.mechanisms import GRR, Channel
from worlds import dependent, draw, frame_of, schema_of

SIZES = [3, 2, 2]
SCHEMA = schema_of(SIZES)


def joint_of(codes):
    joint = np.zeros(SIZES)
    np.add.at(joint, tuple(codes.T), 1.0)
    return joint


def report_chances(strategy, joint, own):
    """p(what is seen | value of a): a row for each value, a column for each thing that can be seen."""
    matrices = [question.mechanism.matrix() for question in strategy.questions]
    records = list(itertools.product(*map(range, SIZES)))
    weight = np.array([joint[record] for record in records])
    codes = np.array(records)
    if not isinstance(strategy, SampleWithFakes):
        found = []
        for view, part in zip(strategy.places, strategy.parts, strict=True):
            some = [(strategy.questions[place], matrices[place]) for place in view]
            some = [(question, m) for question, m in some if own or "a" not in question.names]
            rows = [m[strategy.values(question, codes)] for question, m in some]
            seen = [outer([row[k] for row in rows]).ravel() for k in range(len(records))]
            found.append(np.array(seen) * part / WHOLE)
        chances = np.concatenate(found, axis=1)
    else:
        places = [SCHEMA.index(question.name) for question in strategy.questions]
        chances = []
        for record in records:
            fake = [matrix.mean(axis=0) for matrix in matrices]
            true = [m[record[p]] for m, p in zip(matrices, places, strict=True)]
            joint_report = np.mean(
                [
                    outer([true[j] if j == k else fake[j] for j in range(len(fake))])
                    for k in range(len(fake))
                ],
                axis=0,
            )
            if not own and 0 in places:
                joint_report = joint_report.sum(axis=0)
            chances.append(joint_report.ravel())
        chances = np.array(chances)
    by_value = np.array([[record[0] == value for record in records] for value in range(3)])
    given = by_value * weight
    return given @ chances / given.sum(axis=1, keepdims=True)


def outer(vectors):
    found = np.array(1.0)
    for vector in vectors:
        found = np.multiply.outer(found, vector)
    return found


def largest(chances):
    return float(np.log(chances.max(axis=0) / chances.min(axis=0)).max())


STRATEGIES = {
    "split": Split(SCHEMA, 3.0, "grr"),
    "unary": Split(SCHEMA, 3.0, "oue"),
    "no target": Separate(SCHEMA, {"b": GRR(2, 1.0), "c": GRR(2, 2.0)}),
    "sample": Sample(SCHEMA, 2.0, "grr"),
    "pairs": Sample(SCHEMA, 2.0, "grr", k=2),
    "views": Planned(
        SCHEMA,
        (
            View(("b", "c"), {"b": 1.0, "c": 2.0}, {"b": "grr", "c": "oue"}, share=0.4),
            View(("a", "c"), {"a": 1.5, "c": 1.0}, {"a": "grr", "c": "grr"}, share=0.3),
            View.of_one_value("ab", 2.5, "grr", 0.3),
        ),
    ),
    "fakes": SampleWithFakes(SCHEMA, 2.0, "grr"),
    "unary fakes": SampleWithFakes(SCHEMA, 1.0, "oue"),
}


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", STRATEGIES)
def test_no_report_tells_more_than_is_allowed(name, own, rng):
    strategy = STRATEGIES[name]
    for strength in (0.3, 0.9):
        codes = draw(dependent(SIZES, rng, strength), 400, rng)
        bound = allowed(strategy, "a", own, OfRecords(strategy, codes))
        truth = largest(report_chances(strategy, joint_of(codes), own))
        assert truth <= bound.nats <= strategy.epsilon + 1e-9
        assert bound.covered.tolist() == (np.bincount(codes[:, 0], minlength=3) > 0).tolist()


@pytest.mark.parametrize("name", ["sample", "pairs", "fakes"])
def test_one_true_report_is_allowed_little_more_than_it_tells(name, rng):
    """The bound is about every mechanism with the budget, so that GRR may stay below, but not far."""
    strategy = STRATEGIES[name]
    codes = draw(dependent(SIZES, rng, 0.95), 4000, rng)
    bound = allowed(strategy, "a", False, OfRecords(strategy, codes))
    assert bound.nats < strategy.epsilon
    if name != "fakes":
        truth = largest(report_chances(strategy, joint_of(codes), False))
        assert truth > 0.7 * bound.nats


def test_an_analysis_of_the_same_records_allows_the_same(rng):
    codes = draw(dependent(SIZES, rng), 500, rng)
    prior = dt.Prior.from_data(frame_of(codes, SCHEMA), SCHEMA, min_records=0)
    analysis = dt.analyze(prior)
    for name in ("split", "sample", "fakes"):
        strategy = STRATEGIES[name]
        mine = allowed(strategy, "a", True, OfRecords(strategy, codes))
        given = allowed(strategy, "a", True, OfAnalysis(strategy, analysis))
        assert given.nats == pytest.approx(mine.nats, rel=1e-9)
        assert given.why != mine.why
    split = STRATEGIES["split"]
    exact = analysis.totals(1.0, mechanisms="grr")["a"].joint
    assert allowed(split, "a", True, OfAnalysis(split, analysis)).nats == pytest.approx(exact)
    uncertain = dt.analyze(prior, dt.Relative(0.1))
    certified = uncertain.totals(1.0)["a"].certified
    assert allowed(split, "a", True, OfAnalysis(split, uncertain)).nats == certified
    others = uncertain.totals(1.0, sources=["b", "c"])["a"].certified
    assert allowed(split, "a", False, OfAnalysis(split, uncertain)).nats == others
    pairs = STRATEGIES["pairs"]  # tables of pairs say nothing about three attributes
    assert allowed(pairs, "a", False, OfAnalysis(pairs, uncertain)).nats == pairs.epsilon


def test_values_that_an_analysis_leaves_out_are_named(rng):
    codes = draw(dependent(SIZES, rng, 0.3), 300, rng)
    codes[codes[:, 0] == 2, 0] = 0
    codes[:3, 0] = 2  # too few to be protected
    prior = dt.Prior.from_data(frame_of(codes, SCHEMA), SCHEMA, thin="drop")
    for name in ("split", "sample"):
        bound = allowed(
            STRATEGIES[name], "a", False, OfAnalysis(STRATEGIES[name], dt.analyze(prior))
        )
        assert bound.covered.tolist() == [True, True, False]
        assert bound.why.endswith("says nothing about the values a2")


def test_an_analysis_of_something_else_is_refused(rng):
    other = schema_of([3, 2, 4])
    codes = draw(dependent([3, 2, 4], rng), 100, rng)
    analysis = dt.analyze(dt.Prior.from_data(frame_of(codes, other), other, min_records=0))
    with pytest.raises(ValueError, match="'c' has other values"):
        OfAnalysis(STRATEGIES["split"], analysis)
    less = schema_of([3, 2])
    analysis = dt.analyze(dt.Prior.from_data(frame_of(codes[:, :2], less), less, min_records=0))
    with pytest.raises(ValueError, match="lacks 'c'"):
        OfAnalysis(STRATEGIES["split"], analysis)


def test_a_mechanism_that_rules_values_out_allows_everything(rng):
    sure = Channel([[1.0, 0.0], [0.5, 0.5]])
    strategy = Separate(SCHEMA, {"b": sure, "c": GRR(2, 1.0)})
    codes = draw(dependent(SIZES, rng), 100, rng)
    assert allowed(strategy, "a", False, OfRecords(strategy, codes)).nats == math.inf
