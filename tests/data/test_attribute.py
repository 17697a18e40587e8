"""Attribute: what may be declared, and the labels of its values."""

import math
import re

import pytest

import deptriad as dt
from small_records import codes

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ({}, ("b", "a", "(missing)")),
        ({"missing": "error"}, ("b", "a")),
        ({"unseen": "other"}, ("b", "a", "(other)", "(missing)")),
        ({"unseen": "other", "missing": "other"}, ("b", "a", "(other)")),
        ({"unseen": "other", "missing": "error"}, ("b", "a", "(other)")),
    ],
)
def test_values_are_the_categories_as_declared_then_other_then_missing(policies, expected):
    attribute = dt.Attribute("letter", categories=["b", "a"], **policies)
    assert tuple(attribute.values) == expected
    assert attribute.size == len(expected)
    known = [expected.index(label) for label in ("a", "b", "a")]
    assert codes(attribute, ["a", "b", "a"]) == known


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ({"categories": ["1", "2"]}, "text"),
        ({"categories": [1, 2.5]}, "number"),
        ({"categories": [False, True]}, "boolean"),
        ({"edges": [1, 2]}, "bins"),
    ],
)
def test_the_kind_comes_from_the_categories(declared, kind):
    attribute = dt.Attribute("x", **declared)
    assert attribute.kind == kind
    assert all(isinstance(value, str) for value in attribute.values)


@pytest.mark.parametrize(
    ("declared", "fix"),
    [
        ({"categories": ["a", "(missing)"]}, "missing='error'"),
        ({"categories": ["a", "(other)"], "unseen": "other"}, "unseen='error'"),
    ],
)
def test_a_category_that_reads_like_a_policy_is_refused_with_a_fix(declared, fix):
    with pytest.raises(ValueError, match=f"'x'.*rename.*{fix}"):
        dt.Attribute("x", **declared)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({}, "categories"),
        ({"categories": ["a"], "edges": [0, 1]}, "categories"),
        ({"categories": []}, "categories"),
        ({"categories": ["a", "b", "a"]}, "a"),
        ({"categories": [1, 1.0]}, "1"),
        ({"categories": [0.0, -0.0]}, "0"),
        ({"categories": ["a", 1]}, "categories"),
        ({"categories": [True, 1]}, "categories"),
        ({"categories": [True, "a"]}, "categories"),
        ({"categories": ["a", None]}, "None"),
        ({"categories": [1.0, math.nan]}, "nan"),
        ({"categories": "abc"}, "abc"),
        ({"categories": range(100_000)}, "100,00"),
        ({"categories": ["a", "(missing)"]}, "missing"),
        ({"categories": ["a", "(other)"], "unseen": "other"}, "other"),
        ({"edges": [0]}, "edges"),
        ({"edges": []}, "edges"),
        ({"edges": [0, 0]}, "edges"),
        ({"edges": [1, 0]}, "edges"),
        ({"edges": [0, math.nan]}, "edges"),
        ({"edges": [0, "1"]}, "edges"),
        ({"edges": [False, True]}, "edges"),
        ({"categories": ["a"], "missing": "ignore"}, "ignore"),
        ({"categories": ["a"], "unseen": "drop"}, "drop"),
        ({"categories": ["a"], "missing": "other"}, "other"),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_attribute_s_name(declared, said):
    with pytest.raises(ValueError, match="peculiar") as caught:
        dt.Attribute("peculiar", **declared)
    assert said in str(caught.value).replace("peculiar", "")


@pytest.mark.parametrize("name", [None, 3])
def test_an_attribute_needs_a_name(name):
    with pytest.raises(ValueError, match="name"):
        dt.Attribute(name, categories=["a", "b"])


# ------------------------------------------------------------------------------ names, labels, groups


def test_groups_and_labels_change_what_values_are_called_and_how_many():
    state = dt.Attribute(
        "region",
        ["ME", "TX", "NH", "CA"],
        column="state",
        groups={"North": ["NH", "ME"]},
        labels={"TX": "Texas"},
    )
    assert state.values == ("North", "Texas", "CA", "(missing)")
    assert state.codes == (0, 1, 0, 2)
    assert (state.declared, state.size, state.source) == (3, 4, "state")
    assert dt.Attribute.from_dict(state.to_dict()) == state
    assert hash(dt.Attribute.from_dict(state.to_dict())) == hash(state)
    resolved = state.to_dict(counts=False)
    assert (resolved["values"], resolved["codes"]) == (list(state.values), [0, 1, 0, 2])
    assert dt.Attribute.from_dict(resolved) == state
    with pytest.raises(ValueError, match="do not follow from its groups and labels"):
        dt.Attribute.from_dict(resolved | {"codes": [0, 1, 2, 3]})
    age = dt.Attribute("age", edges=[0, 18, 99], labels={"[0, 18)": "child"}, missing="error")
    assert age.values == ("child", "[18, 99]")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"groups": {"g": ["a", "z"]}}, "'z' in its group 'g', which is none of its categories"),
        ({"groups": {"g": ["a"], "h": ["a"]}}, "in its groups 'g' and 'h'"),
        ({"groups": {"b": ["a"]}}, "group 'b' and a category of that name"),
        ({"groups": {"g": []}}, "expected a name and a list"),
        ({"groups": {"g": "ab"}}, "expected a name and a list"),
        ({"labels": {"z": "x"}}, "a label for 'z', which is none of its values"),
        ({"labels": {"a": "b"}}, "two values that are called 'b'"),
        ({"labels": {"a": 3}}, "expected text"),
        ({"labels": {"a": "(missing)"}}, "reads like its missing"),
        ({"column": 3}, "is of the column 3"),
        ({"categories": None, "edges": [0, 1], "groups": {"g": ["a"]}}, "groups of categories"),
    ],
)
def test_labels_and_groups_that_cannot_be(fields, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        dt.Attribute(**({"name": "x", "categories": ["a", "b", "c"]} | fields))
