"""JointBox: p(u_1 … u_k | target), known only up to an interval for each entry. Tables of many axes as flat ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deptriad.tables.table import TOLERANCE, Box, Conditional
from deptriad.utils.arrays import Floats


@dataclass(frozen=True, eq=False, repr=False)
class JointBox:
    """All tables p(u_1 … u_k | target) between two edges whose rows sum to 1; axis 0 is for the target's values.

    As in a Box, edges are clipped to [0, 1] and tightened with "rows sum to 1", so that each is attained.

    Parameters
    ----------
    lower, upper
        Arrays of one shape: an axis for the target, then one for each other attribute.
    names
        Names of the axes, the target's first.

    Examples
    --------
    >>> import deptriad as dt
    >>> import numpy as np
    >>> dt.Relative(0.1).box(np.full((2, 3, 2), 1 / 6))
    JointBox(2 × 3 × 2, widest interval 0.03333)
    """

    lower: Floats
    upper: Floats
    names: Sequence[str] | None = None
    flat: Box = field(init=False)

    def __post_init__(self) -> None:
        lower, upper = cells_of(self.lower, "lower"), cells_of(self.upper, "upper")
        if lower.shape != upper.shape:
            raise ValueError(
                f"lower has shape {lower.shape} and upper {upper.shape}, expected the same shape"
            )
        self._fill(Box(as_rows(lower), as_rows(upper)), lower.shape)

    def _fill(self, flat: Box, shape: tuple[int, ...]) -> None:
        if self.names is not None:
            names = tuple(str(name) for name in self.names)
            if len(names) != len(shape) or len(set(names)) < len(names):
                raise ValueError(
                    f"names is {list(names)}, expected {len(shape)} different ones, one for each axis"
                )
            object.__setattr__(self, "names", names)
        object.__setattr__(self, "flat", flat)
        object.__setattr__(self, "lower", flat.lower.reshape(shape))
        object.__setattr__(self, "upper", flat.upper.reshape(shape))

    @classmethod
    def from_flat(
        cls, box: Box, shape: tuple[int, ...], names: Sequence[str] | None = None
    ) -> Self:
        """The same box with its columns laid out along several axes."""
        made = object.__new__(cls)
        object.__setattr__(made, "names", names)
        made._fill(box, shape)
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of values: of the target, then of each other attribute."""
        return self.lower.shape

    @cached_property
    def widest(self) -> float:
        """The width of the widest interval."""
        return float(np.max(self.upper - self.lower))

    def __repr__(self) -> str:
        sizes = " × ".join(map(str, self.shape))
        named = f"p({', '.join(self.names[1:])} | {self.names[0]}), " if self.names else ""
        return f"JointBox({named}{sizes}, widest interval {self.widest:.4g})"


def cells_of(values: Any, name: str) -> Floats:
    """A float copy with two or more axes, none of them empty."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries: fill or drop them")
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    if array.ndim < 2 or 0 in array.shape:
        raise ValueError(
            f"{name} has shape {array.shape}, expected an axis for the target's values and one or more for the values "
            "of other attributes"
        )
    return array


def as_rows(cells: Floats) -> Floats:
    """All axes but the first laid end to end."""
    return cells.reshape(len(cells), math.prod(cells.shape[1:]))


def unrolled(table: Any) -> tuple[Any, tuple[int, ...] | None]:
    """An array of more than two axes as rows, with its shape; all else as it is, with None."""
    if isinstance(table, Conditional | Box) or hasattr(table, "iloc"):
        return table, None
    try:
        axes = np.ndim(table)
    except ValueError:  # ragged: whoever takes it will say so
        return table, None
    if axes <= 2:
        return table, None
    cells = cells_of(table, "table")
    return as_rows(cells), cells.shape


def rolled(box: Box, shape: tuple[int, ...] | None) -> Box | JointBox:
    """Undo ``unrolled``: a JointBox of that shape, or the box as it is."""
    return box if shape is None else JointBox.from_flat(box, shape)


def joint_rows(table: ArrayLike | Conditional) -> tuple[Conditional, tuple[int, ...]]:
    """p(u_1 … u_k | x) as rows, with the shape that it has: from probabilities, or from counts.

    Rows that do not all sum to 1 are counts: they are divided by their sums, and those without any are left out.
    """
    if isinstance(table, Conditional):
        return table, table.shape
    cells = cells_of(table, "table")
    rows = as_rows(cells)
    sums = rows.sum(axis=1)
    if (np.abs(sums - 1.0) <= TOLERANCE).all():
        return Conditional(rows), cells.shape
    some = ~(sums == 0.0)
    if not some.any():
        raise ValueError("table has no counts at all, expected some for at least one target value")
    return Conditional.from_counts(rows[some]), (int(some.sum()), *cells.shape[1:])
