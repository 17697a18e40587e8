"""The one way in which a loop is compiled. Importing this module imports numba."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

from deptriad.utils.compiled_cache import kept

SUM = {"reassoc", "nsz", "contract"}
"""Granted to running sums alone, whose error bound does not depend on the order of the terms."""

LOOPS: list[Any] = []
"""All loops that Python calls, in the modules that were imported."""

if hasattr(os, "register_at_fork"):
    # a child that is forked while another thread compiles would wait for that thread, which it does not have
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """njit of a loop that Python calls, kept on disk where that is possible.

    Loops leave other threads free to run, and none has threads of numba's: an OpenMP layer does not survive a fork,
    others no second caller. Much work is done in blocks instead, side by side (see ``utils.threads``).
    """

    def decorate(function: Callable[..., Any]) -> Any:
        loop = kept(njit(**{"nogil": True, "no_cfunc_wrapper": True, **options})(function))
        LOOPS.append(loop)
        return loop

    return decorate


def part(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """njit for what only compiled loops call: no door for Python, and nothing on disk but inside those loops.

    Each one is compiled again within each loop that calls it, so a few parts cost less than a chain of many.
    """
    decorate: Callable[[Callable[..., Any]], Any] = njit(
        nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
    )
    return decorate
