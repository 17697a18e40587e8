"""Codes and reports as arrays: checked, counted, and taken block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.utils.arrays import Integers

BLOCK = 1 << 17
"""Random words drawn at a time, and report entries looked at together: about a megabyte, whatever the length."""


def checked(
    numbers: ArrayLike, name: str, shape: tuple[int, ...], size: int | None = None
) -> NDArray[Any]:
    """Whole numbers in the given shape and, where there is a size, in 0 … size − 1."""
    if np.ma.is_masked(numbers):
        raise ValueError(f"{name} has masked entries: drop them, or give them a value of their own")
    array = np.asarray(numbers)
    if array.shape[1:] != shape or array.ndim == 0:
        expected = "one number" if not shape else f"a row of {shape[0]} numbers"
        raise ValueError(f"{name} has shape {array.shape}, expected {expected} for each record")
    if array.size == 0:
        return array.astype(np.uint32)
    if array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} has type {array.dtype}, expected whole numbers: encode the values first; a missing one has no code"
        )
    # seen as unsigned, a negative number is a huge one: a single pass finds both
    if size is not None and array.view(array.dtype.str.replace("i", "u")).max() >= size:
        place = int(np.argmax((array < 0) | (array >= size)))
        raise ValueError(
            f"{name}[{place}] is {array[place]}, expected 0 … {size - 1}: a value that is missing or unknown has no "
            "code; drop it, or give it a value of its own"
        )
    return array


def tally(reports: NDArray[Any], size: int) -> Integers:
    """How often each number below ``size`` occurs."""
    counts = np.zeros(size, dtype=np.int64)
    for part in blocks(len(reports)):
        counts += np.bincount(reports[part].astype(np.intp), minlength=size)
    return counts


def marked(numbers: NDArray[Any], size: int) -> NDArray[np.bool_]:
    """For each number a row of zeros with a one in its place."""
    marks = np.zeros((len(numbers), size), dtype=np.bool_)
    marks[np.arange(len(numbers)), numbers] = True
    return marks


def blocks(length: int, each: float = 1.0) -> Iterator[slice]:
    """Parts of a length, such that records of so many entries each fill about ``BLOCK``."""
    step = max(1, int(BLOCK / each))
    return (slice(start, start + step) for start in range(0, length, step))


def smallest_type(size: int) -> type[np.unsignedinteger[Any]]:
    """The shortest unsigned integers that can say 0 … size − 1."""
    return np.min_scalar_type(size - 1).type
