"""Random words: secure by default, seeded where asked."""

import os

import numpy as np
import pytest
from scipy import stats

from deptriad.mechanisms import GRR, SubsetSelection
from deptriad.mechanisms.chance import word_source
from some_mechanisms import make_all, named


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
