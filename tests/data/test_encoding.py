"""From columns to codes: policies, bins, kinds of columns, and what is refused."""

import datetime
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt
from small_records import ALL, SEX, codes

pd = pytest.importorskip("pandas")

INF = math.inf


@pytest.mark.parametrize(
    ("missing", "label"), [("category", "(missing)"), ("other", "(other)"), ("error", None)]
)
@pytest.mark.parametrize("nothing", [None, math.nan, pd.NA], ids=["None", "NaN", "NA"])
def test_missing_text_follows_its_policy(missing, label, nothing):
    attribute = dt.Attribute("letter", categories=["a", "b"], missing=missing, unseen="other")
    if label is None:
        with pytest.raises(ValueError, match=r"letter.*missing"):
            codes(attribute, ["a", nothing, "b"])
    else:
        assert codes(attribute, ["a", nothing, "b"]) == [0, attribute.values.index(label), 1]


@pytest.mark.parametrize(
    "attribute",
    [
        dt.Attribute("x", categories=[0, 1]),
        dt.Attribute("x", edges=[-1.0, 0.5, 1.0]),
    ],
    ids=["categories", "bins"],
)
def test_nan_is_missing_among_numbers(attribute):
    assert codes(attribute, [1.0, math.nan, 0.0]) == [1, 2, 0]
    assert codes(attribute, pd.Series([1, None, 0], dtype="Int64")) == [1, 2, 0]


def test_missing_booleans_are_missing():
    attribute = dt.Attribute("flag", categories=[True, False])
    assert codes(attribute, [True, None, False]) == [0, 2, 1]
    assert codes(attribute, pd.Series([True, None, False], dtype="boolean")) == [0, 2, 1]


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ({"categories": ["a", "b"]}, "z"),
        ({"categories": [1, 2]}, 3),
        ({"categories": [True]}, False),
        ({"edges": [0, 1, 2]}, 2.5),
        ({"edges": [0, 1, 2]}, -0.5),
        ({"edges": [0, 1, 2]}, INF),
    ],
)
def test_an_unseen_value_is_an_error_or_counted_with_the_others(declared, value):
    first = declared.get("categories", [0.5])[0]
    with pytest.raises(ValueError, match=rf"strange.*{value}"):
        codes(dt.Attribute("strange", **declared), [first, value])
    attribute = dt.Attribute("strange", **declared, unseen="other")
    assert codes(attribute, [first, value]) == [0, attribute.values.index("(other)")]


def test_no_more_than_five_unseen_values_are_named():
    attribute = dt.Attribute("letter", categories=["a"])
    with pytest.raises(ValueError, match="letter") as caught:
        codes(attribute, ["a", *(f"new{i}" for i in range(10, 30))])
    assert 1 <= str(caught.value).count("new") <= 5


# --------------------------------------------------------------------------------------------- bins


def test_a_bin_has_its_lower_edge_and_only_the_last_its_upper():
    attribute = dt.Attribute("x", edges=[0, 1, 2.5, 4], missing="error")
    below = [np.nextafter(edge, -INF) for edge in (1, 2.5, 4)]
    assert codes(attribute, [0, 1, 2.5, 4, *below]) == [0, 1, 2, 2, 0, 1, 2]
    assert codes(attribute, [0, 1, 4]) == [0, 1, 2]  # whole numbers too


@pytest.mark.parametrize("outside", [np.nextafter(0.0, -1.0), np.nextafter(4.0, 5.0)])
def test_just_outside_the_outer_edges_is_unseen(outside):
    with pytest.raises(ValueError, match="height"):
        codes(dt.Attribute("height", edges=[0, 1, 4]), [1.0, outside])


def test_infinite_edges_take_everything():
    attribute = dt.Attribute("x", edges=[-INF, 0, INF], missing="error")
    assert codes(attribute, [-INF, -1e308, -5e-324, -0.0, 0.0, 1e308, INF]) == [0, 0, 0, 1, 1, 1, 1]


def test_a_single_bin_is_closed_on_both_sides():
    attribute = dt.Attribute("x", edges=[0, 1], unseen="other", missing="error")
    assert codes(attribute, [0.0, 0.5, 1.0, 1.5]) == [0, 0, 0, 1]


