"""Figures of the paper, drawn from their kept numbers when the site is built, once for each theme.

A page shows the PNG, for those who read it as a file; on the site two SVGs of the same rows take its place.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from deptriad.paper import figures, items
from deptriad.paper.runner import read_rows
from deptriad.utils.colours import ROLES, ROLES_ON_DARK

if TYPE_CHECKING:
    from sphinx.application import Sphinx

KEPT = Path(__file__).parents[1] / "paper"
SHOWN = re.compile(r"!\[[^\]]*\]\((?:\.\./)*paper/([\w-]+)\.png\)")
ON_DARK = {figures.INK: "#e6e8ee", figures.PALE: "#3d4250"}
ON_DARK |= {colour: ROLES_ON_DARK[role] for role, colour in ROLES.items()}
THEMES = {"only-light": ("default", {}), "only-dark": ("dark_background", ON_DARK)}


def draw_all(app: Sphinx) -> None:
    """All that is kept; a figure without words is an error."""
    if app.builder.format != "html":
        return
    import matplotlib as mpl
    from matplotlib import style

    mpl.use("agg")
    folder = Path(app.outdir, "_images", "paper")
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(KEPT.glob("*.png")):
        (item,) = items([path.stem])
        if not item.words:
            raise ValueError(f"{item.name} has no words: say in its Item what is to be seen")
        rows = read_rows(path.with_suffix(".csv"))
        for theme, (base, colours) in THEMES.items():
            drawn = folder / f"{item.name}-{theme}.svg"
            with style.context([base, {"svg.hashsalt": "deptriad", "savefig.transparent": True}]):
                item.draw(rows).savefig(drawn, metadata={"Date": None})
            text = drawn.read_text(encoding="utf-8")
            drawn.write_text(recoloured(text, colours), encoding="utf-8")


def recoloured(text: str, colours: dict[str, str]) -> str:
    """Each colour once, so that none is taken for another's successor."""
    return re.sub("#[0-9a-f]{6}", lambda found: colours.get(found[0], found[0]), text)


def take_their_place(app: Sphinx, page: str, source: list[str]) -> None:
    """Images of kept figures become those for both themes."""
    up = "../" * page.count("/")

    def both(found: re.Match[str]) -> str:
        (item,) = items([found[1]])
        words = escape(item.words, quote=True)
        images = (
            f'<img class="{theme}" alt="{words}" loading="lazy" src="{up}_images/paper/{item.name}-{theme}.svg">'
            for theme in THEMES
        )
        return f'<div class="picture">{"".join(images)}</div>'

    source[0] = SHOWN.sub(both, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", draw_all)
    app.connect("source-read", take_their_place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
