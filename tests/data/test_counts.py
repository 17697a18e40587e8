"""Counts: every table of a dataset against plain Python, their sums, their file, and bad input."""

import itertools
import math
import operator
import os
import pickle
import random
import re
import zipfile
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt
from plain_counts import assert_counts

pd = pytest.importorskip("pandas")

INF = math.inf
SCHEMA = dt.Schema(
    [
        dt.Attribute("town", categories=["rome", "bonn"], unseen="other"),
        dt.Attribute("flag", categories=[True, False]),
        dt.Attribute("kids", categories=[0, 1, 2.5], missing="other", unseen="other"),
        dt.Attribute("size", edges=[-1, 0, 0.5, 2]),
    ]
)
POOLS = {
    "town": ["rome", "bonn", "oslo", "", None],
    "flag": [True, False, None],
    "kids": [0.0, -0.0, 1.0, 2.5, 7.0, None],
    "size": [-1.0, -0.0, 0.0, 0.25, 0.5, 2.0, None],
    "place": ["x", "y", "z"],
    "weight": [0.0, 0.25, 1.0, 3.5, 1024.0],
}
ROWS = st.lists(
    st.fixed_dictionaries({name: st.sampled_from(pool) for name, pool in POOLS.items()}),
    min_size=1,
    max_size=30,
)
PAIRS = list(itertools.permutations(SCHEMA.names, 2))


def frame_of(rows):
    """Rows as a pandas frame, with the types a user's frame would have."""
    frame = pd.DataFrame(rows, columns=list(POOLS)).astype({"kids": float, "size": float})
    frame["flag"] = frame["flag"].astype(object)
    return frame


# --------------------------------------------------------------------------------------- the tables


@given(ROWS)
def test_every_table_is_what_plain_python_counts(rows):
    assert_counts(dt.Counts.from_data(frame_of(rows), SCHEMA), rows, SCHEMA)


@given(ROWS)
def test_weights_are_summed_and_records_are_still_counted(rows):
    counts = dt.Counts.from_data(frame_of(rows), SCHEMA, weight="weight")
    assert_counts(counts, rows, SCHEMA, weight="weight")


def test_tables_equal_crosstab(rng):
    frame = pd.DataFrame(
        {
            "a": rng.choice(list("uvwxyz"), 5000),
            "b": rng.integers(0, 4, 5000),
            "c": rng.random(5000) < 0.3,
            "w": rng.random(5000),
        }
    )
    schema = dt.Schema.infer(frame, columns=["a", "b", "c"])
    counts = dt.Counts.from_data(frame, schema)
    weighted = dt.Counts.from_data(frame, schema, weight="w")
    for source, target in itertools.permutations("abc", 2):
        table = counts.table(source, target)
        assert table.dtype == np.int64
        assert np.array_equal(table, pd.crosstab(frame[target], frame[source]))
        sums = pd.crosstab(frame[target], frame[source], frame["w"], aggfunc="sum").fillna(0.0)
        assert weighted.table(source, target).dtype == np.float64
        assert weighted.table(source, target) == pytest.approx(sums.to_numpy(), rel=1e-12)


def test_a_table_is_the_transpose_of_the_other_way_round():
    counts = dt.Counts.from_data(frame_of([dict.fromkeys(POOLS) | {"kids": 1}] * 3), SCHEMA)
    assert np.array_equal(counts.table("kids", "town"), counts.table("town", "kids").T)


def test_many_values_are_counted_too(rng):
    frame = pd.DataFrame({"a": rng.integers(0, 700, 20_000), "b": rng.integers(0, 300, 20_000)})
    schema = dt.Schema([dt.Attribute(name, categories=range(700)) for name in "ab"])
    found = dt.Counts.from_data(frame, schema).table("a", "b")
    expected = np.zeros((701, 701), dtype=int)
    np.add.at(expected, (frame["b"], frame["a"]), 1)
    assert np.array_equal(found, expected)


def test_what_comes_out_cannot_change_the_counts():
    counts = dt.Counts.from_data(frame_of([dict.fromkeys(POOLS)]), SCHEMA)
    before = counts.table("town", "flag").copy()
    for array in (counts.table("town", "flag"), counts.single("town")):
        try:
            array[...] = 99
        except ValueError:
            assert not array.flags.writeable
    assert np.array_equal(counts.table("town", "flag"), before)
    assert counts.single("town").sum() == 1