@given(
    st.lists(st.floats(allow_nan=False), min_size=2, max_size=8, unique=True).map(sorted),
    st.lists(st.floats(), min_size=1, max_size=20),
)
def test_bins_are_half_open_intervals_with_distinct_labels(edges, numbers):
    attribute = dt.Attribute("x", edges=edges, unseen="other")
    assert len(set(attribute.values)) == attribute.size == len(edges) + 1
    for number, code in zip(numbers, codes(attribute, numbers), strict=True):
        if math.isnan(number):
            expected = len(edges)
        elif not edges[0] <= number <= edges[-1]:
            expected = len(edges) - 1
        else:
            expected = min(sum(edge <= number for edge in edges) - 1, len(edges) - 2)
        assert code == expected


def test_a_number_matches_whatever_its_type():
    attribute = dt.Attribute("x", categories=[1, 0, 2.5], missing="error")
    assert codes(attribute, [1, 0]) == [0, 1]
    assert codes(attribute, [1.0, -0.0, 0.0, 2.5]) == [0, 1, 1, 2]
    assert codes(attribute, np.array([1, 0], dtype=np.int8)) == [0, 1]
    assert codes(attribute, np.array([1, 2.5], dtype=np.float32)) == [0, 2]


def test_categorical_columns_are_text():
    attribute = dt.Attribute("letter", categories=["b", "a"])
    assert codes(attribute, pd.Series(["a", None, "b"], dtype="category")) == [1, 2, 0]


DATES = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]


@pytest.mark.parametrize(
    ("declared", "values"),
    [
        ({"categories": [1, 2]}, ["1", "2"]),
        ({"categories": [0, 1]}, [False, True]),
        ({"categories": ["1", "2"]}, [1, 2]),
        ({"categories": ["True", "False"]}, [True, False]),
        ({"categories": [True, False]}, [1, 0]),
        ({"categories": [True, False]}, ["True", "False"]),
        ({"edges": [0, 1, 2]}, ["0.5", "1.5"]),
        ({"edges": [0, 1, 2]}, [True, False]),
        ({"edges": [0, 1, 2]}, pd.to_datetime(["2020-01-01", "2021-01-01"])),
        ({"categories": ["2020-01-01", "2021-01-01"]}, DATES),
        ({"categories": ["a", "b"]}, [["a"], ["b"]]),
    ],
)
def test_a_column_of_another_kind_is_an_error_with_its_name(declared, values):
    with pytest.raises(ValueError, match="peculiar"):
        codes(dt.Attribute("peculiar", **declared, unseen="other"), values)


@pytest.mark.parametrize(
    "values", [[1, "a"], ["a", 1], [True, "a"], ["a", 1.5, None], [True, 2], [b"a", "a"]]
)
@pytest.mark.parametrize(
    "declared",
    [{"categories": ["a"]}, {"categories": [1]}, {"categories": [True]}, {"edges": [0, 1]}],
    ids=["text", "number", "boolean", "bins"],
)
def test_a_column_of_mixed_types_is_an_error_with_its_name(declared, values):
    column = pd.Series(values, dtype=object)
    with pytest.raises(ValueError, match="peculiar"):
        codes(dt.Attribute("peculiar", **declared, unseen="other"), column)


def test_encode_gives_a_column_for_each_attribute_in_the_order_of_the_rows():
    frame = pd.DataFrame(
        {
            "wed": [True, None, False],
            "unused": ["?", "?", "?"],
            "sex": ["m", "f", "m"],
            "age": [17.5, 18, None],
            "kids": [7, 2, 0],
        },
        index=[9, 3, 9],
    )
    found = ALL.encode(frame)
    assert np.issubdtype(found.dtype, np.integer)
    assert found.tolist() == [[1, 0, 3, 1], [0, 1, 2, 2], [1, 3, 0, 0]]


@given(st.permutations(range(12)), st.permutations(["sex", "age", "kids", "wed"]))
def test_codes_do_not_depend_on_the_order_of_rows_or_columns(order, columns):
    frame = pd.DataFrame(
        {
            "sex": ["f", "m"] * 6,
            "age": [1.0, 18, 64, 65, None, 80] * 2,
            "kids": [0, 1, 2, 5] * 3,
            "wed": [True, False, None] * 4,
        }
    )
    assert np.array_equal(ALL.encode(frame.iloc[order][columns]), ALL.encode(frame)[order])


def test_a_missing_column_is_an_error_that_names_it_and_a_close_one():
    with pytest.raises(ValueError, match=r"(?s)'sex'.*'sexe'"):
        dt.Schema([SEX]).encode(pd.DataFrame({"sexe": ["f"], "height": [1]}))
