"""Plans from one half of the records, on the other half."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.planning import pilot
from deptriad.planning.pilot import Half, Pilot
from plain_totals import plain_totals

pd = pytest.importorskip("pandas")


def people(rows, copies=1):
    chance = np.random.default_rng(4)
    a = chance.integers(0, 2, rows)
    b = np.where(chance.random(rows) < 0.5, a, chance.integers(0, 3, rows))
    frame = pd.DataFrame({"a": a, "b": b, "c": chance.integers(0, 2, rows), "w": 1.0 + a})
    return pd.concat([frame] * copies, ignore_index=True)


SCHEMA = dt.Schema(
    [
        dt.Attribute("a", [0, 1], missing="error"),
        dt.Attribute("b", [0, 1, 2], missing="error"),
        dt.Attribute("c", [0, 1]),  # nobody is missing: a value that is left out of the tables
    ]
)


def analysed(frame, uncertainty=None, weight=None):
    return dt.analyze(dt.Prior.from_data(frame, SCHEMA, weight, min_records=1), uncertainty)


@pytest.mark.parametrize("views", ["best", "all"])
def test_few_records_pass_a_promise_and_many_hardly_do(views):
    few, many = (
        dt.calibrate(analysed(people(60, copies)), 2.0, views=views, halves=4).pilot
        for copies in (1, 2_000)
    )
    assert few.broken > 0.0
    assert few.worst.excess > 0.0
    # halves of 2,000 copies have nearly the same tables
    assert many.worst.excess < 0.05 < few.worst.excess


def test_totals_are_those_of_plain_tensors():
    plan = dt.calibrate(analysed(people(80)), 2.0)
    other = people(400)[80:]
    found = pilot.totals_on(plan, dt.Prior.from_data(other, SCHEMA, min_records=1))
    codes = SCHEMA.encode(other[["a", "b", "c"]])
    expected = np.zeros(3)
    for view in plan.views:
        places = [SCHEMA.index(name) for name in view.attributes]
        budgets = list(view.budgets.values())
        told = plain_totals(codes, SCHEMA.sizes, places, budgets, view.joint)
        plain = set(view.mechanisms.values()) != {"grr"} or view.epsilon <= 2.0
        expected = np.maximum(
            expected, np.minimum(told, view.epsilon) if not plain else view.epsilon
        )
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_plan_keeps_what_was_found_and_stays_the_same(tmp_path):
    analysis = analysed(people(100), weight="w")
    plain, plan = dt.calibrate(analysis, 2.0), dt.calibrate(analysis, 2.0, halves=2)
    assert plain.pilot is None
    assert plan.views == plain.views
    assert plan == dt.calibrate(analysis, 2.0, halves=2)
    assert plan.pilot.words in repr(plan)
    plan.save(tmp_path / "plan.json")
    assert dt.Plan.load(tmp_path / "plan.json").pilot == plan.pilot


def test_boxes_are_a_guarantee_for_halves_too():
    sure = dt.calibrate(analysed(people(400), dt.Confidence(0.95)), 2.0, halves=2).pilot
    assert sure.broken == 0.0
    assert sure.words.endswith("none breaks a promise")


def test_words_and_columns():
    found = Pilot((Half("a", 2.5, 2.0), Half("b", 1.5, 2.0)))
    assert (found.broken, found.worst.attribute, found.median) == (0.5, "a", 0.0)
    assert found.columns()["excess"] == [0.5, -0.5]
    assert "1 breaks a promise" in found.words


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"halves": -1}, "halves is -1"),
        ({"halves": 1.5}, "halves is 1.5"),
    ],
)
def test_what_makes_no_sense_is_refused(change, said):
    with pytest.raises(ValueError, match=said):
        dt.calibrate(analysed(people(60)), **({"total": 2.0} | change))


def test_without_records_there_are_no_halves():
    prior = dt.Prior.from_counts(dt.Counts.from_data(people(60), SCHEMA), min_records=1)
    with pytest.raises(ValueError, match="no records of one group"):
        dt.calibrate(dt.analyze(prior), 2.0, halves=1)
    with pytest.raises(ValueError, match="expected an Analysis"):
        dt.calibrate(people(60), 2.0, halves=1)
    with pytest.raises(ValueError, match="no records"):
        dt.calibrate(SCHEMA, 2.0, halves=1)


def test_strange_facts_are_refused():
    plan = dt.calibrate(analysed(people(60)), 2.0)
    for strange in ([], 3, [["a", 1.0]], [["a", float("nan"), 2.0]]):
        with pytest.raises(ValueError, match="halves"):
            dt.Plan(**(vars_of(plan) | {"facts": {"halves": strange}}))


def vars_of(plan):
    return {name: getattr(plan, name) for name in plan.__dataclass_fields__}
