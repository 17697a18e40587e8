"""Totals: estimates, a certified bound that no joint exceeds, and its proof (maths.md §5)."""

import math
from dataclasses import replace

import numpy as np
import pytest

import deptriad as dt
import joint_oracle
import oracle
from deptriad.totals.approximate import approximate_total
from deptriad.totals.proof import verify
from deptriad.totals.totals import Totals, target_total
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import rounded_up
from total_cases import (
    AWKWARD,
    COIN,
    check,
    plain_bounds,
    random_table,
    random_tables,
    some_budgets,
)

# ---------------------------------------------------------------------------------- against the truth


@pytest.mark.parametrize("sources", [2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_xor_is_exact(sources, epsilon):
    """Fair coins say nothing one by one; the bound is ln cosh, which two of them attain."""
    joint = joint_oracle.xor(sources)
    tables = joint_oracle.tables_of(joint)
    total = target_total(tables, dict.fromkeys(tables, epsilon))
    truth = joint_oracle.joint_leakage(joint, [epsilon] * sources)
    assert total.pairwise == total.paired == 0.0
    assert oracle.is_bound(total.certified, truth)
    if sources == 2:
        assert total.certified == pytest.approx(math.log(math.cosh(epsilon)), rel=1e-12)
        assert total.certified == pytest.approx(float(truth), abs=1e-12)
    check(total, tables)


def test_xor_by_hand():
    total = target_total({"a": COIN, "b": COIN}, {"a": 1.0, "b": 1.0}, own=0.5)
    assert total.certified - 0.5 == pytest.approx(0.433780830483, abs=1e-12)
    assert (total.paired, total.pairwise, total.budgets) == (0.5, 0.5, 2.5)


@pytest.mark.slow
def test_no_joint_exceeds_the_certified_total(rng):
    """300 joints, dense to extremal; the paper's sum fails on many of the same."""
    failures = 0
    for number in range(300):
        joint = joint_oracle.random_joint(rng)
        budgets = some_budgets(rng, joint.ndim - 1)
        tables = joint_oracle.tables_of(joint)
        total = target_total(tables, dict(zip(tables, budgets, strict=True)))
        bounded, truth = joint_oracle.compared(total.certified, joint, budgets)
        assert bounded, (joint.tolist(), budgets)
        assert total.paired <= total.pairwise
        assert total.certified <= total.budgets
        if number % 5 == 0:
            check(total, tables)
        failures += total.pairwise < truth * (1 - 1e-9)
    assert failures > 60


def test_paired_is_a_bound_where_sources_are_independent_given_the_target(rng):
    for _ in range(100):
        joint = joint_oracle.random_joint(rng, independent=True)
        budgets = some_budgets(rng, joint.ndim - 1)
        tables = joint_oracle.tables_of(joint)
        total = target_total(tables, dict(zip(tables, budgets, strict=True)))
        truth = joint_oracle.joint_leakage(joint, budgets)
        assert oracle.is_bound(total.paired, truth)
        assert total.paired == pytest.approx(float(truth), rel=1e-9, abs=1e-12)


def spread_out(rng, joint, size):
    """The joint with the values of its first source spread over more of them."""
    owner = np.concatenate(
        [np.arange(joint.shape[1]), rng.integers(0, joint.shape[1], size - joint.shape[1])]
    )
    spread = joint[:, owner]
    return spread * np.where(rng.random(spread.shape) < 0.5, 1, rng.integers(1, 4, spread.shape))


def test_many_values_and_boxes_are_bounded_too(rng):
    """The hull of more than 12 values, the sets of a box, and the polygon of a box of many values."""
    for _ in range(20):
        joint = joint_oracle.random_joint(rng)
        if joint.ndim > 4:
            continue
        joint = spread_out(rng, joint, 13) if rng.random() < 0.5 else joint
        budgets = some_budgets(rng, joint.ndim - 1)
        tables = joint_oracle.tables_of(joint)
        truth = joint_oracle.joint_leakage(joint, budgets)
        given = dict(zip(tables, budgets, strict=True))
        known = target_total(tables, given)
        assert oracle.is_bound(known.certified, truth)
        check(known, tables)
        for width in (0.0, 0.01, 0.3):
            boxes = {name: dt.Relative(width).box(table) for name, table in tables.items()}
            total = target_total(boxes, given)
            assert oracle.is_bound(total.certified, truth)
            one, two = (plain_bounds(list(x.values()), budgets) for x in (tables, boxes))
            assert (two >= one * (1 - 1e-12)).all()
            if width == 0.0:
                assert two == pytest.approx(one, rel=1e-3)
            check(total, boxes)


# ------------------------------------------------------------------------------------------ one source


def test_one_source_has_its_exact_leakage(rng):
    for _ in range(60):
        table = random_table(rng, int(rng.integers(2, 5)), int(rng.choice([2, 5, 14])), True)
        source = dt.Relative(0.1).box(table) if rng.random() < 0.3 else table
        epsilon = float(rng.choice([*AWKWARD, 300.0, 800.0]))
        tables = {"one": source, "quiet": table}
        total = target_total(tables, {"one": epsilon, "quiet": 0.0}, own=0.25)
        assert total.proof.form == "one source"
        alone = dt.leakage(source, epsilon) + 0.25
        if source is table:
            assert total.certified == pytest.approx(alone, rel=1e-12)
        else:  # sets are exact where the search of a box may leave a gap
            assert total.certified <= alone * (1 + 1e-9)
            assert total.certified >= dt.leakage(table, epsilon) + 0.25
        assert total.certified == total.pairwise
        check(total, tables)


def test_nothing_to_tell():
    """One target value, sources of one value, or no budget at all: only the own budget counts."""
    alone = dt.Conditional([[0.3, 0.7]])
    constant = dt.Conditional([[1.0], [1.0]])
    for tables, epsilon in (
        ({"a": alone, "b": alone}, 1.0),
        ({"a": constant, "b": constant}, 1.0),
        ({"a": COIN, "b": COIN}, 0.0),
    ):
        total = target_total(tables, dict.fromkeys(tables, epsilon), own=0.7)
        assert (total.paired, total.pairwise, total.certified) == (0.7, 0.7, 0.7)
        assert total.budgets == sum_up([0.7, epsilon, epsilon])
        check(total, tables)


# ------------------------------------------------------------------------------------------ invariances


@pytest.mark.parametrize("kind", ["tiny", "mixed", "usual", "large", "huge"])
def test_extreme_budgets(rng, kind):
    """From 1e-12 to a sum of 1e4: finite, ordered, and the proof holds."""
    for _ in range(3):
        count = int(rng.choice([2, 8, 40]))
        tables = random_tables(rng, int(rng.integers(2, 5)), count)
        budgets = {
            name: {
                "tiny": 1e-12,
                "mixed": float(10 ** rng.uniform(-12, 1.7)),
                "usual": float(rng.uniform(0.05, 2)),
                "large": 50.0,
                "huge": 1e4 / count,
            }[kind]
            for name in tables
        }
        check(target_total(tables, budgets, own=0.5), tables)


def test_relabelling_changes_nothing(rng):
    for _ in range(40):
        rows = int(rng.integers(2, 5))
        tables = random_tables(rng, rows, int(rng.choice([2, 5, 20])))
        budgets = dict(zip(tables, some_budgets(rng, len(tables)), strict=True))
        turn = rng.permutation(rows)
        other = {
            name: dt.Conditional(
                tables[name].table[turn][:, rng.permutation(tables[name].shape[1])]
            )
            for name in rng.permutation(list(tables))
        }
        one, two = target_total(tables, budgets), target_total(other, budgets)
        for name in ("paired", "pairwise"):
            assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-6, abs=1e-12)
        # any a and shares are a certificate, and where its search ends depends on which of two equal sets comes first
        least = attained_by_two(tables, budgets, rng)
        assert min(one.certified, two.certified) >= least * (1 - 1e-9)
        if len(tables) == 2 and least > 0.0:
            assert one.certified == pytest.approx(two.certified, rel=1e-9)


def test_a_copy_of_a_target_value_changes_nothing(rng):
    for _ in range(20):
        tables = random_tables(rng, 3, 4)
        budgets = dict(zip(tables, some_budgets(rng, 4), strict=True))
        copied = {k: dt.Conditional(t.table[[0, 1, 2, 1]]) for k, t in tables.items()}
        one, two = target_total(tables, budgets), target_total(copied, budgets)
        assert two.pairwise == pytest.approx(one.pairwise, rel=1e-12)
        assert two.certified >= one.certified * (1 - 1e-12)  # two copies are told apart by an xor


def test_more_budget_never_means_less(rng):
    for _ in range(100):
        tables = random_tables(rng, int(rng.integers(2, 4)), int(rng.choice([2, 3, 10])))
        budgets = dict(zip(tables, some_budgets(rng, len(tables)), strict=True))
        more = dict(budgets)
        more[str(rng.integers(len(tables)))] *= float(rng.choice([1.0001, 1.1, 2.0]))
        one, two = target_total(tables, budgets), target_total(tables, more)
        for name in ("paired", "pairwise", "budgets"):
            assert getattr(two, name) >= getattr(one, name) * (1 - 1e-9)
        # No theorem says so of the certificate: its a jumps from one set to another as budgets change, and it may dip.
        # What two sources attain, it never falls below.
        assert two.certified >= attained_by_two(tables, budgets, rng) * (1 - 1e-9)


def attained_by_two(tables, budgets, rng):
    """What a joint of two of the sources attains: the worst joint of all, with more budget too, is no less."""
    few = [name for name, table in tables.items() if table.shape[1] <= 5]
    if len(few) < 2:
        return 0.0
    pair = rng.choice(few, 2, replace=False)
    return target_total({k: tables[k] for k in pair}, {k: budgets[k] for k in pair}).certified


# ----------------------------------------------------------------------------------------------- checks


def test_paired_is_never_above_pairwise_not_by_rounding_either(rng):
    for _ in range(400):
        chances = rng.random(int(rng.integers(2, 6)))
        tables = {str(i): dt.Conditional([[p, 1 - p], [1 - p, p]]) for i, p in enumerate(chances)}
        budgets = dict(zip(tables, rng.uniform(0.1, 2.0, chances.size), strict=True))
        total = target_total(tables, budgets, own=float(rng.random()))
        assert total.own <= total.paired <= total.pairwise


def test_nothing_else_is_released():
    total = target_total({}, {}, own=1.0, target="a")
    assert total.target == "a"
    assert {total.own, total.paired, total.pairwise, total.certified, total.budgets} == {1.0}
    assert verify(total.proof, {}) == 1.0
    with pytest.raises(ValueError, match="expected the same target"):
        target_total({"a": COIN}, {"a": 1.0}, target="and")
    assert target_total({"a": COIN}, {"a": 1.0}, target="xor").certified == 0.0


@pytest.mark.parametrize("budgets", [1.0, None, [1.0, 1.0]])
def test_budgets_are_a_mapping(budgets):
    with pytest.raises(ValueError, match="expected a mapping"):
        target_total({"a": COIN, "b": COIN}, budgets)
    with pytest.raises(ValueError, match="expected a mapping"):
        target_total(budgets, {"a": 1.0})
    with pytest.raises(ValueError, match="expected a mapping"):
        approximate_total({"a": COIN}, {"a": 1.0}, budgets)


def test_input_is_checked():
    tables = {"a": COIN, "b": COIN}
    with pytest.raises(ValueError, match="no budget for 'b'"):
        target_total(tables, {"a": 1.0})
    with pytest.raises(ValueError, match="budget for 'c' but no table"):
        target_total(tables, {"a": 1.0, "b": 1.0, "c": 1.0})
    with pytest.raises(ValueError, match="budget of 'b' is -1"):
        target_total(tables, {"a": 1.0, "b": -1.0})
    with pytest.raises(ValueError, match="expected one finite number"):
        target_total(tables, {"a": 1.0, "b": math.inf})
    with pytest.raises(ValueError, match="sum to more than"):
        target_total(tables, {"a": 1e308, "b": 1e308})
    with pytest.raises(ValueError, match="got no tables"):
        target_total({}, {})
    other = dt.Conditional([[0.5, 0.5]] * 3, target="xor")
    with pytest.raises(ValueError, match="number of target values: 2 and 3"):
        target_total({"a": COIN, "b": other}, {"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match="expected a Conditional or a Box"):
        target_total({"a": [[0.5, 0.5]]}, {"a": 1.0})


def test_totals_are_a_mapping_that_prints():
    total = target_total({"a": COIN, "b": COIN}, {"a": 1.0, "b": 1.0})
    totals = Totals([total])
    assert totals["xor"] is total
    assert list(totals) == ["xor"]
    assert "paired and pairwise are estimates" in repr(totals)
    assert "certified is a bound" in repr(totals)
    assert "all ε-LDP mechanisms with independent noise" in repr(totals)
    assert "target values that have a row" in repr(totals)
    assert repr(totals).count("bound\n") + repr(totals).count("bound  ") == 2
    assert totals.columns()["certified"] == [total.certified]
    with pytest.raises(KeyError, match="no total of 'other'"):
        totals["other"]
    with pytest.raises(ValueError, match="two totals"):
        Totals([total, total])


def test_many_totals_fit_the_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    total = target_total({"a": COIN, "b": COIN}, {"a": 1.0, "b": 1.0})
    shown = repr(Totals(replace(total, target=f"t{place}") for place in range(29))).splitlines()
    assert sum(-(-len(line) // 80) or 1 for line in shown) <= 24
    assert shown[-1] == "and 16 more: to_frame() has all of them"


def test_bounds_are_printed_rounded_up_and_estimates_to_nearest():
    table = dt.Conditional([[0.9, 0.1], [0.2, 0.8]], target="sex")
    total = target_total({"a": table, "b": table}, {"a": 0.33333, "b": 0.33333})
    assert f"budgets={rounded_up(total.budgets)}" in repr(total)
    assert float(rounded_up(total.budgets)) >= total.budgets
    assert f"paired={total.paired:.4g}" in repr(total)


def test_totals_as_a_frame():
    pytest.importorskip("pandas")
    frame = Totals([target_total({"a": COIN, "b": COIN}, {"a": 1.0, "b": 1.0})]).to_frame()
    assert list(frame) == ["target", "own", "paired", "pairwise", "certified", "budgets"]


# ----------------------------------------------------------------------------------------------- on data


def celeba_tables(folder):
    """p(source | target) of every ordered pair of 40 face attributes."""
    pandas = pytest.importorskip("pandas")
    path = folder / "data" / "celeba.parquet"
    if not path.is_file():
        pytest.skip(f"no face attributes: {path} is absent")
    faces = pandas.read_parquet(path)
    names, ones = list(faces), faces.to_numpy().astype(np.float64)
    both, count = ones.T @ ones, len(ones)
    alone = np.diag(both)
    counts = np.array(
        [[count - alone[:, None] - alone + both, alone - both], [alone[:, None] - both, both]]
    )
    return {
        target: {
            source: dt.Conditional.from_counts(counts[:, :, k, i], target, source)
            for i, source in enumerate(names)
            if i != k
        }
        for k, target in enumerate(names)
    }


def test_totals_of_face_attributes(shared_dir):
    """The means of maths.md §5 over 40 targets: the paper's sum, and the reference form at most as published."""
    everything = celeba_tables(shared_dir)
    for epsilon, pairwise, plain, reference in (
        (0.05, 0.241, 0.631, 0.375),
        (0.1, 0.488, 1.90, 1.10),
    ):
        totals = [
            target_total(tables, dict.fromkeys(tables, epsilon)) for tables in everything.values()
        ]
        assert np.mean([total.pairwise for total in totals]) == pytest.approx(pairwise, abs=5e-4)
        assert np.mean([total.certified for total in totals]) <= reference
        by_plain = [
            plain_bounds(list(tables.values()), [epsilon] * 39).max()
            for tables in everything.values()
        ]
        assert np.mean([total.certified for total in totals]) < np.mean(by_plain) <= plain
        for total, tables in list(zip(totals, everything.values(), strict=True))[:5]:
            check(total, tables)
