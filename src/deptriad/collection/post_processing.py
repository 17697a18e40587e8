"""Ways to make a distribution of unbiased shares, of which some may be below 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from deptriad.utils.arrays import Floats

Post = Literal["raw", "clip", "norm_sub"]


def raw(frequencies: ArrayLike) -> Floats:
    """Unbiased shares as they are: some may be below 0."""
    return np.array(frequencies, dtype=np.float64)


def clip(frequencies: ArrayLike) -> Floats:
    """What is below 0 becomes 0, the rest is scaled to a sum of 1.

    Examples
    --------
    >>> clip([0.75, 0.5, -0.25]).tolist()
    [0.6, 0.4, 0.0]
    """
    kept = np.maximum(raw(frequencies), 0.0)
    total = kept.sum()
    return np.asarray(kept / total) if total > 0.0 else np.full(kept.shape, 1.0 / kept.size)


def norm_sub(frequencies: ArrayLike) -> Floats:
    """The nearest distribution: one number is taken from all, and what falls below 0 becomes 0.

    Examples
    --------
    >>> norm_sub([0.75, 0.5, -0.25]).tolist()
    [0.625, 0.375, 0.0]
    """
    share = raw(frequencies)
    down = np.sort(share, axis=None)[::-1]
    excess = (np.cumsum(down) - 1.0) / np.arange(1, down.size + 1)
    taken = excess[np.flatnonzero(down > excess)[-1]]
    return np.asarray(np.maximum(share - taken, 0.0))


POSTS: dict[str, Callable[[ArrayLike], Floats]] = {"raw": raw, "clip": clip, "norm_sub": norm_sub}
"""Ways to make a distribution of unbiased shares."""
