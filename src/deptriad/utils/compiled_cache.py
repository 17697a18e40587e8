"""Compiled loops on disk: numba's cache, of which no trouble is the caller's. Importing this module imports numba.

What numba keeps are pickles and machine code, and reading them runs them. So a folder is used only if it belongs to
this user (or to root) and not everybody may write there; otherwise the next one that numba knows, and where there is
none, each process compiles for itself. A file that cannot be read is compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import stat
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache

from deptriad.utils.errors import Note
from deptriad.utils.progress import BEFORE_COMPILING


def kept(loop: Any) -> Any:
    """The loop, which is looked up on disk before it is compiled, and written there after that."""
    try:
        loop._cache = _Cache(loop.py_func)
    except (RuntimeError, OSError):
        _warn_once()  # no folder is writable, or only those of others
    return loop


def trusted(path: str | Path) -> bool:
    """Whether nobody but this user, or root, may have written what is there (not told on Windows)."""
    if not hasattr(os, "geteuid"):
        return True
    about = os.stat(path)
    return about.st_uid in (os.geteuid(), 0) and not about.st_mode & stat.S_IWOTH


@cache
def _warn_once() -> None:
    """Whoever cannot keep one loop cannot keep the others."""
    warnings.warn(
        Note(
            "compiled loops cannot be kept on disk, so every process compiles them again: set NUMBA_CACHE_DIR to a "
            "folder of your own with some space"
        ),
        stacklevel=2,
    )


@cache
def _all_sources() -> str:
    """Digest of all loops and their parts: a loop is stale where a part in another file has changed."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    shared = (package / "utils" / f"{name}.py" for name in ("compiled", "heap", "rounding"))
    for path in sorted([*package.glob("*/_[!_]*.py"), *shared]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _OwnFolder:
    """For locators of numba's: a folder that is absolute, and nobody else's."""

    def ensure_cache_path(self) -> None:
        folder = self.get_cache_path()  # type: ignore[attr-defined]
        if not os.path.isabs(folder):  # a home folder that is not known
            raise OSError(f"{folder} is not absolute")
        super().ensure_cache_path()  # type: ignore[misc]
        if not trusted(folder):
            raise OSError(f"{folder} may be written by others")


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [  # noqa: RUF012 - as numba has it
        type(f"Own{locator.__name__}", (_OwnFolder, locator), {})
        for locator in CompileResultCacheImpl._locator_classes
    ]


class _Cache(FunctionCache):  # type: ignore[misc]
    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = (self._cache_file._source_stamp, _all_sources())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is on disk, if it can be read and is ours."""
        index = self._cache_file._index_path
        found = None
        try:
            if not os.path.exists(index) or trusted(index):
                found = super().load_overload(sig, target_context)
        except Exception:  # whatever a broken pickle raises
            with suppress(OSError):
                os.unlink(index)
        if found is None:
            for tell in BEFORE_COMPILING:
                tell()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write, if possible."""
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk, a folder that was removed
            _warn_once()
