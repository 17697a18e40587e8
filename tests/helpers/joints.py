"""Small joint distributions, and what all their product sets give away, in 50 digits."""

from decimal import Decimal, localcontext

import numpy as np

XOR = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
SLACK = Decimal("1e-40")


# ------------------------------------------------------------------------------------- the slow truth


def likelihoods(joint, budgets):
    """E[Π e^{ε_i 1{X_i ∈ S_i}} | x] for every x and all product sets, in 50 digits: axes x, S_1, S_2, …"""
    with localcontext(prec=50):
        present = joint.reshape(len(joint), -1).sum(axis=1) > 0
        rows = np.vectorize(Decimal, otypes=[object])(joint[present].astype(object))
        for axis, epsilon in enumerate(budgets, start=1):
            size = joint.shape[axis]
            loud = Decimal(epsilon).exp()
            factor = np.array(
                [
                    [loud if mask >> u & 1 else Decimal(1) for u in range(size)]
                    for mask in range(2**size)
                ],
                dtype=object,
            )
            # the summed axis goes, the axis of sets comes last: after all of them the order is x, S_1, S_2, …
            rows = np.tensordot(rows, factor, axes=(1, 1))
        totals = [sum(map(Decimal, map(int, row.ravel()))) for row in joint[present]]
        return np.array(
            [row / total for row, total in zip(rows, totals, strict=True)], dtype=object
        )


def truth(joint, budgets):
    """ln of the largest ratio over all ordered pairs and all product sets."""
    with localcontext(prec=50):
        each = likelihoods(joint, budgets).reshape(-1, 2 ** sum(joint.shape[1:]))
        return max((row / other).max() for row in each for other in each).ln()


def as_records(joint):
    """Codes and weights of the cells of a joint table."""
    cells = np.argwhere(joint > 0)
    return cells, joint[tuple(cells.T)].astype(float)


def random_joint(rng):
    """2 to 4 sources with 2 to 3 values each, target first, from sparse to dense."""
    shape = rng.integers(2, 4, size=rng.integers(3, 6))
    joint = rng.integers(1, 50, size=shape) * (rng.random(shape) < rng.uniform(0.2, 1.0))
    if (joint.reshape(len(joint), -1).sum(axis=1) > 0).sum() < 2:
        joint[0].flat[0], joint[1].flat[-1] = 1, 1
    return joint
