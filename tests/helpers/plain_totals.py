"""What a view tells about every attribute, by plain tensors of records: an independent check of plans."""

from itertools import product

import numpy as np
from scipy.optimize import linprog


def plain_totals(codes, sizes, places, budgets, joint):
    """ln of the largest ratio of a report's likelihoods under two values of each attribute, all reports by GRR."""
    shape = [sizes[place] for place in places]
    found = []
    for target, size in enumerate(sizes):
        likelihood = []
        for value in range(size):
            some = codes[codes[:, target] == value]
            if not len(some):
                continue
            p = np.zeros(shape)
            np.add.at(p, tuple(some[:, place] for place in places), 1.0 / len(some))
            likelihood.append(reported(p, budgets, joint))
        table = np.array(likelihood)
        found.append(np.log(table.max(axis=0) / table.min(axis=0)).max())
    return np.array(found)


def reported(p, budgets, joint):
    """p(report) for all reports, times what does not depend on the value that is reported."""
    if joint:
        return 1.0 + np.expm1(budgets[0]) * p
    for axis, budget in enumerate(budgets):
        p = p.sum(axis=axis, keepdims=True) + np.expm1(budget) * p
    return p


def worst_totals(codes, sizes, places, budgets, joint):
    """The same over every joint table with the records' tables of pairs, reports by mechanisms of any kind.

    By linear programs: the largest likelihood of an event under one value of the target, the least under another.
    """
    found = []
    for target, size in enumerate(sizes):
        values = [value for value in range(size) if (codes[:, target] == value).any()]
        asked = dict(zip(places, budgets, strict=True))
        own = asked.pop(target, 0.0)
        shape = [sizes[place] for place in asked]
        margins = [
            [
                np.bincount(codes[codes[:, target] == value, place], minlength=sizes[place])
                for place in asked
            ]
            for value in values
        ]
        worst = 0.0
        for gain in (
            _joint_gains(shape, budgets[0]) if joint else _gains(shape, list(asked.values()))
        ):
            most = [_extreme(gain, margin, -1.0) for margin in margins]
            least = [_extreme(gain, margin, 1.0) for margin in margins]
            if joint and target in places:  # under another of its own values no such cell is there
                least = [1.0] * len(least)
            some = [a / b for i, a in enumerate(most) for j, b in enumerate(least) if i != j]
            worst = max([worst, *np.log(some)])
        found.append(worst if joint else own + worst)
    return np.array(found)


def _joint_gains(shape, budget):
    """Likelihoods of a report for every cell, up to a factor: a report of one joint value favours one cell."""
    for cell in product(*map(range, shape)):
        gain = np.ones(shape)
        gain[cell] = np.exp(budget)
        yield gain


def _gains(shape, budgets):
    """The same for separate reports, each of which can favour any set of values."""
    for sets in product(*(product((0, 1), repeat=size) for size in shape)):
        gain = np.ones(shape)
        for axis, (some, budget) in enumerate(zip(sets, budgets, strict=True)):
            wide = [-1 if place == axis else 1 for place in range(len(shape))]
            gain = gain * np.exp(budget * np.array(some)).reshape(wide)
        yield gain


def _extreme(gain, margins, sign):
    """The least (sign 1) or largest (−1) mean of a gain over all joint tables with these margins, which are counts."""
    if gain.ndim == 0:
        return float(gain)
    rows, right = [], []
    for axis, margin in enumerate(margins):
        for value, count in enumerate(margin):
            row = np.zeros(gain.shape)
            row[(slice(None),) * axis + (value,)] = 1.0
            rows.append(row.ravel())
            right.append(count / sum(margin))
    done = linprog(sign * gain.ravel(), A_eq=np.array(rows), b_eq=right, method="highs")
    assert done.success, done.message
    return float(sign * done.fun)
