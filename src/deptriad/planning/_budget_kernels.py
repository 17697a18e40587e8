"""The compiled search for the budgets of one view: a barrier before each promise, quasi-Newton steps (maths §11)."""

from __future__ import annotations

import numpy as np

from deptriad.utils.arrays import Floats
from deptriad.utils.compiled import compiled, part

LEAST = 1e-3
"""No budget is below this part of the largest there may be."""


@part()
def products(factors: Floats, count: int, out: Floats) -> None:
    """Π_{i∈C} f_i for all sets C of the first ``count`` places, as binary numbers with the last place lowest."""
    out[0] = 1.0
    filled = 1
    for place in range(count - 1, -1, -1):
        for low in range(filled):
            out[filled + low] = factors[place] * out[low]
        filled *= 2


@part()
def sums_with(terms: Floats, count: int, out: Floats) -> None:
    """Σ of the terms of all sets that have a place, for each of ``count`` places; the terms are used up.

    The sets with the first place are the upper half; added to the lower half, that place is summed out.
    """
    half = terms.size
    for place in range(count):
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
    gains, product = np.empty(shape.size), np.empty(above.shape[1])
    for step in range(60):
        middle = high if step == 0 else 0.5 * (low + high)
        for place in range(shape.size):
            gains[place] = np.expm1(middle * shape[place])
        products(gains, gains.size, product)
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


@part()
def merit(
    x: Floats,
    barrier: float,
    above: Floats,
    below: Floats,
    promise: Floats,
    worth: Floats,
    sizes: Floats,
    most: Floats,
    room: Floats,
    slope: Floats,
) -> float:
    """ln of what budgets e^x gain, plus ``barrier`` times ln of the room that is left; −∞ outside. Slopes by x.

    ``room`` is five lines to work in.
    """
    count = x.size
    factor, elastic, own, product, term = room[0], room[1], room[2], room[3], room[4]
    for place in range(count):
        epsilon = np.exp(x[place])
        z, kept = np.exp(-epsilon), -np.expm1(-epsilon)
        # GRR's m = 1 + (c1·z + c2·z²)/(1 − z)²
        c1 = 2.0 * (sizes[place] - 1.0)
        c2 = (sizes[place] - 1.0) * (sizes[place] - 2.0)
        noise = c1 * z + c2 * z * z
        moment = 1.0 + noise / kept**2
        by_z = (c1 + 2.0 * c2 * z) / kept**2 + 2.0 * noise / kept**3
        factor[place] = 1.0 / moment
        elastic[place] = z * by_z / moment * epsilon  # d ln(1/m) / dx
    products(factor, count, product)
    gain = 0.0
    for some in range(worth.size):
        term[some] = worth[some] * product[some]
        gain += term[some]
    sums_with(term, count, slope)
    for place in range(count):
        slope[place] *= elastic[place] / gain
        epsilon = np.exp(x[place])
        factor[place] = np.expm1(epsilon)
        elastic[place] = (factor[place] + 1.0) / factor[place] * epsilon  # d ln t / dx
    value = np.log(gain)
    products(factor, count, product)
    for row in range(above.shape[0]):
        top, bottom = 0.0, 0.0
        for some in range(worth.size):
            top += above[row, some] * product[some]
            bottom += below[row, some] * product[some]
        left = 1.0 - np.log(top / bottom) / promise[row]
        if not left > 0.0:
            return -np.inf
        for some in range(worth.size):
            term[some] = product[some] * (above[row, some] / top - below[row, some] / bottom)
        sums_with(term, count, own)
        value += barrier * np.log(left)
        for place in range(count):
            slope[place] -= barrier * own[place] * elastic[place] / (promise[row] * left)
    for place in range(count):
        epsilon = np.exp(x[place])
        above_least = x[place] - np.log(LEAST * most[place])
        below_most = 1.0 - epsilon / most[place]
        if not (above_least > 0.0 and below_most > 0.0):
            return -np.inf
        value += barrier * (np.log(above_least) + np.log(below_most))
        slope[place] += barrier * (1.0 / above_least - epsilon / most[place] / below_most)
    return float(value)


@part()
def dot(one: Floats, other: Floats) -> float:
    """Σ_i one_i·other_i."""
    total = 0.0
    for place in range(one.size):
        total += one[place] * other[place]
    return total


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
    x, moved, step, went = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    slope, new_slope, change = np.empty(count), np.empty(count), np.empty(count)
    inner, inverse, room = np.empty(count), np.empty((count, count)), np.empty((5, worth.size))
    for place in range(count):
        x[place] = np.log(start[place])
    barrier = 0.1
    for _ in range(4):
        barrier *= 0.1
        for row in range(count):
            for column in range(count):
                inverse[row, column] = 1.0 if row == column else 0.0
        value = merit(x, barrier, above, below, promise, worth, sizes, most, room, slope)
        for _ in range(40):
            longest = 0.0
            for place in range(count):
                step[place] = dot(inverse[place], slope)
                longest = max(longest, abs(step[place]))
            expected = dot(step, slope)
            if expected < 1e-6:
                break
            length = min(1.0, 0.3 / longest)
            while True:
                for place in range(count):
                    moved[place] = x[place] + length * step[place]
                new = merit(
                    moved, barrier, above, below, promise, worth, sizes, most, room, new_slope
                )
                if new >= value + 1e-4 * length * expected or length <= 1e-8:
                    break
                length *= 0.4
            if length <= 1e-8:
                break
            for place in range(count):
                change[place] = slope[place] - new_slope[place]
                went[place] = moved[place] - x[place]
                x[place], slope[place] = moved[place], new_slope[place]
            value = new
            along = dot(went, change)
            if along > 1e-14:
                for place in range(count):
                    inner[place] = dot(inverse[place], change)
                curve = dot(change, inner)
                for row in range(count):
                    for column in range(count):
                        inverse[row, column] += (1.0 + curve / along) * went[row] * went[
                            column
                        ] / along - (inner[row] * went[column] + went[row] * inner[column]) / along
    for place in range(count):
        x[place] = np.exp(x[place])
    return x
