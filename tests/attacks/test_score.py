"""Macro-F1, accuracy, their intervals, and guesses without reports."""

import numpy as np
import pytest

from deptriad.attacks.score import blind, confusion, majority, mean_score, proportional, scored


def random_answers(rng, size=5, n=300):
    true = rng.choice(size - 1, n)  # the last value has no record, but is guessed
    guessed = np.where(rng.random(n) < 0.5, true, rng.integers(0, size, n))
    guessed[guessed == 1] = 0  # and this one is never guessed
    return true, guessed


def test_macro_f1_is_that_of_scikit_learn(rng):
    metrics = pytest.importorskip("sklearn.metrics")
    for _ in range(20):
        true, guessed = random_answers(rng)
        score = scored(confusion(true, guessed, 5), 0.95, rng)
        present = np.unique(true)
        expected = metrics.f1_score(
            true, guessed, labels=present, average="macro", zero_division=0.0
        )
        assert score.macro_f1 == pytest.approx(expected, rel=1e-12)
        assert score.accuracy == pytest.approx(metrics.accuracy_score(true, guessed), rel=1e-12)


def test_a_value_that_is_never_guessed_counts_as_zero():
    score = scored(np.array([[10.0, 0.0], [10.0, 0.0]]), 0.95, np.random.default_rng(1))
    assert score.macro_f1 == pytest.approx((2 / 3 + 0) / 2)


def test_the_bootstrap_is_that_of_the_records(rng):
    true, guessed = random_answers(rng)
    score = scored(confusion(true, guessed, 5), 0.9, rng)
    drawn = []
    for _ in range(400):
        rows = rng.integers(0, len(true), len(true))
        cells = confusion(true[rows], guessed[rows], 5)
        hits = np.diag(cells)
        present = cells.sum(axis=1) > 0
        f1 = 2 * hits / np.maximum(cells.sum(axis=0) + cells.sum(axis=1), 1)
        drawn.append((f1[present].mean(), hits.sum() / len(true)))
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    assert score.macro_f1_interval == pytest.approx((low[0], high[0]), abs=0.02)
    assert score.accuracy_interval == pytest.approx((low[1], high[1]), abs=0.02)


def test_a_higher_level_has_a_wider_interval():
    cells = np.array([[40.0, 20.0], [10.0, 50.0]])
    narrow, wide = (
        scored(cells, level, np.random.default_rng(1)).macro_f1_interval for level in (0.5, 0.99)
    )
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_guesses_without_reports(rng):
    records = np.array([60, 30, 10])
    learnt = np.array([7, 2, 1])
    always = blind(records, majority(learnt), 0.95, rng)
    assert always.accuracy == pytest.approx(0.6)
    assert always.macro_f1 == pytest.approx(2 * 0.6 / 1.6 / 3)
    often = blind(records, proportional(learnt), 0.95, rng)
    assert often.accuracy == pytest.approx(0.6 * 0.7 + 0.3 * 0.2 + 0.1 * 0.1)
    parts = (60 * 0.7 / 130, 30 * 0.2 / 50, 10 * 0.1 / 20)
    assert often.macro_f1 == pytest.approx(2 * sum(parts) / 3)


def test_always_guessing_one_value_has_the_interval_of_its_confusion(rng):
    records = np.array([60, 30, 10])
    one = blind(records, np.array([1.0, 0.0, 0.0]), 0.9, rng)
    same = scored(np.outer(records, [1, 0, 0]), 0.9, rng)
    assert (one.macro_f1, one.accuracy) == pytest.approx((same.macro_f1, same.accuracy))
    assert one.accuracy_interval == pytest.approx(same.accuracy_interval, abs=0.02)
    assert one.macro_f1_interval == pytest.approx(same.macro_f1_interval, abs=0.02)


def test_guesses_of_very_many_values_take_little_memory(rng):
    records = rng.integers(1, 3, 3000)
    assert 0.0 < blind(records, proportional(records), 0.95, rng).macro_f1 < 0.01


def test_the_mean_score_has_the_mean_of_the_ends(rng):
    scores = [scored(np.array([[30.0, k], [5.0, 40.0]]), 0.95, rng) for k in (1.0, 9.0)]
    mean = mean_score(scores)
    assert mean.macro_f1 == pytest.approx(np.mean([each.macro_f1 for each in scores]))
    ends = np.mean([each.macro_f1_interval for each in scores], axis=0)
    assert mean.macro_f1_interval == pytest.approx(tuple(ends))
    assert mean.accuracy == pytest.approx(np.mean([each.accuracy for each in scores]))
