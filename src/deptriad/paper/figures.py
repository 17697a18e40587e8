"""How the figures of the paper's items look: one style, and the small steps that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.utils.colours import ROLES, SEQUENTIAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from deptriad.paper.item import Row
    from deptriad.utils.arrays import Floats

INK = "#1f2430"
GREY = "#6b7280"
PALE = "#d9dce1"
CYCLE = (
    ROLES["certified"],
    ROLES["promise"],
    ROLES["witness"],
    ROLES["plan"],
    ROLES["pairwise"],
    ROLES["paired"],
    ROLES["split"],
)
"""Colours for lines that have no role of their own, in the order to take them."""

DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
"""Line styles to go with the colours, so that colour is never alone in telling lines apart."""

MARKS = "osD^vPX"


def sheet(columns: int = 1, rows: int = 1, size: tuple[float, float] = (4.2, 3.2)) -> Figure:
    """An empty figure for so many panels of a size each, in inches; ``panels`` puts them in."""
    from matplotlib.figure import Figure

    return Figure(figsize=(columns * size[0], rows * size[1]), layout="constrained")


def panels(figure: Figure, columns: int = 1, rows: int = 1, **options: Any) -> list[Axes]:
    """Styled axes of a figure, row by row."""
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    found: list[Axes] = list(grid.flat)
    for axes in found:
        style(axes)
    return found


def style(axes: Axes) -> None:
    """No frame at the top and right, a light grid behind everything."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, which="both")
    axes.set_axisbelow(True)
    axes.grid(color=PALE, linewidth=0.6)


def name_panel(axes: Axes, letter: str, title: str) -> None:
    """A letter and a title above the left end of a panel, such as (a)."""
    axes.set_title(f"({letter}) {title}" if letter else title, loc="left", color=INK, fontsize=10)


def legend(axes: Axes, **options: Any) -> None:
    """A legend without a frame."""
    axes.legend(**{"frameon": False, "fontsize": 8, **options})


def legend_below(figure: Figure, columns: int) -> None:
    """One legend for all panels of a figure, below them; equal names once."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        found = dict(zip(labels, handles, strict=True)) | found
    figure.legend(
        list(found.values()),
        list(found),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=8,
    )


def shades() -> Any:
    """The sequential colours as a colour map, pale for nothing."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("deptriad", list(SEQUENTIAL))


def those(rows: Sequence[Row], **wanted: object) -> list[Row]:
    """Rows with the wanted text in the named columns; numbers are compared as text too."""
    return [
        row for row in rows if all(str(row[name]) == str(value) for name, value in wanted.items())
    ]


def column(rows: Sequence[Row], name: str) -> Floats:
    """A column as numbers; an empty cell is NaN."""
    return np.array([_number(row[name]) for row in rows], dtype=np.float64)


def values(rows: Sequence[Row], name: str) -> list[str]:
    """What a column holds, each text once, in the order of the rows."""
    return list(dict.fromkeys(str(row[name]) for row in rows))


def _number(cell: Any) -> float:
    return float("nan") if cell is None or cell == "" else float(cell)
