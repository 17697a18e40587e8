"""What the reports of a mechanism favour, as bounds from joint tables need it (maths §10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deptriad.mechanisms import Mechanism, Support, mechanisms
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.errors import InvalidValue, Parameter, refuse_other

Named = str | Mechanism
"""A key of ``deptriad.mechanisms.mechanisms``, "any", or a mechanism with the size and budget of its axis."""

MOST_SETS = 1 << 20
"""Sets of one attribute that are listed, at most."""


@dataclass(frozen=True, eq=False)
class Replies:
    """What reports of one attribute can be: a set that each favours, or its likelihood under every value.

    Parameters
    ----------
    number
        How many different ones there are.
    sets
        A row for each: which values it favours. None if there are too many, or if there are more than two levels.
    likelihoods
        A row for each, up to a factor of its own; None for two levels.
    single
        Whether each favours one value, as in GRR.
    every
        Whether any set may be favoured.
    """

    number: int
    sets: Booleans | None = None
    likelihoods: Floats | None = None
    single: bool = False
    every: bool = False

    @property
    def listed(self) -> Booleans:
        """The sets, where there are few enough; whether there are is asked before."""
        assert self.sets is not None
        return self.sets

    def as_likelihoods(self, epsilon: float) -> Floats:
        """A row for each report, at most 1."""
        if self.likelihoods is not None:
            return self.likelihoods
        return np.where(self.listed, 1.0, np.exp(-epsilon))


def reports_of(mechanism: Named, size: int, epsilon: float, axis: int) -> Replies:
    """The reports of a mechanism for so many values (two or more) at a budget above 0."""
    if isinstance(mechanism, Mechanism):
        if (mechanism.size, mechanism.epsilon) != (size, epsilon):
            raise InvalidValue(
                *(Parameter("mechanisms"), f" has {mechanism!r} at axis {axis}, expected one for "),
                f"its {size} values and its budget {epsilon:g}",
            )
        if not isinstance(mechanism, Support):
            columns = mechanism.matrix().T
            columns = columns[columns.max(axis=1) > 0.0]
            scaled = columns / columns.max(axis=1, keepdims=True)
            return Replies(len(scaled), likelihoods=scaled)
        found = mechanism.favoured()
        return _any_set(size) if found is None else _listed(found)
    refuse_other(mechanism, [*mechanisms, "any"], "mechanisms")
    if mechanism == "any":
        return _any_set(size)
    if mechanism == "grr":  # at any budget, infinity among them
        return _listed(np.eye(size, dtype=bool))
    return reports_of(mechanisms[mechanism](size, epsilon), size, epsilon, axis)


def _listed(sets: Booleans) -> Replies:
    size = sets.shape[1]
    single = len(sets) == size and bool((sets.sum(axis=1) == 1).all())
    return Replies(len(sets), sets, single=single, every=len(sets) == 2**size - 2)


def _any_set(size: int) -> Replies:
    """All sets but the empty and the full one, which tell nothing: S and its complement together tell as little."""
    number = 2**size - 2
    if number > MOST_SETS:
        return Replies(number, every=True)
    codes = np.arange(1, number + 1)
    sets = np.asarray(codes[:, None] >> np.arange(size) & 1, dtype=bool)
    return Replies(number, sets, single=size == 2, every=True)


def for_axes(given: Named | Sequence[Named], axes: int) -> list[Named]:
    """A mechanism for each axis: from one for all, or from a list."""
    if isinstance(given, str | Mechanism):
        return [given] * axes
    each = list(given) if isinstance(given, Sequence) else None
    if (
        each is None
        or len(each) != axes
        or not all(isinstance(one, str | Mechanism) for one in each)
    ):
        raise InvalidValue(
            Parameter("mechanisms"),
            f" is {given!r}, expected a name, a mechanism, or a list of {axes}, one for each axis after the target's",
        )
    return each
