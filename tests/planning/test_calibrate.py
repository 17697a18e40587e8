"""calibrate(): every promise is kept to the last bit, splitting is the floor, and little is lost."""

import itertools
import math
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deptriad as dt
from deptriad.mechanisms import expected_error
from deptriad.planning.calibrate import calibrate, true_totals
from deptriad.planning.constraints import constraints

pd = pytest.importorskip("pandas")

OBJECTIVES = ("utility", "even", "paper")
GUARANTEES = ("certified", "paired", "pairwise")


def records(seed, sizes, dependence=0.6, rows=3000):
    """Attributes that follow a common hidden value, each as far as it is dependent."""
    chance = np.random.default_rng(seed)
    hidden = chance.integers(0, max(sizes), rows)
    columns = {}
    for place, size in enumerate(sizes):
        follows = chance.random(rows) < dependence * (0.5 + 0.5 * chance.random())
        columns[f"x{place}"] = np.where(follows, hidden % size, chance.integers(0, size, rows))
    return pd.DataFrame(columns)


def analysis_of(seed=1, sizes=(2, 3, 4), dependence=0.6, uncertainty=None):
    frame = records(seed, sizes, dependence)
    schema = dt.Schema(
        [dt.Attribute(f"x{k}", list(range(b)), missing="error") for k, b in enumerate(sizes)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dt.analyze(dt.Prior.from_data(frame, schema), uncertainty)


def kept(analysis, plan):
    """Whether the public totals are at or below the promise, bit for bit."""
    totals = analysis.totals(plan.budgets)
    return all(getattr(totals[k], plan.guarantee) <= plan.total[k] for k in analysis.names)


# --- the promise ------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(2, 5), min_size=2, max_size=4),
    dependence=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    total=st.sampled_from([0.1, 1.0, 3.0, 7.0]),
    uncertainty=st.sampled_from([None, dt.Relative(0.2), dt.Confidence(0.9)]),
    objective=st.sampled_from(OBJECTIVES),
    guarantee=st.sampled_from(GUARANTEES),
)
def test_every_promise_is_kept_to_the_last_bit(
    seed, sizes, dependence, total, uncertainty, objective, guarantee
):
    analysis = analysis_of(seed, tuple(sizes), dependence, uncertainty)
    plan = calibrate(analysis, total, objective, guarantee)
    assert kept(analysis, plan)
    splitting = total / len(sizes)
    assert min(plan.budgets.values()) >= splitting * (1 - 1e-12)
    assert max(plan.budgets.values()) <= total


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_something_is_gained_where_attributes_are_not_copies(objective, guarantee):
    analysis = analysis_of(3, (2, 3, 4), 0.4)
    plan = calibrate(analysis, 3.0, objective, guarantee)
    assert sum(plan.budgets.values()) > 3.3
    tight = max(getattr(each, guarantee) for each in analysis.totals(plan.budgets).values())
    assert 3.0 * (1 - 1e-6) < tight <= 3.0  # nothing is left over


def test_copies_get_splitting():
    values = np.arange(600) % 3
    frame = pd.DataFrame({"a": values, "b": values, "c": values})
    analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    plan = calibrate(analysis, 1.0)
    assert kept(analysis, plan)
    assert all(v == pytest.approx(1 / 3, rel=1e-6) for v in plan.budgets.values())
    assert all(v >= 1 / 3 - 1e-15 for v in plan.budgets.values())


def test_independent_attributes_get_all_of_it_under_an_estimate():
    a, b = np.divmod(np.arange(400) % 4, 2)
    frame = pd.DataFrame({"a": a, "b": b})
    analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    for (
        guarantee
    ) in GUARANTEES:  # two attributes: one source each, whose exact leakage is certified
        plan = calibrate(analysis, 2.0, guarantee=guarantee)
        assert list(plan.budgets.values()) == pytest.approx([2.0, 2.0], rel=1e-6)


def test_values_that_say_nothing():
    frame = pd.DataFrame({"one": ["x"] * 300, "a": [0, 1, 1] * 100, "b": [0, 1, 0] * 100})
    schema = dt.Schema(
        [
            dt.Attribute("one", ["x"], missing="error"),
            dt.Attribute("a", [0, 1], missing="error"),
            dt.Attribute("b", [0, 1], missing="error"),
        ]
    )
    analysis = dt.analyze(dt.Prior.from_data(frame, schema))
    for guarantee, objective in itertools.product(GUARANTEES, OBJECTIVES):
        assert kept(analysis, calibrate(analysis, 2.0, objective, guarantee))


def test_wide_boxes_and_many_values():
    analysis = analysis_of(
        5, (15, 14, 3), 0.5, dt.Relative(0.3)
    )  # beyond 12 values: hulls of boxes
    for guarantee in GUARANTEES:
        plan = calibrate(analysis, 2.0, guarantee=guarantee)
        assert kept(analysis, plan)
        tight = max(getattr(each, guarantee) for each in analysis.totals(plan.budgets).values())
        assert tight > 1.99


@pytest.mark.parametrize("total", [1e-6, 50.0])
def test_tiny_and_huge_promises(total):
    analysis = analysis_of(2, (2, 3, 3), 0.7)
    for guarantee in GUARANTEES:
        plan = calibrate(analysis, total, guarantee=guarantee)
        assert kept(analysis, plan)
        assert min(plan.budgets.values()) >= total / 3 * (1 - 1e-12)


def test_the_same_budgets_every_time():
    analysis = analysis_of(8, (3, 3, 4, 2), 0.5)
    assert calibrate(analysis, 2.0) == calibrate(analysis, 2.0)


def test_progress_is_told():
    seen = []
    calibrate(analysis_of(), 3.0, progress=lambda done, of: seen.append((done, of)))
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert {of for _, of in seen} == {None}


# --- limits -----------------------------------------------------------------------------------------------------


def test_a_promise_for_each_attribute():
    analysis = analysis_of(4, (2, 3, 4), 0.5)
    total = {"x0": 0.5, "x1": 3.0, "x2": math.inf}
    for guarantee, objective in itertools.product(GUARANTEES, OBJECTIVES):
        plan = calibrate(analysis, total, objective, guarantee)
        assert kept(analysis, plan)
        assert plan.total == total
        assert min(plan.budgets.values()) >= 0.5 / 3 * (1 - 1e-12)


def test_a_public_attribute_that_tells_nothing_ends_at_a_large_budget():
    a, b = np.divmod(np.arange(400) % 4, 2)
    frame = pd.DataFrame({"a": a, "b": b})
    analysis = dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))
    plan = calibrate(analysis, {"a": 1.0, "b": math.inf}, guarantee="pairwise")
    assert plan.budgets["b"] > 5.0
    plan = calibrate(analysis, {"a": 1.0, "b": math.inf}, guarantee="pairwise", upper={"b": 3.0})
    assert plan.budgets["b"] <= 3.0


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_fixed_lower_and_upper(objective, guarantee):
    analysis = analysis_of(6, (2, 3, 4, 3), 0.4)
    plan = calibrate(
        analysis,
        3.0,
        objective,
        guarantee,
        fixed={"x0": 0.25},
        lower={"x1": 0.9},
        upper={"x2": 0.3},
    )
    assert kept(analysis, plan)
    assert plan.budgets["x0"] == 0.25
    assert plan.budgets["x1"] >= 0.9
    assert plan.budgets["x2"] <= 0.3
    assert plan.budgets["x3"] >= 0.75 * (1 - 1e-12)