def test_one_attribute_has_a_single_only():
    counts = dt.Counts.from_data(pd.DataFrame({"flag": [True, True, None]}), SCHEMA.only("flag"))
    assert counts.single("flag").tolist() == [2, 0, 1]


@pytest.mark.parametrize("ask", [lambda c: c.single("twon"), lambda c: c.table("twon", "flag")])
def test_an_unknown_attribute_is_named_with_a_close_one(ask):
    counts = dt.Counts.from_data(frame_of([dict.fromkeys(POOLS)]), SCHEMA)
    with pytest.raises((KeyError, ValueError), match=r"twon.*town"):
        ask(counts)


# ------------------------------------------------------------------------------------------ sources


@given(ROWS, st.sampled_from([None, "weight"]))
def test_by_counts_each_source_by_itself(rows, weight):
    counts = dt.Counts.from_data(frame_of(rows), SCHEMA, weight=weight, by="place")
    assert set(counts.sources) == {row["place"] for row in rows}
    assert_counts(counts, rows, SCHEMA, weight)
    for place in counts.sources:
        assert_counts(counts[place], [row for row in rows if row["place"] == place], SCHEMA, weight)
        assert counts[place].sources == (place,)


def test_without_by_there_is_one_source_called_all():
    counts = dt.Counts.from_data(frame_of([dict.fromkeys(POOLS)]), SCHEMA)
    assert counts.sources == ("all",)
    assert counts["all"] == counts
    with pytest.raises((KeyError, ValueError), match="TX"):
        counts["TX"]


@pytest.mark.parametrize("values", [[6, 48, 6], [6.0, 48.0, 6.0], ["6", "48", "6"]])
def test_sources_are_called_by_text_whatever_the_column(values):
    counts = dt.Counts.from_data(
        pd.DataFrame({"state": values, "flag": [True, False, True]}),
        SCHEMA.only("flag"),
        by="state",
    )
    assert set(counts.sources) == {"6", "48"}
    assert counts["6"].single("flag").tolist() == [2, 0, 0]


def test_a_missing_source_loses_no_record():
    frame = pd.DataFrame({"state": ["TX", None, "TX"], "flag": [True, False, True]})
    counts = dt.Counts.from_data(frame, SCHEMA.only("flag"), by="state")
    assert counts.records == 3
    assert set(counts.sources) == {"TX", "(missing)"}


# ------------------------------------------------------------------------------------------- adding


