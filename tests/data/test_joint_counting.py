"""Tables of any attributes, counted where the records are; engine by engine in test_engines."""

import itertools

import numpy as np
import pytest

import deptriad as dt
from deptriad.data import joint_counting
from deptriad.data.joint_counting import Records
from deptriad.data.readers import opened

pd = pytest.importorskip("pandas", reason="the records are made with pandas, which is absent")

SIZES = {"a": 3, "b": 7, "c": 2, "d": 300, "e": 5}
SCHEMA = dt.Schema(
    [dt.Attribute(name, range(size), missing="error") for name, size in SIZES.items()]
)


def made(rng, records=5000):
    frame = pd.DataFrame({name: rng.integers(0, size, records) for name, size in SIZES.items()})
    frame["weight"] = rng.integers(0, 9, records) / 4.0
    frame["state"] = rng.choice(["x", "y", "z"], records)
    return frame


def table_of(frame, names, weight=None):
    """The same by numpy alone."""
    table = np.zeros([SIZES[name] for name in names], dtype=float if weight else int)
    np.add.at(table, tuple(frame[name] for name in names), frame[weight] if weight else 1)
    return table


def records_of(frame, **options):
    return Records(
        opened(frame), dt.Counts.from_data(frame, SCHEMA, **options), options.get("weight")
    )


every_subset = [
    names
    for number in range(1, len(SIZES) + 1)
    for names in itertools.permutations(SIZES, number)
    if number < 4 or names[0] == "d"
]


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_all_tables_at_once_are_those_of_numpy(rng, monkeypatch, weight, kept):
    if not kept:
        monkeypatch.setattr(joint_counting, "MOST_KEPT", 0)
    frame = made(rng)
    found = records_of(frame, weight=weight).joints(every_subset)
    for names, table in zip(every_subset, found, strict=True):
        assert np.array_equal(table[0], table_of(frame, names, weight))


@pytest.mark.parametrize("weight", [None, "weight"])
def test_by_source_each_has_its_own(rng, weight):
    frame = made(rng)
    wanted = [("a", "b"), ("d", "c", "a"), ("e",)]
    found = records_of(frame, weight=weight, by="state").joints(wanted)
    for names, tables in zip(wanted, found, strict=True):
        for state, table in zip("xyz", tables, strict=True):
            assert np.array_equal(table, table_of(frame[frame["state"] == state], names, weight))


def test_codes_are_read_once_and_others_each_time(rng, monkeypatch):
    reads = []
    coded = joint_counting.coded
    monkeypatch.setattr(joint_counting, "coded", lambda *given: reads.append(1) or coded(*given))
    records = records_of(made(rng))
    for _ in range(3):
        records.joints([("a", "b"), ("b", "c")])
    assert len(reads) == 1


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("change", ["another value", "a strange value", "fewer records"])
def test_data_that_changed_since_is_refused(tmp_path, monkeypatch, change, kept):
    pytest.importorskip("duckdb", reason="DuckDB, which reads the file, is not installed")
    if not kept:
        monkeypatch.setattr(joint_counting, "MOST_KEPT", 0)
    frame = made(np.random.default_rng(1))
    path = tmp_path / "records.csv"
    frame.to_csv(path, index=False)
    records = records_of(path)
    others = {
        "another value": frame.assign(a=(frame["a"] + 1).clip(upper=2)),
        "a strange value": frame.assign(a=3),
        "fewer records": frame[:-1],
    }
    others[change].to_csv(path, index=False)
    with pytest.raises(ValueError, match="no longer those that were counted"):
        records.joints([("b", "a")])


def test_what_cannot_be_counted_is_refused(rng, monkeypatch):
    records = records_of(made(rng, 100))
    for wanted, said in [
        ([["a", "a"]], "different attributes"),
        ([[]], "different attributes"),
        ([["a", "bb"]], "'bb'.*'b'"),
    ]:
        with pytest.raises(ValueError, match=said):
            records.joints(wanted)
    assert records.joints([]) == []
    monkeypatch.setattr(joint_counting, "MOST_CELLS", 1000)
    with pytest.raises(ValueError, match=r"1,500 cells.*1,000: that of a, d has 900.*fewer"):
        records.joints([["d", "c"], ["a", "d"]])
