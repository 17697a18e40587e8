"""Commands, scripts and files of other kinds in the README and the docs: they run, or are known to be no code.

Python is run by ``tests/test_readme.py``, cells of notebooks by ``make docs``, the README's console there, too, and the
five commands of ``docs/survey.md`` with their example, by ``tests/clients/test_example.py``.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest

import collector
import javascript

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")

ROOT = Path(__file__).parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if path.name != "CHANGELOG.md" and "_build" not in path.parts
}
NO_CODE = {
    "docs/how-to/collector.md": {"ini"},
    "docs/survey.md": {"json", "js"},
    "docs/data.md": {"json"},  # loaded by tests/test_readme.py
}
"""Files of other kinds by page, which are tried below."""

NOT_RUN = {
    "paper all --data DIR --out DIR": "takes long, and needs data that cannot be shipped: tests/paper",
    "estimate plan.json postgresql://survey@localhost/survey sex income": "tests/clients with PostgreSQL",
}


def fences(text: str) -> list[tuple[str, str]]:
    """Kind and content of all blocks between fences."""
    return re.findall(r"^```(\S*)[^\n]*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[str]:
    """Commands of a page that a reader may type, in their order, as what follows "deptriad"."""
    found = re.findall(r"^(?:\$ | {4})?deptriad (.+)$", PAGES[page], flags=re.MULTILINE)
    return [shlex.join(shlex.split(line, comments=True)) for line in found]


def mentioned() -> set[tuple[str, str]]:
    """Those, and what stands within sentences."""
    found = {(page, line) for page in PAGES for line in commands(page)}
    for page, text in PAGES.items():
        found |= {(page, line) for line in re.findall(r"`deptriad ([a-z][^`]*)`", text)}
        found |= {
            (page, line)
            for line in re.findall(r"^ExecStart=\S+/deptriad (.+)$", text, re.MULTILINE)
        }
    return found


def test_every_block_is_of_a_kind_that_is_tried():
    directives = {"{admonition}", "{command-line}", "{eval-rst}", "{literalinclude}", "{toctree}"}
    known = {"python", "{code-cell}", "console", *directives}
    for page, text in PAGES.items():
        kinds = {kind for kind, _ in fences(text)} - NO_CODE.get(page, set())
        assert kinds <= known, page


def test_every_command_that_is_named_is_one_with_these_options():
    import typer.main

    from deptriad.cli import app

    program = typer.main.get_command(app.app)
    top = {name for option in program.params for name in option.opts} | {"--help"}
    assert len(mentioned()) > 40
    for page, line in mentioned():
        words = shlex.split(line)
        if words[0].startswith("-"):
            assert words[0] in top, (page, line)
            continue
        if words[0] in ("COMMAND", "…"):
            continue
        assert words[0] in program.commands, (page, line)
        options = program.commands[words[0]].params
        names = {name for option in options for name in (*option.opts, *option.secondary_opts)}
        used = {word.partition("=")[0] for word in words[1:] if word.startswith("--")}
        assert used <= names | {"--help"}, (page, line)


def test_what_pip_and_make_are_told_to_do_is_there():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, flags=re.MULTILINE))
    for page, text in PAGES.items():
        for named in re.findall(r"pip install '?(?:\.|deptriad)\[([\w,-]+)\]", text):
            assert set(named.split(",")) <= set(extras["optional-dependencies"]), page
        for target in re.findall(r"(?:^ *|`)make (\w+)[ `\n]", text, flags=re.MULTILINE):
            assert target in targets, page


def test_the_five_commands_are_those_of_the_example():
    example = (ROOT / "examples/web_survey/README.md").read_text(encoding="utf-8")
    (first, *_) = fences(example)
    assert ("console", first[1]) == next(each for each in fences(PAGES["docs/survey.md"]))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with what commands of the pages expect to find there."""
    records = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "age": records.integers(18, 90, 900),
            "sex": records.choice(["f", "m"], 900),
            "income": records.choice(["low", "high"], 900),
            "vote": records.choice(["a", "b"], 900),
            "party": records.choice(["x", "y", "z"], 900),
            "state": np.resize(["CA", "NY", "TX"], 900),
        }
    )
    import deptriad as dt

    asked = dt.Schema.infer(people[["sex", "income", "vote", "party"]], public=True)
    asked.save(tmp_path / "schema.json")
    people.to_parquet(tmp_path / "people.parquet")
    people.to_csv(tmp_path / "survey.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    work = records.choice(["none", "part", "full"], (200, 4))
    panel = pd.DataFrame({"id": np.repeat(range(200), 4), "month": np.resize(range(4), 800)})
    panel.assign(job=work.ravel()).to_csv(tmp_path / "panel.csv", index=False)
    plan = dt.calibrate(asked, 3.0, marginals=2, users=1000)
    plan.save(tmp_path / "plan.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path, plan


RUN_HERE = [
    page
    for page in PAGES
    if page != "README.md"
    and not PAGES[page].startswith("---\nfile_format: mystnb")  # those run where they stand
    and commands(page)
]


@pytest.mark.parametrize("page", RUN_HERE)
def test_commands_of_a_page_run(page, place, capsys):
    folder, plan = place
    lines = [line for line in commands(page) if line not in NOT_RUN]
    if page == "docs/survey.md":
        lines = lines[5:]  # the five of the example
        ends_well("client plan.json --out survey --endpoint /reports")
    for line in lines:
        if line.startswith("estimate"):
            answer(folder, plan)
        if line.startswith("collect"):
            served(folder, plan, shlex.split(line))
        else:
            ends_well(line)
    assert capsys.readouterr().out


def ends_well(line: str) -> None:
    from deptriad.cli import main

    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line))
    assert not ended.value.code, line


