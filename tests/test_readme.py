"""The README's Python runs, and prints what the README says it prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
PRINTS = re.compile(r"^print\(.*\)  # (.*)$", flags=re.MULTILINE)


def test_there_is_something_to_run():
    assert BLOCKS
    assert any(PRINTS.search(block) for block in BLOCKS)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_block_prints_what_it_says(block):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    assert printed.getvalue().splitlines() == PRINTS.findall(block)


def test_commands_are_on_the_first_screen():
    first_screen = "\n".join(README.splitlines()[:30])
    assert "make demo" in first_screen
    assert "make test" in first_screen