def test_an_attribute_that_is_not_released():
    analysis = analysis_of(6, (2, 3, 4), 0.4)
    for guarantee in GUARANTEES:
        plan = calibrate(analysis, 3.0, guarantee=guarantee, fixed={"x1": 0})
        assert plan.budgets["x1"] == 0.0
        assert plan.mechanisms["x1"] == "none"
        assert plan.totals["x1"][guarantee] > 0.0  # the others still tell about it
        assert kept(analysis, plan)
    all_given = calibrate(analysis, 3.0, fixed={"x0": 0.5, "x1": 0, "x2": 0.5})
    assert all_given.budgets == {"x0": 0.5, "x1": 0.0, "x2": 0.5}


def test_a_lower_limit_may_go_below_splitting():
    analysis = analysis_of(6, (2, 3, 4), 0.9)
    plan = calibrate(analysis, 3.0, weights={"x0": 1e-3}, lower={"x0": 0.0})
    assert 0.0 < plan.budgets["x0"] < 1.0
    assert kept(analysis, plan)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_infeasible_wishes_say_what_would_work(guarantee):
    analysis = analysis_of(6, (2, 3, 4), 0.9)
    wish = {"lower": {"x1": 1.5}, "fixed": {"x2": 2.0}, "guarantee": guarantee}
    with pytest.raises(ValueError, match="no budgets keep the") as caught:
        calibrate(analysis, 2.0, **wish)
    text = str(caught.value)
    assert re.search(r"total of 'x[012]' at or below 2", text)
    works = float(re.search(r"smallest total that works is ([\d.]+)", text)[1])
    which = re.findall(r"'(x\d)'", text.split("smallest total")[1]) or list(analysis.names)
    plan = calibrate(analysis, {k: works if k in which else 2.0 for k in analysis.names}, **wish)
    assert kept(analysis, plan)
    with pytest.raises(ValueError, match="no budgets keep"):
        calibrate(
            analysis, {k: 0.995 * works if k in which else 2.0 for k in analysis.names}, **wish
        )


