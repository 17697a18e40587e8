"""Totals from the joint table of what is released, beside the certified ones from pairs."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

import deptriad as dt
import oracle
import report_oracle
from deptriad.analysis import joint_totals
from deptriad.mechanisms import mechanisms
from report_oracle import singles, two_levels

BUDGETS = {"a": 0.7, "b": 0.5, "c": 2.0}


@pytest.fixture
def frame(rng):
    a = rng.integers(0, 3, 3000)
    b = (a + (rng.random(3000) < 0.3)) % 3
    c = (a + b + (rng.random(3000) < 0.2)) % 2
    return pd.DataFrame({"a": a, "b": b, "c": c})


@pytest.fixture
def prior(frame):
    return dt.Prior.from_data(frame, dt.Schema.infer(frame))


def counts_of(frame, *names):
    table = np.zeros([frame[name].max() + 1 for name in names], dtype=int)
    np.add.at(table, tuple(frame[name] for name in names), 1)
    return table


def test_every_report_of_all_attributes(frame, prior):
    """The target's own report among them, in 500 digits; never above what is certified for the same mechanisms."""
    totals = dt.analyze(prior).totals(BUDGETS, mechanisms="grr")
    for target, total in totals.items():
        others = [name for name in BUDGETS if name != target]
        counts = counts_of(frame, target, *others)
        records = np.zeros((len(counts), *counts.shape), dtype=int)
        records[np.arange(len(counts)), np.arange(len(counts))] = counts
        budgets = [BUDGETS[name] for name in (target, *others)]
        channels = [two_levels(singles(b), e) for b, e in zip(counts.shape, budgets, strict=True)]
        truth = report_oracle.leakage(records, channels)
        assert oracle.is_bound(total.joint, truth)
        assert total.joint == pytest.approx(float(truth), rel=1e-12)
        assert total.joint <= total.certified + 1e-12
        assert (total.least, total.least_by) == (total.joint, "joint")
        assert total.mechanisms == dict.fromkeys(BUDGETS, "grr")


def test_what_is_not_released_is_a_target_all_the_same(frame, prior):
    totals = dt.analyze(prior).totals(1.0, sources=["a", "b"], mechanisms="grr")
    alone = dt.joint_leakage(counts_of(frame, "c", "a", "b"), 1.0)
    assert totals["c"].joint == pytest.approx(alone, rel=1e-14)
    inside = 1.0 + dt.joint_leakage(counts_of(frame, "a", "b"), 1.0)
    assert totals["a"].joint == pytest.approx(inside, rel=1e-14)
    only = dt.analyze(prior).totals({"a": 1.0, "b": 0.0, "c": 0.0}, mechanisms="grr")
    assert only["a"].joint == 1.0 == only["a"].certified


def test_a_mechanism_for_each(frame, prior):
    chosen = {"a": "oue", "b": "subset", "c": "staircase"}
    total = dt.analyze(prior).totals(BUDGETS, mechanisms=chosen)["a"]
    likelihood = counts_of(frame, "a", "b", "c").astype(float)
    likelihood /= likelihood.sum(axis=(1, 2), keepdims=True)
    for name, size in (("b", 3), ("c", 2)):
        matrix = mechanisms[chosen[name]](size, BUDGETS[name]).matrix()
        likelihood = np.tensordot(likelihood, matrix, ([1], [0]))
    lines = likelihood.reshape(3, -1)
    attained = np.log(lines.max(axis=0) / lines.min(axis=0)).max()
    assert attained - 1e-12 <= total.joint - 0.7 <= attained * 1.001


def test_without_a_joint_table_the_reason_is_said(prior, monkeypatch, tmp_path):
    analysis = dt.analyze(prior)
    total = analysis.totals(1.0)["a"]
    assert total.joint is None
    assert "mechanisms='grr'" in total.joint_reason
    assert (total.least, total.least_by) == (total.certified, "certified")
    pairs = dt.analyze(dt.Prior.from_counts(prior.counts)).totals(1.0, mechanisms="grr")
    assert pairs["a"].joint is None
    assert "no records" in pairs["a"].joint_reason
    assert "no joint total: the prior holds no records" in repr(pairs)
    monkeypatch.setattr(joint_totals, "MOST_CELLS", 17)
    few = analysis.totals(1.0, mechanisms="grr")["a"]
    assert few.joint is None
    assert few.joint_reason == "the joint table has 18 cells, more than 17"


