"""What Schema.infer proposes from public data."""

import datetime
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt
from small_records import SEX, codes, infer

pd = pytest.importorskip("pandas")

INF = math.inf


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
    "values",
    [["a", None, "b"], [True, None, False], [1.0, math.nan, 2.0], [*range(99), *range(99), None]],
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
    frame = pd.DataFrame({"x": [*range(31)] * 2})
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


def test_far_too_many_columns_are_refused_before_they_are_read():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.zeros((2, 8001), dtype=int), columns=[f"c{k}" for k in range(8001)])
    with pytest.raises(ValueError, match=r"8,001 columns, expected at most 8,000.*columns="):
        dt.Schema.infer(frame)


def test_too_many_cells_are_told_without_listing_the_tables():
    pd = pytest.importorskip("pandas")
    schema = dt.Schema([dt.Attribute(f"c{k}", [0, 1]) for k in range(20_000)])
    frame = pd.DataFrame(np.zeros((2, 20_000), dtype=int), columns=schema.names)
    with pytest.raises(ValueError, match="cells, expected at most"):
        dt.Counts.from_data(frame, schema)
