"""Running the paper's items: files whole, resumption, skipping; on small items made up here."""

import csv
import json
from pathlib import Path

import pytest

from deptriad.paper.data import DATASETS, Library
from deptriad.paper.item import Claim, Outcome
from deptriad.paper.page import page
from deptriad.paper.runner import read, run
from paper_items import made

CLAIM = Claim("one is one", "1", True)


def outcome(*numbers):
    return Outcome([{"x": each} for each in numbers], [CLAIM], "none")


def test_an_item_leaves_numbers_figures_and_an_entry(tmp_path):
    (done,) = run([made(lambda work: outcome(1.5, 2.5))], Library(), tmp_path)
    assert done.how == "run"
    with (tmp_path / "figure-3.csv").open() as file:
        assert [row["x"] for row in csv.DictReader(file)] == ["1.5", "2.5"]
    assert (tmp_path / "figure-3.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "figure-3.svg").read_text()
    entry = read(tmp_path)["figure-3"]
    assert entry["claims"] == [{"paper": "one is one", "ours": "1", "holds": True, "why": ""}]
    assert entry["settings"]["seed"] == 0
    assert not list(tmp_path.glob(".parts/*"))


def test_what_is_there_is_kept_unless_settings_change(tmp_path):
    calls = []

    def compute(work):
        calls.append(work.quick)
        return outcome(len(calls))

    for options in ({}, {}, {"quick": True}, {"quick": True, "again": True}, {"seed": 1}):
        list(run([made(compute)], Library(), tmp_path, **options))
    assert calls == [False, True, True, False]


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    calls = []

    def compute(work):
        first = work.kept("first", lambda: calls.append("first") or 1.0)
        if len(calls) == 1:
            calls.append("killed")
            raise KeyboardInterrupt
        return outcome(first)

    with pytest.raises(KeyboardInterrupt):
        list(run([made(compute)], Library(), tmp_path))
    assert not (tmp_path / "results.json").exists()
    assert not (tmp_path / "figure-3.csv").exists()
    list(run([made(compute)], Library(), tmp_path))
    assert calls == ["first", "killed"]
    entry = read(tmp_path)["figure-3"]
    assert entry["resumed"] is True
    assert "that of the last part" in page(tmp_path, "results")
    list(run([made(compute)], Library(), tmp_path, again=True))
    entry = read(tmp_path)["figure-3"]
    assert entry["resumed"] is False
    assert "that of the last part" not in page(tmp_path, "results")


def test_kept_parts_of_other_settings_are_not_taken(tmp_path):
    def compute(work):
        number = work.kept("number", lambda: work.seed)
        if work.seed == 0:
            raise KeyboardInterrupt
        return outcome(number)

    with pytest.raises(KeyboardInterrupt):
        list(run([made(compute)], Library(), tmp_path, seed=0))
    list(run([made(compute)], Library(), tmp_path, seed=7))
    with (tmp_path / "figure-3.csv").open() as file:
        assert next(csv.DictReader(file))["x"] == "7"


def test_an_item_without_its_data_is_skipped_and_the_next_one_runs(tmp_path):
    needy = made(lambda work: pytest.fail("it has no data"), needs=("adult",), name="table-3")
    for library in (Library(), Library(tmp_path)):
        skipped, ran = run([needy, made(lambda work: outcome(1))], library, tmp_path / "out")
        assert skipped.how == "skipped"
        assert "adult.parquet" in skipped.why
        assert ran.entry is not None
    assert list(read(tmp_path / "out")) == ["figure-3"]


def test_an_item_without_its_extra_is_skipped_with_what_to_install(tmp_path):
    def compute(work):
        raise ImportError("it needs torch: pip install 'deptriad[attack]'")

    (done,) = run([made(compute)], Library(), tmp_path)
    assert (done.how, done.why) == ("skipped", "it needs torch: pip install 'deptriad[attack]'")
    assert read(tmp_path) == {}


def test_other_data_is_another_run(tmp_path):
    path = tmp_path / DATASETS["adult"].file
    item = made(lambda work: outcome(1), needs=("adult",))
    how = []
    for content in (b"a", b"a", b"b"):
        path.write_bytes(content)
        how += [done.how for done in run([item], Library(tmp_path), tmp_path)]
    assert how == ["run", "kept", "run"]


def test_results_are_json_that_others_read(tmp_path):
    list(run([made(lambda work: outcome(1))], Library(), tmp_path))
    content = json.loads(Path(tmp_path / "results.json").read_text())
    assert content["format"] == "deptriad paper results"
