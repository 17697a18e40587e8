"""The one way in which a loop is compiled. Importing this module imports numba."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba import njit

FEW = 50_000
"""Entries below which waking a second thread takes longer than it saves."""

SUM = {"reassoc", "nsz", "contract"}
"""Granted to running sums alone, whose error bound does not depend on the order of the terms."""


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """njit, cached on disk; without a cache where no folder is writable (numba raises then)."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)

    return decorate


def both_ways(function: Any) -> Callable[..., Any]:
    """A loop over ``prange``, compiled for one thread and for all: whether there is much to do comes first.

    The two need different names: numba's cache does not tell them apart by their options.
    """
    all_threads = FunctionType(function.__code__, function.__globals__)
    all_threads.__qualname__ = f"{function.__qualname__}_by_all_threads"
    few, many = compiled()(function), compiled(parallel=True)(all_threads)
    return lambda much, *arguments: (many if much else few)(*arguments)
