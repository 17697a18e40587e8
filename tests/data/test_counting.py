"""Counting: what is refused, whatever the data comes as."""

import math

import pytest

import deptriad as dt
from small_records import GOOD, PERSON, in_form, refused

pd = pytest.importorskip("pandas")

INF = math.inf


INF = math.inf


def test_good_input_is_counted_in_every_form(given_as, tmp_path):
    data = given_as(GOOD)
    before = sorted(tmp_path.iterdir())
    counts = dt.Counts.from_data(data, PERSON, weight="w", by="state")
    assert counts.table("sex", "age").tolist() == [[1, 0, 0], [0.5, 3.5, 0], [0, 0, 0]]
    assert counts["TX"].single("age").tolist() == [1, 2, 0]
    assert sorted(tmp_path.iterdir()) == before


def test_text_where_bins_are_declared_is_refused(given_as, tmp_path):
    frame = GOOD.assign(age=["young", "old", "young", "old"])
    refused(tmp_path, given_as(frame), PERSON, "['\"]age['\"]")


def test_an_unseen_category_is_named(given_as, tmp_path):
    refused(tmp_path, given_as(GOOD.assign(sex=["f", "m", "x", "f"])), PERSON, "'sex'", "'x'")


def test_an_unseen_number_is_named(given_as, tmp_path):
    refused(tmp_path, given_as(GOOD.assign(age=[1.0, 99.0, 3.0, 4.0])), PERSON, "'age'", "99")


def test_of_many_unseen_values_at_most_five_are_named(given_as, tmp_path):
    frame = pd.DataFrame({"age": 1.0, "sex": [f"new{i}" for i in range(10_000)]})
    message = refused(tmp_path, given_as(frame), PERSON, "'sex'", "new")
    assert message.count("new") <= 5


def test_a_missing_value_where_none_may_be_is_an_error(given_as, tmp_path):
    schema = dt.Schema([PERSON["age"], dt.Attribute("sex", categories=["f", "m"], missing="error")])
    frame = GOOD.assign(sex=["f", None, "m", "f"])
    refused(tmp_path, given_as(frame), schema, "'sex'", "missing")


@pytest.mark.parametrize(
    "declared",
    [{"categories": ["a"]}, {"categories": [1]}, {"categories": [True]}, {"edges": [0, 1]}],
    ids=["text", "number", "boolean", "bins"],
)
def test_an_all_missing_column_is_missing_of_any_kind(given_as, tmp_path, declared):
    frame = GOOD.assign(nothing=pd.Series([None] * 4, dtype=object))
    schema = dt.Schema([dt.Attribute("nothing", **declared), PERSON["sex"]])
    assert dt.Counts.from_data(given_as(frame), schema).single("nothing").tolist() == [0, 4]
    strict = dt.Schema([dt.Attribute("nothing", **declared, missing="error"), PERSON["sex"]])
    refused(tmp_path, given_as(frame), strict, "'nothing'", "missing")


def test_a_constant_column_is_counted_where_it_is_declared(given_as):
    counts = dt.Counts.from_data(given_as(GOOD.assign(sex="f")), PERSON)
    assert counts.single("sex").tolist() == [4, 0, 0]


def test_mixed_types_are_refused(tmp_path):
    frame = GOOD.assign(sex=pd.Series(["f", 1, 2.5, "m"], dtype=object))
    refused(tmp_path, frame, PERSON, "'sex'")
    refused(tmp_path, GOOD.assign(age=pd.Series([1, "old", 2, 3], dtype=object)), PERSON, "'age'")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_of_mixed_types_are_refused(tmp_path, form):
    frame = GOOD.assign(age=["1", "old", "2", "3"])
    refused(tmp_path, in_form(form, frame, tmp_path), PERSON, "['\"]age['\"]")


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, None, 2.0, 3.0], "missing|null"),
        ([1.0, -2.0, 2.0, 3.0], "negative"),
        ([1.0, INF, 2.0, 3.0], "inf"),
        (["a", "b", "c", "d"], "number"),
    ],
)
def test_bad_weights_are_named(given_as, tmp_path, weights, said):
    refused(tmp_path, given_as(GOOD.assign(w=weights)), PERSON, "'w'", said, weight="w")


def test_a_source_is_not_an_attribute(given_as, tmp_path):
    refused(tmp_path, given_as(GOOD), PERSON, "'sex'", by="sex")


def test_no_records_is_an_error(given_as, tmp_path):
    refused(tmp_path, given_as(GOOD.iloc[:0]), PERSON, "record")


def test_too_many_cells_name_the_largest_attribute(given_as, tmp_path):
    schema = dt.Schema(
        [
            dt.Attribute("sex", categories=["f", "m", *(f"s{i}" for i in range(20_000))]),
            dt.Attribute("state", categories=["TX", "CA", *(f"t{i}" for i in range(30_000))]),
        ]
    )
    refused(tmp_path, given_as(GOOD), schema, "'state'")


def test_ten_thousand_categories_are_capped_and_counted(given_as):
    names = [f"n{i:05}" for i in range(10_000)]
    frame = pd.DataFrame({"town": names + names[:29], "sex": ["f", "m", "f"] * 3343})
    data = given_as(frame)
    with pytest.warns(UserWarning, match="town"):
        schema = dt.Schema.infer(data)
    counts = dt.Counts.from_data(data, schema)
    assert counts.single("town").tolist() == [2] * 29 + [9971]
    assert counts.table("sex", "town").sum() == 10_029


# ------------------------------------------------------------------------------------ names and SQL

HOSTILE = [
    'a "quoted" name',
    "it's",
    "select",
    "a.b",
    "ä b",
    "data",
    "`x`",
    "$1",
    "{}",
    "%s",
    "a,b",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_only_names(given_as, name):
    frame = GOOD.assign(**{name: GOOD["sex"]})
    schema = dt.Schema([PERSON["age"], dt.Attribute(name, categories=["f", "m"])])
    counts = dt.Counts.from_data(given_as(frame), schema)
    assert counts.table(name, "age").tolist() == [[1, 0, 0], [1, 2, 0], [0, 0, 0]]


HOSTILE_VALUES = [
    "it's",
    'a "b"',
    "a,b",
    "two\nlines",
    "NULL",
    "nan",
    "1",
    "true",
    " x ",
    "ü",
    "\\",
]


def test_hostile_values_are_only_values(given_as):
    frame = pd.DataFrame({"text": HOSTILE_VALUES * 2, "sex": ["f", "m"] * len(HOSTILE_VALUES)})
    schema = dt.Schema([dt.Attribute("text", categories=HOSTILE_VALUES), PERSON["sex"]])
    counts = dt.Counts.from_data(given_as(frame), schema)
    assert counts.single("text").tolist() == [2] * len(HOSTILE_VALUES) + [0]


def test_sources_that_change_between_two_readings_are_noticed(tmp_path):
    pytest.importorskip("duckdb")
    pd.DataFrame({"a": ["x", "y"] * 500}).to_csv(tmp_path / "data.csv", index=False)
    schema = dt.Schema([dt.Attribute("a", ["x", "y"], missing="error")])
    query = "SELECT *, (random() * 1e6)::int AS g FROM data"
    with pytest.raises(ValueError, match=r"'g'.*changes while it is read"):
        dt.Counts.from_data(tmp_path / "data.csv", schema, by="g", query=query)
