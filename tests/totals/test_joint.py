"""joint_leakage: exact for joint tables and their boxes, never below the truth (maths.md §10.3)."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import deptriad as dt
import oracle
import report_oracle
from deptriad.mechanisms import GRR, Channel, mechanisms
from deptriad.totals.joint import rows_inside, view_totals
from report_oracle import all_sets, random_budgets, random_counts, singles, two_levels

XOR = np.array([[[0.5, 0.0], [0.0, 0.5]], [[0.0, 0.5], [0.5, 0.0]]])


def close_bound(reported, truth, tolerance=1e-11):
    """A bound that is the truth but for rounding, relative to what it is."""
    assert oracle.is_bound(reported, truth), f"{reported!r} is below {truth}"
    off = oracle.decimal(reported) - truth
    assert off <= oracle.decimal(tolerance) * (truth + oracle.decimal(1e-290)), (reported, truth)


def grr_channels(shape, budgets):
    return [two_levels(singles(b), e) for b, e in zip(shape, budgets, strict=True)]


# ------------------------------------------------------------------------------------ tables


def test_xor():
    assert dt.joint_leakage(XOR, [1.0, 1.0]) == pytest.approx(math.log(math.cosh(1)), rel=1e-14)
    joint = dt.joint_leakage(XOR, 1.0, joint_report=True)
    assert joint == pytest.approx(math.log1p(math.expm1(1) / 2), rel=1e-14)


def test_every_report_of_grr(rng):
    """Up to four attributes, budgets from 1e-6 to 30, every report in 500 digits."""
    for _ in range(12):
        counts = random_counts(rng)
        budgets = random_budgets(rng, counts.ndim - 1)
        truth = report_oracle.leakage(counts, grr_channels(counts.shape[1:], budgets))
        # a leakage of 0 is off by the roundings of its excess, which is about the sum of the budgets
        reported = dt.joint_leakage(counts, budgets)
        assert oracle.is_bound(reported, truth)
        slack = 1e-13 * min(sum(budgets), 1.0) + 1e-12 * float(truth)
        assert float(oracle.decimal(reported) - truth) <= slack


def test_own_release_included(rng):
    """The target's own report, GRR too, adds its whole budget: all reports of all of them, in 500 digits."""
    for _ in range(8):
        counts = random_counts(rng, most=3, cells=40)
        budgets = random_budgets(rng, counts.ndim)
        records = np.zeros((len(counts), *counts.shape), dtype=counts.dtype)
        records[np.arange(len(counts)), np.arange(len(counts))] = counts
        truth = report_oracle.leakage(records, grr_channels(counts.shape, budgets))
        total = budgets[0] + dt.joint_leakage(counts, budgets[1:])
        assert total == pytest.approx(float(truth), rel=1e-12)


def test_all_targets_of_a_view_at_once(rng):
    """Targets inside by their own rows, as separate reports and as one value; they are what joint_leakage says."""
    for _ in range(8):
        counts = random_counts(rng, most=3, cells=60)
        budgets = random_budgets(rng, counts.ndim)
        table, first = rows_inside(counts)
        totals = view_totals(table, first, counts.shape, budgets)
        together = view_totals(table, first, counts.shape, budgets[:1], joint_report=True)
        for k in range(counts.ndim):
            about = np.moveaxis(counts, k, 0)
            own, others = budgets[k], budgets[:k] + budgets[k + 1 :]
            if (about.reshape(len(about), -1).sum(axis=1) > 0).sum() < 2:
                continue
            assert totals[k] == pytest.approx(own + dt.joint_leakage(about, others), rel=1e-12)
            largest = max(Fraction(int(c), int(row.sum())) for row in about for c in row.flat if c)
            with oracle.localcontext(oracle.CONTEXT):
                truth = (1 + oracle.gain(budgets[0]) * oracle.decimal(largest)).ln()
            if (about.reshape(len(about), -1) > 0).sum(axis=0).max() > 0:
                close_bound(together[k], truth)


