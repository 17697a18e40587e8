"""The transformer learns what a naive attacker cannot, in small steps or large, and repeats itself."""

import dataclasses
import sys

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="torch is not installed: pip install 'deptriad[attack]'"
)

from deptriad.attacks.attacker import Tokens  # noqa: E402
from deptriad.attacks.tabtransformer import TabTransformer, _columns  # noqa: E402

SMALL = TabTransformer(
    width=16, layers=2, heads=2, batch=512, least_updates=40, learning_rate=5e-3, device="cpu"
)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Small networks gain nothing from more, and tests that run side by side lose by it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def one_hot(codes, size):
    return np.eye(size, dtype=bool)[codes]


def some_tokens(rng, people):
    """A report that names one entry, one that names several, and one that was not always asked."""
    asked = rng.random((people, 1)) < 0.5
    return Tokens(
        ("one", "several", "sometimes"),
        (
            one_hot(rng.integers(0, 3, people), 3),
            (rng.random((people, 4)) < 0.4).astype(np.uint8),
            one_hot(rng.integers(0, 2, people), 2) & asked,
        ),
    )


def learned(attacker, tokens, target, size, rng):
    """The parameters after training, by name."""
    network = attacker.fit(tokens, target, size, rng).network
    return {name: value.cpu().numpy() for name, value in network.state_dict().items()}


def test_micro_batches_give_the_update_of_the_whole_batch(rng):
    tokens, target = some_tokens(rng, 300), rng.integers(0, 3, 300)
    once = dataclasses.replace(SMALL, epochs=1, batch=300, least_updates=1, micro_batch=300)
    network = once._network(tokens.sizes, np.ones(3) / 3, rng).double()
    whole, pieces = (
        gradient(network, tokens, target, np.array_split(np.arange(300), parts)) for parts in (1, 7)
    )
    assert max(np.abs(value).max() for value in whole) > 1e-3
    for one, other in zip(whole, pieces, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def gradient(network, tokens, target, pieces):
    from deptriad.attacks.tabtransformer import _add_gradient

    network.zero_grad()
    for rows in pieces:
        _add_gradient(network, _columns(tokens), target, rows, len(target))
    return [parameter.grad.numpy().copy() for parameter in network.parameters()]


def test_training_in_micro_batches_ends_at_the_same_network(rng):
    tokens, target = some_tokens(rng, 200), rng.integers(0, 2, 200)
    seed = int(rng.integers(2**32))
    once = dataclasses.replace(SMALL, epochs=2, least_updates=1, learning_rate=1e-3)
    whole, pieces = (
        dataclasses.replace(once, micro_batch=micro)
        .fit(tokens, target, 2, np.random.default_rng(seed))
        .log_posterior(tokens)
        for micro in (512, 30)
    )
    untrained = np.log((np.bincount(target, minlength=2) + 0.5) / 201)
    assert np.abs(whole - untrained).max() > 1e-3
    np.testing.assert_allclose(whole, pieces, atol=1e-4)


def test_learns_an_exclusive_or(rng):
    # Neither report says anything alone, so adding up what each says by itself gives a coin flip.
    first, second = rng.integers(0, 2, (2, 4000))
    flipped = rng.random(4000) < 0.1
    target = first ^ second ^ flipped
    unary = one_hot(second, 2) | (rng.random((4000, 2)) < 0.05)  # sometimes names both
    tokens = Tokens(("first", "second"), (one_hot(first, 2), unary))
    attacker = dataclasses.replace(SMALL, batch=256, learning_rate=1e-2)
    fitted = attacker.fit(tokens.rows(slice(0, 3000)), target[:3000], 2, rng)
    guesses = fitted.log_posterior(tokens.rows(slice(3000, None))).argmax(axis=1)
    assert (guesses == target[3000:]).mean() > 0.8  # 0.88 at best


def test_posteriors_are_calibrated_on_what_no_report_informs(rng):
    target = rng.choice(3, 3000, p=[0.6, 0.3, 0.1])
    tokens = Tokens(("noise",), (one_hot(rng.integers(0, 3, 3000), 3),))
    posterior = np.exp(SMALL.fit(tokens, target, 3, rng).log_posterior(tokens))
    np.testing.assert_allclose(posterior.mean(axis=0), np.bincount(target) / 3000, atol=0.05)


def test_rows_are_normalised_and_zeros_are_welcome(rng):
    tokens, target = some_tokens(rng, 300), rng.integers(0, 4, 300)
    fitted = SMALL.fit(tokens, target, 5, rng)  # the fifth value never occurs
    unasked = Tokens(tokens.names, tuple(np.zeros_like(support) for support in tokens.supports))
    for some in (tokens, unasked, tokens.rows(slice(0, 1)), tokens.rows(slice(0, 0))):
        posterior = fitted.log_posterior(some)
        assert posterior.shape == (len(some), 5)
        assert posterior.dtype == np.float64
        assert np.isfinite(posterior).all()
        np.testing.assert_allclose(np.exp(posterior).sum(axis=1), 1, rtol=1e-12)


def test_not_being_asked_is_itself_a_report(rng):
    target = rng.integers(0, 2, 2000)
    support = one_hot(rng.integers(0, 3, 2000), 3) & (target == 1)[:, None]
    tokens = Tokens(("telling",), (support,))
    guesses = SMALL.fit(tokens, target, 2, rng).log_posterior(tokens).argmax(axis=1)
    assert (guesses == target).all()


def test_reports_that_name_one_entry_are_looked_up_and_mean_the_same(rng):
    tokens = some_tokens(rng, 50)
    looked_up, multiplied, _ = _columns(tokens)
    assert (looked_up.ndim, multiplied.ndim) == (1, 2)
    network = SMALL._network(tokens.sizes, np.ones(2) / 2, rng)
    torch.nn.init.normal_(network.head[-1].weight)
    columns = [torch.from_numpy(column) for column in _columns(tokens)]
    spelled = [
        one_hot(c, s + 1) if c.ndim == 1 else c
        for c, s in zip(_columns(tokens), tokens.sizes, strict=True)
    ]
    same = network([torch.from_numpy(column) for column in spelled])
    np.testing.assert_allclose(network(columns).detach(), same.detach(), atol=1e-5)


def test_the_same_seed_gives_the_same_attacker_and_leaves_torch_alone(rng):
    tokens, target = some_tokens(rng, 200), rng.integers(0, 2, 200)
    seed, short = int(rng.integers(2**32)), dataclasses.replace(SMALL, epochs=2, least_updates=4)
    before = torch.random.get_rng_state()
    one, same, other = (
        learned(short, tokens, target, 2, np.random.default_rng(s)) for s in (seed, seed, seed + 1)
    )
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one["questions"], other["questions"])