def test_a_lower_limit_above_its_own_promise():
    # more than 4.16, since splitting rises with the promise
    with pytest.raises(ValueError, match=r"'x0' at or below 1: .* make it 4\.16.*works is 6\."):
        calibrate(analysis_of(), 1.0, lower={"x0": 4.0})


@pytest.mark.parametrize(
    "wish, message",
    [
        ({"total": 0}, "total is 0, expected one number > 0"),
        ({"total": -1.0}, "expected one number > 0"),
        ({"total": math.nan}, "expected one number > 0"),
        ({"total": math.inf}, "every total is infinite"),
        ({"total": "3"}, "expected a number"),
        ({"total": {"x0": 1.0}}, "no entry for 'x1'"),
        ({"total": {"x0": 1, "x1": 1, "x2": 1, "x3": 1}}, "names no attribute 'x3'"),
        ({"objective": "best"}, "objective is 'best', expected one of utility, even, paper"),
        ({"guarantee": "sure"}, "guarantee is 'sure', expected one of certified"),
        ({"fixed": {"y": 1.0}}, "fixed names no attribute 'y'"),
        ({"fixed": {"x0": math.inf}}, "expected one finite number"),
        ({"fixed": 1.0}, "expected a mapping"),
        ({"lower": {"x0": 2.0}, "upper": {"x0": 1.0}}, "expected lower ≤ upper"),
        ({"fixed": {"x0": 2.0}, "upper": {"x0": 1.0}}, "outside its own limits"),
        ({"upper": {"x0": 0.0}}, "not released"),
        ({"weights": {"x0": 0.0}}, "expected a number > 0"),
        ({"weights": {"x0": -1.0}}, "expected a number ≥ 0"),
        ({"mechanism": "rappor"}, "mechanism is 'rappor', expected one of auto, grr"),
        ({"mechanism": {"y": "grr"}}, "mechanism names no attribute 'y'"),
        ({"users": 0}, "users is 0"),
    ],
)
def test_errors_name_value_and_expectation(wish, message):
    total = wish.pop("total", 3.0)
    with pytest.raises(ValueError, match=message):
        calibrate(analysis_of(), total, **wish)


def test_needs_tables(tmp_path):
    analysis_of().save(tmp_path / "a.json")
    with pytest.raises(ValueError, match="analyze the prior again"):
        calibrate(dt.Analysis.load(tmp_path / "a.json"), 3.0)
    with pytest.raises(ValueError, match="expected an Analysis"):
        calibrate(np.eye(2), 3.0)


# --- how good it is -----------------------------------------------------------------------------------------------


def largest_last(analysis, guarantee, head, splitting, total):
    """The largest budget of the last attribute for given others, by bisection on the true totals."""

    def fine(last):
        found = true_totals(analysis, np.array([*head, last]))
        return all(getattr(each, guarantee) <= total for each in found)

    if not fine(splitting):
        return None
    low, high = splitting, total
    if fine(high):
        return high
    for _ in range(16):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fine(middle) else (low, middle)
    return low


