"""What an uncertain prior costs: six answers to one question, on a sine table of ten values known to 10 %.

    python examples/uncertain_sine.py [figure.png]

Target and source are tied by target = sin(2π·source) + noise, both cut into ten values. The true maximum over all
tables in the box comes from a mixed-integer program for every pair of target values and every budget (scipy's HiGHS);
everything else is this package.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

import deptriad as dt

BUDGETS = np.array([0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0])
EPSILON_MAX = 3.0
INK, GREY = "#222222", "#777777"
COLOURS = [
    "#000000",
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#D55E00",
]  # Okabe and Ito's, safe for all eyes
STYLES = ["-", (0, (4, 3)), "-", "-", "-"]


def sine_table(size: int, records: int = 2_000_000) -> np.ndarray:
    """p(source | target) of target = sin(2π·source) + normal noise (σ = 8), in bins of equal frequency."""
    rng = np.random.default_rng(7)
    source = rng.random(records)
    target = np.sin(2 * np.pi * source) + rng.normal(0.0, 8.0, records)
    edges = np.quantile(target, np.arange(1, size) / size)
    counts = np.zeros((size, size))
    np.add.at(counts, (np.searchsorted(edges, target), (source * size).astype(int)), 1)
    return dt.Conditional.from_counts(counts).table


def largest_event(box: dt.Box, x: int, y: int, gamma: float) -> tuple[float, float]:
    """g(S), h(S) of the event with the largest g(S) − γ·h(S) over two rows of a box: one binary for each value."""
    low, high, low2, high2 = box.lower[x], box.upper[x], box.lower[y], box.upper[y]
    size = low.size
    rows = np.zeros((4, size + 2))
    rows[0, :size], rows[0, size] = -high, 1  # g ≤ Up(S)
    rows[1, :size], rows[1, size] = -low, 1  # g ≤ 1 − Lo(Sᶜ)
    rows[2, :size], rows[2, size + 1] = low2, -1  # h ≥ Lo'(S)
    rows[3, :size], rows[3, size + 1] = high2, -1  # h ≥ 1 − Up'(Sᶜ)
    limits = [0.0, 1.0 - low.sum(), 0.0, high2.sum() - 1.0]
    found = milp(
        np.concatenate([np.zeros(size), [-1.0, gamma]]),
        constraints=LinearConstraint(rows, -np.inf, limits),
        integrality=np.concatenate([np.ones(size), [0, 0]]),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 1e-10},
    )
    return float(found.x[size]), float(found.x[size + 1])


def true_maximum(box: dt.Box, epsilon: float, gamma: float = 1.0) -> float:
    """The largest leakage of any table in the box: Dinkelbach's steps over mixed-integer programs."""
    gain = np.expm1(epsilon)
    pairs = [(x, y) for x in range(box.shape[0]) for y in range(box.shape[0]) if x != y]
    for x, y in pairs:
        while True:
            more, less = largest_event(box, x, y, gamma)
            better = (1 + gain * more) / (1 + gain * less)
            if better <= gamma * (1 + 1e-9):
                break
            gamma = better
    return float(np.log(gamma))


def main(path: str) -> None:
    table = sine_table(10)
    box = dt.Relative(0.1).box(table)
    curve = dt.profile(box)
    grid = np.linspace(0.0, BUDGETS[-1], 200)
    truth = np.array([true_maximum(box, epsilon) for epsilon in BUDGETS])
    answers = {
        "certificate, any budget": curve.leakage,
        "8 knots": curve.thin(8).leakage,
        f"tuned triad, ε ≤ {EPSILON_MAX:g}": dt.triad(box, epsilon_max=EPSILON_MAX).leakage,
        "tight triad": dt.triad(box).leakage,
        "the paper's triad": dt.triad(box, relaxation="paper").leakage,
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
    left.plot(
        BUDGETS,
        truth,
        "o",
        color=COLOURS[0],
        label="true maximum (mixed-integer program)",
        zorder=5,
    )
    print(f"{'budget':>28}", *(f"{epsilon:8g}" for epsilon in BUDGETS))
    print(f"{'true maximum':>28}", *(f"{value:8.4f}" for value in truth))
    for (name, answer), colour, style in zip(answers.items(), COLOURS[1:], STYLES, strict=True):
        left.plot(grid, answer(grid), color=colour, lw=2, ls=style, label=name)
        excess = 100 * (np.asarray(answer(BUDGETS)) / truth - 1)
        right.plot(BUDGETS, excess, "o", ls=style, color=colour, lw=2, ms=4)
        print(f"{name:>28}", *(f"{value:8.4f}" for value in answer(BUDGETS)))
        if (excess < -1e-6).any():
            raise SystemExit(f"{name} lies below the true maximum: {excess}")
    left.plot(
        grid,
        dt.leakage(table, grid),
        color=GREY,
        lw=1,
        ls=":",
        label="the table as it is, no uncertainty",
    )
    left.set(xlabel="budget ε of the source", ylabel="leakage about the target (nats)")
    left.set(xlim=(0, BUDGETS[-1]), ylim=(0, 1.15 * truth[-1]))
    worst = 100 * np.max(np.asarray(answers["the paper's triad"](BUDGETS)) / truth - 1)
    right.set(xlabel="budget ε of the source", ylabel="above the true maximum (%)")
    right.set(xlim=(0, BUDGETS[-1] + 0.15), ylim=(-0.04 * worst, 1.15 * worst))
    right.text(
        4.1,
        1.02 * worst,
        "tuned triad, past the budgets\nit is made for",
        fontsize=9,
        color=COLOURS[3],
    )
    left.set_title("Sine table of 10 values, each entry known to ±10 %", loc="left", color=INK)
    right.set_title("How loose each bound is", loc="left", color=INK)
    figure.legend(frameon=False, loc="outside lower center", ncols=4, fontsize=9)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    figure.savefig(path, dpi=150)
    print(f"figure: {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "uncertain_sine.png")