@given(ROWS, st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_pieces_of_any_split_add_up_to_the_whole(rows, chance, weighted, by_place):
    options = {"weight": "weight" if weighted else None, "by": "place" if by_place else None}
    pieces = [[] for _ in range(chance.randint(1, 4))]
    for row in rows:
        chance.choice(pieces).append(row)
    parts = [dt.Counts.from_data(frame_of(piece), SCHEMA, **options) for piece in pieces if piece]
    whole = dt.Counts.from_data(frame_of(rows), SCHEMA, **options)
    total = reduce(operator.add, parts)
    assert total == whole
    chance.shuffle(parts)
    assert reduce(operator.add, parts) == whole
    assert_counts(total, rows, SCHEMA, options["weight"])
    for source in total.sources:
        assert total[source] == whole[source]


def test_adding_changes_neither():
    frame = frame_of([dict.fromkeys(POOLS) | {"town": "rome"}])
    one, again = (dt.Counts.from_data(frame, SCHEMA) for _ in range(2))
    assert (one + one).records == 2
    assert one == again
    assert one + one != one


def test_counts_of_other_kinds_do_not_add():
    frame = frame_of([dict.fromkeys(POOLS) | {"weight": 2.0}])
    counts = dt.Counts.from_data(frame, SCHEMA)
    with pytest.raises(ValueError, match="schema"):
        counts + dt.Counts.from_data(frame, SCHEMA.without("flag"))
    with pytest.raises(ValueError, match="weight"):
        counts + dt.Counts.from_data(frame, SCHEMA, weight="weight")
    with pytest.raises(TypeError):
        counts + 1
    with pytest.raises(TypeError):
        counts - counts
    assert counts != 1


# ------------------------------------------------------------------------------------------ on disk


@pytest.fixture
def some_counts():
    chance = random.Random(7)
    rows = [{name: chance.choice(pool) for name, pool in POOLS.items()} for _ in range(40)]
    return dt.Counts.from_data(frame_of(rows), SCHEMA, weight="weight", by="place")


@given(rows=ROWS, weighted=st.booleans(), by_place=st.booleans())
def test_counts_come_back_from_their_file(tmp_path_factory, rows, weighted, by_place):
    options = {"weight": "weight" if weighted else None, "by": "place" if by_place else None}
    counts = dt.Counts.from_data(frame_of(rows), SCHEMA, **options)
    path = tmp_path_factory.mktemp("counts") / "counts.npz"
    counts.save(path)
    loaded = dt.Counts.load(path)
    assert loaded == counts
    assert (loaded.sources, loaded.schema, loaded.weighted, loaded.records) == (
        counts.sources,
        SCHEMA,
        weighted,
        len(rows),
    )
    assert loaded.table("town", "size").dtype == counts.table("town", "size").dtype
    assert loaded + counts == counts + counts


def test_the_file_is_plain_arrays(tmp_path, some_counts):
    some_counts.save(tmp_path / "counts.npz")
    with np.load(tmp_path / "counts.npz", allow_pickle=False) as saved:
        assert saved.files
        for name in saved.files:
            assert saved[name].dtype != object
    assert [path.name for path in tmp_path.iterdir()] == ["counts.npz"]


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("whole_file", [True, False])
def test_a_file_with_pickled_objects_is_refused_and_not_run(tmp_path, some_counts, whole_file):
    path, sprung = tmp_path / "counts.npz", tmp_path / "sprung"
    trap = np.array([Trap(sprung)], dtype=object)
    some_counts.save(path)
    with np.load(path) as saved:
        members = {name: saved[name] for name in saved.files}
    for name in members:
        if whole_file:
            path.write_bytes(pickle.dumps(Trap(sprung)))
        else:
            np.savez(path, **(members | {name: trap}))
        with pytest.raises(ValueError, match=r"counts\.npz"):
            dt.Counts.load(path)
        assert not sprung.exists()


@pytest.mark.parametrize("kept", [0, 1, 100, -200, -1])
def test_a_truncated_file_is_named(tmp_path, some_counts, kept):
    path = tmp_path / "mine.npz"
    some_counts.save(path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"mine\.npz"):
        dt.Counts.load(path)


def test_flipped_bytes_are_noticed(tmp_path, some_counts):
    path = tmp_path / "mine.npz"
    some_counts.save(path)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        places = [
            entry.header_offset + 30 + len(entry.filename) + entry.compress_size // 2 + 20
            for entry in archive.infolist()
        ]
    for place in places:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with pytest.raises(ValueError, match=r"mine\.npz"):
            dt.Counts.load(path)


@pytest.mark.parametrize(
    "spoil",
    [lambda array: array[:-1], lambda array: -array - 1, lambda array: array[None]],
    ids=["shorter", "negative", "another shape"],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, some_counts, spoil):
    path = tmp_path / "mine.npz"
    some_counts.save(path)
    with np.load(path) as saved:
        members = {name: saved[name] for name in saved.files}
    numbers = {name for name, array in members.items() if array.ndim and array.dtype.kind in "if"}
    assert numbers
    for name in numbers:
        np.savez(path, **(members | {name: spoil(members[name])}))
        with pytest.raises(ValueError, match=r"mine\.npz"):
            dt.Counts.load(path)


def test_a_file_of_something_else_is_refused(tmp_path, some_counts):
    np.savez(tmp_path / "mine.npz", x=np.arange(3))
    with pytest.raises(ValueError, match=r"mine\.npz"):
        dt.Counts.load(tmp_path / "mine.npz")
    some_counts.save(tmp_path / "counts.npz")
    with np.load(tmp_path / "counts.npz") as saved:
        members = {name: saved[name] for name in saved.files}
    for name in members:
        np.savez(tmp_path / "mine.npz", **{k: v for k, v in members.items() if k != name})
        with pytest.raises(ValueError, match=r"mine\.npz"):
            dt.Counts.load(tmp_path / "mine.npz")


def test_a_place_that_cannot_be_written_leaves_nothing_behind(tmp_path, some_counts):
    (tmp_path / "file").touch()
    (tmp_path / "folder.npz").mkdir()
    for place in ("file/counts.npz", "folder.npz"):
        with pytest.raises(OSError, match=place.partition("/")[0]):
            some_counts.save(tmp_path / place)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder.npz"]


# ---------------------------------------------------------------------------------------- bad input

FORMS = ["pandas", "polars", "pyarrow", "csv", "parquet"]


@pytest.fixture(params=FORMS)
def given_as(request, tmp_path):
    """Hand a pandas frame over as another kind of data, or as a file in an otherwise empty folder."""
    return lambda frame: in_form(request.param, frame, tmp_path)


def in_form(form, frame, folder):
    if form == "pandas":
        return frame
    if form == "csv":
        pytest.importorskip("duckdb")
        frame.to_csv(folder / "records.csv", index=False)
        return folder / "records.csv"
    arrow = pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)
    if form == "pyarrow":
        return arrow
    if form == "polars":
        return pytest.importorskip("polars").from_arrow(arrow)
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow.parquet").write_table(arrow, folder / "records.parquet")
    return folder / "records.parquet"


