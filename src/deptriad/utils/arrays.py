"""The types of arrays, and the checks of numbers that callers pass."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptriad.utils.errors import InvalidValue, Parameter

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Name: TypeAlias = str | Parameter


def as_numbers(value: ArrayLike, name: Name) -> Floats:
    """Numbers as a float array; refuses text, nothing and ragged lists."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biuf" or array.size == 0:
            return array.astype(np.float64)
        raise ValueError
    except (TypeError, ValueError):
        raise InvalidValue(
            name, f" is {value!r}, expected a number or an array of numbers"
        ) from None


def as_budget(epsilon: ArrayLike, name: Name = "epsilon") -> Floats:
    """Budgets as a float array; refuses negative ones and NaN."""
    budget = as_numbers(epsilon, name)
    bad = ~(budget >= 0.0)
    if bad.any():
        raise InvalidValue(name, f" is {budget[bad].flat[0]}, expected a number ≥ 0")
    return budget


def as_one_budget(epsilon: Any, name: Name = "epsilon", otherwise: str = "") -> float:
    """One budget; what else might be given is said where it is none."""
    budget = as_budget(epsilon, name)
    if budget.ndim:
        raise InvalidValue(name, f" has shape {budget.shape}, expected one number{otherwise}")
    return float(budget)


def as_finite_budget(epsilon: float, name: Name) -> float:
    """One budget that is a finite number ≥ 0."""
    number = as_budget(epsilon, name)
    if number.ndim or not np.isfinite(number):
        raise InvalidValue(name, f" is {epsilon!r}, expected one finite number ≥ 0")
    return float(number)


def as_positive_budget(epsilon: float, name: Name) -> float:
    """One budget that can be spent: a finite number above 0."""
    number = as_numbers(epsilon, name)
    if number.ndim or not 0.0 < number < np.inf:
        words = f" is {epsilon!r}, expected one finite number above 0: at 0 reports say nothing"
        raise InvalidValue(name, words)
    return float(number)


def as_probability(value: ArrayLike, name: Name) -> Floats:
    """Probabilities as a float array; refuses what lies outside [0, 1]."""
    probability = as_numbers(value, name)
    bad = ~((probability >= 0.0) & (probability <= 1.0))
    if bad.any():
        raise InvalidValue(name, f" is {probability[bad].flat[0]}, expected a number in [0, 1]")
    return probability


def as_share(value: Any, name: Name, such_as: float = 0.95) -> float:
    """One number between 0 and 1, such as a level of confidence; neither 0 nor 1."""
    if not (isinstance(value, int | float | np.number) and 0.0 < value < 1.0):
        words = f" is {value!r}, expected a number between 0 and 1, such as {such_as}"
        raise InvalidValue(name, words)
    return float(value)


def as_whole(value: Any, name: Name, least: int) -> int:
    """A whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidValue(name, f" is {value!r}, expected a whole number of at least {least}")
    return int(value)


def scalar_or_array(value: Floats) -> float | Floats:
    """A float for a 0-d result, the array otherwise."""
    return float(value) if np.ndim(value) == 0 else value
