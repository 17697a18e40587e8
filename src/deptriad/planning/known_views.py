"""The known strategies as views: splitting, and one attribute, pair or triple as one value with the whole promise.

They need no prior: a report with budget ε tells no more than ε about anything. So they are the views of a plan without
a pilot, the least that a plan with one can do, and the measure of both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from deptriad.collection.view import View
from deptriad.mechanisms import expected_error, mechanisms
from deptriad.planning.workload import Names, Workload
from deptriad.utils.arrays import Floats
from deptriad.utils.rounding import sum_up

AS_ONE = ("grr", "olh")
"""What reports several attributes as one value: the better one depends on the marginal."""


def one_value(workload: Workload, names: Names, epsilon: float) -> list[View]:
    """Views of some attributes as one value, by each mechanism that can be the best."""
    size = math.prod(workload.schema[name].size for name in names)
    ways = AS_ONE if size <= mechanisms["olh"].most_values else ("grr", expected_error.MANY)
    return [View.of_one_value(names, epsilon, way) for way in ways]


def sampling(workload: Workload, epsilon: float, size: int) -> list[list[View]]:
    """One of all sets of so many attributes as one value: a list for each mechanism, all alike likely."""
    every = [one_value(workload, names, epsilon) for names in combinations(workload.asked, size)]
    return [list(views) for views in zip(*every, strict=True)]


def splitting(workload: Workload, epsilon: float, names: Names = ()) -> View:
    """All attributes, or some of them, with equal parts of the budget."""
    names = names or workload.asked
    part = epsilon / len(names)
    while sum_up([part] * len(names)) > epsilon:
        part = np.nextafter(part, 0.0)
    return separate(workload, names, [float(part)] * len(names))


def separate(workload: Workload, names: Names, budgets: Sequence[float]) -> View:
    """Attributes by themselves, each by the best mechanism for its budget."""
    ways = {
        name: expected_error.choose("auto", budget, workload.schema[name].size)
        for name, budget in zip(names, budgets, strict=True)
    }
    return View(names, dict(zip(names, budgets, strict=True)), ways)


def strategies(workload: Workload, epsilon: float) -> dict[str, Floats]:
    """By name of a strategy with even shares: the summed variance of each marginal, times the number of people.

    Of strategies with a choice of mechanisms, those are given that are best for some marginal.
    """
    found = {"splitting": 1.0 / workload.precision(splitting(workload, epsilon))}
    for size in range(1, min(max(workload.order, 2), len(workload.asked)) + 1):
        rows = [
            np.sum([workload.precision(view) for view in views], axis=0)
            for views in sampling(workload, epsilon, size)
        ]
        with np.errstate(divide="ignore"):
            found[sampled(size)] = math.comb(len(workload.asked), size) / np.max(rows, axis=0)
    return found


def sampled(size: int) -> str:
    """The name of sampling so many attributes."""
    words = {1: "one attribute", 2: "one pair", 3: "one triple"}
    return words.get(size, f"{size} attributes") + (" as one value" if size > 1 else "")


def fake_moment(count: int, epsilon: float, size: int) -> float:
    """m of one attribute under RS+FD: one of so many by GRR with ε' = ln(count·(e^ε − 1) + 1), uniform fakes of others.

    A report supports a value with a chance γ, and Σγ(1 − γ) over all values is at most 1 − 1/size (maths §7).
    """
    gain = count * math.expm1(epsilon)
    return (count * (gain + size) / gain) ** 2 * (1.0 - 1.0 / size)