def refused(folder, data, schema, *said, **options):
    """The data is refused in words that match all of these, and no file is left beside it."""
    before = sorted(folder.rglob("*"))
    with pytest.raises(ValueError, match=r"(?s).") as caught:
        dt.Counts.from_data(data, schema, **options)
    assert sorted(folder.rglob("*")) == before
    message = str(caught.value)
    for words in said:
        assert re.search(words, message), message
    assert len(message) < 600
    return message


GOOD = pd.DataFrame(
    {
        "age": [10.0, 20.0, 30.0, 40.0],
        "sex": ["f", "m", "f", "m"],
        "state": ["TX", "TX", "CA", "CA"],
        "w": [1.0, 2.0, 0.5, 1.5],
    }
)
PERSON = dt.Schema(
    [
        dt.Attribute("age", edges=[0, 18, 65]),
        dt.Attribute("sex", categories=["f", "m"]),
    ]
)


def test_good_input_is_counted_in_every_form(given_as, tmp_path):
    data = given_as(GOOD)
    before = sorted(tmp_path.iterdir())
    counts = dt.Counts.from_data(data, PERSON, weight="w", by="state")
    assert counts.table("sex", "age").tolist() == [[1, 0, 0], [0.5, 3.5, 0], [0, 0, 0]]
    assert counts["TX"].single("age").tolist() == [1, 2, 0]
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_column_is_named_with_close_ones(given_as, tmp_path):
    refused(tmp_path, given_as(GOOD.rename(columns={"age": "agee"})), PERSON, "'age'", "'agee'")


@pytest.mark.parametrize("option", ["weight", "by"])
def test_a_missing_column_of_an_option_is_named(given_as, tmp_path, option):
    name = {"weight": "ww", "by": "staat"}[option]
    near = {"weight": "'w'", "by": "'state'"}[option]
    refused(tmp_path, given_as(GOOD), PERSON, name, near, **{option: name})


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


@pytest.mark.parametrize("double", ["age", "sex", "w", "state"])
def test_duplicate_columns_of_a_frame_are_named(tmp_path, double):
    frame = pd.concat([GOOD, GOOD[[double]]], axis=1)
    refused(tmp_path, frame, PERSON, double, weight="w", by="state")


def test_duplicate_columns_of_an_arrow_table_are_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table([GOOD["age"], GOOD["sex"], GOOD["age"]], names=["age", "sex", "age"])
    refused(tmp_path, table, PERSON, "age")


def test_duplicate_columns_of_a_csv_are_named(tmp_path):
    pytest.importorskip("duckdb")
    (tmp_path / "twice.csv").write_text("age,sex,age\n1,f,2\n2,m,3\n")
    refused(tmp_path, tmp_path / "twice.csv", PERSON, "age", "twice.csv")


