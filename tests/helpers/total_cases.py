"""Tables and budgets of all kinds for the tests of totals, and what must hold for every total."""

import itertools
import json

import numpy as np

import deptriad as dt
from deptriad.totals.certificate import Released, Tables, rounding_slack
from deptriad.totals.proof import Proof, verify

COIN = dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="xor")
AWKWARD = [1e-12, 1e-6, 0.05, 0.3, 1.0, 2.0, 5.0, 20.0, 50.0]


def some_budgets(rng, count):
    """Equal, ordinary or wildly different budgets."""
    kind = rng.integers(3)
    if kind == 0:
        return [float(rng.choice([0.1, 1.0, 3.0]))] * count
    return (rng.uniform(0.05, 3.0, count) if kind == 1 else rng.choice(AWKWARD, count)).tolist()


def random_table(rng, rows, columns, zeros=False):
    table = rng.dirichlet(np.full(columns, rng.choice([0.2, 1.0, 5.0])), rows) + 1e-6
    if zeros:
        table[rng.random(table.shape) < 0.3] = 0.0
        table[:, 0] += 1e-3
    return dt.Conditional(table / table.sum(axis=1, keepdims=True))


def random_tables(rng, rows, count, sizes=(1, 2, 3, 5, 14)):
    return {
        str(i): random_table(rng, rows, int(rng.choice(sizes)), rng.random() < 0.5)
        for i in range(count)
    }


def plain_bounds(tables, budgets):
    """The plain bound of every ordered pair of target values."""
    from deptriad.totals.pair_bounds import plain_bound

    released = Released(Tables(tables), budgets)
    rows = released.tables.rows
    found = np.zeros((rows, rows))
    for x, y in itertools.permutations(range(rows), 2):
        points = released.tables.points.at(x, y)
        found[x, y], _ = plain_bound(points, released.epsilon, released.focus)
    return found


def check(total, tables):
    """What must hold for every total."""
    assert total.own <= total.paired <= total.pairwise
    assert total.own <= total.certified <= total.budgets
    proof = Proof.from_dict(json.loads(json.dumps(total.proof.to_dict())))
    proved = verify(proof, tables)
    assert proved <= total.certified
    slack = 2 * rounding_slack(np.array([*proof.budgets.values(), 0.0]))
    assert proved >= total.certified * (1 - 1e-5) - slack
