"""How a run ends early: Ctrl-C and other signals, and an output that is closed, full, or read by nobody any more."""

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Any

PAUSE = 0.05
"""Seconds between two looks at whether an import is over."""


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
        ending.finish()
        for number, handler in usual.items():
            signal.signal(number, handler)


class _Ending:
    """What handles a signal: it raises where it may, and elsewhere has the signal sent again until it may.

    By one thread, however many signals come, so that none is on its way once one has raised. It is none of `threading`,
    whose locks may be held by what a signal interrupts.
    """

    def __init__(self, before: int) -> None:
        self.before = before
        self.again = self.at_work = self.over = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.over:
            return
        if _held_up(frame) > self.before:
            self.again = True
            if not self.at_work:
                self.at_work = True
                _thread.start_new_thread(self._send_again, (number,))
            return
        self.again = False
        came.append(number)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    def finish(self) -> None:
        """Nothing is raised or sent from here on: the usual handlers would take it for another Ctrl-C."""
        self.over, self.again = True, False
        while self.at_work:
            time.sleep(PAUSE / 10)

    def _send_again(self, number: int) -> None:
        while self.again:
            time.sleep(PAUSE)
            if self.again:
                _thread.interrupt_main(number)
        self.at_work = False


def _held_up(frame: FrameType | None) -> int:
    """How many frames of imports are on the stack, since a script that is imported may run commands, and of __del__.

    What is raised in the latter is lost.
    """
    number = 0
    while frame is not None:
        number += frame.f_code.co_filename.startswith("<frozen importlib")
        number += frame.f_code.co_name == "__del__"
        frame = frame.f_back
    return number


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