def test_duplicate_columns_of_a_parquet_file_are_named(tmp_path):
    pytest.importorskip("duckdb")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table([GOOD["age"], GOOD["sex"], GOOD["age"]], names=["age", "sex", "age"])
    pq.write_table(table, tmp_path / "twice.parquet")
    refused(tmp_path, tmp_path / "twice.parquet", PERSON, "age", "twice.parquet")


CASES = GOOD.assign(AGE=[70.0, 1.0, 1.0, 1.0])[["AGE", "sex", "age"]]
CASES_SCHEMA = dt.Schema([PERSON["age"], dt.Attribute("AGE", edges=[0, 18, 100]), PERSON["sex"]])


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow"])
def test_names_that_differ_in_case_are_two_columns_of_a_frame(form, tmp_path):
    counts = dt.Counts.from_data(in_form(form, CASES, tmp_path), CASES_SCHEMA)
    assert counts.single("age").tolist() == [1, 3, 0]
    assert counts.single("AGE").tolist() == [3, 1, 0]
    assert counts.table("AGE", "sex").tolist() == [[1, 1, 0], [2, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_names_of_a_file_that_differ_in_case_are_not_confused(form, tmp_path):
    refused(tmp_path, in_form(form, CASES, tmp_path), CASES_SCHEMA, "'age'")


def test_the_case_of_a_name_matters(given_as, tmp_path):
    refused(tmp_path, given_as(GOOD.rename(columns={"age": "AGE"})), PERSON, "'age'", "'AGE'")


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet"])
def test_an_empty_file_is_named(tmp_path, name):
    pytest.importorskip("duckdb")
    (tmp_path / name).touch()
    refused(tmp_path, tmp_path / name, PERSON, name)


@pytest.mark.parametrize("text", ["age,sex\n", "age,sex", "age,sex,w,state\n"])
def test_a_csv_of_a_header_only_has_no_records(tmp_path, text):
    pytest.importorskip("duckdb")
    (tmp_path / "header.csv").write_text(text)
    refused(tmp_path, tmp_path / "header.csv", PERSON, "header.csv", "record")


@pytest.mark.parametrize("kept", [3, 200, -1, -100])
def test_a_truncated_parquet_file_is_named(tmp_path, kept):
    path = in_form("parquet", GOOD, tmp_path)
    path.write_bytes(path.read_bytes()[:kept])
    refused(tmp_path, path, PERSON, "records.parquet")


def test_a_truncated_file_among_others_is_named(tmp_path):
    path = in_form("parquet", GOOD, tmp_path)
    (tmp_path / "part-1.parquet").write_bytes(path.read_bytes())
    (tmp_path / "part-2.parquet").write_bytes(path.read_bytes()[:-50])
    refused(tmp_path, tmp_path / "part-*.parquet", PERSON, "part-2.parquet")


def test_a_csv_whose_rows_are_ragged_is_named(tmp_path):
    pytest.importorskip("duckdb")
    rows = "".join(f"{i % 60},f\n" for i in range(30_000))
    (tmp_path / "ragged.csv").write_text("age,sex\n" + rows + "1,f,3,4\n" + rows)
    refused(tmp_path, tmp_path / "ragged.csv", PERSON, "ragged.csv")


def test_text_late_in_a_csv_of_numbers_is_refused(tmp_path):
    pytest.importorskip("duckdb")
    rows = "".join(f"{i % 60},f\n" for i in range(60_000))
    (tmp_path / "late.csv").write_text("age,sex\n" + rows + "old,f\n")
    refused(tmp_path, tmp_path / "late.csv", PERSON, "age")


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none-*.parquet"])
def test_a_file_that_is_not_there_is_named(tmp_path, name):
    pytest.importorskip("duckdb")
    with pytest.raises((OSError, ValueError), match="none"):
        dt.Counts.from_data(tmp_path / name, PERSON)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "records.xlsx").write_bytes(b"PK")
    refused(tmp_path, tmp_path / "records.xlsx", PERSON, "records.xlsx", r"\.csv", r"\.parquet")


@pytest.mark.parametrize(
    "data", [None, 3, [1, 2], {"age": [1]}, np.zeros((2, 2)), pd.Series([1, 2], name="age")]
)
def test_what_is_no_data_is_refused(data):
    with pytest.raises((TypeError, ValueError), match=type(data).__name__):
        dt.Counts.from_data(data, PERSON)


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


def test_text_of_digits_in_a_csv_stays_text_where_text_is_declared(tmp_path):
    pytest.importorskip("duckdb")
    (tmp_path / "codes.csv").write_text("code,sex\n01,f\n1,f\n01,m\n1.0,m\n")
    schema = dt.Schema([dt.Attribute("code", categories=["01", "1", "1.0"]), PERSON["sex"]])
    counts = dt.Counts.from_data(tmp_path / "codes.csv", schema)
    assert counts.table("code", "sex").tolist() == [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("folder", ["it's", 'a "b"', "a b", "ä"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_hostile_paths_are_only_paths(tmp_path, folder, form):
    (tmp_path / folder).mkdir()
    path = in_form(form, GOOD, tmp_path / folder)
    assert dt.Counts.from_data(path, PERSON).records == 4
    assert dt.Counts.from_data(str(path), PERSON).records == 4


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_query_is_asked_of_the_file(tmp_path, form):
    path = in_form(form, GOOD, tmp_path)
    query = "SELECT age * 2 AS age, sex FROM data WHERE state = 'TX' AND w > 1"
    counts = dt.Counts.from_data(path, PERSON, query=query)
    assert counts.records == 1
    assert counts.table("sex", "age").tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT nothing FROM data", "nothing"),
        ("SELEC age FROM data", "SELEC"),
        ("SELECT sex FROM data", "'age'"),
        ("SELECT * FROM data WHERE age > 1000", "record"),
        ("SELECT age, sex, age FROM data", "query.*'age' twice"),
        ("SELECT age, sex, w AS age FROM data", "query.*'age' twice"),
        ("SELECT age, sex, w AS AGE FROM data", "'age'.*case"),
    ],
)
def test_a_query_that_cannot_be_is_refused(tmp_path, query, said):
    refused(tmp_path, in_form("parquet", GOOD, tmp_path), PERSON, said, query=query)


@pytest.mark.parametrize("names", [["age", "age"], ["age", "AGE"]])
def test_a_relation_with_a_name_twice_is_refused(tmp_path, names):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql(f"SELECT 1 AS {names[0]}, 2 AS {names[1]}, 'f' AS sex")
    refused(tmp_path, relation, PERSON, "'age'")
    assert dt.Counts.from_data(duckdb.sql("SELECT 1 AS a, 'f' AS sex"), PERSON.only("sex")).records


# ------------------------------------------------------------------------------------ several files


def csv_files(folder, **texts):
    """Some CSV files by their names, and the pattern of these."""
    pytest.importorskip("duckdb")
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return folder / "*.csv"


def parquet_files(folder, **columns):
    """Some Parquet files by their names, and the pattern of these."""
    pytest.importorskip("duckdb")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for name, table in columns.items():
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
    return folder / "*.parquet"


def test_csv_files_are_read_as_one(tmp_path):
    path = csv_files(tmp_path, a="age,sex\n10,f\n20,m\n", b="sex,age\nf,30.5\n")
    counts = dt.Counts.from_data(path, PERSON)
    assert counts.table("sex", "age").tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    schema = dt.Schema.infer(path)
    assert schema["age"].categories == (10, 20, 30.5)
    assert schema["sex"].categories == ("f", "m")


def test_text_late_in_many_csv_files_makes_their_column_text(tmp_path):
    texts = {f"f{i:02}": "x,y\n1,a\n2,b\n" for i in range(30)}
    path = csv_files(tmp_path, **texts | {"f25": "x,y\nold,a\n"})
    assert dt.Schema.infer(path)["x"].categories == ("1", "2", "old")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("age,sex,more\n1,f,2\n", ("b.csv", "'more'")),
        ("age\n1\n", ("b.csv", "'sex'")),
        ("age;sex\n1;f\n", ("b.csv", "'age'")),
        ("age,sex,age\n1,f,2\n", ("b.csv", "'age' twice")),
        ("age,sex,AGE\n1,f,2\n", ("b.csv", "'age' and 'AGE'")),
        ("", ("b.csv", "empty")),
    ],
)
def test_csv_files_that_differ_are_named(tmp_path, other, said):
    refused(tmp_path, csv_files(tmp_path, a="age,sex\n10,f\n20,m\n", b=other), PERSON, *said)


