"""Joint: how often each combination of values of some attributes occurs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.tables.joint_box import JointBox
from deptriad.tables.table import Box
from deptriad.tables.uncertainty import (
    _SPREADS,
    Absolute,
    Confidence,
    Relative,
    Spread,
    Uncertainty,
)
from deptriad.utils.arrays import Booleans, Floats, Integers
from deptriad.utils.errors import InvalidValue, Parameter
from deptriad.utils.text import place_of, printable


@dataclass(frozen=True, eq=False, repr=False)
class Joint:
    """Counts of all combinations of values of some attributes; ``Prior.joint`` makes it.

    It holds no record, yet small counts may still point to a person: treat them as you would treat the data.

    Parameters
    ----------
    names
        The attributes.
    values
        The labels of their values.
    counts
        An axis for each name, in their order, and along it the values in the order of the schema: numbers of records,
        or sums of their weights.
    by_source
        The same for each group along a further first axis, where the data was counted by group.
    protected, used
        By name: which values are to be protected, and which sources (rows) tell about a value (columns). By default all
        values, and all that have records.
    weighted
        Whether the counts are sums of weights.

    Examples
    --------
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 50, "smokes": ["no"] * 75 + ["yes"] * 25, "old": [0, 0, 0, 1] * 25})
    >>> joint = dt.Prior.from_data(frame, schema=dt.Schema.infer(frame)).joint(["sex", "smokes", "old"])
    >>> joint
    Joint(sex × smokes × old, 2 × 2 × 2, 100 records)
    >>> joint.given("sex")[0].tolist()
    [[0.76, 0.0], [0.24, 0.0]]
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    counts: NDArray[Any]
    by_source: NDArray[Any] | None = None
    protected: Mapping[str, Booleans] = field(default_factory=dict)
    used: Mapping[str, Booleans] = field(default_factory=dict)
    weighted: bool = False

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names) or not self.names:
            raise ValueError(f"a joint table got names {list(self.names)}, expected distinct ones")
        shape = tuple(map(len, self.values))
        if len(shape) != len(self.names) or self.counts.shape != shape:
            raise ValueError(
                f"counts are of shape {self.counts.shape}, expected an axis for each of {list(self.names)}, {shape}"
            )
        if (
            self.counts.dtype.kind not in "iuf"
            or not ((self.counts >= 0) & np.isfinite(self.counts)).all()
        ):
            raise ValueError("counts has a number below 0 or none, expected counts")
        for array in (self.counts, self.by_source):
            if array is not None:
                array.flags.writeable = False

    def __repr__(self) -> str:
        sizes = " × ".join(map(str, self.counts.shape))
        much = "weighted" if self.weighted else f"{int(self.counts.sum()):,} records"
        return f"Joint({' × '.join(map(printable, self.names))}, {sizes}, {much})"

    def given(self, target: str) -> Floats:
        """p(rest | target): relative frequencies, or their mean over the groups.

        Parameters
        ----------
        target
            One of the names.

        Returns
        -------
        An array whose axis 0 is the target, less the values that were dropped and those without records
        (``target_values`` has the others), and the remaining names in their order. Each row sums to 1.
        """
        used = self._used(target)
        rows = self._rows(used, target)
        return mean_of_sources(self._frequencies(target)[:, rows], used[:, rows])

    def target_values(self, target: str) -> tuple[str, ...]:
        """The values of a target that have a row in ``given``, and in a box without Confidence."""
        labels = self.values[self._axis(target)]
        return tuple(labels[row] for row in self._rows(self._used(target), target))

    def box(self, uncertainty: Uncertainty, target: str) -> Box | JointBox:
        """All tables p(rest | target) that an uncertainty leaves possible: a JointBox, or a Box of two names.

        Under Confidence a value to protect that nobody has is a row, too, a wholly uncertain one; and the level holds
        for this table alone, unless its ``cells`` say how many all tables have that are used together.
        """
        box = self._box(uncertainty, target)
        if isinstance(box, Box):
            return box
        rest = [name for name in self.names if name != target]
        return JointBox.from_flat(box.flat, box.shape, (target, *rest))

    def _box(self, uncertainty: Uncertainty, target: str) -> Any:
        if len(self.names) < 2:
            raise ValueError(f"a box needs two attributes or more, and there is {target!r} only")
        if isinstance(uncertainty, Confidence):
            refuse_confidence(self.weighted, self._sources)
            every = np.ones(self.counts.shape[self._axis(target)], dtype=bool)
            rows = self._rows(self.protected.get(target, every)[None], target)
            return uncertainty.box(np.moveaxis(self.counts, self._axis(target), 0)[rows])
        if isinstance(uncertainty, Spread):
            refuse_one_source(self._sources)
            return Absolute(self._spread(target, uncertainty)).box(self.given(target))
        if isinstance(uncertainty, Relative | Absolute):
            return uncertainty.box(self.given(target))
        raise ValueError(
            f"uncertainty is {uncertainty!r}, expected Relative, Absolute, Spread or Confidence, such as Relative(0.1)"
        )

    def _spread(self, target: str, uncertainty: Spread) -> Floats:
        """How far the groups differ; what only one of them knows is taken as wholly uncertain."""
        used, frequencies = self._used(target), self._frequencies(target)
        rows = self._rows(used, target)
        spread = np.ones((rows.size, *frequencies.shape[2:]))
        for place, row in enumerate(rows):
            if used[:, row].sum() > 1:
                spread[place] = _SPREADS[uncertainty.kind](frequencies[used[:, row], row])
        return spread

    @property
    def _sources(self) -> int:
        return 1 if self.by_source is None else len(self.by_source)

    def _axis(self, target: str) -> int:
        return place_of(target, self.names)

    def _rows(self, used: Booleans, target: str) -> Integers:
        """The target's values that any group tells about."""
        if not used.any():
            raise InvalidValue(
                f"no value of {target!r} is left to protect: lower ", Parameter("min_records")
            )
        return np.flatnonzero(used.any(axis=0))

    def _moved(self, target: str) -> NDArray[Any]:
        """Counts with the groups along the first axis and the target along the second."""
        tables = self.counts[None] if self.by_source is None else self.by_source
        return np.moveaxis(tables, 1 + self._axis(target), 1)

    def _sums(self, target: str) -> NDArray[Any]:
        tables = self._moved(target)
        return sums_of_rows(tables.reshape(*tables.shape[:2], -1))

    def _used(self, target: str) -> Booleans:
        found = self.used.get(target)
        return self._sums(target) > 0 if found is None else found

    def _frequencies(self, target: str) -> Floats:
        """By group; rows without records are 0."""
        tables = self._moved(target).astype(np.float64)
        sums = self._sums(target).reshape(*tables.shape[:2], *[1] * (tables.ndim - 2))
        return np.asarray(np.divide(tables, sums, out=np.zeros(tables.shape), where=sums > 0))