def test_a_target_outside_a_joint_report(rng):
    for _ in range(10):
        counts = random_counts(rng, most=3)
        (epsilon,) = random_budgets(rng, 1)
        rows = counts.reshape(len(counts), -1)
        truth = report_oracle.leakage(rows, grr_channels(rows.shape[1:], [epsilon]))
        reported = dt.joint_leakage(counts, epsilon, joint_report=True)
        assert oracle.is_bound(reported, truth)
        assert reported == pytest.approx(float(truth), rel=1e-11, abs=1e-13 * min(epsilon, 1.0))


@pytest.mark.parametrize("name", list(mechanisms))
def test_mechanisms_own_matrices(name, rng):
    """What the mechanisms' own matrices give, which are rounded towards privacy, is not above, and about the same."""
    for _ in range(6):
        counts = random_counts(rng, most=2 if name in ("sue", "oue", "olh") else 3, cells=60)
        budgets = [float(e) for e in rng.uniform(0.2, 4.0, counts.ndim - 1)]
        reported = dt.joint_leakage(counts, budgets, name)
        shape = counts.shape[1:]
        if name == "olh":  # some seed hashes this few values as any set asks for
            channels = [two_levels(all_sets(b), e) for b, e in zip(shape, budgets, strict=True)]
            close_bound(reported, report_oracle.leakage(counts, channels), 1e-9)
            continue
        likelihood = counts / counts.reshape(len(counts), -1).sum(axis=1).reshape(
            -1, *[1] * len(shape)
        )
        for size, epsilon in zip(shape, budgets, strict=True):
            matrix = mechanisms[name](size, epsilon).matrix()
            likelihood = np.tensordot(likelihood, matrix, ([1], [0]))
        lines = likelihood.reshape(len(counts), -1)
        attained = float(np.log(lines.max(axis=0) / lines.min(axis=0)).max())
        assert attained - 1e-12 <= reported <= attained * (1 + 1e-3) + 1e-9


def test_any_mechanism_tries_all_sets(rng):
    for _ in range(6):
        counts = random_counts(rng, most=2, cells=40)
        budgets = random_budgets(rng, counts.ndim - 1)
        channels = [
            two_levels(all_sets(b), e) for b, e in zip(counts.shape[1:], budgets, strict=True)
        ]
        truth = report_oracle.leakage(counts, channels)
        reported = dt.joint_leakage(counts, budgets, "any")
        assert oracle.is_bound(reported, truth)
        assert reported == pytest.approx(float(truth), rel=1e-11, abs=1e-12 * sum(budgets))
        assert dt.joint_leakage(counts, budgets) <= reported * (1 + 1e-12) + 1e-13


def test_a_channel_of_ones_own_and_a_mix(rng):
    """A channel with a report that rules a value out, beside GRR: the matrices multiplied out."""
    channel = Channel([[0.6, 0.4, 0.0], [0.2, 0.3, 0.5], [0.1, 0.4, 0.5]])
    counts = rng.integers(1, 50, (3, 3, 4))
    reported = dt.joint_leakage(counts, [channel.epsilon, 2.0], [channel, "grr"])
    likelihood = counts / counts.sum(axis=(1, 2), keepdims=True)
    for matrix in (channel.matrix(), 1.0 + np.expm1(2.0) * np.eye(4)):
        likelihood = np.tensordot(likelihood, matrix, ([1], [0]))
    lines = likelihood.reshape(3, -1)
    assert reported == pytest.approx(np.log(lines.max(0) / lines.min(0)).max(), rel=1e-12)
    same = dt.joint_leakage(counts, [1.0, 2.0], [GRR(3, 1.0), GRR(4, 2.0)])
    assert same == dt.joint_leakage(counts, [1.0, 2.0])


@pytest.mark.parametrize("epsilon", [250.0, 800.0, 1e4])
def test_large_budgets_do_not_overflow(epsilon, rng):
    """Also where likelihoods differ by more than floats can hold, and by one attribute of two only."""
    for _ in range(4):
        counts = random_counts(rng, most=3, cells=60)
        budgets = [epsilon * f for f in rng.uniform(0.2, 1.0, counts.ndim - 1)]
        truth = report_oracle.leakage(counts, grr_channels(counts.shape[1:], budgets))
        reported = dt.joint_leakage(counts, budgets)
        assert oracle.is_bound(reported, truth)
        assert reported == pytest.approx(float(truth), rel=1e-11, abs=1e-8)


