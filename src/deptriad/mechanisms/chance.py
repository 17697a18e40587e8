"""Random 64-bit words: from the operating system's secure source, or from a seeded generator.

A mechanism asks for whole words and does all arithmetic on them itself, in integers: the same seed gives the same
reports on every platform.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deptriad.utils.threads import side_by_side

Words: TypeAlias = NDArray[np.uint64]
Source: TypeAlias = Callable[[int], Words]
"""Called with a count, gives so many independent uniform words."""

FEW = 1 << 15
"""Words below which a second reader takes longer to start than it saves."""


def word_source(rng: np.random.Generator | None) -> Source:
    """The words of a generator; without one, those of the operating system."""
    if rng is None:
        return _secure
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"rng is {rng!r}, expected numpy.random.default_rng(seed) to simulate, or None for the operating system's "
            "secure source"
        )
    return lambda count: rng.integers(0, 2**64 - 1, count, dtype=np.uint64, endpoint=True)


def _secure(count: int) -> Words:
    if count < FEW:
        return np.frombuffer(bytearray(os.urandom(8 * count)), dtype=np.uint64)
    half = count // 2
    parts = side_by_side(lambda k: os.urandom(8 * (count - half if k else half)), 2)
    return np.concatenate([np.frombuffer(part, np.uint64) for part in parts])


def halves(words: Words) -> NDArray[np.uint32]:
    """Each word as two, the low half first."""
    return words.astype("<u8", copy=False).view("<u4").astype(np.uint32, copy=False)
