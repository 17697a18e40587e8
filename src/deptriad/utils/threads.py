"""Work side by side: a small pool of threads for loops that let other threads run meanwhile.

Nothing here depends on how many threads there are but the time: what is done in parts is put together in their order.
The pool is made when it is first needed, anew in a process that was forked, and never used by its own threads.
"""

from __future__ import annotations

import operator
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any, TypeVar

Result = TypeVar("Result")

VARIABLE = "DEPTRIAD_THREADS"
"""Of the environment: how many threads to use, unless ``set_threads`` says so."""

FEW = 50_000
"""Additions or the like below which waking a second thread takes longer than it saves."""

MOST = 256
"""Blocks into which a loop is cut at most: enough for threads to share unequal ones."""


class _State:
    """Of this process: a fork starts with a new one, since no thread of a pool survives it."""

    def __init__(self, number: int | None = None) -> None:
        self.number = number
        self.pool: ThreadPoolExecutor | None = None
        self.lock = threading.Lock()
        self.here = threading.local()


_state = _State()


def _after_fork() -> None:
    global _state
    _state = _State(_state.number)


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)


# --- how many -------------------------------------------------------------------------------------------------


def set_threads(number: int | None) -> None:
    """How many threads this process uses for its own loops from now on, the calling one included.

    Results do not depend on it. A worker of a pool of processes, which shares the machine with others, should say 1.
    Without it the environment's ``DEPTRIAD_THREADS`` counts; without that, there are as many as CPUs that the process
    may use. Libraries that bring threads of their own (DuckDB, PyTorch, BLAS) have settings of their own.

    Parameters
    ----------
    number
        At least 1; 1 keeps all work on the thread that calls. None goes back to the default.

    Examples
    --------
    >>> import deptriad as dt
    >>> dt.set_threads(1)
    >>> dt.set_threads(None)
    """
    if number is not None and operator.index(number) < 1:
        raise ValueError(f"number is {number}, expected at least 1 thread, or None for the default")
    with _state.lock:
        _state.number = None if number is None else operator.index(number)
        pool, _state.pool = _state.pool, None
    if pool is not None:
        pool.shutdown(wait=False)


def threads() -> int:
    """How many threads there are to use, the calling one included."""
    if _state.number is None:
        _state.number = _asked() or _processors()
    return _state.number


def _asked() -> int | None:
    """What the environment says."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(
            f"{VARIABLE} is {text!r}, expected a whole number of threads, at least 1: correct or unset it"
        )
    return int(text)


def _processors() -> int:
    """CPUs that this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# --- side by side ---------------------------------------------------------------------------------------------


def side_by_side(work: Callable[[int], Result], count: int) -> list[Result]:
    """``[work(k) for k in range(count)]``, by several threads, the calling one among them.

    Called from inside such work it does everything on the spot, so that nothing ever waits for a busy pool. The
    first error stops what has not begun, and is raised here.
    """
    here = _state.here
    others = min(threads(), count) - 1
    if others < 1 or getattr(here, "busy", False):
        return [work(k) for k in range(count)]
    waiting, results = deque(range(count)), dict[int, Result]()

    def labour() -> None:
        here.busy = True
        try:
            while waiting:
                try:
                    k = waiting.popleft()
                except IndexError:  # another thread took the last one
                    return
                results[k] = work(k)
        except BaseException:
            waiting.clear()
            raise
        finally:
            here.busy = False

    futures = _handed_out(labour, others)
    try:
        labour()
    finally:
        begun = [future for future in futures if not future.cancel()]
        wait(begun)
    for future in begun:
        future.result()
    return [results[k] for k in range(count)]


def _handed_out(labour: Callable[[], None], copies: int) -> list[Future[None]]:
    """The labour, waiting for threads of the pool; for as many as can be had."""
    futures: list[Future[None]] = []
    try:
        pool = _pool()
        for _ in range(copies):
            futures.append(pool.submit(copy_context().run, labour))
    except (
        RuntimeError
    ):  # no thread can be started: at the interpreter's end, at a limit of the system
        pass
    return futures


def _pool() -> ThreadPoolExecutor:
    with _state.lock:
        if _state.pool is None:
            _state.pool = ThreadPoolExecutor(threads(), thread_name_prefix="deptriad")
        return _state.pool


def in_blocks(
    loop: Callable[..., Result], count: int, work: float, *arguments: Any
) -> list[Result]:
    """``loop(*arguments, start, stop)`` for stretches of 0 … count: what it returns, in their order.

    One stretch where ``work``, in additions or the like, is so little that a second thread would not pay.
    """
    parts = min(count, MOST, 4 * int(work / FEW)) if work >= FEW else 1
    return in_stretches(loop, count, -(-count // max(parts, 1)), *arguments)


def in_stretches(
    loop: Callable[..., Result], count: int, width: int, *arguments: Any
) -> list[Result]:
    """The same with stretches of a given width."""
    if count <= width:
        return [loop(*arguments, 0, count)]

    def stretch(k: int) -> Result:
        return loop(*arguments, k * width, min((k + 1) * width, count))

    return side_by_side(stretch, -(-count // width))
