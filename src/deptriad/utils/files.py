"""Output files appear whole or not at all; input files are read with errors that name them."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from deptriad.utils.text import brief

try:
    import fcntl
except ImportError:  # Windows: what a killed process left stays
    fcntl = None  # type: ignore[assignment]

ENDINGS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""Signals that ask a process to end: Ctrl-C, a system that shuts down, a terminal that is closed."""

LOCK = "lock"
"""The file in a folder of unfinished work that is locked by the process at work."""


@contextmanager
def whole(path: str | os.PathLike[str], folders: bool = False) -> Iterator[Path]:
    """A place to write to, which becomes ``path`` when all went well and is removed when it did not.

    A link stays, and the file it leads to is replaced; what is no file, such as a pipe or a terminal, is written to in
    the end. With ``folders`` the folders on the way are made. What a killed process left is removed by the next one
    that writes the same file. The content is on the disk before it takes its place.

    Raises
    ------
    OSError
        With the path that was asked for, whatever could not be written.
    """
    try:
        final, special = _target(os.fspath(path), folders)
        with tempfile.TemporaryDirectory() if special else _beside(final) as own:
            suffix = final.suffix if len(final.suffix) < 10 else ""
            partial = Path(own) / f"partial{suffix}"
            yield partial
            if special:
                with partial.open("rb") as source, final.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
                return
            if final.exists():
                shutil.copymode(final, partial)
            _to_disk(partial)
            os.replace(partial, final)
            _to_disk(final.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, reason, os.fspath(path)) from None


@contextmanager
def _beside(final: Path) -> Iterator[str]:
    """A hidden folder beside a file, locked while its process lives; those that dead processes left are removed."""
    prefix = f".deptriad-{sha256(os.fsencode(final.name)).hexdigest()[:16]}-"
    for left in final.parent.glob(f"{prefix}*"):
        with suppress(FileNotFoundError):  # its owner has just finished
            _remove_abandoned(left)
    own, lock = "", None
    try:
        with _undisturbed():
            while lock is None:
                own = tempfile.mkdtemp(prefix=prefix, dir=final.parent)
                lock = _locked(Path(own) / LOCK)
        yield own
    finally:
        try:
            _clear(own, lock)
        except BaseException:  # a signal that came before it could be held back
            _clear(own, lock)
            raise