def served(folder: Path, plan: object, words: list[str]) -> None:
    """The command as it stands, but for the port, which may be in use here."""
    options = dict(zip(words[2::2], words[3::2], strict=True))
    assert set(options) == {"--store", "--port", "--page"}
    page, store = folder / options["--page"], folder / options["--store"]
    with collector.running(folder / words[1], str(store), "--page", str(page)) as (port, _):
        sent = collector.messages(plan, 30, np.random.default_rng(1))
        assert collector.post(port, sent).status == 200


def answer(folder: Path, plan: object) -> None:
    """Thirty people report, with their invitations where there are some."""
    place = folder / "invitations.txt"
    invited = place.read_text(encoding="utf-8").split() if place.is_file() else [""] * 30
    with collector.running(folder / "plan.json", str(folder / "reports.db")) as (port, _):
        sent = collector.messages(plan, 30, np.random.default_rng(2))
        for report, own in zip(sent, invited, strict=False):
            header = f"X-Invitation: {own}\r\n" if own else ""
            assert collector.post(port, report, header).status == 200


def test_the_unit_of_the_collector_starts_it_as_it_can_be_started():
    (unit,) = [text for kind, text in fences(PAGES["docs/how-to/collector.md"]) if kind == "ini"]
    (started,) = re.findall(r"^ExecStart=\S+/deptriad (.+)$", unit, flags=re.MULTILINE)
    assert ("docs/how-to/collector.md", started) in mentioned()


def test_the_report_on_the_page_is_one():
    jsonschema = pytest.importorskip("jsonschema")
    (text,) = [text for kind, text in fences(PAGES["docs/survey.md"]) if kind == "json"]
    content = json.loads(text)
    assert content["plan"].endswith("…")
    content["plan"] = "5b0c" * 16
    schema = ROOT / "docs/reference/formats/report.schema.json"
    jsonschema.validate(content, json.loads(schema.read_text(encoding="utf-8")))


@pytest.mark.skipif(javascript.why_not() is not None, reason=str(javascript.why_not()))
def test_the_script_on_the_page_runs(tmp_path):
    import deptriad as dt

    (code,) = [text for kind, text in fences(PAGES["docs/survey.md"]) if kind == "js"]
    schema = dt.Schema([dt.Attribute("sex", ["female", "male"]), dt.Attribute("age", [34, 35])])
    plan = dt.calibrate(schema, 1.0, together=[schema.names])  # everybody is asked both
    plan.save(tmp_path / "plan.json")
    first, rest = code.split("\n", maxsplit=1)
    assert first == 'import { open } from "./deptriad.js";'
    around = """
const sent = [];
globalThis.fetch = async (place, message) => {
  if (message) sent.push([place, message.method, JSON.parse(message.body)]);
  else return { text: async () => readFileSync(new URL(place, import.meta.url), "utf8") };
};
console.log = ((shown) => (words) => (typeof words === "string" ? shown(words) : sent.push(words)))(console.log);
"""
    shown, posted = javascript.run(tmp_path, f"{around}{rest}\ntell(sent);")
    assert shown == ["sex", "age"]
    assert posted[:2] == ["/reports", "POST"]
    assert set(posted[2]["answers"]) == {"sex", "age"}
