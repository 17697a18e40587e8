"""Counts: every table of a dataset against plain Python, their sums and their file."""

import itertools
import operator
import os
import pickle
import random
import zipfile
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deptriad as dt
from plain_counts import assert_counts

pd = pytest.importorskip("pandas")


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


def test_counts_cannot_be_written_to(some_counts):
    with pytest.raises(ValueError, match="read-only"):
        some_counts.cells[0, 0] = 5
