"""How a run ends early: Ctrl-C and other signals, and an output that is closed, full, or read by nobody any more."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
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
def tidily(last: bool) -> Iterator[None]:
    """Signals as exceptions, so that unfinished files are removed; what cannot be printed ends in a line.

    Where this is the last that the process does, Ctrl-C ends it without a word from then on.
    """
    _refuse_closed_output()
    for stream in (sys.stdout, sys.stderr):  # a terminal without Greek letters shows others instead
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            with _between_imports(last):
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
def _between_imports(last: bool) -> Iterator[None]:
    """Ctrl-C and the like raise once no module is half imported, which some in C do not survive."""
    from deptriad.utils.files import ENDINGS  # once at_once() is at work

    came.clear()
    usual: dict[signal.Signals, Any] = {}
    ending, lost = _Ending(len(_imports(sys._getframe()))), sys.unraisablehook
    for number in ENDINGS if _in_main_thread() else ():
        # others stay as whoever started this wants them, as nohup does
        if (handler := signal.getsignal(number)) in (signal.SIG_DFL, signal.default_int_handler):
            usual[number] = handler
            signal.signal(number, ending)
    sys.unraisablehook = partial(ending.lost, lost)
    try:
        yield
    finally:
        sys.unraisablehook = lost
        for number, handler in usual.items():
            signal.signal(number, signal.SIG_DFL if last else handler)


class _Ending:
    """What handles a signal: it raises at once, or as soon as the code goes on that waits for an import.

    Python's tracing says when that is, whatever it takes: a clock or another thread could be too late, as the command
    may have gone on, or too early.
    """

    def __init__(self, below: int) -> None:
        self.below = below
        """Frames of imports below the command: a script that is imported may run it."""

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if waits := self._waiting(frame):
            _end_where(waits, number)
        else:
            _end(number)

    def lost(self, usual: Callable[[Any], object], told: Any) -> None:
        """C prints and forgets what is raised while it calls Python, as in __del__: it is raised again after that."""
        frame = sys._getframe().f_back
        if (
            frame is None
            or not came
            or not isinstance(told.exc_value, KeyboardInterrupt | SystemExit)
        ):
            usual(told)
        else:
            _end_where(self._waiting(frame) or frame, came[0])

    def _waiting(self, frame: FrameType | None) -> FrameType | None:
        """The frame that waits for the outermost import of the command, if any does."""
        imports = _imports(frame)[: -self.below or None]
        return imports[-1].f_back if imports else None


def _end(number: int) -> None:
    came.append(number)
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _end_where(frame: FrameType, number: int) -> None:
    """End the command when this frame goes on."""

    def goes_on(*_: Any) -> None:
        sys.settrace(None)
        _end(number)

    frame.f_trace = goes_on
    sys.settrace(_trace_nothing)


def _trace_nothing(*_: Any) -> None:
    """Of the code that is called from here on. Without any such function, none is traced."""


def _imports(frame: FrameType | None) -> list[FrameType]:
    """The frames of imports on the stack, innermost first."""
    found = []
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
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