def test_an_infinite_budget_tells_the_truth():
    table = np.array([[[0.2, 0.3], [0.1, 0.4]], [[0.4, 0.1], [0.3, 0.2]]])
    assert dt.joint_leakage(table, [math.inf, math.inf]) == pytest.approx(math.log(3), abs=1e-9)
    assert dt.joint_leakage(XOR, [math.inf, math.inf]) == math.inf
    assert dt.joint_leakage(XOR, [math.inf, 0.0]) == pytest.approx(0.0, abs=1e-12)
    one = dt.joint_leakage(XOR, [math.inf, 1.0])
    assert one == pytest.approx(1.0, abs=1e-9)


def test_tiny_budgets_keep_their_digits():
    """ε of 1e-12: the leakage is ε times the largest difference of sums, to twelve digits."""
    table = np.array([[[0.2, 0.3], [0.1, 0.4]], [[0.4, 0.1], [0.3, 0.2]]])
    reported = dt.joint_leakage(table, [1e-12, 2e-12])
    assert reported == pytest.approx(8e-13, rel=1e-10)
    assert reported > 0


# ------------------------------------------------------------------------------------- boxes


def some_box(rng, counts):
    """A box of one of the four kinds around counts."""
    rows = counts.reshape(len(counts), -1).sum(axis=1).reshape(-1, *[1] * (counts.ndim - 1))
    table = counts / rows
    kind = rng.integers(4)
    if kind == 0:
        return dt.Relative(float(rng.uniform(0.01, 0.6))).box(table)
    if kind == 1:
        return dt.Absolute(float(rng.uniform(0.001, 0.1))).box(table)
    if kind == 2:
        other = table * 0.7 + 0.3 / table[0].size
        return dt.Spread("range").box([table, other])
    return dt.Confidence(0.9).box(counts)


def test_boxes_are_exact(rng):
    """Every report, every pair of rows, cells filled one by one in fractions."""
    for _ in range(8):
        counts = random_counts(rng, most=3, cells=40)
        if counts.ndim < 3:
            continue
        box = some_box(rng, counts)
        budgets = random_budgets(rng, counts.ndim - 1)
        channels = grr_channels(counts.shape[1:], budgets)
        truth = min(
            report_oracle.box_leakage(box.lower, box.upper, channels),
            sum(map(oracle.decimal, budgets)),
        )
        reported = dt.joint_leakage(box, budgets)
        assert oracle.is_bound(reported, truth)
        assert reported == pytest.approx(float(truth), rel=1e-9, abs=1e-12 * sum(budgets))


def test_budgets_that_are_alike_are_exact(rng):
    """All of four, or two and two: only how many attributes of a budget match makes a difference."""
    for budgets in ([0.7] * 4, [0.5, 2.0, 0.5, 2.0], [400.0, 1.0, 400.0, 1.0]):
        counts = rng.integers(0, 9, (3, 2, 2, 3, 2)) + (rng.random((3, 2, 2, 3, 2)) < 0.5)
        box = some_box(rng, counts)
        channels = grr_channels(counts.shape[1:], budgets)
        truth = report_oracle.box_leakage(box.lower, box.upper, channels)
        reported = dt.joint_leakage(box, budgets)
        assert oracle.is_bound(reported, min(truth, sum(map(oracle.decimal, budgets))))
        assert reported == pytest.approx(min(float(truth), sum(budgets)), rel=1e-9)


def test_boxes_of_many_attributes(monkeypatch):
    """Of nine attributes 10 kinds of match if budgets are alike, and 512 if all of them differ."""
    monkeypatch.setattr("deptriad.totals.joint.MOST_LIKELIHOODS", 20_000)
    counts = np.arange(2 * 2**8 * 3).reshape(2, *[2] * 8, 3) % 7 + 1
    box = dt.Relative(0.1).box(counts / counts.reshape(2, -1).sum(axis=1).reshape(2, *[1] * 9))
    assert dt.joint_leakage(counts, 0.3) < dt.joint_leakage(box, 0.3) < 2.7
    with pytest.raises(ValueError, match="times 512 likelihoods each, are too many") as caught:
        dt.joint_leakage(box, np.linspace(0.1, 1.0, 9))
    assert "grr" not in str(caught.value)  # which they are
    with pytest.raises(ValueError, match="favour fewer sets, such as mechanisms='grr', merge"):
        dt.joint_leakage(box, 0.3, "any")


