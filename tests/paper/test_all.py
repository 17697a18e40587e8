"""All of the paper on the command line, first of these tests: what comes out of it is what the others look at."""

import json

import pytest

from deptriad import paper
from deptriad.cli import main
from deptriad.paper import NAMES, items
from paper_items import remembered


def ran(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_of_it_runs_quickly_and_goes_on_where_it_was(shared_dir, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(paper, "items", lambda names: [remembered(each) for each in items(names)])
    arguments = ["paper", "all", "--quick", "--data", str(shared_dir / "data"), "--json"]
    arguments += ["--out", str(tmp_path), "--page", str(tmp_path / "paper.md")]
    assert ran(*arguments) == 0
    first = json.loads(capsys.readouterr().out)
    done = [entry["name"] for entry in first["items"]]
    assert done == [name for name in NAMES if name not in first["skipped"]]
    assert set(first["skipped"]) <= {"table-5"}, "only what needs torch may be skipped here"
    figures = [item.name for item in items(done) if item.draw]
    assert len(done) - len(figures) == 6 - len(first["skipped"])  # tables, and the corrections
    kinds = [(name, "csv") for name in done] + [
        (n, kind) for n in figures for kind in ("png", "svg")
    ]
    for name, kind in kinds:
        assert (tmp_path / f"{name}.{kind}").stat().st_size > 0
    page = (tmp_path / "paper.md").read_text(encoding="utf-8")
    assert all(f"## {name}\n" in page for name in done)
    assert [name for name in done if f"](./{name}.png)" in page] == figures
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.csv")}
    assert ran(*arguments, "--force") == 0
    assert json.loads(capsys.readouterr().out) == first
    assert stamps == {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.csv")}
