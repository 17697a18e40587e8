"""How results show themselves in a notebook: small tables of HTML in which every label is text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

MOST_ROWS = 60
"""Rows of a table that are shown; how many more there are is said below it."""

WHITE_FROM = 6
"""Steps of the colour scale from which white letters stand out more than black ones."""


class Shaded(NamedTuple):
    """A cell with a background: from 0, the palest, to 1, the darkest."""

    text: str
    share: float


Cell = str | Shaded


def table(
    rows: Sequence[Sequence[Cell]],
    above: Sequence[str] = (),
    below: Sequence[str] = (),
    headings: int = 1,
    names: int = 1,
) -> str:
    """An HTML table with lines of text around it; whatever stands in a cell is shown as text.

    Parameters
    ----------
    rows
        Cells, row by row; the first rows are headings.
    above, below
        Lines of text before and after it.
    headings
        How many rows are headings.
    names
        How many cells at the start of a row are names, which stand to the left; the others stand to the right.

    Examples
    --------
    >>> print(table([["name", "size"], ["<b>", "2"]]))  # doctest: +ELLIPSIS
    <div class="tex2jax_ignore mathjax_ignore">...text-align:left">&lt;b&gt;</th>...</div>
    """
    head, body = rows[:headings], rows[headings:]
    parts = [_line(line) for line in above]
    parts.append('<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">')
    parts += ["<thead>", *(_row(row, names, True) for row in head), "</thead>"]
    parts += ["<tbody>", *(_row(row, names, False) for row in body[:MOST_ROWS]), "</tbody></table>"]
    if len(body) > MOST_ROWS:
        below = [f"and {len(body) - MOST_ROWS:,} more rows", *below]
    parts += [_line(line) for line in below]
    # what stands between two $ is no mathematics here
    return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def text(lines: str) -> str:
    """Text of several lines as it is printed.

    >>> text("a < b")
    '<pre class="tex2jax_ignore mathjax_ignore">a &lt; b</pre>'
    """
    return f'<pre class="tex2jax_ignore mathjax_ignore">{escape(lines)}</pre>'


def _line(line: str) -> str:
    return f'<p style="margin:0.2em 0">{escape(line)}</p>'


def _row(row: Sequence[Cell], names: int, heading: bool) -> str:
    cells = []
    for place, cell in enumerate(row):
        side = f"padding:0.15em 0.6em;text-align:{'left' if place < names else 'right'}"
        if isinstance(cell, Shaded):
            cells.append(f'<td style="{side};{_shade(cell)}">{escape(cell.text)}</td>')
        elif heading or place < names:
            scope = "col" if heading else "row"
            cells.append(f'<th scope="{scope}" style="{side}">{escape(cell)}</th>')
        else:
            cells.append(f'<td style="{side}">{escape(cell)}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _shade(cell: Shaded) -> str:
    from deptriad.utils.colours import SEQUENTIAL

    step = round(min(max(cell.share, 0.0), 1.0) * (len(SEQUENTIAL) - 1))
    ink = "#fff" if step >= WHITE_FROM else "#000"
    return f"background:{SEQUENTIAL[step]};color:{ink}"