def test_too_many_reports_are_a_reason_too(prior, monkeypatch):
    monkeypatch.setattr("deptriad.totals.joint.MOST_LIKELIHOODS", 10)
    totals = dt.analyze(prior).totals(1.0, mechanisms="oue")
    assert [total.joint for total in totals.values()] == [None] * 3
    assert "6 × 2 = 12 different reports" in totals["a"].joint_reason
    again = "about 'a' and others there are too many different reports"
    assert totals["b"].joint_reason == totals["c"].joint_reason == again
    assert repr(totals).count("no joint total: ") == 2


def test_tables_are_counted_a_few_at_a_time(prior, monkeypatch):
    """The same totals where the tables of all targets would be too many cells together."""
    whole = dt.analyze(prior).totals(1.0, sources=["a"], mechanisms="grr")
    monkeypatch.setattr(joint_totals, "MOST_CELLS", 9)
    again = dt.analyze(prior).totals(1.0, sources=["a"], mechanisms="grr")
    assert [each.joint for each in again.values()] == [each.joint for each in whole.values()]


@pytest.mark.parametrize("uncertainty", [dt.Relative(0.1), dt.Absolute(0.01)])
def test_boxes(prior, uncertainty):
    exact = dt.analyze(prior).totals(BUDGETS, mechanisms="grr")
    totals = dt.analyze(prior, uncertainty).totals(BUDGETS, mechanisms="grr")
    for target, total in totals.items():
        others = [name for name in BUDGETS if name != target]
        box = prior.joint([target, *others]).box(uncertainty, target)
        leaked = dt.joint_leakage(box, [BUDGETS[name] for name in others])
        assert total.joint == pytest.approx(BUDGETS[target] + leaked, rel=1e-14)
        assert total.joint > exact[target].joint
        assert total.least == min(total.joint, total.certified)


def test_the_level_is_shared_with_the_pairs(prior):
    """Boxes of pairs and of joint tables count each other's cells, so that the smaller bound holds at the level."""
    analysis = dt.analyze(prior, dt.Confidence(0.95))
    totals = analysis.totals(BUDGETS, mechanisms="grr")
    cells = prior.cells + 3 * 18
    shared = dt.Confidence(0.95, cells=cells)
    box = prior.joint(["a", "b", "c"]).box(shared, "a")
    expected = BUDGETS["a"] + dt.joint_leakage(box, [0.5, 2.0])
    assert totals["a"].joint == pytest.approx(expected, rel=1e-14)
    wider = dt.analyze(prior, shared).totals(BUDGETS, mechanisms="grr")
    assert [each.certified for each in totals.values()] == [
        each.certified for each in wider.values()
    ]
    alone = prior.joint(["a", "b", "c"]).box(dt.Confidence(0.95), "a")
    assert (box.upper >= alone.upper).all()
    assert (box.upper > alone.upper).any()
    for total in totals.values():
        assert analysis.verify(total.proof) <= total.certified


def test_over_wide_boxes_the_certified_total_may_hold(rng):
    """A joint box of absolute width is wider than those of its margins."""
    codes = rng.integers(0, 4, (4000, 4))
    frame = pd.DataFrame(codes, columns=list("abcd"))
    prior = dt.Prior.from_data(frame, dt.Schema.infer(frame))
    total = dt.analyze(prior, dt.Absolute(0.02)).totals(0.5, mechanisms="grr")["a"]
    assert total.certified < total.joint
    assert (total.least, total.least_by) == (total.certified, "certified")


def test_they_are_shown(prior):
    totals = dt.analyze(prior).totals(BUDGETS, mechanisms="grr")
    assert "for reports by grr with independent noise" in repr(totals)
    assert "joint is a bound for the same reports" in repr(totals)
    assert "for all ε-LDP mechanisms" in repr(dt.analyze(prior).totals(BUDGETS))
    assert f"joint={math.ceil(totals['a'].joint * 1000) / 1000:.3f}" in repr(totals["a"])
    assert list(totals.to_frame().columns)[4] == "joint"
    assert "joint" not in dt.analyze(prior).totals(BUDGETS).to_frame().columns
    assert "<th" in totals._repr_html_()
    some = dataclasses.replace(totals["a"], joint=None, joint_reason="too large")
    assert "no joint total: too large" in repr(dt.Totals([some, totals["b"]]))