def loss_of(analysis, objective, guarantee, epsilon, total):
    if objective == "even":
        return -float(np.min(epsilon))
    if objective == "paper":
        found = true_totals(analysis, epsilon)
        return sum((getattr(each, guarantee) - total) ** 2 for each in found)
    sizes = analysis.schema.sizes
    return expected_error.Utility(sizes, ["auto"] * len(sizes), np.ones(len(sizes))).exact(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("sizes", [(5, 5), (2, 20), (3, 4, 2)])
def test_as_good_as_a_dense_grid(sizes, guarantee):
    total, points = 2.0, 60 if len(sizes) == 2 else 14
    analysis = analysis_of(11, sizes, 0.5)
    splitting = total / len(sizes)
    axis = np.geomspace(splitting, total, points)
    best = dict.fromkeys(OBJECTIVES, np.inf)
    for head in itertools.product(axis, repeat=len(sizes) - 1):
        last = largest_last(analysis, guarantee, head, splitting, total)
        if last is not None:
            epsilon = np.array([*head, last])
            for objective in OBJECTIVES:
                loss = loss_of(analysis, objective, guarantee, epsilon, total)
                best[objective] = min(best[objective], loss)
    for objective in OBJECTIVES:
        plan = calibrate(analysis, total, objective, guarantee)
        ours = loss_of(analysis, objective, guarantee, np.array(list(plan.budgets.values())), total)
        assert ours <= best[objective] + 1e-3 * abs(best[objective]) + 1e-9


def test_even_is_even_and_weights_bend_it():
    analysis = analysis_of(12, (3, 3, 3), 0.5)
    even = list(calibrate(analysis, 3.0, "even").budgets.values())
    assert max(even) == pytest.approx(min(even))
    bent = calibrate(analysis, 3.0, "even", weights={"x0": 1.3}).budgets
    assert bent["x0"] == pytest.approx(1.3 * bent["x1"])


def test_weights_draw_budget():
    analysis = analysis_of(12, (3, 3, 3), 0.6)
    plain = calibrate(analysis, 3.0).budgets
    drawn = calibrate(analysis, 3.0, weights={"x2": 30.0}).budgets
    assert drawn["x2"] > plain["x2"]


def test_mechanisms_are_the_better_ones_at_the_budget():
    analysis = analysis_of(13, (2, 25, 3), 0.4)
    plan = calibrate(analysis, 1.0)
    assert plan.mechanisms["x0"] == "grr"
    assert plan.mechanisms["x1"] == "olh"
    given = calibrate(analysis, 1.0, mechanism={"x0": "sue"})
    assert given.mechanisms["x0"] == "sue"
    assert set(calibrate(analysis, 1.0, mechanism="oue").mechanisms.values()) == {"oue"}


# --- derivatives and errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("uncertainty", [None, dt.Relative(0.2)])
def test_constraints_are_the_totals_and_slopes_are_their_derivatives(guarantee, uncertainty):
    analysis = analysis_of(14, (3, 4, 5, 2), 0.5, uncertainty)
    held = constraints(analysis, guarantee, np.ones(4, dtype=bool))
    epsilon = np.array([0.4, 0.7, 0.5, 0.9])
    held.refresh(epsilon)
    value, slope = held.rows(epsilon).totals(4)
    true = [getattr(each, guarantee) for each in true_totals(analysis, epsilon)]
    assert value == pytest.approx(true, rel=1e-6)
    step = 1e-5
    for place in range(4):
        move = step * np.eye(4)[place]
        up, down = (
            np.array([getattr(each, guarantee) for each in true_totals(analysis, epsilon + sign)])
            for sign in (move, -move)
        )
        assert slope[:, place] == pytest.approx((up - down) / (2 * step), abs=1e-3)


@pytest.mark.parametrize("mechanism", ["grr", "oue", "sue", "auto"])
@pytest.mark.parametrize("size", [2, 7, 40])
def test_slopes_of_errors(mechanism, size):
    epsilon, step = np.array([0.05, 0.5, 2.0, 8.0]), 1e-6
    sizes = np.full(4, float(size))
    _, slope = expected_error.smooth_moment(mechanism, epsilon, sizes)
    up, down = (
        expected_error.smooth_moment(mechanism, epsilon * factor, sizes)[0]
        for factor in (1 + step, 1 - step)
    )
    assert slope * epsilon == pytest.approx((up - down) / (2 * step), rel=1e-4)


def levels(mechanism, epsilon, size):
    """P and q as in the books."""
    e = math.exp(epsilon)
    if mechanism == "grr":
        return e / (e + size - 1), 1 / (e + size - 1)
    if mechanism == "oue":
        return 0.5, 1 / (e + 1)
    if mechanism == "sue":
        half = math.exp(epsilon / 2)
        return half / (half + 1), 1 / (half + 1)
    hashed = round(e) + 1
    return e / (e + hashed - 1), 1 / hashed


@given(
    mechanism=st.sampled_from(["grr", "oue", "sue", "olh"]),
    epsilon=st.floats(0.01, 12.0),
    size=st.integers(1, 100),
)
def test_moments_are_those_of_the_formula(mechanism, epsilon, size):
    p, q = levels(mechanism, epsilon, size)
    expected = 1 + (p * (1 - p) + (size - 1) * q * (1 - q)) / (p - q) ** 2
    if size == 1 and mechanism == "grr":
        expected = 1.0  # there is no other value to report
    assert expected_error.moment(mechanism, epsilon, size) == pytest.approx(expected, rel=1e-9)


def test_moments_at_the_ends():
    assert expected_error.moment("grr", 0.0, 3) == math.inf
    for mechanism in ("grr", "oue", "sue", "olh"):
        assert expected_error.moment(mechanism, 1e4, 3) < 3.0
    assert expected_error.moment("grr", 1e4, 3) == 1.0


def test_expected_errors_are_those_of_a_simulation():
    chance = np.random.default_rng(20)
    users, repeats, sizes, epsilon = 500, 2000, (3, 4), (1.0, 0.6)
    joint = chance.dirichlet(np.ones(12)).reshape(3, 4)
    flat = chance.choice(12, size=(repeats, users), p=joint.ravel())
    true = [flat // 4, flat % 4]
    z = []
    for values, size, budget in zip(true, sizes, epsilon, strict=True):
        p, q = levels("grr", budget, size)
        other = (values + chance.integers(1, size, values.shape)) % size
        report = np.where(chance.random(values.shape) < p, values, other)
        z.append((np.eye(size)[report] - q) / (p - q))
    moments = [expected_error.moment("grr", e, b) for e, b in zip(epsilon, sizes, strict=True)]
    one = z[0].mean(axis=1)
    spread = ((one - joint.sum(axis=1)) ** 2).sum(axis=1).mean()
    assert spread == pytest.approx((moments[0] - (joint.sum(axis=1) ** 2).sum()) / users, rel=0.06)
    two = np.einsum("rnv,rnw->rvw", z[0], z[1]) / users
    spread = ((two - joint) ** 2).sum(axis=(1, 2)).mean()
    expected = (moments[0] * moments[1] - (joint**2).sum()) / users
    assert spread == pytest.approx(expected, rel=0.06)


def test_the_mean_error_counts_every_marginal_once():
    weights = np.array([2.0, 1.0, 3.0])
    sizes, epsilon = (2, 5, 3), np.array([0.5, 1.0, 2.0])
    scaled = weights / weights.mean()
    m = [expected_error.moment("grr", e, b) for e, b in zip(epsilon, sizes, strict=True)]
    pairs = list(itertools.combinations(range(3), 2))
    top = sum(scaled * m) + sum(scaled[i] * scaled[j] * m[i] * m[j] for i, j in pairs)
    bottom = sum(scaled) + sum(scaled[i] * scaled[j] for i, j in pairs)
    ours = expected_error.Utility(sizes, ["grr"] * 3, weights)
    assert ours.exact(epsilon) == pytest.approx(top / bottom)
    assert ours.smooth(epsilon)[0] == pytest.approx(math.log(top / bottom))