def test_parquet_files_are_widened_and_not_rounded(tmp_path):
    path = parquet_files(tmp_path, a={"x": [1, 2, 2]}, b={"x": [1.4, 1.6, 1.3]})
    assert dt.Schema.infer(path)["x"].categories == (1, 1.3, 1.4, 1.6, 2)
    schema = dt.Schema([dt.Attribute("x", categories=[1, 2], unseen="other")])
    assert dt.Counts.from_data(path, schema).single("x").tolist() == [1, 2, 3, 0]


def test_a_parquet_file_of_nulls_only_fits_with_others(tmp_path):
    columns = {"a": {"x": [None]}, "b": {"x": ["u", "v"]}, "c": {"x": [None, None]}}
    schema = dt.Schema.infer(parquet_files(tmp_path, **columns))
    assert schema["x"].values == ("u", "v", "(missing)")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"age": ["1"], "sex": ["f"]}, ("b.parquet", "'age'", "text", "numbers")),
        ({"age": [1.0], "sex": [True]}, ("b.parquet", "'sex'")),
        ({"age": [1.0]}, ("b.parquet", "'sex'")),
        ({"age": [1.0], "sex": ["f"], "more": [1]}, ("b.parquet", "'more'")),
        ({"age": [1.0], "sex": ["f"], "AGE": [1]}, ("b.parquet", "'age' and 'AGE'")),
    ],
)
def test_parquet_files_that_differ_are_named(tmp_path, other, said):
    path = parquet_files(tmp_path, a={"age": [1.0, 2.0], "sex": ["f", "m"]}, b=other)
    refused(tmp_path, path, PERSON, *said)


