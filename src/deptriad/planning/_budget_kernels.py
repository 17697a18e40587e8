"""The compiled search for the budgets of one view: a barrier before each promise, quasi-Newton steps (maths §11)."""

from __future__ import annotations

import numpy as np

from deptriad.utils.arrays import Floats
from deptriad.utils.compiled import compiled

LEAST = 1e-3
"""No budget is below this part of the largest there may be."""


@compiled(nogil=True)
def products(factors: Floats, out: Floats) -> None:
    """Π_{i∈C} f_i for all sets C of places, as binary numbers with the last place lowest."""
    out[0] = 1.0
    filled = 1
    for place in range(factors.size - 1, -1, -1):
        for low in range(filled):
            out[filled + low] = factors[place] * out[low]
        filled *= 2


@compiled(nogil=True)
def sums_with(terms: Floats, out: Floats) -> None:
    """Σ of the terms of all sets that have a place, for each place; the terms are used up.

    The sets with the first place are the upper half; added to the lower half, that place is summed out.
    """
    half = terms.size
    for place in range(out.size):
        half //= 2
        total = 0.0
        for low in range(half):
            total += terms[half + low]
            terms[low] += terms[half + low]
        out[place] = total


@compiled(nogil=True)
def largest_factor(
    above: Floats, below: Floats, promise: Floats, shape: Floats, most: float
) -> float:
    """The largest s ≤ ``most`` for which budgets s·shape keep every row's promise, by bisection.

    A row is ln of Σ_C above_C·Π_{i∈C} t_i over the same of ``below``. It increases with s.
    """
    low, high = 0.0, most
    product = np.empty(above.shape[1])
    for step in range(60):
        middle = high if step == 0 else 0.5 * (low + high)
        products(np.expm1(middle * shape), product)
        kept = True
        for row in range(above.shape[0]):
            top, bottom = 0.0, 0.0
            for place in range(product.size):
                top += above[row, place] * product[place]
                bottom += below[row, place] * product[place]
            if np.log(top / bottom) > promise[row]:
                kept = False
                break
        if kept:
            low = middle
        else:
            high = middle
        if high - low <= 1e-9 * high:
            break
    return low


@compiled(nogil=True)
def merit(
    x: Floats,
    barrier: float,
    above: Floats,
    below: Floats,
    promise: Floats,
    worth: Floats,
    sizes: Floats,
    most: Floats,
    product: Floats,
    slope: Floats,
) -> float:
    """ln of what budgets e^x gain, plus ``barrier`` times ln of the room that is left; −∞ outside. Slopes by x."""
    count = x.size
    epsilon = np.exp(x)
    z, kept = np.exp(-epsilon), -np.expm1(-epsilon)
    # GRR's m = 1 + (c1·z + c2·z²)/(1 − z)²
    c1, c2 = 2.0 * (sizes - 1.0), (sizes - 1.0) * (sizes - 2.0)
    moment = 1.0 + (c1 * z + c2 * z * z) / kept**2
    by_z = (c1 + 2.0 * c2 * z) / kept**2 + 2.0 * (c1 * z + c2 * z * z) / kept**3
    elastic = z * by_z / moment * epsilon  # d ln(1/m) / dx
    products(1.0 / moment, product)
    term = np.empty(product.size)
    gain = 0.0
    for some in range(product.size):
        term[some] = worth[some] * product[some]
        gain += term[some]
    sums_with(term, slope)
    for place in range(count):
        slope[place] *= elastic[place] / gain
    value = np.log(gain)
    gains = np.expm1(epsilon)
    products(gains, product)
    elastic = (gains + 1.0) / gains * epsilon  # d ln t / dx
    part = np.empty(count)
    for row in range(above.shape[0]):
        top, bottom = 0.0, 0.0
        for some in range(product.size):
            top += above[row, some] * product[some]
            bottom += below[row, some] * product[some]
        room = 1.0 - np.log(top / bottom) / promise[row]
        if not room > 0.0:
            return -np.inf
        for some in range(product.size):
            term[some] = product[some] * (above[row, some] / top - below[row, some] / bottom)
        sums_with(term, part)
        value += barrier * np.log(room)
        for place in range(count):
            slope[place] -= barrier * part[place] * elastic[place] / (promise[row] * room)
    for place in range(count):
        above_least = x[place] - np.log(LEAST * most[place])
        below_most = 1.0 - epsilon[place] / most[place]
        if not (above_least > 0.0 and below_most > 0.0):
            return -np.inf
        value += barrier * (np.log(above_least) + np.log(below_most))
        slope[place] += barrier * (1.0 / above_least - epsilon[place] / most[place] / below_most)
    return float(value)


@compiled(nogil=True)
def best_budgets(
    start: Floats,
    above: Floats,
    below: Floats,
    promise: Floats,
    worth: Floats,
    sizes: Floats,
    most: Floats,
) -> Floats:
    """Budgets near the best for these rows, from a start that keeps them: BFGS on the merit, the barrier ever lower."""
    count = start.size
    x = np.log(start)
    product = np.empty(worth.size)
    slope, new_slope, change = np.empty(count), np.empty(count), np.empty(count)
    barrier = 0.01
    for _ in range(4):
        inverse = np.eye(count)
        value = merit(x, barrier, above, below, promise, worth, sizes, most, product, slope)
        for _ in range(40):
            step = inverse @ slope
            expected = 0.0
            for place in range(count):
                expected += step[place] * slope[place]
            if expected < 1e-6:
                break
            length = min(1.0, 0.3 / np.abs(step).max())
            moved = x + length * step
            new = merit(
                moved, barrier, above, below, promise, worth, sizes, most, product, new_slope
            )
            while not new >= value + 1e-4 * length * expected and length > 1e-8:
                length *= 0.4
                moved = x + length * step
                new = merit(
                    moved, barrier, above, below, promise, worth, sizes, most, product, new_slope
                )
            if length <= 1e-8:
                break
            change[:] = slope - new_slope
            along = 0.0
            for place in range(count):
                along += (moved[place] - x[place]) * change[place]
            if along > 1e-14:
                went = moved - x
                inner = inverse @ change
                curve = 0.0
                for place in range(count):
                    curve += change[place] * inner[place]
                for row in range(count):
                    for column in range(count):
                        inverse[row, column] += (1.0 + curve / along) * went[row] * went[
                            column
                        ] / along - (inner[row] * went[column] + went[row] * inner[column]) / along
            x[:] = moved
            slope[:] = new_slope
            value = new
        barrier *= 0.1
    return np.exp(x)