def sums_of_rows(numbers: NDArray[Any]) -> NDArray[Any]:
    """Sums along the last axis.

    Of numbers that lie end to end numpy makes them pairwise, off by a few roundings however many there are; otherwise
    one after the other, and by as many roundings as there are numbers.
    """
    return np.asarray(np.ascontiguousarray(numbers).sum(axis=-1))


def mean_of_sources(frequencies: Floats, used: Booleans) -> Floats:
    """Tables [source, target value, …] as one, [target value, …]: of each row the mean over the groups used for it."""
    axes = [1] * (frequencies.ndim - 2)
    chosen = np.where(used.reshape(*used.shape, *axes), frequencies, 0.0)
    number = used.sum(axis=0).reshape(-1, *axes)
    return np.asarray(sums_of_rows(np.moveaxis(chosen, 0, -1)) / number)


def refuse_confidence(weighted: bool, sources: int) -> None:
    """Confidence is for numbers of records of one population."""
    if weighted:
        raise InvalidValue(
            *(Parameter("Confidence"), " needs plain counts, and these are weighted: use "),
            *(Parameter("Relative"), ", or ", Parameter("Spread"), " with ", Parameter("by", "")),
        )
    if sources > 1:
        raise InvalidValue(
            Parameter("Confidence"),
            f" is for records of one population, and there are {sources} groups: use ",
            *(Parameter("Spread"), ", or make the prior without ", Parameter("by", "")),
        )


def refuse_one_source(sources: int) -> None:
    """Spread is between groups."""
    if sources < 2:
        raise InvalidValue(
            *(Parameter("Spread"), " needs several groups, and there is one: pass "),
            *(Parameter("by", ""), " and the column that tells them apart, or use "),
            *(Parameter("Relative"), " or ", Parameter("Confidence")),
        )