def test_a_name_twice_in_a_later_parquet_file_is_refused(tmp_path):
    path = parquet_files(tmp_path, a={"age": [1.0], "sex": ["f"]})
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table([[1.0], ["f"], [2.0]], names=["age", "sex", "age"])
    pq.write_table(table, tmp_path / "b.parquet")
    refused(tmp_path, path, PERSON, "b.parquet", "'age' twice")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_folder_of_parts_is_read(tmp_path, form):
    folder = tmp_path / f"survey.{form}"
    folder.mkdir()
    path = in_form(form, GOOD, tmp_path)
    for name in ("part-0", "part-1", "_hidden", ".hidden"):
        (folder / f"{name}.{form}").write_bytes(path.read_bytes())
    (folder / "_SUCCESS").touch()
    assert dt.Counts.from_data(folder, PERSON).records == 8
    assert dt.Counts.from_data(f"{folder}/", PERSON).records == 8


@pytest.mark.parametrize("name", ["survey.parquet", "survey"])
def test_a_folder_without_parts_is_named(tmp_path, name):
    pytest.importorskip("duckdb")
    (tmp_path / name).mkdir()
    refused(tmp_path, tmp_path / name, PERSON, name, "folder")


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_signs_of_a_pattern_in_a_name_are_only_signs(tmp_path, name, form):
    path = in_form(form, GOOD, tmp_path).rename(tmp_path / f"{name}.{form}")
    in_form(form, GOOD, tmp_path).rename(tmp_path / f"a1.{form}")
    assert dt.Counts.from_data(path, PERSON).records == 4


def test_an_error_in_one_of_many_files_names_it(tmp_path):
    rows = "".join(f"{i % 60},f\n" for i in range(30_000))
    texts = {"a": "age,sex\n" + rows, "b": "age,sex\n" + rows + "old,f\n"}
    refused(tmp_path, csv_files(tmp_path, **texts), PERSON, r"cannot read \S*b\.csv", "old")


@pytest.mark.parametrize(
    ("spelt", "kind", "values"),
    [
        (("yes", "no"), "text", ("no", "yes")),
        (("t", "f"), "text", ("f", "t")),
        (("true", "no"), "text", ("no", "true")),
        (("true", "FALSE"), "boolean", (False, True)),
    ],
)
def test_only_true_and_false_of_a_csv_are_booleans(tmp_path, spelt, kind, values):
    pytest.importorskip("duckdb")
    rows = "".join(f"{spelt[i % 2]},{i % 3}\n" for i in range(30)) + ",1\n"
    (tmp_path / "flags.csv").write_text('"a ""flag""",x\n' + rows)
    flag = dt.Schema.infer(tmp_path / "flags.csv")['a "flag"']
    assert (flag.kind, flag.categories, flag.missing) == (kind, values, "category")
    schema = dt.Schema([flag])
    assert dt.Counts.from_data(tmp_path / "flags.csv", schema).single(flag.name).tolist() == [
        *(15, 15, 1),
    ]
    if kind == "text":
        frame = pd.read_csv(tmp_path / "flags.csv")
        assert dt.Schema.infer(frame)['a "flag"'] == flag


