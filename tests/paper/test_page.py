"""The page of the paper: what holds, tables and figures."""

from pathlib import Path

from deptriad.paper import corrections, figure_3, items
from deptriad.paper.data import Library
from deptriad.paper.item import OURS, Claim, Outcome
from deptriad.paper.page import page
from deptriad.paper.runner import read_rows, run
from paper_items import made

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_says_what_does_not_hold_and_why(tmp_path):
    kept = Claim("one is one", "1", True)
    broken = Claim("a | b < c", "2", False, "the paper forgets a logarithm")
    extra = Claim(f"{OURS}ours is better", "3", True)  # told, and not counted
    entry = Outcome([{"x": 1}], [kept, broken, extra], "none", ["a note"])
    list(run([made(lambda work: entry)], Library(), tmp_path))
    text = page(tmp_path, "results")
    assert "| a \\| b &lt; c | 2 | **does not hold**: the paper forgets a logarithm |" in text
    assert "| [figure-3](#figure-3) | an item | 2 | 1 | 1 | 0 |" in text
    assert "| (not in the paper) ours is better | 3 | holds |" in text
    assert f"![{figure_3.WORDS}](results/figure-3.png)" in text
    assert "Not run: table-1" in text


def test_a_table_is_text_and_leaves_no_picture(tmp_path):
    list(run([corrections.ITEM], Library(), tmp_path))
    assert "| limit for two rows that hardly differ | 1.0101 | 0.0101 |" in page(
        tmp_path, "results"
    )
    assert {path.name for path in tmp_path.glob("*.*")} >= {"corrections.csv", "results.json"}
    assert not list(tmp_path.glob("*.png"))


def test_the_page_in_the_docs_is_that_of_its_results():
    assert page(DOCS / "paper", "paper") == (DOCS / "paper.md").read_text(encoding="utf-8")


def test_every_figure_of_the_page_is_there():
    shown = {
        line.split("](")[1][:-1]
        for line in page(DOCS / "paper", "paper").splitlines()
        if line[:2] == "!["
    }
    assert shown == {f"paper/{path.name}" for path in (DOCS / "paper").glob("*.png")}


def test_every_figure_has_words_and_the_numbers_that_the_site_draws_it_from():
    for path in (DOCS / "paper").glob("*.png"):
        (item,) = items([path.stem])
        assert len(item.words) > 100
        rows = read_rows(path.with_suffix(".csv"))
        assert item.draw(rows).axes