def test_boxes_of_other_mechanisms_are_exact(rng):
    """Any set, and the staircase with its several levels."""
    for _ in range(4):
        counts = random_counts(rng, most=2, cells=30)
        if counts.ndim < 3:
            continue
        box, budgets = some_box(rng, counts), [float(e) for e in rng.uniform(0.2, 3.0, 2)]
        every = [two_levels(all_sets(b), e) for b, e in zip(counts.shape[1:], budgets, strict=True)]
        stairs = [
            [
                [oracle.decimal(n) for n in line]
                for line in mechanisms["staircase"](b, e)._counts.T.tolist()
            ]
            for b, e in zip(counts.shape[1:], budgets, strict=True)
        ]
        for name, channels in (("any", every), ("staircase", stairs)):
            truth = report_oracle.box_leakage(box.lower, box.upper, channels)
            reported = dt.joint_leakage(box, budgets, name)
            assert oracle.is_bound(reported, min(truth, sum(map(oracle.decimal, budgets))))
            assert reported == pytest.approx(min(float(truth), sum(budgets)), rel=1e-9)


def test_boxes_by_linear_programs(rng):
    """The largest and the least likelihood of each report by HiGHS, for one box of three attributes."""
    counts = rng.integers(0, 60, (3, 2, 3, 2)) + 1
    box, budgets = dt.Confidence(0.9).box(counts), [0.5, 1.0, 2.0]
    worst = 0.0
    for report in itertools.product(*map(range, counts.shape[1:])):
        weight = np.ones(counts.shape[1:])
        for axis, (value, epsilon) in enumerate(zip(report, budgets, strict=True)):
            shape = [-1 if i == axis else 1 for i in range(3)]
            weight = weight * np.where(
                np.arange(counts.shape[axis + 1]) == value, np.exp(epsilon), 1
            ).reshape(shape)
        ends = []
        for low, high in zip(box.lower, box.upper, strict=True):
            bounds = list(zip(low.ravel(), high.ravel(), strict=True))
            ones = np.ones((1, low.size))
            ends.append(
                [
                    linprog(s * weight.ravel(), A_eq=ones, b_eq=[1], bounds=bounds).fun * s
                    for s in (1, -1)
                ]
            )
        worst = max(worst, *(math.log(b[1] / a[0]) for a, b in itertools.permutations(ends, 2)))
    assert dt.joint_leakage(box, budgets) == pytest.approx(worst, abs=1e-7)


def test_a_row_is_not_compared_with_itself():
    """A wide row alone tells nothing: only another value of the target can be told apart from it."""
    table = np.array([[[0.4, 0.1], [0.1, 0.4]], [[0.4, 0.1], [0.1, 0.4]]])
    wide = np.array([0.3, 0.0]).reshape(2, 1, 1)
    box = dt.JointBox(np.maximum(table - wide, 0), table + wide)
    budgets = [1.0, 1.0]
    truth = report_oracle.box_leakage(box.lower, box.upper, grr_channels((2, 2), budgets))
    itself = report_oracle.box_leakage(
        box.lower[[0, 0]], box.upper[[0, 0]], grr_channels((2, 2), budgets)
    )
    assert dt.joint_leakage(box, budgets) == pytest.approx(float(truth), rel=1e-12)
    assert float(itself) > float(truth) * 1.2


def test_a_box_of_one_table_is_the_table(rng):
    for _ in range(10):
        counts = random_counts(rng, most=3)
        budgets = random_budgets(rng, counts.ndim - 1)
        rows = counts.reshape(len(counts), -1).sum(axis=1).reshape(-1, *[1] * (counts.ndim - 1))
        table = counts / rows
        known = dt.joint_leakage(table, budgets)
        boxed = dt.joint_leakage(dt.JointBox(table, table), budgets)
        assert boxed == pytest.approx(known, rel=1e-11, abs=1e-12 * sum(budgets))


def test_a_wider_box_tells_more(rng):
    counts = rng.integers(1, 40, (3, 3, 2))
    boxes = [dt.Confidence(level).box(counts) for level in (0.5, 0.9, 0.999)]
    found = [dt.joint_leakage(counts, 1.0), *(dt.joint_leakage(box, 1.0) for box in boxes)]
    assert found == sorted(found)


