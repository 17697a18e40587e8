"""How a run ends early: Ctrl-C and SIGTERM, and an output that is closed, full, or read by nobody any more."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper


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
    """SIGTERM as an exception, so that unfinished files are removed; what cannot be printed ends in a line."""
    _refuse_closed_output()
    for stream in (sys.stdout, sys.stderr):  # a terminal without Greek letters shows others instead
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    if _in_main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        try:
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
