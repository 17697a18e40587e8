"""The README and the docs: their Python and commands run and print what the pages say, and what they name is there."""

import contextlib
import io
import pkgutil
import re
import shlex
from pathlib import Path

import pytest

import surroundings

pytest.importorskip("pandas")
pytest.importorskip("statsmodels", reason="statsmodels, which has the README's survey, is absent")

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {
    path.relative_to(ROOT / "docs").with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("docs/**/*.md"))
    if not path.relative_to(ROOT / "docs").parts[0].startswith("_")
}
PAGES = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("*.md")}
PAGES |= {ROOT / "docs" / f"{page}.md": text for page, text in DOCS.items()}


def blocks(page, kind="python"):
    """Blocks of code; those of notebooks, {code-cell}, are run by ``make docs``."""
    return re.findall(rf"^```{kind}\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)


def said(block):
    """What its prints are said to print: the comment after a print, or the lines of comments under it."""
    under = False
    for line in block.splitlines():
        printed = re.match(r" *print\(.*?\)(?:  # (.*))?$", line)
        if printed and printed[1]:
            yield printed[1]
        elif under and (line == "#" or line.startswith("# ")):
            yield line[2:]
            continue
        under = bool(printed and not printed[1])


# each block of the README runs by itself; the other pages are read from top to bottom
RUNS = {f"README {number}": block for number, block in enumerate(blocks(README))}
RUNS |= {page: "\n".join(found) for page, text in DOCS.items() if (found := blocks(text))}


def test_there_is_something_to_run():
    assert {"data", "totals", "budgets", "collection", "attack", "plots", "report", "time"} <= set(
        RUNS
    )
    assert all(list(said(block)) for block in RUNS.values())


def test_all_python_is_run():
    """Here, or by ``make docs`` in a page that says so in its head."""
    for page, text in DOCS.items():
        fences = r"^ *(?:```+|:::+)(\S*[Pp]y\S*|\{code[^}]*\})"
        kinds = set(re.findall(fences, text, flags=re.MULTILINE))
        notebook = text.startswith("---\nfile_format: mystnb\n")
        assert kinds <= {"python", "{code-cell}"} if notebook else kinds <= {"python"}, page


def test_no_cell_that_is_shown_needs_one_that_is_not():
    """Who types a page along sees no hidden imports: where any cell is shown, the hidden one draws for both themes."""
    found = 0
    for page, text in DOCS.items():
        cells = blocks(text, r"\{code-cell\}")
        hidden = [cell for cell in cells if cell.startswith(":tags: [remove-cell]")]
        shown = [cell for cell in cells if not cell.startswith(":tags: [remove")]
        if shown:
            assert hidden == [":tags: [remove-cell]\n\n%load_ext pictures\n"], page
            found += 1
    assert found > 10


@pytest.mark.parametrize("page", RUNS)
def test_block_prints_what_it_says(page, tmp_path, monkeypatch):
    if "pyspark" in RUNS[page]:
        pytest.importorskip("pyspark", reason="pyspark is not installed")
        if not surroundings.java():
            pytest.skip("Spark needs Java")
        start = f"--driver-java-options '{surroundings.QUICK_JAVA}' pyspark-shell"
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", start)
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(RUNS[page], page, "exec"), {"__name__": "readme"})
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    assert lines == list(said(RUNS[page]))


def test_commands_print_what_the_readme_says(tmp_path, monkeypatch, capsys):
    pytest.importorskip("typer")
    pytest.importorskip("duckdb")
    from statsmodels.datasets import anes96

    from deptriad.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    survey = anes96.load_pandas().data[["vote", "PID", "age", "educ"]]
    survey.rename(columns={"PID": "party"}).to_csv("survey.csv", index=False)
    (console,) = blocks(README, "console")
    commands = re.split(r"^\$ deptriad ", console, flags=re.MULTILINE)[1:]
    assert len(commands) == 6
    for command in commands:
        arguments, *shown = command.splitlines()
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(arguments, comments=True))
        assert not ended.value.code
        output = iter([line.rstrip() for line in capsys.readouterr().out.splitlines()])
        for line in shown:
            assert line in ("", "…") or line in output  # in this order


def test_the_hand_edited_schema_is_one(tmp_path):
    import deptriad as dt

    (content,) = blocks(DOCS["data"], "json")
    (tmp_path / "schema.json").write_text(content, encoding="utf-8")
    schema = dt.Schema.load(tmp_path / "schema.json")
    edited = next(block for block in blocks(DOCS["data"]) if block.startswith("edited ="))
    held = {"dt": dt}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(edited, held)
    assert schema == held["edited"]


def test_commands_are_on_the_first_screen():
    first_screen = "\n".join(README.splitlines()[:30])
    assert "make demo" in first_screen
    assert "make test" in first_screen
    assert "deptriad calibrate" in first_screen


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_what_a_page_names_is_there(path):
    for name in set(re.findall(r"\bdeptriad(?!\.js|\.d\.ts)(?:\.[a-zA-Z_]+)+", PAGES[path])):
        assert pkgutil.resolve_name(name) is not None
    for link in set(re.findall(r"\]\((?!https?:|#)([^)#]+)", PAGES[path])):
        assert (path.parent / link).exists(), f"{path.name} leads to {link}"


def test_the_reference_has_every_public_name():
    import deptriad as dt

    listed = re.findall(r"^   (\w+)$", DOCS["reference/python"], flags=re.MULTILINE)
    missing = {name for name in dt.__all__ if not name.startswith("_")} - set(listed)
    assert not missing, f"docs/reference/python.md does not list {sorted(missing)}"
