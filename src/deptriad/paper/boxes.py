"""The largest and the smallest leakage of all tables in a box, by brute force: yardsticks for small alphabets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from deptriad.tables.table import Box

MOST_VALUES = 14
"""Source values up to which all their sets are looked at."""


def largest_leakage(box: Box, epsilon: float) -> float:
    """The largest leakage of any table in a box, by all sets of source values and all pairs of target values.

    In a set S a row can have at most min(Up(S), 1 − Lo(Sᶜ)) and at least max(Lo(S), 1 − Up(Sᶜ)), and two rows
    reach both at once.

    Examples
    --------
    >>> import deptriad as dt
    >>> from deptriad.paper.boxes import largest_leakage
    >>> round(largest_leakage(dt.Relative(0.1).box([[0.9, 0.1], [0.2, 0.8]]), 1.0), 4)
    0.7354
    """
    size = box.shape[1]
    if size > MOST_VALUES:
        raise ValueError(f"the box has {size} source values, expected at most {MOST_VALUES}")
    inside = ((np.arange(2**size)[:, None] >> np.arange(size)) & 1).astype(np.float64)
    low, high = np.asarray(box.lower), np.asarray(box.upper)
    most = np.minimum(high @ inside.T, 1.0 - low @ (1.0 - inside).T)
    least = np.maximum(low @ inside.T, 1.0 - high @ (1.0 - inside).T)
    gain = np.expm1(epsilon)
    ratio = (1.0 + gain * most)[:, None, :] / (1.0 + gain * least)[None, :, :]
    ratio[np.arange(len(low)), np.arange(len(low))] = 1.0
    return float(np.log(ratio.max()))


def smallest_leakage(box: Box, epsilon: float, tolerance: float = 1e-7) -> float:
    """The smallest leakage of any table in a box: a linear program for each step of a bisection on e^leakage.

    A table leaks at most ln γ where t·Σ (G − γG')₊ ≤ γ − 1 for all pairs of its rows; for a given γ the smallest
    largest sum over pairs is a linear program.

    Examples
    --------
    >>> import deptriad as dt
    >>> from deptriad.paper.boxes import smallest_leakage
    >>> round(smallest_leakage(dt.Relative(0.1).box([[0.9, 0.1], [0.2, 0.8]]), 1.0), 4)
    0.6771
    """
    low, high = 0.0, float(epsilon)
    gain = np.expm1(epsilon)
    program = _Program(box)
    while high - low > tolerance:
        middle = 0.5 * (low + high)
        if gain * program.least_stick(float(np.exp(middle))) <= np.expm1(middle):
            high = middle
        else:
            low = middle
    return high


class _Program:
    """min over tables in a box of max over pairs of Σ_u (G_u − γG'_u)₊; only γ changes."""

    def __init__(self, box: Box) -> None:
        rows, columns = box.shape
        self.box, self.entries = box, rows * columns
        pairs = [(x, y) for x in range(rows) for y in range(rows) if x != y]
        of_pair = np.repeat(np.arange(len(pairs)), columns)
        column = np.tile(np.arange(columns), len(pairs))
        more, less = (np.array([pair[end] for pair in pairs])[of_pair] for end in (0, 1))
        self.pair, self.count = of_pair, len(pairs)
        self.more, self.less = more * columns + column, less * columns + column

    def least_stick(self, gamma: float) -> float:
        """The value of the program: entries first, then (G − γG')₊ of each pair and column, then the largest sum."""
        from scipy.optimize import linprog
        from scipy.sparse import coo_array, csr_array, hstack, vstack

        parts, line = self.pair.size, np.arange(self.pair.size)
        ones = np.ones(parts)
        table = coo_array(
            (
                np.concatenate([ones, -gamma * ones]),
                (np.tile(line, 2), np.concatenate([self.more, self.less])),
            ),
            shape=(parts, self.entries),
        )
        identity = coo_array((-ones, (line, line)), shape=(parts, parts))
        sums = coo_array((ones, (self.pair, line)), shape=(self.count, parts))
        limits = vstack(
            [
                hstack([table, identity, csr_array((parts, 1))]),
                hstack(
                    [
                        csr_array((self.count, self.entries)),
                        sums,
                        csr_array(-np.ones((self.count, 1))),
                    ]
                ),
            ]
        )
        rows, columns = self.box.shape
        total = hstack(
            [
                coo_array(np.kron(np.eye(rows), np.ones((1, columns)))),
                csr_array((rows, parts + 1)),
            ]
        )
        bounds = np.zeros((self.entries + parts + 1, 2))
        bounds[: self.entries, 0] = np.asarray(self.box.lower).ravel()
        bounds[:, 1] = np.inf
        bounds[: self.entries, 1] = np.asarray(self.box.upper).ravel()
        cost = np.zeros(len(bounds))
        cost[-1] = 1.0
        solve: Any = linprog  # its stubs know no sparse matrices
        found = solve(
            cost, limits, np.zeros(limits.shape[0]), total, np.ones(rows), bounds, method="highs"
        )
        if not found.success:
            raise ValueError(f"the linear program of a box failed: {found.message}")
        return float(found.fun)