# ------------------------------------------------------------------------------ what goes in


def test_attributes_that_are_not_reported_are_summed_out(rng):
    counts = rng.integers(1, 40, (3, 3, 2, 4))
    for box in (counts, dt.Confidence(0.9).box(counts)):
        part = counts.sum(axis=2) if box is counts else None
        reported = dt.joint_leakage(box, [0.5, 0.0, 2.0])
        if part is not None:
            assert reported == pytest.approx(dt.joint_leakage(part, [0.5, 2.0]), rel=1e-12)
        assert 0 < reported < 2.5
    assert dt.joint_leakage(counts, 0.0) == 0.0
    assert dt.joint_leakage(counts[:1], 1.0) == 0.0


@pytest.mark.parametrize("mechanism", ["grr", "any"])
@pytest.mark.parametrize(("cells", "first", "second"), [(32_349, 3, 5), (16_917, 3, 1)])
def test_many_values_that_are_not_reported(cells, first, second, mechanism):
    """Their sums are off by thousands of roundings, all to one side: what comes out is a bound all the same."""
    table = np.empty((2, cells, 2))
    for row, eighths in zip(table, (first, second), strict=True):
        row[:] = np.array([eighths, 8 - eighths]) / (8 * cells)
    few = np.array([[first, 8 - first], [second, 8 - second]])
    truth = report_oracle.leakage(few, grr_channels((2,), [1.0]))
    close_bound(dt.joint_leakage(table, [0.0, 1.0], mechanism), truth, 1e-9)


def test_counts_tables_and_boxes_of_two_axes():
    counts = np.array([[30, 10, 0], [0, 0, 0], [5, 5, 10]])
    table = counts[[0, 2]] / counts[[0, 2]].sum(axis=1, keepdims=True)
    expected = dt.joint_leakage(table, [1.0])
    assert dt.joint_leakage(counts, 1.0) == pytest.approx(expected, rel=1e-14)
    assert dt.joint_leakage(dt.Conditional(table), 1.0) == expected
    assert dt.joint_leakage(table, 1.0, "any") == dt.leakage(table, 1.0)
    box = dt.Relative(0.1).box(table)
    every, single = dt.joint_leakage(box, 1.0, "any"), dt.joint_leakage(box, 1.0)
    assert every * (1 + 1e-12) >= single > expected


def test_equal_rows_tell_nothing_and_a_joint_is_a_table(rng):
    row = rng.dirichlet(np.ones(6)).reshape(1, 2, 3)
    assert dt.joint_leakage(np.repeat(row, 3, axis=0), [1.0, 2.0]) == 0.0
    counts = rng.integers(1, 50, (2, 3, 2))
    values = (("x", "y"), ("p", "q", "r"), ("no", "yes"))
    joint = dt.Joint(("a", "b", "c"), values, counts)
    assert dt.joint_leakage(joint, [1.0, 2.0]) == dt.joint_leakage(counts, [1.0, 2.0])


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"budgets has shape \(3,\), expected \(2,\)"):
        dt.joint_leakage(XOR, [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="joint_report all axes are one value"):
        dt.joint_leakage(XOR, [1.0, 1.0], joint_report=True)
    with pytest.raises(ValueError, match="expected one of grr"):
        dt.joint_leakage(XOR, 1.0, "grrr")
    with pytest.raises(ValueError, match="a list of 2"):
        dt.joint_leakage(XOR, 1.0, ["grr"])
    with pytest.raises(ValueError, match="its 2 values and its budget 1"):
        dt.joint_leakage(XOR, 1.0, [GRR(3, 1.0), "grr"])
    with pytest.raises(ValueError, match="an axis for the target's values"):
        dt.joint_leakage([0.5, 0.5], 1.0)
    with pytest.raises(ValueError, match="no counts at all"):
        dt.joint_leakage(np.zeros((2, 2, 2)), 1.0)
    with pytest.raises(
        ValueError,
        match="4,294,967,294 × 4,294,967,294 = 18,446,744,056,529,682,436 different reports",
    ):
        dt.joint_leakage(np.arange(2048).reshape(2, 32, 32), 1.0, "any")
