"""Attribute and Schema: declared categories and bins, and what is proposed from public data."""

import datetime
import json
import math
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt

pd = pytest.importorskip("pandas")

INF = math.inf


def codes(attribute, values):
    """The codes of one column of values."""
    return dt.Schema([attribute]).encode(frame_of(attribute.name, values))[:, 0].tolist()


def frame_of(name, values):
    return values.to_frame(name) if isinstance(values, pd.Series) else pd.DataFrame({name: values})


def infer(data, **options):
    """A proposed schema, where nothing is worth a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return dt.Schema.infer(data, **options)


# ------------------------------------------------------------------------------- declared attributes


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


# -------------------------------------------------------------------------------------------- kinds


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


def test_a_number_matches_whatever_its_type():
    attribute = dt.Attribute("x", categories=[1, 0, 2.5], missing="error")
    assert codes(attribute, [1, 0]) == [0, 1]
    assert codes(attribute, [1.0, -0.0, 0.0, 2.5]) == [0, 1, 1, 2]
    assert codes(attribute, np.array([1, 0], dtype=np.int8)) == [0, 1]
    assert codes(attribute, np.array([1, 2.5], dtype=np.float32)) == [0, 2]


def test_numbers_beyond_what_a_float_can_tell_apart_are_not_confused():
    for value in (2**53, -(2**53), 2.0**53, 2**53 + 1, 10**400):
        with pytest.raises(ValueError, match=r"identity.*2\^53"):
            dt.Attribute("identity", categories=[0, value])
    near = 2**53 - 1
    assert codes(dt.Attribute("identity", categories=[near]), [near]) == [0]
    with pytest.raises(ValueError, match=r"identity.*9007199254740993"):
        codes(dt.Attribute("identity", categories=[near]), [near, near + 2])


NEAR = [0.3, 0.1 + 0.2, 1, 1 + 2**-50]


def test_floats_that_are_nearly_equal_are_told_apart_by_all_their_digits():
    assert dt.Attribute("x", NEAR, missing="error").values == (
        "0.3",
        "0.30000000000000004",
        "1",
        "1.0000000000000009",
    )
    assert dt.Attribute("x", edges=NEAR, missing="error").values == (
        "[0.3, 0.30000000000000004)",
        "[0.30000000000000004, 1.0)",
        "[1.0, 1.0000000000000009]",
    )
    assert dt.Attribute("x", edges=[0.1, 1 / 3], missing="error").values == (
        "[0.1, 0.333333333333]",
    )
    assert codes(dt.Attribute("x", NEAR), NEAR) == [0, 1, 2, 3]
    many = [1 + place * 2**-50 for place in range(5000)]
    assert len(set(dt.Attribute("x", many).values)) == 5001


@pytest.mark.parametrize(
    "declared",
    [
        {"edges": [3.0] * 5000},
        {"edges": [10**400, 1]},
        {"edges": [0, 10**6000]},
        {"edges": ["much"] * 5000},
        {"categories": "abc" * 5000},
        {"categories": [["nested"] * 5000]},
        {"categories": ["a", "(missing)", *map(str, range(5000))]},
    ],
)
def test_a_message_about_many_values_is_short(declared):
    with pytest.raises(ValueError, match="peculiar") as caught:
        dt.Attribute("peculiar", **declared)
    assert len(str(caught.value)) < 400


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


# ------------------------------------------------------------------------------------------- schema

SEX = dt.Attribute("sex", categories=["f", "m"], missing="error")
AGE = dt.Attribute("age", edges=[0, 18, 65, INF])
KIDS = dt.Attribute("kids", categories=[0, 1, 2], unseen="other")
WED = dt.Attribute("wed", categories=[False, True])
ALL = dt.Schema([SEX, AGE, KIDS, WED])


def test_a_schema_is_its_attributes_in_order():
    assert tuple(ALL.names) == ("sex", "age", "kids", "wed")
    assert (len(ALL), list(ALL), ALL["age"]) == (4, [SEX, AGE, KIDS, WED], AGE)
    assert dt.Schema([SEX, AGE]) == dt.Schema((SEX, AGE))
    assert dt.Schema([SEX, AGE]) != dt.Schema([AGE, SEX])
    assert dt.Schema([SEX]) != dt.Schema([dt.Attribute("sex", categories=["m", "f"])])


def test_only_and_without_choose_attributes():
    assert ALL.only("sex", "wed") == dt.Schema([SEX, WED])
    assert ALL.without("sex", "wed") == dt.Schema([AGE, KIDS])


@pytest.mark.parametrize(
    "choose",
    [ALL.only, ALL.without, ALL.__getitem__],
    ids=["only", "without", "item"],
)
def test_an_unknown_name_is_an_error_that_names_a_close_one(choose):
    with pytest.raises((KeyError, ValueError), match=r"agee.*'age'"):
        choose("agee")


@pytest.mark.parametrize(("attributes", "said"), [([], "attribute"), ([SEX, AGE, SEX], "sex")])
def test_a_schema_has_one_attribute_or_more_of_different_names(attributes, said):
    with pytest.raises(ValueError, match=said):
        dt.Schema(attributes)


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


# ------------------------------------------------------------------------------------------ infer


def test_few_values_become_sorted_categories():
    schema = infer(
        pd.DataFrame(
            {
                "letter": ["c", "a", "b", "a"],
                "flag": [True, False, True, True],
                "count": [3, 10, 3, 2],
                "level": [0.5, -1.0, 0.5, 2.0],
            }
        )
    )
    assert schema == dt.Schema(
        [
            dt.Attribute("letter", categories=["a", "b", "c"], missing="error"),
            dt.Attribute("flag", categories=[False, True], missing="error"),
            dt.Attribute("count", categories=[2, 3, 10], missing="error"),
            dt.Attribute("level", categories=[-1.0, 0.5, 2.0], missing="error"),
        ]
    )
    assert not schema.notes


@pytest.mark.parametrize(
    "values", [["a", None, "b"], [True, None, False], [1.0, math.nan, 2.0], [*range(99), None]]
)
def test_missing_values_get_a_category_where_there_are_any(values):
    assert infer(pd.DataFrame({"x": values}))["x"].missing == "category"
    without = [value for value in values if value is not None and value == value]
    assert infer(pd.DataFrame({"x": without}))["x"].missing == "error"


@pytest.mark.parametrize("bins", [2, 4, 10])
def test_quantile_bins_hold_about_equally_many(rng, bins):
    numbers = rng.lognormal(size=1000)
    attribute = infer(pd.DataFrame({"x": numbers}), bins=bins)["x"]
    assert (attribute.kind, attribute.edges[0], attribute.edges[-1]) == ("bins", -INF, INF)
    found = np.bincount(codes(attribute, numbers), minlength=bins)
    assert len(found) == bins
    assert np.abs(found - 1000 / bins).max() <= 1


@pytest.mark.parametrize("bins", [2, 5])
def test_width_bins_are_equally_wide(rng, bins):
    numbers = rng.uniform(size=500)
    attribute = infer(pd.DataFrame({"x": numbers}), bins=bins, binning="width")["x"]
    inner = np.linspace(numbers.min(), numbers.max(), bins + 1)[1:-1]
    assert attribute.edges[1:-1] == pytest.approx(inner.tolist(), abs=1e-12)
    assert (attribute.edges[0], attribute.edges[-1]) == (-INF, INF)


def test_quantile_bins_of_tied_values_are_fewer_and_all_used(rng):
    numbers = np.where(rng.random(2000) < 0.8, 0.0, rng.exponential(size=2000))
    attribute = infer(pd.DataFrame({"gain": numbers}))["gain"]
    found = np.bincount(codes(attribute, numbers), minlength=attribute.size)
    assert 2 <= attribute.size < 10
    assert found.min() > 0


@pytest.mark.parametrize("binning", ["quantile", "width"])
def test_infinite_and_missing_values_do_not_spoil_the_bins(binning):
    numbers = [*range(100), INF, -INF, math.nan]
    attribute = infer(pd.DataFrame({"x": numbers}), bins=4, binning=binning)["x"]
    assert np.isfinite(attribute.edges[1:-1]).all()
    assert set(codes(attribute, numbers)) == {0, 1, 2, 3, 4}


def test_numbers_stay_categories_up_to_the_cap():
    frame = pd.DataFrame({"x": range(31)})
    assert infer(frame, max_categories=31)["x"].kind == "number"
    assert infer(frame)["x"].kind == "bins"


@pytest.mark.parametrize("distinct", [31, 10_000])
def test_the_most_frequent_categories_stay_and_the_rest_is_other(distinct):
    names = [f"v{i:05}" for i in range(distinct)]
    frequent = names[1::2]
    with pytest.warns(UserWarning, match="town"):
        schema = dt.Schema.infer(pd.DataFrame({"town": names + frequent}))
    town = schema["town"]
    assert (town.unseen, town.size, town.values[-1]) == ("other", 30, "(other)")
    assert list(town.categories) == sorted(town.categories)
    assert set(town.categories) <= set(frequent) or set(town.categories) > set(frequent)
    assert any("town" in note for note in schema.notes)


@given(st.permutations(["a"] * 3 + ["b"] * 2 + ["c"] * 2 + ["d"] * 2 + ["e"]))
def test_a_proposal_does_not_depend_on_the_order_of_rows(values):
    with pytest.warns(UserWarning, match="letter"):
        schema = dt.Schema.infer(pd.DataFrame({"letter": values}), max_categories=3)
    assert schema["letter"].categories[0] == "a"
    with pytest.warns(UserWarning, match="letter"):
        assert schema == dt.Schema.infer(pd.DataFrame({"letter": sorted(values)}), max_categories=3)


LEFT_OUT = {
    "constant number": [7, 7, 7],
    "constant text": ["a", "a", "a"],
    "constant flag": [True, True, True],
    "all missing": [None, None, None],
    "all NaN": [math.nan, math.nan, math.nan],
    "moment": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]),
    "day": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
    "nested list": [[1], [2], [3]],
    "nested mapping": [{"a": 1}, {"a": 2}, {"a": 3}],
    "mixed": pd.Series([1, "a", True], dtype=object),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_column_of_no_use_is_left_out_and_named(name):
    frame = pd.DataFrame({"letter": ["a", "b", "a"], name: LEFT_OUT[name]})
    with pytest.warns(UserWarning, match=name):
        schema = dt.Schema.infer(frame)
    assert tuple(schema.names) == ("letter",)
    assert any(name in note for note in schema.notes)
    assert schema == infer(frame[["letter"]])  # notes are not compared


@pytest.mark.parametrize("engine", ["polars", "pyarrow"])
def test_other_frames_leave_out_the_same_columns(engine):
    module = pytest.importorskip(engine)
    columns = {
        "letter": ["a", "b", "a"],
        "nothing": [None, None, None],
        "day": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
        "nested": [[1], [2], [3]],
        "struct": [{"a": 1}, {"a": 2}, {"a": 3}],
        "always": [1, 1, 1],
    }
    data = module.DataFrame(columns) if engine == "polars" else module.table(columns)
    with pytest.warns(UserWarning, match="nested") as caught:
        schema = dt.Schema.infer(data)
    assert tuple(schema.names) == ("letter",)
    said = " ".join(str(warning.message) for warning in caught)
    for name in set(columns) - {"letter"}:
        assert name in said


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("columns", "said"),
    [({"always": [1, 1]}, "always"), ({"nothing": [None, None]}, "nothing"), ({"a": []}, "record")],
)
def test_nothing_left_is_an_error(columns, said):
    with pytest.raises(ValueError, match=said):
        dt.Schema.infer(pd.DataFrame(columns))


def test_some_columns_can_be_chosen():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 5]})
    assert tuple(infer(frame, columns=["b", "a"]).names) in {("a", "b"), ("b", "a")}
    with pytest.raises(ValueError, match="bb"):
        dt.Schema.infer(frame, columns=["bb"])


def test_one_name_may_be_given_as_text():
    frame = pd.DataFrame({"ab": [1, 2], "a": [3, 4], "b": [5, 6]})
    assert infer(frame, columns="ab").names == ("ab",)
    assert infer(frame, without="ab").names == ("a", "b")


@pytest.mark.parametrize("binning", ["quantile", "width"])
@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([5.0, INF], None),
        ([-INF, INF], None),
        ([-INF, INF, None], {0, 1}),
        ([1.0, 2.0, INF], {0, 1}),
        ([1.0, 2.0, -INF], {0, 1}),
        ([-1e308, 1e308, INF], {0, 1}),
        ([2**60, 2**60 + 1], None),
        ([2**60, 2**61], {0, 1}),
        ([0.1 + 0.2, 0.3], {0, 1}),
    ],
)
def test_odd_numbers_do_not_spoil_the_other_columns(numbers, found, binning):
    frame = pd.DataFrame({"odd": numbers, "even": [*"abc"][: len(numbers)]})
    if found is None:
        with pytest.warns(UserWarning, match="'odd' is left out"):
            assert dt.Schema.infer(frame, binning=binning).names == ("even",)
    else:
        schema = infer(frame, binning=binning, bins=2)
        assert set(schema.encode(frame)[:, 0].tolist()) == found


def test_text_that_reads_like_missing_beside_missing_values_leaves_its_column_out():
    frame = pd.DataFrame({"odd": ["(missing)", None, "a"], "even": ["a", "b", "c"]})
    with pytest.warns(UserWarning, match=r"'odd' is left out.*\(missing\).*rename"):
        assert dt.Schema.infer(frame).names == ("even",)


def test_text_that_reads_other_is_counted_as_other():
    values = ["(other)"] * 9 + ["a"] * 3 + ["b"] * 2 + ["c", "d"]
    frame = pd.DataFrame({"odd": values})
    assert infer(frame)["odd"].categories == ("(other)", "a", "b", "c", "d")
    with pytest.warns(UserWarning, match=r"'odd' has 5 different values: the 2 most.*other 3"):
        odd = dt.Schema.infer(frame, max_categories=3)["odd"]
    assert odd.values == ("a", "b", "(other)")


@pytest.mark.parametrize("numbers", [[10**30, 1], [2**63, 1]])
def test_integers_beyond_64_bits_are_binned(numbers):
    frame = pd.DataFrame({"x": pd.Series(numbers, dtype=object)})
    assert infer(frame)["x"].kind == "bins"


def test_integers_beyond_floats_are_refused():
    frame = pd.DataFrame({"peculiar": pd.Series([10**400, 1], dtype=object)})
    with pytest.raises(ValueError, match="peculiar"):
        codes(dt.Attribute("peculiar", edges=[0, 1, INF]), frame["peculiar"])
    with pytest.raises(ValueError, match="peculiar"), pytest.warns(UserWarning, match="peculiar"):
        dt.Schema.infer(frame)


ODD_NAMES = {
    "objects": (0, pd.Series(["a", "b"], dtype=object)),
    "categories": (1.5, pd.Series(["a", "b"], dtype="category")),
    "numbers": (("a", "b"), pd.Series([1, 2])),
}


@pytest.mark.parametrize("odd", ODD_NAMES)
def test_a_column_whose_name_is_no_text_matters_only_if_it_is_used(odd):
    name, values = ODD_NAMES[odd]
    frame = pd.DataFrame({"sex": ["f", "m"]})
    frame[name] = values
    assert dt.Schema([SEX]).encode(frame).tolist() == [[0], [1]]
    assert infer(frame, columns=["sex"]).names == ("sex",)
    with pytest.raises(
        ValueError, match=r"column .* is no text: rename.*frame\.columns = "
    ) as caught:
        dt.Schema.infer(frame)
    assert repr(name) in str(caught.value)
    with pytest.raises(ValueError, match=r"no text, rename.*frame\.columns = ") as caught:
        dt.Schema([dt.Attribute(str(name), ["a", "b"])]).encode(frame)
    assert repr(name) in str(caught.value)


def test_columns_of_two_levels_are_explained():
    frame = pd.DataFrame({("sex", "now"): ["f", "m"], ("sex", "then"): ["f", "f"]})
    for use in (dt.Schema.infer, dt.Schema([SEX]).encode):
        with pytest.raises(ValueError, match=r"\('sex', 'now'\).*frame\.columns = "):
            use(frame)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
def test_memory_does_not_hold_the_numbers_as_objects(engine):
    numbers = np.random.default_rng(3).random(500_000)
    frame = pd.DataFrame({"x": numbers})
    if engine == "pyarrow":
        frame = pytest.importorskip("pyarrow").table({"x": numbers})
    infer(pd.DataFrame({"x": [1.0, 2.0]}))
    tracemalloc.start()
    try:
        infer(frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60 * len(numbers)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bins": 0}, "bins"),
        ({"bins": 2.5}, "bins"),
        ({"binning": "sturges"}, "sturges"),
        ({"max_categories": 0}, "max_categories"),
    ],
)
def test_wrong_options_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        dt.Schema.infer(pd.DataFrame({"a": [1, 2]}), **options)


COLUMNS = st.one_of(
    st.lists(st.none() | st.sampled_from(["", "a", "ü", "(other)x", "1"]), min_size=8, max_size=8),
    st.lists(st.none() | st.booleans(), min_size=8, max_size=8),
    st.lists(st.floats(), min_size=8, max_size=8),
    st.lists(st.integers(-(2**40), 2**40), min_size=8, max_size=8),
)


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(COLUMNS, st.sampled_from(["quantile", "width"]), st.integers(2, 4), st.integers(2, 9))
def test_a_proposal_encodes_the_data_it_comes_from(values, binning, bins, most):
    frame = pd.DataFrame({"x": values, "y": list("abcdefgh")})
    schema = dt.Schema.infer(frame, bins=bins, binning=binning, max_categories=most)
    if "x" not in schema.names:
        assert any("x" in note for note in schema.notes)
        return
    found = schema.only("x").encode(frame)[:, 0]
    missing = np.array([value is None or value != value for value in values])
    assert schema["x"].size <= max(most, bins) + missing.any()
    if missing.any():
        assert np.array_equal(found == schema["x"].size - 1, missing)
    assert found.min() >= 0
    assert found.max() < schema["x"].size


# ----------------------------------------------------------------------------------------- JSON


def test_the_file_is_json_for_people(tmp_path):
    ALL.save(tmp_path / "schema.json")
    text = (tmp_path / "schema.json").read_text(encoding="utf-8")
    saved = json.loads(text, parse_constant=pytest.fail)
    assert (saved["format"], saved["version"]) == ("deptriad schema", 1)
    assert saved["attributes"][0] == {
        "name": "sex",
        "categories": ["f", "m"],
        "missing": "error",
        "unseen": "error",
    }
    assert saved["attributes"][1]["edges"] == [0, 18, 65, "inf"]
    assert saved["attributes"][3]["categories"] == [False, True]
    assert len(text.splitlines()) > len(ALL)  # laid out, not one long line


def test_notes_are_saved_and_not_compared(tmp_path):
    with pytest.warns(UserWarning, match="always"):
        schema = dt.Schema.infer(pd.DataFrame({"a": ["x", "y"], "always": [1, 1]}))
    schema.save(tmp_path / "s.json")
    loaded = dt.Schema.load(tmp_path / "s.json")
    assert loaded.notes == schema.notes
    assert loaded == schema.only("a")


NUMBERS = st.integers(1 - 2**53, 2**53 - 1) | st.floats(
    -(2.0**53), 2.0**53, exclude_min=True, exclude_max=True
)
TEXTS = st.text(max_size=5).filter(lambda text: text not in ("(other)", "(missing)"))
CATEGORIES = st.one_of(
    st.lists(TEXTS, min_size=1, max_size=5, unique=True),
    st.lists(NUMBERS, min_size=1, max_size=5, unique_by=float),
    st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
)
EDGES = st.lists(st.floats(allow_nan=False), min_size=2, max_size=6, unique=True).map(sorted)
POLICIES = st.sampled_from(
    [
        {"missing": missing, "unseen": unseen}
        for missing in ("category", "other", "error")
        for unseen in ("error", "other")
        if (missing, unseen) != ("other", "error")
    ]
)


@st.composite
def schemas(draw):
    names = draw(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4, unique=True))
    declared = CATEGORIES.map(lambda x: {"categories": x}) | EDGES.map(lambda x: {"edges": x})
    return dt.Schema([dt.Attribute(name, **draw(declared), **draw(POLICIES)) for name in names])


@given(schemas())
def test_a_schema_comes_back_from_its_file(tmp_path_factory, schema):
    path = tmp_path_factory.mktemp("schema") / "schema.json"
    schema.save(path)
    loaded = dt.Schema.load(path)
    assert loaded == schema
    for old, new in zip(schema, loaded, strict=True):
        assert (new.kind, tuple(new.values)) == (old.kind, tuple(old.values))
    json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)


def edited(change):
    """The JSON of a good schema after an edit by hand."""
    saved = {
        "format": "deptriad schema",
        "version": 1,
        "attributes": [
            {"name": "sex", "categories": ["f", "m"], "missing": "error", "unseen": "error"},
            {"name": "age", "edges": ["-inf", 18, "inf"], "missing": "category", "unseen": "error"},
        ],
        "notes": [],
    }
    change(saved)
    return json.dumps(saved)


def in_attribute(index, **changes):
    """An edit of one attribute: new values, or None to take a key away."""

    def change(saved):
        for key, value in changes.items():
            if value is None:
                del saved["attributes"][index][key]
            else:
                saved["attributes"][index][key] = value

    return edited(change)


MISTAKES = {
    "no JSON": ("{", "JSON"),
    "empty": ("", "JSON"),
    "a list": ("[]", "schema"),
    "another format": (edited(lambda saved: saved.update(format="csv")), "csv"),
    "no format": (edited(lambda saved: saved.pop("format")), "format"),
    "another version": (edited(lambda saved: saved.update(version=2)), "version.*2"),
    "no version": (edited(lambda saved: saved.pop("version")), "version"),
    "an unknown key": (edited(lambda saved: saved.update(attribute=[])), "attribute"),
    "no attributes": (edited(lambda saved: saved.pop("attributes")), "attributes"),
    "empty attributes": (edited(lambda saved: saved.update(attributes=[])), "attribute"),
    "attributes no list": (edited(lambda saved: saved.update(attributes=3)), "attributes"),
    "attribute no mapping": (edited(lambda saved: saved.update(attributes=["sex"])), "sex"),
    "no name": (in_attribute(0, name=None), "name"),
    "a name that is no text": (in_attribute(0, name=3), "name"),
    "a name twice": (in_attribute(0, name="age"), "age"),
    "an unknown key of an attribute": (in_attribute(0, colour="red"), "colour"),
    "neither categories nor edges": (in_attribute(0, categories=None), "sex"),
    "both categories and edges": (in_attribute(0, edges=[0, 1]), "sex"),
    "a category twice": (in_attribute(0, categories=["f", "f"]), "sex"),
    "mixed categories": (in_attribute(0, categories=["f", 1]), "sex"),
    "nested categories": (in_attribute(0, categories=[["f"], ["m"]]), "sex"),
    "categories as text": (in_attribute(0, categories="fm"), "sex"),
    "edges that fall": (in_attribute(1, edges=[3, 1]), "age"),
    "one edge": (in_attribute(1, edges=[3]), "age"),
    "an edge of text": (in_attribute(1, edges=[0, "much"]), "age.*much|much.*age"),
    "an edge that is no number": (in_attribute(1, edges=[0, math.nan]), "age|NaN"),
    "an unknown policy": (in_attribute(0, missing="ignore"), "ignore"),
    "another unknown policy": (in_attribute(1, unseen="drop"), "drop"),
    "missing counted with no other": (in_attribute(1, missing="other"), "age"),
    "notes no list": (edited(lambda saved: saved.update(notes=3)), "notes"),
    "an edge beyond floats": (in_attribute(1, edges=[0, 10**400]), "mine.json.*age"),
    "nested without end": ("[" * 200_000, "mine.json"),
    "a key twice": (edited(lambda saved: None).replace('"unseen"', '"name"', 1), "'name' twice"),
    "a version that is true": (edited(lambda saved: saved.update(version=True)), "version.*True"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_an_edited_file_is_named(tmp_path, mistake):
    text, said = MISTAKES[mistake]
    (tmp_path / "mine.json").write_text(text)
    with pytest.raises(ValueError, match=f"(?s){said}"):
        dt.Schema.load(tmp_path / "mine.json")


def test_the_unedited_file_is_right(tmp_path):
    (tmp_path / "mine.json").write_text(edited(lambda saved: None))
    assert dt.Schema.load(tmp_path / "mine.json")["age"].edges == (-INF, 18, INF)


def test_policies_and_notes_may_be_left_out_of_a_file(tmp_path):
    bare = {"name": "sex", "categories": ["f", "m"]}
    (tmp_path / "mine.json").write_text(
        json.dumps({"format": "deptriad schema", "version": 1, "attributes": [bare]})
    )
    assert dt.Schema.load(tmp_path / "mine.json") == dt.Schema([dt.Attribute(**bare)])


def test_a_place_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for place in ("file/schema.json", "folder"):
        with pytest.raises(OSError, match=place.partition("/")[0]):
            ALL.save(tmp_path / place)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*new"):
        ALL.save(tmp_path / "new" / "schema.json")
    assert list(tmp_path.iterdir()) == []


def test_saving_again_replaces_the_file(tmp_path):
    ALL.save(tmp_path / "schema.json")
    dt.Schema([SEX]).save(tmp_path / "schema.json")
    assert dt.Schema.load(tmp_path / "schema.json") == dt.Schema([SEX])
    assert [path.name for path in tmp_path.iterdir()] == ["schema.json"]