def test_a_quoted_empty_text_is_a_value_where_it_is_declared(tmp_path):
    pytest.importorskip("duckdb")
    (tmp_path / "quoted.csv").write_text('name,n\n"",1\n,2\nb,3\n')
    path = tmp_path / "quoted.csv"
    declared = dt.Schema([dt.Attribute("name", categories=["", "b"])])
    assert dt.Counts.from_data(path, declared).single("name").tolist() == [1, 1, 1]
    others = dt.Schema([dt.Attribute("name", categories=["b"])])
    assert dt.Counts.from_data(path, others).single("name").tolist() == [1, 2]


def test_numbers_are_counted_exactly_beyond_a_float32():
    frame = pd.DataFrame({"flag": np.repeat([True, False], [3, 1]), "w": [2.0**40, 1.0, 1.0, 5.0]})
    counts = dt.Counts.from_data(frame, SCHEMA.only("flag"), weight="w")
    assert counts.single("flag").tolist() == [2.0**40 + 2, 5, 0]
    assert counts.single("flag", weighted=False).tolist() == [3, 1, 0]


# ------------------------------------------------------------------------------ sources that add up


def by_number(values):
    frame = pd.DataFrame({"a": ["x", "y"] * (len(values) // 2), "place": values})
    schema = dt.Schema([dt.Attribute("a", ["x", "y"], missing="error")])
    return dt.Counts.from_data(frame, schema, by="place")


def test_pieces_by_number_or_with_missing_sources_add_up_to_the_whole():
    one, two = [10.0, 2.0, None, 2.0], [2.0, 2.0, 7.0, None]
    assert by_number(one) + by_number(two) == by_number(one + two)


def test_counts_by_different_columns_do_not_add(some_counts):
    schema = dt.Schema([dt.Attribute("a", ["x"], missing="error")])
    frame = pd.DataFrame({"a": ["x"], "p": ["all"], "q": ["all"]})
    plain = dt.Counts.from_data(frame, schema)
    by = [dt.Counts.from_data(frame, schema, by=name) for name in "pq"]
    for one, two in ((plain, by[0]), (by[0], by[1])):
        with pytest.raises(ValueError, match="do not add up"):
            one + two


def test_sources_must_differ():
    schema = dt.Schema([dt.Attribute("a", ["x"], missing="error")])
    with pytest.raises(ValueError, match="distinct"):
        dt.Counts(schema, ("s", "s"), np.ones((2, 1), dtype=np.int64))


def test_tables_in_a_file_must_agree_with_each_other(tmp_path, some_counts):
    some_counts.save(tmp_path / "mine.npz")
    with np.load(tmp_path / "mine.npz") as saved:
        members = {name: saved[name] for name in saved.files}
    members["cells"][0, -1] += 1
    np.savez(tmp_path / "mine.npz", **members)
    with pytest.raises(ValueError, match="do not add up"):
        dt.Counts.load(tmp_path / "mine.npz")


def test_sources_that_change_between_two_readings_are_noticed(tmp_path):
    pytest.importorskip("duckdb")
    pd.DataFrame({"a": ["x", "y"] * 500}).to_csv(tmp_path / "data.csv", index=False)
    schema = dt.Schema([dt.Attribute("a", ["x", "y"], missing="error")])
    query = "SELECT *, (random() * 1e6)::int AS g FROM data"
    with pytest.raises(ValueError, match=r"'g'.*changes while it is read"):
        dt.Counts.from_data(tmp_path / "data.csv", schema, by="g", query=query)


def test_counts_cannot_be_written_to(some_counts):
    with pytest.raises(ValueError, match="read-only"):
        some_counts.cells[0, 0] = 5
