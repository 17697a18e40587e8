"""What all plots share: axes, rows of attributes, names as text, and colours that suit the background."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from deptriad.utils.colours import MARKERS, ROLES, ROLES_ON_DARK, SEQUENTIAL
from deptriad.utils.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

LONGEST = 28
"""Signs of a name that are drawn; the rest of a longer one is an ellipsis."""


def axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or new ones."""
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "plots need matplotlib: pip install 'deptriad[plot]'", name=missing.name
        ) from None
    if ax is not None:
        return ax
    return plt.subplots(figsize=size, layout="constrained")[1]


def by_attribute(ax: Axes, names: Sequence[str]) -> None:
    """A row for each attribute, the first at the top, and the legend beside them."""
    ax.set_yticks(range(len(names)), labels(names), fontsize=label_size(len(names)))
    as_text(*ax.get_yticklabels())
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(left=0.0, right=1.04 * max(ax.get_xlim()[1], 1e-3))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)


def dots(
    ax: Axes, values: Sequence[float], rows: Any, role: str, label: str, hollow: bool = False
) -> None:
    colour, thin, behind = colours_of(ax)[role], MARKERS[role] == "|", background(ax)
    ax.plot(
        values,
        rows,
        marker=MARKERS[role],
        label=label,
        markersize=11 if thin else 6,
        markeredgewidth=3 if thin else 1.2 if hollow else 0.8,
        markeredgecolor=colour if thin or hollow else behind,
        markerfacecolor=behind if hollow else colour,
        linestyle="none",
        clip_on=False,
    )


def labels(names: Iterable[str]) -> list[str]:
    """Names that fit beside a plot, on one line each."""
    shown = (printable(name) for name in names)
    return [name if len(name) <= LONGEST else name[: LONGEST - 1] + "…" for name in shown]


def as_text(*texts: Text) -> None:
    """Draw the letters that are there: no mathematics between two $, no TeX."""
    for text in texts:
        text.set_parse_math(False)
        text.set_usetex(False)


def label_size(count: int) -> float:
    """Points of a name's letters, fewer where there are many."""
    return max(4.0, min(10.0, 240.0 / max(count, 1)))


def colours_of(ax: Axes) -> dict[str, str]:
    return ROLES_ON_DARK if is_dark(background(ax)) else ROLES


def sequential(ax: Axes) -> Any:
    """From nothing, the colour nearest to the background, to all."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = SEQUENTIAL[::-1] if is_dark(background(ax)) else SEQUENTIAL
    return LinearSegmentedColormap.from_list("deptriad", list(colours))


def background(ax: Axes) -> tuple[float, ...]:
    """The colour behind what is drawn; white where nothing is."""
    from matplotlib.colors import to_rgba

    for part in (ax, ax.figure):
        if (colour := to_rgba(part.get_facecolor()))[3] >= 0.5:
            return colour
    return 1.0, 1.0, 1.0


def is_dark(colour: Sequence[float]) -> bool:
    """Whether white stands out from it more than black does (the contrast of WCAG 2)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]
    ]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179
