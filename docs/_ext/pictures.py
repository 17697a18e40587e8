"""Pictures of the tutorials: a cell that begins with ``# Picture: WORDS`` is drawn on white and again on black.

The reader's theme decides which of the two is seen. WORDS are what is read to those who cannot see it, so they must be
there: a picture that any other cell draws is an error. The first cell of a page says ``%load_ext pictures``.

It has two halves: what the cells need while they run, and what leaves the words out of the code that is shown.
"""

from __future__ import annotations

import base64
import io
import os
import re
import subprocess
import sys
from html import escape
from typing import Any

MARK = "# Picture: "
PROGRESS = re.compile(r"^.*\d after \d+ s.*\n", flags=re.MULTILINE)
"""What commands say every few seconds, on slow machines only."""

THEMES = {"only-light": "default", "only-dark": "dark_background"}


def load_ipython_extension(shell: Any) -> None:
    import matplotlib

    matplotlib.use("agg")
    os.environ.pop("FORCE_COLOR", None)  # which the kernel sets, as if commands spoke to a terminal
    shell.register_magic_function(drawn, "cell", "drawn")
    shell.register_magic_function(bash, "cell", "bash")
    shell.input_transformers_cleanup.append(marked)
    shell.events.register("post_run_cell", refuse_pictures_without_words)


def marked(lines: list[str]) -> list[str]:
    """A marked cell runs by the magic ``drawn``."""
    words, rest = parted(lines)
    return [f"%%drawn {words}\n", *rest] if words else lines


def parted(lines: list[str]) -> tuple[str, list[str]]:
    """The words of a picture, which may go on in further lines of comment, and the code that draws it."""
    if not lines or not lines[0].startswith(MARK):
        return "", lines
    words, rest = [lines[0].removeprefix(MARK)], lines[1:]
    while rest and rest[0].startswith("# "):
        words.append(rest.pop(0).removeprefix("# "))
    return " ".join(" ".join(words).split()), rest


def bash(_: str, cell: str) -> None:
    """Run commands and show what they print in one piece; IPython's own shows it by hundreds of bytes."""
    ended = subprocess.run(
        ["bash", "-e", "-c", cell], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if ended.returncode:
        raise RuntimeError(f"exit code {ended.returncode}: {ended.stdout}")
    sys.stdout.write(PROGRESS.sub("", ended.stdout))


def drawn(words: str, cell: str) -> None:
    """Run the cell once for each theme, and show what it drew."""
    import matplotlib.pyplot as plt
    from IPython import get_ipython
    from IPython.display import HTML, display

    code = compile(get_ipython().transform_cell(cell), "<picture>", "exec")
    shown = []
    for theme, style in THEMES.items():
        with plt.style.context([style, {"svg.hashsalt": "deptriad", "savefig.transparent": True}]):
            exec(code, get_ipython().user_ns)
            shown += [_image(plt.figure(number), words, theme) for number in plt.get_fignums()]
            plt.close("all")
    if not shown:
        raise ValueError(f"nothing is drawn by the cell of the picture {words!r}")
    display(HTML(f'<div class="picture">{"".join(shown)}</div>'))


def _image(figure: Any, words: str, theme: str) -> str:
    held = io.BytesIO()
    figure.savefig(held, format="svg", bbox_inches="tight", metadata={"Date": None})
    content = base64.b64encode(held.getvalue()).decode()
    source = f"data:image/svg+xml;base64,{content}"
    return f'<img class="{theme}" alt="{escape(words, quote=True)}" src="{source}">'


def refuse_pictures_without_words(_: Any = None) -> None:
    import matplotlib.pyplot as plt

    if plt.get_fignums():
        plt.close("all")
        raise ValueError(f"a picture without words: begin its cell with {MARK!r} and what it shows")


def without_words(_: Any, document: Any) -> None:
    """The code that is shown, without the words, which are read beside the picture; commands as one types them."""
    from docutils import nodes

    for block in document.findall(nodes.literal_block):
        lines = block.astext().splitlines(keepends=True)
        words, rest = parted(lines)
        if lines[:1] == ["%%bash\n"]:
            words, rest, block["language"] = "a command", lines[1:], "bash"
        if words:
            block.rawsource = "".join(rest)
            block[:] = [nodes.Text(block.rawsource)]


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", without_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
