"""Small worlds whose truth is known: joint distributions, their records, and the likelihood of every report."""

import itertools

import numpy as np
import pandas as pd

import deptriad as dt
from deptriad.mechanisms import GRR


def schema_of(sizes, names="abcdef"):
    return dt.Schema(
        [
            dt.Attribute(name, [f"{name}{code}" for code in range(size)], missing="error")
            for name, size in zip(names, sizes, strict=False)
        ]
    )


def frame_of(codes, schema):
    return pd.DataFrame(
        {
            each.name: pd.Categorical.from_codes(codes[:, place], list(each.values)).astype(object)
            for place, each in enumerate(schema)
        }
    )


def draw(joint, n, rng):
    """Records of a joint distribution."""
    cells = rng.choice(joint.size, n, p=joint.ravel())
    return np.column_stack(np.unravel_index(cells, joint.shape))


def dependent(sizes, rng, strength=0.9):
    """A random joint in which all attributes lean to the first one."""
    joint = np.zeros(sizes)
    first = rng.dirichlet(np.full(sizes[0], 5.0))
    for cell in itertools.product(*map(range, sizes)):
        chance = first[cell[0]]
        for size, code in zip(sizes[1:], cell[1:], strict=True):
            own = strength if code == cell[0] % size else 0.0
            chance *= own + (1.0 - strength) / size
        joint[cell] = chance
    return joint / joint.sum()


def best_accuracy(joint, mechanisms):
    """Accuracy of the best guess of the first attribute from reports of the others: Σ over reports of the largest."""
    seen = joint
    for axis, mechanism in enumerate(mechanisms, 1):
        seen = np.moveaxis(np.tensordot(seen, mechanism.matrix(), axes=(axis, 0)), -1, axis)
    return float(seen.max(axis=0).sum())


class Louder(GRR):
    """Claims its budget and perturbs with ten times as much."""

    def _report(self, codes, words):
        return GRR(self.size, 10.0 * self.epsilon)._report(codes, words)
