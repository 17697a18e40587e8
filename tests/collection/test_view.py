"""View: its checks, and what it is worth, against the mean of squared scores of many reports."""

import itertools

import numpy as np
import pytest

from deptriad.collection.view import View
from deptriad.data.attribute import Attribute
from deptriad.data.schema import Schema
from deptriad.mechanisms import expected_error, mechanisms

SIZES = {"a": 2, "b": 3, "c": 4}
SCHEMA = Schema(
    [
        Attribute(name, [str(code) for code in range(size)], missing="error")
        for name, size in SIZES.items()
    ]
)


def joint(names=("a", "b", "c"), epsilon=1.5, mechanism="grr", share=1.0):
    return View.of_one_value(names, epsilon, mechanism, share)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attributes": ()}, "at least one"),
        ({"attributes": ("a", "a")}, "each once"),
        ({"budgets": {"a": 1.0}}, "one for each attribute"),
        ({"budgets": {"a": 1.0, "b": 0.0}}, "above 0"),
        ({"mechanisms": {"a": "grr", "b": "gr"}}, "expected one of"),
        ({"budgets": {"a": 1.0, "b": 2.0}, "joint": True}, "one report"),
        ({"joint": 1}, "True or False"),
        ({"share": 0.0}, "above 0"),
        ({"share": 1.5}, "at most 1"),
    ],
)
def test_a_view_says_what_is_wrong_with_it(change, said):
    right = {
        "attributes": ("a", "b"),
        "budgets": {"a": 1.0, "b": 1.0},
        "mechanisms": {"a": "grr", "b": "grr"},
    }
    with pytest.raises(ValueError, match=said):
        View(**{**right, **change})


def test_the_order_of_budgets_is_that_of_the_attributes():
    view = View(("b", "a"), {"a": 1.0, "b": 2.0}, {"a": "olh", "b": "grr"})
    assert list(view.budgets) == list(view.mechanisms) == ["b", "a"]
    assert view == View(("b", "a"), {"b": 2.0, "a": 1.0}, {"b": "grr", "a": "olh"})
    assert view.epsilon == 3.0
    assert joint().epsilon == 1.5
    assert view.called == "b, a"
    assert joint(("a", "b")).called == "a & b"


def test_one_attribute_is_one_value_either_way():
    one = View(("a",), {"a": 1.0}, {"a": "grr"}, joint=True)
    assert not one.joint
    assert one == View.of_one_value(("a",), 1.0, "grr")


def test_what_is_not_asked_has_no_precision():
    assert joint(("a", "b")).precision(("a", "c"), SCHEMA) == 0.0


def test_separate_reports_multiply():
    view = View(("a", "c"), {"a": 1.0, "c": 2.0}, {"a": "grr", "c": "oue"})
    one, two = (view.precision((name,), SCHEMA) for name in ("a", "c"))
    assert one == 1.0 / expected_error.moment("grr", 1.0, 2)
    assert view.precision(("c", "a"), SCHEMA) == pytest.approx(one * two, rel=1e-14)


PARTS = [kept for size in (1, 2, 3) for kept in itertools.combinations("abc", size)]


@pytest.mark.parametrize("kept", PARTS)
@pytest.mark.parametrize("mechanism", ["grr", "hadamard"])
def test_the_error_of_a_part_is_that_of_all_reports_by_their_chances(mechanism, kept):
    made = mechanisms[mechanism](24, 1.5)
    mean = made.matrix() @ part_squares(made.weights, kept)
    m = 1.0 / joint(mechanism=mechanism).precision(kept, SCHEMA)
    assert m == pytest.approx(mean.max(), rel=1e-6)  # chances are rounded to 2^-32


@pytest.mark.parametrize("kept", PARTS)
@pytest.mark.parametrize("mechanism", ["sue", "oue", "subset"])
def test_the_error_of_a_part_is_the_mean_of_its_squared_scores(mechanism, kept, rng):
    made = mechanisms[mechanism](24, 1.5)
    squares = part_squares(made.scores(made.perturb(np.full(60_000, 5), rng=rng)), kept)
    # seven standard errors of a mean of many: by chance alone less than once in 1e11
    room = 7.0 * squares.std() / np.sqrt(len(squares)) + 1e-6 * squares.mean()
    m = 1.0 / joint(mechanism=mechanism).precision(kept, SCHEMA)
    assert m >= squares.mean() - room
    if mechanism != "subset" or len(kept) == 3:
        assert m <= squares.mean() + room


def part_squares(scores, kept):
    """Of each report the sum of squares of its scores of a part of the joint value."""
    others = tuple(1 + place for place, name in enumerate("abc") if name not in kept)
    return (scores.reshape(-1, 2, 3, 4).sum(axis=others) ** 2).reshape(len(scores), -1).sum(axis=1)