def test_progress_counts_every_record_of_every_epoch(rng):
    seen = []
    attacker = dataclasses.replace(SMALL, epochs=3, micro_batch=32)
    attacker.fit(
        some_tokens(rng, 100), rng.integers(0, 2, 100), 2, rng, lambda *at: seen.append(at)
    )
    done = [at for at, _ in seen]
    assert done == sorted(set(done))
    assert seen[-1] == (300, 300)
    assert {total for _, total in seen} == {300}
    assert len(seen) >= 12


@pytest.mark.parametrize("records, batches", [(1, 1), (1000, 10), (40_000, 10), (200_000, 13)])
def test_small_data_make_enough_updates(records, batches):
    assert TabTransformer(least_updates=100).batches(records) == batches


def test_what_is_wrong_is_named(rng):
    with pytest.raises(ValueError, match="width of 10 does not divide among 4 heads"):
        TabTransformer(width=10, heads=4)
    with pytest.raises(ValueError, match="epochs is 0"):
        TabTransformer(epochs=0)
    with pytest.raises(ValueError, match="learning_rate is -1"):
        TabTransformer(learning_rate=-1)
    tokens = some_tokens(rng, 20)
    with pytest.raises(ValueError, match="there are 20 people"):
        SMALL.fit(tokens, np.zeros(19, np.int64), 2, rng)
    with pytest.raises(ValueError, match="run from 0 to 2: expected 0 to 1"):
        SMALL.fit(tokens, np.arange(20) % 3, 2, rng)
    with pytest.raises(ValueError, match="nothing to learn from"):
        SMALL.fit(Tokens((), ()), np.zeros(0, np.int64), 2, rng)
    fitted = dataclasses.replace(SMALL, epochs=1).fit(tokens, np.arange(20) % 2, 2, rng)
    with pytest.raises(ValueError, match="pass the same questions"):
        fitted.log_posterior(Tokens(tokens.names[:1], tokens.supports[:1]))


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "deptriad.attacks.tabtransformer")
    with pytest.raises(ImportError, match=r"needs torch: pip install 'deptriad\[attack\]'"):
        import deptriad.attacks.tabtransformer  # noqa: F401


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that torch can use")
def test_a_gpu_gives_what_the_cpu_gives(rng):
    tokens, target = some_tokens(rng, 500), rng.integers(0, 3, 500)
    seed = int(rng.integers(2**32))
    short = dataclasses.replace(SMALL, epochs=1, learning_rate=1e-3)
    cpu, gpu = (
        dataclasses.replace(short, device=device)
        .fit(tokens, target, 3, np.random.default_rng(seed))
        .log_posterior(tokens)
        for device in ("cpu", None)
    )
    np.testing.assert_allclose(cpu, gpu, atol=1e-3)
