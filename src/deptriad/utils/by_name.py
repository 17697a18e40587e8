"""What is given by name, such as budgets: an entry for each attribute, and none for anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from deptriad.utils.arrays import Floats, as_one_budget
from deptriad.utils.errors import InvalidValue, Parameter, refuse_unknown

T = TypeVar("T")
Check = Callable[[Any, Parameter], T]
"""From a value, and what it is called, to the value as it is kept; or an error."""


def for_each(
    given: Any,
    names: Sequence[str],
    what: str,
    check: Check[T],
    default: T | None = None,
    hint: str = "",
) -> list[T]:
    """An entry for each name, in their order: from a mapping, or one value for all.

    A mapping has an entry for each name, unless there is a default, and for nothing else.

    Examples
    --------
    >>> for_each({"age": "2"}, ["sex", "age"], "rooms", lambda value, what: int(value), default=0)
    [0, 2]
    """
    if not isinstance(given, Mapping):
        return [check(given, Parameter(what))] * len(names)
    refuse_unknown(given, names, Parameter(what, key=""))
    entries = []
    for name in names:
        if name in given:
            entries.append(check(given[name], Parameter(what, key=name)))
        elif default is not None:
            entries.append(default)
        else:
            words = f" has no entry for {name!r}, expected one for each attribute{hint}"
            raise InvalidValue(Parameter(what), words)
    return entries


def by_name(
    given: Any, names: Sequence[str], what: str, check: Check[T], default: T | None = None
) -> list[T]:
    """An entry for each name, in their order, from a mapping only."""
    if not isinstance(given, Mapping):
        raise InvalidValue(
            Parameter(what), f" is {given!r}, expected a mapping from names to entries"
        )
    return for_each(given, names, what, check, default)


def budgets_for_each(
    epsilon: float | Mapping[str, float], names: Sequence[str], optional: Iterable[str] = ()
) -> Floats:
    """A budget for each attribute, from a mapping or one number for all; a mapping may leave out the optional ones.

    Examples
    --------
    >>> budgets_for_each({"age": 1, "sex": 0.5}, ["sex", "age"]), budgets_for_each(2, ["sex", "age"])
    (array([0.5, 1. ]), array([2., 2.]))
    """
    if isinstance(epsilon, Mapping):
        epsilon = dict.fromkeys(optional, 0.0) | dict(epsilon)
    one = partial(as_one_budget, otherwise=", or a mapping from names to numbers")
    return np.array(for_each(epsilon, names, "epsilon", one, hint="; 0 where it is not released"))
