"""How loose certified totals are: certified over the worst joint distribution, the latter by linear programs.

    python benchmarks/looseness.py

The table of docs/totals.md: random tables of two target values, two sources of three values or else of two. For fixed
events the largest numerator and the least denominator of a likelihood ratio are a linear program each; the worst joint
is the largest ratio of all choices of events. "Before" is the reference form of all sources (maths §5), without sources
left out and without worst joints.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from _history import add, at_most
from scipy.optimize import linprog

import deptriad as dt
from deptriad.totals.certificate import Released, Tables
from deptriad.totals.pair_bounds import PairBounds

SEED, TABLES = 20261118, 8
BUDGETS = (
    (0.01, 8.0),
    (0.1, 3.0),
    (1.0, 3.0),
    (0.2, 1.0, 3.0),
    (0.2, 0.2, 0.2, 8.0),
    (0.2, 0.2),
    (1.0, 1.0),
    (3.0, 3.0),
    (0.2,) * 4,
    (1.0,) * 4,
    (3.0,) * 4,
)


@lru_cache(maxsize=100_000)
def expected(chances: tuple[float, ...], budgets: tuple[float, ...], sign: int) -> float:
    """The largest (or least) mean of Π e^{ε·1{event}} over all joints of events with given chances."""
    cells = np.array(list(itertools.product((0.0, 1.0), repeat=len(chances))))
    weight = np.exp(cells @ np.asarray(budgets))
    margins = np.vstack([np.ones(len(cells)), cells.T])
    found = linprog(-sign * weight, A_eq=margins, b_eq=[1.0, *chances], method="highs")
    return float(-sign * found.fun)


def worst_joint(rows: list[np.ndarray], budgets: tuple[float, ...]) -> float:
    """ln of the largest likelihood ratio over all joints with these tables, and all events."""
    proper = [
        [
            np.array(s)
            for s in itertools.product((0.0, 1.0), repeat=t.shape[1])
            if 0 < sum(s) < len(s)
        ]
        for t in rows
    ]
    worst = 0.0
    for events in itertools.product(*proper):
        chances = [
            tuple(float(t[x] @ s) for t, s in zip(rows, events, strict=True)) for x in (0, 1)
        ]
        for x, y in ((0, 1), (1, 0)):
            ratio = expected(chances[x], budgets, 1) / expected(chances[y], budgets, -1)
            worst = max(worst, math.log(ratio))
    return worst


def before(tables: list[dt.Conditional], budgets: tuple[float, ...]) -> float:
    """The reference form of all sources, or the sum of all ε."""
    released = Released(Tables(tables), list(budgets))
    every = list(range(len(budgets)))
    found = [PairBounds(released, x, y)._reference(every, 0.0)[0] for x, y in ((0, 1), (1, 0))]
    return min(max(found), sum(budgets))


def main() -> None:
    rng = np.random.default_rng(SEED)
    figures, goals = {}, {}
    print(f"{'budgets':>20} {'before: mean, largest':>22} {'now: mean, largest':>20}")
    for budgets in BUDGETS:
        ratios = []
        for _ in range(TABLES):
            columns = 3 if len(budgets) == 2 else 2
            rows = [rng.dirichlet(np.ones(columns), 2) for _ in budgets]
            tables = {str(k): dt.Conditional(table) for k, table in enumerate(rows)}
            truth = worst_joint(rows, budgets)
            now = dt.target_total(tables, dict(zip(tables, budgets, strict=True))).certified
            ratios.append((before(list(tables.values()), budgets) / truth, now / truth))
        means, most = np.mean(ratios, axis=0), np.max(ratios, axis=0)
        name = ", ".join(f"{budget:g}" for budget in budgets)
        print(f"{name:>20} {means[0]:>14.3f}, {most[0]:.3f} {means[1]:>13.3f}, {most[1]:.3f}")
        figures[name] = {"before": means[0], "now": means[1], "now, largest": most[1]}
        if len(budgets) <= 3:
            goals[f"{name} / now, largest"] = at_most(1.0 + 1e-6)
    add("looseness", figures, goals)


if __name__ == "__main__":
    main()