def _clear(folder: str, lock: BinaryIO | None) -> None:
    with _undisturbed():
        if lock is not None:
            lock.close()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _locked(path: Path) -> BinaryIO | None:
    """A new file, open and locked; None where another process has just taken its folder for abandoned."""
    try:
        lock = open(path, "xb")  # noqa: SIM115
    except FileNotFoundError:
        return None
    if fcntl:
        fcntl.flock(lock, fcntl.LOCK_EX)
    if os.fstat(lock.fileno()).st_nlink:
        return lock
    lock.close()
    return None


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C and the like wait until this is done, where they would raise: a folder half made or removed would stay."""
    came: list[int] = []
    usual: dict[signal.Signals, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in ENDINGS:
                if callable(handler := signal.getsignal(number)):
                    usual[number] = handler
                    signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
    for each in came:
        signal.raise_signal(each)


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder of ours that has no living owner: its lock is free, or it is empty.

    Who has just made an empty one notices, and makes another.
    """
    if not fcntl or folder.is_symlink() or folder.stat().st_uid != os.getuid():
        return
    try:
        lock = os.open(folder / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        return
    with suppress(BlockingIOError), os.fdopen(lock) as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, would survive a power failure; some systems refuse for folders."""
    place = os.open(path, os.O_RDONLY)
    try:
        os.fsync(place)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EACCES):
            raise
    finally:
        os.close(place)


def _target(path: str, folders: bool) -> tuple[Path, bool]:
    """The file that a path leads to, and whether it is no plain file, which cannot be replaced."""
    parent = os.path.realpath(os.path.dirname(path) or ".")
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    # /dev/stdout and the like may stand for a file that is open already
    if parent == "/dev" or parent.startswith("/proc/"):
        return Path(path), True
    if os.path.exists(path) and not os.path.isfile(path):
        return Path(path), True
    final = Path(os.path.realpath(path))
    if final.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if folders:
        final.parent.mkdir(parents=True, exist_ok=True)
    elif not final.parent.exists():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {final.parent}")
    return final, False


def write_json(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a JSON file a person can read."""
    text = readable(content) + "\n"
    with whole(path) as partial:
        partial.write_text(text, encoding="utf-8")


def readable(content: dict[str, Any]) -> str:
    """JSON with one line for each entry of a list: short enough to scan, long enough to edit by hand."""
    lines = []
    for key, value in spelt(content).items():
        name = json.dumps(key)
        if isinstance(value, list) and value:
            rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in value)
            lines.append(f" {name}: [\n{rows}\n ]")
        else:
            lines.append(f" {name}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}"


def spelt(content: Any) -> Any:
    """The same for JSON, which has no infinity and no NaN: files, ``--json`` and the page have them as text.

    Of what has ``facts()`` these are taken.

    >>> spelt({"edges": (0.5, math.inf)})
    {'edges': [0.5, 'inf']}
    """
    if isinstance(content, dict):
        return {key: spelt(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [spelt(value) for value in content]
    if hasattr(content, "facts"):
        return content.facts()
    if isinstance(content, float) and not math.isfinite(content):
        return str(float(content))
    return content


def unspelt(value: Any) -> Any:
    """A number of a JSON file: an infinity where it is spelt out, and whatever else it is as it is."""
    known = isinstance(value, str) and value in ("inf", "-inf")
    return float(value) if known else value


def read_json(
    path: str | os.PathLike[str], format: str, version: int | tuple[int, ...]
) -> dict[str, Any]:
    """The content of a JSON file of ours, its format and version checked.

    Raises
    ------
    ValueError
        If it is no JSON, has a key twice, or is of another format or version; the file is named.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file, expected a {format} in JSON") from None
    return parse_json(text, format, version, str(path))


def json_object(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The object in a JSON file that people write by hand, no key twice."""
    content = decoded(Path(path).read_bytes(), str(path), "object")
    if not isinstance(content, dict):
        raise ValueError(f"{path} has {brief(content)}, expected an object of JSON")
    return content


def refuse_misfits(
    content: Mapping[str, Any], name: str, allowed: Sequence[str], lists: Sequence[str]
) -> None:
    """Refuse an object of JSON with a key that is not known, or without a list where there should be one."""
    if unknown := [key for key in content if key not in allowed]:
        raise ValueError(f"{name} has the key {unknown[0]!r}, expected only {', '.join(allowed)}")
    for key in lists:
        if not isinstance(content.get(key, []), list):
            raise ValueError(f"{name} has {key} {brief(content[key])}, expected a list")


def parse_json(text: str, format: str, version: int | tuple[int, ...], name: str) -> dict[str, Any]:
    """The object in a JSON text, its format and version checked; there may be several versions to read."""
    content = decoded(text, name, format)
    refuse_format(content, format, version, name)
    return dict(content)


def decoded(text: str | bytes, name: str, format: str) -> Any:
    """What a JSON text holds, no key twice in an object."""
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply, expected a {format} in JSON") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} is not JSON: {error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not text, expected a {format} in JSON") from None
    except ValueError as error:  # a key twice, or a number of thousands of digits
        raise ValueError(f"{name} cannot be read: {error}") from None


def refuse_format(content: Any, format: str, version: int | tuple[int, ...], name: str) -> None:
    """Refuse what is no object of JSON of this format and of a version that is known."""
    found = content.get("format") if isinstance(content, dict) else None
    if found != format:
        raise ValueError(f'{name} has "format": {brief(found)}, expected "{format}"')
    number = content.get("version")
    known = version if isinstance(version, tuple) else (version,)
    if type(number) is not int or number not in known:
        expected = " or ".join(map(str, known))
        raise ValueError(
            f'{name} has "version": {brief(number)}, expected {expected}: it was written by another release of deptriad'
        )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON in which no key comes twice: the first one would be lost without a word."""
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"it has the key {twice!r} twice in one object, expected once")
    return content
