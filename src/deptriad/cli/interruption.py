"""How a run ends early: Ctrl-C and other signals, and an output that is closed, full, or read by nobody any more."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Any

came: list[int] = []
"""Signals that have asked this command to end. DuckDB makes errors of its own of what they raise."""


@contextmanager
def at_once() -> Iterator[None]:
    """Ctrl-C ends the process without a word while nothing is open yet, as SIGTERM does by itself."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler or not _in_main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


@contextmanager
def tidily() -> Iterator[None]:
    """Signals as exceptions, so that unfinished files are removed; what cannot be printed ends in a line."""
    _refuse_closed_output()
    for stream in (sys.stdout, sys.stderr):  # a terminal without Greek letters shows others instead
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            with _between_imports():
                yield
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        raise SystemExit(128 + signal.SIGINT) from None
    except BrokenPipeError:  # whoever read had enough, as `head` has
        _forget_output()
        raise SystemExit(1) from None
    except OSError as error:
        _forget_output()
        told = isinstance(error.__context__, SystemExit) and error.__context__.code
        if not told:
            print(f"deptriad: the output cannot be written: {error.strerror}", file=sys.stderr)  # noqa: T201
        raise SystemExit(1) from None


@contextmanager
def _between_imports() -> Iterator[None]:
    """Ctrl-C and the like raise once no module is half imported, which some in C do not survive."""
    from deptriad.utils.files import ENDINGS  # once at_once() is at work

    came.clear()
    usual: dict[signal.Signals, Any] = {}
    ending = _Ending(_held_up(sys._getframe()))
    for number in ENDINGS if _in_main_thread() else ():
        # others stay as whoever started this wants them, as nohup does
        if (handler := signal.getsignal(number)) in (signal.SIG_DFL, signal.default_int_handler):
            usual[number] = handler
            signal.signal(number, ending)
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


class _Ending:
    """What handles a signal: it raises at once, or as soon as the code goes on that waits for what may not be cut off.

    Python's tracing says when that is, whatever it takes: a clock or another thread could be too late, as the command
    may have gone on, or too early.
    """

    def __init__(self, below: list[FrameType]) -> None:
        self.below = len(below)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        held_up = _held_up(frame)[: -self.below or None]
        if not held_up:
            _end(number)
        elif (waits := held_up[-1].f_back) is not None:

            def goes_on(*_: Any) -> None:
                sys.settrace(None)
                _end(number)

            waits.f_trace = goes_on
            sys.settrace(_trace_nothing)


def _end(number: int) -> None:
    came.append(number)
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _trace_nothing(*_: Any) -> None:
    """Of the code that is called from here on. Without any such function, none is traced."""


def _held_up(frame: FrameType | None) -> list[FrameType]:
    """The frames of imports and of __del__ on the stack, innermost first. What is raised in the latter is lost.

    There may be some below a command: a script that is imported may run it.
    """
    found = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_name == "__del__":
            found.append(frame)
        frame = frame.f_back
    return found


def _refuse_closed_output() -> None:
    """Where a stream was closed before the start, the next file that is opened would get its number."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise SystemExit("deptriad: the output is closed: send it somewhere, such as to /dev/null")


def _forget_output() -> None:
    """What Python still wants to flush goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
