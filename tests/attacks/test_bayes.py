"""The posterior is right: against all combinations of values, written out."""

import itertools

import numpy as np
import pytest

from deptriad.attacks.attacker import Tokens
from deptriad.attacks.bayes import Bayes, _shared
from deptriad.attacks.field import Field
from deptriad.attacks.seen import Collected, Truth
from deptriad.collection.sample import Sample
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.split import Planned, Separate, Split
from deptriad.collection.view import View
from deptriad.mechanisms import GRR, OUE, Channel, HadamardResponse, Staircase
from worlds import dependent, draw, schema_of

SIZES = [3, 2, 4]
SCHEMA = schema_of(SIZES)
MIXED = Separate(
    SCHEMA, {"a": Staircase(3, 1.0), "b": Channel([[0.7, 0.3], [0.4, 0.6]]), "c": OUE(4, 2.0)}
)
NO_TARGET = Separate(SCHEMA, {"b": HadamardResponse(2, 1.0), "c": GRR(4, 2.0)})

VIEWS = Planned(
    SCHEMA,
    (
        View(("b", "c"), {"b": 1.0, "c": 2.0}, {"b": "grr", "c": "oue"}, share=0.4),
        View(("a", "b"), {"a": 1.5, "b": 2.0}, {"a": "grr", "b": "grr"}, share=0.3),
        View.of_one_value("ac", 2.0, "grr", 0.2),
        View.of_one_value("b", 1.0, "subset", 0.1),
    ),
)


def training(n, rng):
    return draw(dependent(SIZES, rng, 0.6), n, rng).astype(np.int64)


def assumed(codes):
    """The joint that Bayes takes as true: all training records and an imagined one."""
    joint = np.zeros(SIZES)
    np.add.at(joint, tuple(codes.T), 1.0)
    first = (np.bincount(codes[:, 0], minlength=3) + 1 / 3) / (len(codes) + 1)
    others = [_shared(codes[:, 0], 3, codes[:, place], SIZES[place]) for place in (1, 2)]
    return joint + np.einsum("a,ab,ac->abc", first, *others)


def likelihood(strategy, tokens, row, record):
    """p(all that is seen | record), written out."""
    places = {name: place for place, name in enumerate(SCHEMA.names)}
    by_name = dict(zip(strategy.titles, strategy.questions, strict=True))
    told = {}
    for name, own in zip(tokens.names, tokens.supports, strict=True):
        question = by_name[name]
        values = np.exp(question.mechanism.log_likelihoods(own[row : row + 1])[0])
        cell = 0
        for each, size in zip(question.names, question.sizes, strict=True):
            cell = cell * size + record[places[each]]
        told[name] = values[cell], values.mean()
    if not isinstance(strategy, SampleWithFakes):
        return np.prod([own for own, _ in told.values()])
    total = 0.0  # which one is true, a hidden one included
    for true in by_name:
        total += np.prod([own if name == true else fake for name, (own, fake) in told.items()])
    return total


def posterior(strategy, codes, tokens, row):
    joint = assumed(codes)
    found = np.zeros(3)
    for record in itertools.product(*map(range, SIZES)):
        found[record[0]] += joint[record] * likelihood(strategy, tokens, row, record)
    return found / found.sum()


def bayes(strategy, codes):
    collected = Collected(strategy, codes, None)
    return Field(codes, collected, None, None, None, (), 0).bayes("a", None)


@pytest.mark.parametrize("hidden", ["a", None])
@pytest.mark.parametrize(
    "strategy",
    [Split(SCHEMA, 4.0, "grr"), MIXED, NO_TARGET, Split(SCHEMA, 3.0, "subset")],
    ids=["grr", "mixed", "no target", "subset"],
)
def test_posterior_where_everybody_answers_everything(strategy, hidden, rng):
    check(strategy, hidden, rng, 1e-4, 60)


@pytest.mark.parametrize("hidden", ["a", None])
@pytest.mark.parametrize(
    "strategy",
    [
        Sample(SCHEMA, 2.0),
        Sample(SCHEMA, 2.0, "oue", k=2),
        SampleWithFakes(SCHEMA, 2.0, "grr"),
        SampleWithFakes(SCHEMA, 2.0, "oue"),
        VIEWS,
    ],
    ids=["sample", "pairs", "fakes", "unary fakes", "views"],
)
def test_posterior_where_one_report_is_true(strategy, hidden, rng):
    # here the imagined record of each question's table is its own, which many records hide
    check(strategy, hidden, rng, 2e-3, 30_000)


def check(strategy, hidden, rng, tolerance, n):
    codes = training(n, rng)
    seen = Collected.of(strategy, training(25, rng), rng).tokens(hidden)
    fitted = bayes(strategy, codes).fit(seen, codes[:, 0], 3, rng)
    found = np.exp(fitted.log_posterior(seen))
    assert found.sum(axis=1) == pytest.approx(1.0)
    for row in range(len(seen)):
        assert found[row] == pytest.approx(posterior(strategy, codes, seen, row), abs=tolerance)


def test_values_without_a_training_record_give_no_nan(rng):
    codes = np.zeros((5, 3), dtype=np.int64)  # one record, five times
    strategy = Split(SCHEMA, 60.0, "grr")
    seen = Collected.of(strategy, training(200, rng), rng).tokens("a")
    found = bayes(strategy, codes).fit(seen, codes[:, 0], 3, rng).log_posterior(seen)
    assert np.isfinite(found).all()
    assert (found.argmax(axis=1) == 0).any()


def test_what_is_known_for_certain(rng):
    codes = training(500, rng)
    readings = {"b": Truth(2), "c": Truth(4)}
    machine = Bayes(readings, {"b": codes[:, 1], "c": codes[:, 2]})
    every = np.array(list(itertools.product(range(2), range(4))))
    tokens = Tokens(
        ("b", "c"), (np.eye(2, dtype=bool)[every[:, 0]], np.eye(4, dtype=bool)[every[:, 1]])
    )
    found = np.exp(machine.fit(tokens, codes[:, 0], 3, rng).log_posterior(tokens))
    joint = assumed(codes)
    for row, (b, c) in enumerate(every):
        assert found[row] == pytest.approx(joint[:, b, c] / joint[:, b, c].sum(), abs=1e-5)


def test_many_records_are_compared_in_part(rng, monkeypatch):
    monkeypatch.setattr("deptriad.attacks.bayes.MOST_RECORDS", 10)
    codes = training(400, rng)
    strategy = Split(SCHEMA, 4.0, "grr")
    seen = Collected.of(strategy, codes, rng).tokens("a")
    fitted = bayes(strategy, codes).fit(seen, codes[:, 0], 3, rng)
    assert len(fitted.known.logs) <= 10
    assert np.exp(fitted.log_posterior(seen)).sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("strategy", [VIEWS, SampleWithFakes(SCHEMA, 2.0, "oue")])
def test_of_a_few_people_at_a_time_the_same_is_known(strategy, rng, monkeypatch):
    codes = training(300, rng)
    seen = Collected.of(strategy, codes, rng).tokens()
    fitted = bayes(strategy, codes).fit(seen, codes[:, 0], 3, rng)
    whole = fitted.log_posterior(seen)
    monkeypatch.setattr("deptriad.attacks.bayes.SEEN", 7 * sum(seen.sizes))
    np.testing.assert_allclose(fitted.log_posterior(seen), whole, rtol=1e-5, atol=1e-5)
    assert fitted.log_posterior(seen.rows([])).shape == (0, 3)
