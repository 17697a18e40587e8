"""Tables that agree with each other: against a general solver, and what they must have."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from deptriad.collection.consistency import agreed

SIZES = {"a": 2, "b": 3, "c": 2}


def noisy(rng, sizes, most):
    """Marginals of a joint law and all their parts with errors, and their precision."""
    names = list(sizes)
    joint = rng.dirichlet(np.full(int(np.prod(list(sizes.values()))), 0.1)).reshape(*sizes.values())
    tables, precision = {}, {}
    for size in range(1, most + 1):
        for some in combinations(names, size):
            table = joint.sum(axis=tuple(names.index(name) for name in names if name not in some))
            error = rng.normal(0.0, rng.uniform(0.01, 0.1), table.shape)
            tables[some] = table + error - error.mean()
            precision[some] = float(np.exp(rng.uniform(0.0, 8.0)))
    return tables, precision


def margin(table, names, some):
    return table.sum(axis=tuple(place for place, name in enumerate(names) if name not in some))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_they_agree_and_are_distributions(most, rng):
    tables, precision = noisy(rng, SIZES | {"d": 4}, most)
    found = agreed(tables, precision)
    assert list(found) == list(tables)
    for names, table in found.items():
        assert table.min() >= 0.0
        assert table.sum() == pytest.approx(1.0, abs=1e-12)
        for some in combinations(names, len(names) - 1):
            if some:
                np.testing.assert_allclose(margin(table, names, some), found[some], atol=1e-12)


def test_none_that_agree_are_nearer(rng):
    tables, precision = noisy(rng, SIZES, 2)
    found = agreed(tables, precision)
    start = agreed_anywhere(tables)
    shapes = [(names, table.shape) for names, table in tables.items()]
    splits = np.cumsum([table.size for table in tables.values()])[:-1]

    def apart(cells):
        parts = zip(shapes, np.split(cells, splits), strict=True)
        return {names: cell.reshape(shape) for (names, shape), cell in parts}

    def disagreement(cells):
        own = apart(cells)
        differences = [
            margin(own[names], names, (name,)) - own[name,]
            for names in own
            for name in names
            if len(names) == 2
        ]
        return np.concatenate([*differences, [table.sum() - 1.0 for table in own.values()]])

    weights = np.concatenate([np.full(table.size, precision[w]) for w, table in tables.items()])
    weights /= weights.max()
    target = np.concatenate([table.ravel() for table in start.values()])
    oracle = minimize(
        lambda cells: float(weights @ (cells - target) ** 2),
        np.concatenate([np.full(table.size, 1.0 / table.size) for table in tables.values()]),
        jac=lambda cells: 2.0 * weights * (cells - target),
        bounds=[(0.0, 1.0)] * len(target),
        constraints={"type": "eq", "fun": disagreement},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    own = np.concatenate([table.ravel() for table in found.values()])
    assert weights @ (own - target) ** 2 <= oracle.fun + 1e-6


def agreed_anywhere(tables):
    """Pairs with the margins of their attributes' own tables: their interaction, and these."""
    found = {}
    for names, table in tables.items():
        if len(names) == 2:
            rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
            inner = table - rows / table.shape[1] - columns / table.shape[0] + 1.0 / table.size
            first, second = (tables[name,] for name in names)
            table = (
                inner
                + first[:, None] / table.shape[1]
                + second[None, :] / table.shape[0]
                - 1.0 / table.size
            )
        found[names] = table
    return found


def test_what_agrees_already_is_kept(rng):
    joint = rng.dirichlet(np.full(24, 5.0)).reshape(2, 3, 4)
    every = [some for size in (1, 2, 3) for some in combinations("abc", size)]
    tables = {some: margin(joint, "abc", some) for some in every}
    found = agreed(tables, {some: float(rng.uniform(1.0, 100.0)) for some in every})
    for some in every:
        np.testing.assert_allclose(found[some], tables[some], atol=1e-14)


def test_the_order_of_names_changes_nothing(rng):
    tables, precision = noisy(rng, SIZES, 2)
    turned = {names[::-1]: table.T for names, table in tables.items()}
    found, other = (
        agreed(tables, precision),
        agreed(turned, {w[::-1]: p for w, p in precision.items()}),
    )
    for names in tables:
        np.testing.assert_allclose(other[names[::-1]].T, found[names], atol=1e-6)
