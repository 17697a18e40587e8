"""Reports as tokens: what they name, and how likely values make them."""

import numpy as np
import pytest

from deptriad.attacks.seen import Collected, Truth, truth
from deptriad.collection.sample import Sample
from deptriad.collection.sample_with_fakes import SampleWithFakes
from deptriad.collection.split import Separate, Split
from deptriad.mechanisms import GRR, OLH, OUE, Channel, Staircase, mechanisms
from worlds import schema_of

CHANNEL = Channel([[0.6, 0.3, 0.1, 0.0], [0.2, 0.4, 0.2, 0.2], [0.1, 0.1, 0.1, 0.7]])
LISTED = [mechanisms[key](5, 1.3) for key in mechanisms if key != "olh"] + [CHANNEL]


@pytest.mark.parametrize("mechanism", LISTED, ids=repr)
def test_likelihoods_are_those_of_the_transition_matrix(mechanism):
    tokens = mechanism.marks(mechanism.alphabet)
    assert tokens.shape == (len(mechanism.alphabet), mechanism.vocabulary)
    found = np.exp(mechanism.log_likelihoods(tokens))
    true = mechanism.matrix().T
    assert found / found.sum(axis=1, keepdims=True) == pytest.approx(
        true / true.sum(axis=1, keepdims=True), abs=1e-12
    )


def test_a_hash_tells_what_its_set_of_values_tells(rng):
    olh = OLH(6, 1.5)
    reports = olh.perturb(np.zeros(500, dtype=int), rng)
    logs = olh.log_likelihoods(olh.marks(reports))
    high, low = olh.levels
    assert logs == pytest.approx(olh.supported(reports) * np.log(float(high / low)))


@pytest.mark.parametrize(("reading", "entries"), [(GRR(3, 1.0), 3), (CHANNEL, 4), (Truth(3), 3)])
def test_what_was_not_asked_tells_nothing(reading, entries):
    nothing = np.zeros((2, entries), dtype=bool)
    assert (reading.log_likelihoods(nothing) == 0.0).all()


def codes_of(schema, n, rng):
    return np.column_stack([rng.integers(0, size, n) for size in schema.sizes])


def test_everybody_is_asked_everything(rng):
    schema = schema_of([2, 3, 4])
    strategy = Separate(schema, {"a": GRR(2, 1.0), "b": Staircase(3, 1.0), "c": OUE(4, 1.0)})
    seen = Collected.of(strategy, codes_of(schema, 50, rng), rng)
    assert seen.tokens().names == ("a", "b", "c")
    assert seen.tokens().sizes == (2, 3, 4)
    assert seen.tokens("b").names == ("a", "c")
    assert (seen.tokens().supports[0].sum(axis=1) == 1).all()


def test_one_view_each_and_those_of_the_target_are_hidden(rng):
    schema = schema_of([2, 3, 4])
    strategy = Sample(schema, 2.0, "grr", k=2)
    seen = Collected.of(strategy, codes_of(schema, 300, rng), rng)
    tokens = seen.tokens()
    assert tokens.names == ("a & b", "a & c", "b & c")
    assert tokens.sizes == (6, 8, 12)
    assert (sum(own.sum(axis=1) for own in tokens.supports) == 1).all()
    hidden = seen.tokens("a")
    assert hidden.names == ("b & c",)
    assert (hidden.supports[0] == tokens.supports[2]).all()
    assert 0 < np.count_nonzero(~hidden.supports[0].any(axis=1)) < 300
    answers = seen.values(strategy.questions[2])
    assert (answers == seen.codes[:, 1] * 4 + seen.codes[:, 2]).all()


@pytest.mark.parametrize("strategy", [Split, Sample, SampleWithFakes])
def test_an_attack_sees_the_very_reports_of_a_collection(strategy):
    schema = schema_of([2, 3, 4])
    asked = strategy(schema, 2.0, "grr")
    codes = codes_of(schema, 200, np.random.default_rng(3))
    tokens = Collected.of(asked, codes, np.random.default_rng(5)).tokens()
    columns = asked.report(codes, np.random.default_rng(5))
    for name, own in zip(tokens.names, tokens.supports, strict=True):
        rows = own.any(axis=1)
        labels = np.array(schema[name].values, dtype=object)[own.argmax(axis=1)]
        written = columns[name].texts()
        assert (labels[rows] == written[rows]).all()
        assert rows.all() or strategy is Sample


def test_the_truth_as_tokens(rng):
    schema = schema_of([2, 3])
    codes = codes_of(schema, 20, rng)
    tokens = truth(Split(schema, 1.0), codes, ["b"])
    assert tokens.names == ("b",)
    assert (tokens.supports[0].argmax(axis=1) == codes[:, 1]).all()
