"""deptriad paper and datasets on the command line."""

import json

import pandas as pd
import pytest

from deptriad.cli import main
from deptriad.paper import NAMES
from deptriad.paper.data import DATASETS


def ran(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


def test_the_list_names_every_item(capsys):
    assert ran("paper", "--list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)["items"]
    assert [item["name"] for item in listed] == list(NAMES)


def test_without_data_what_needs_it_is_skipped_and_named(tmp_path, capsys):
    assert ran("paper", "table-3", "figure-3", "--out", str(tmp_path)) == 0
    shown = capsys.readouterr()
    assert "table-3 is skipped: it needs" in shown.out
    assert "adult.parquet" in shown.out
    assert "skipped: table-3" in shown.err
    assert (tmp_path / "figure-3.csv").is_file()
    assert not (tmp_path / "table-3.csv").exists()


def test_an_unknown_item_is_an_error(capsys):
    assert ran("paper", "tabel-3") == 1
    assert "did you mean 'table-3'" in capsys.readouterr().err


def test_datasets_say_where_and_under_which_licence(tmp_path, capsys):
    (tmp_path / "adult.parquet").write_bytes(b"something else")
    pd.DataFrame({"id": [1, 2]}).to_parquet(tmp_path / "cardio.parquet")
    for name, rows in (("dss", DATASETS["dss"].rows), ("spm", 5)):
        pd.DataFrame({"x": range(rows)}).to_parquet(tmp_path / DATASETS[name].file)
    assert ran("datasets", "--data", str(tmp_path), "--json") == 0
    told = {row["name"]: row for row in json.loads(capsys.readouterr().out)["datasets"]}
    assert set(told) == set(DATASETS)
    assert all(row["origin"] and row["licence"] and row["convert"] for row in told.values())
    assert "not a Parquet file" in told["adult"]["here"]
    assert "2 records, not 70,000" in told["cvd"]["here"]
    assert "5 records" in told["spm"]["here"]
    assert "another checksum" in told["dss"]["here"]
    assert told["celeba"]["here"] == "absent"


def test_the_data_here_is_the_data_described(shared_dir, capsys):
    assert ran("datasets", "--data", str(shared_dir / "data"), "--json") == 0
    told = json.loads(capsys.readouterr().out)["datasets"]
    assert [row["here"] for row in told] == ["there, and the same"] * len(DATASETS)
