"""How the paper scores estimates: total leakage, estimation errors and total variation distance.

Matrices are source × target; their diagonal, an attribute's leakage about itself, never counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deptriad.utils.arrays import Floats, as_budget, scalar_or_array


def total_leakage(matrix: ArrayLike) -> float:
    """Sum of the leakages of all ordered pairs of attributes (the paper's TCPL).

    Examples
    --------
    >>> total_leakage([[9.0, 0.25], [0.5, 9.0]])
    0.75
    """
    return float(_off_diagonal(matrix, "matrix").sum())


def estimation_error(estimated: ArrayLike, exact: ArrayLike) -> float | Floats:
    """Estimated minus exact leakage, entry by entry: negative where the estimate is too low to be a bound.

    Examples
    --------
    >>> estimation_error([0.5, 1.0], [0.25, 1.0]).tolist()
    [0.25, 0.0]
    """
    first, second = _alike(estimated, exact)
    return scalar_or_array(first - second)


def normalized_squared_error(estimated: ArrayLike, exact: ArrayLike) -> float:
    """Squared estimation errors of all ordered pairs over the squared exact leakages (the paper's NMSE-CPL).

    Zero where estimate and truth are both all zero, infinite where only the truth is.

    Examples
    --------
    >>> normalized_squared_error([[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.25], [0.5, 1.0]])
    0.2
    """
    _alike(estimated, exact)
    first, second = _off_diagonal(estimated, "estimated"), _off_diagonal(exact, "exact")
    error, size = float(np.sum((first - second) ** 2)), float(np.sum(second**2))
    return error / size if size else (np.inf if error else 0.0)


def total_variation_distance(p: ArrayLike, q: ArrayLike) -> float:
    """Half the summed absolute difference of two distributions of one shape (the paper's TVD).

    Examples
    --------
    >>> total_variation_distance([0.5, 0.5], [0.75, 0.25])
    0.25
    """
    first, second = _alike(p, q)
    return float(np.abs(first - second).sum() / 2.0)


def normalized_underestimation(
    estimated: ArrayLike, exact: ArrayLike, epsilon: ArrayLike
) -> float | Floats:
    """How far the estimate lies below the truth, in units of the budget; 0 where it does not.

    Examples
    --------
    >>> normalized_underestimation(0.25, 0.5, 1.0)
    0.25
    """
    return _one_sided(exact, estimated, epsilon)


def normalized_overestimation(
    estimated: ArrayLike, exact: ArrayLike, epsilon: ArrayLike
) -> float | Floats:
    """How far the estimate lies above the truth, in units of the budget; 0 where it does not.

    Examples
    --------
    >>> normalized_overestimation(0.5, 0.25, 1.0)
    0.25
    """
    return _one_sided(estimated, exact, epsilon)


def _one_sided(larger: ArrayLike, smaller: ArrayLike, epsilon: ArrayLike) -> float | Floats:
    budget = as_budget(epsilon)
    if (budget == 0.0).any():
        raise ValueError(
            "epsilon is 0, expected a number > 0: nothing leaks there and nothing can be normalised"
        )
    first, second = _alike(larger, smaller)
    return scalar_or_array(np.maximum(first - second, 0.0) / budget)


def _alike(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape:
        raise ValueError(f"shapes {one.shape} and {two.shape} differ, expected the same shape")
    return one, two


def _off_diagonal(matrix: ArrayLike, name: str) -> Floats:
    square = np.asarray(matrix, dtype=np.float64)
    if square.ndim != 2 or square.shape[0] != square.shape[1]:
        raise ValueError(
            f"{name} has shape {square.shape}, expected a square matrix, source × target"
        )
    return square[~np.eye(len(square), dtype=bool)]
