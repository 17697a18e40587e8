"""The truth about a history of reports, slowly: the likelihood of every possible outcome of all of them.

A world is a list of (weight, answers): whole numbers or fractions, and the values that a person has, by (attribute,
time). A report is of some answers, as one value, at a budget: GRR favours that value alone, and of all mechanisms the
worst favour a set of values.
"""

from __future__ import annotations

import itertools
from decimal import Decimal

import oracle


@oracle.exactly
def told(world, target, reports, sets=False) -> Decimal:
    """ln of the largest ratio of two likelihoods of any outcome, of two values of the target.

    Reports are (answers, budget); with ``sets`` each may favour any set of values.
    """
    rows: dict = {}
    for weight, answers in world:
        cell = tuple(tuple(answers[each] for each in about) for about, _ in reports)
        row = rows.setdefault(answers[target], {})
        row[cell] = row.get(cell, 0) + weight
    masses = [
        {
            cell: oracle.decimal(weight) / oracle.decimal(sum(row.values()))
            for cell, weight in row.items()
        }
        for row in rows.values()
    ]
    return oracle.log(max(_ratios(masses, reports, sets), default=Decimal(1)))


def _ratios(masses, reports, sets):
    gains = [oracle.gain(budget) for _, budget in reports]
    seen = [
        sorted({cell[place] for row in masses for cell in row}) for place in range(len(reports))
    ]
    outcomes = [_subsets(values) if sets else [{value} for value in values] for values in seen]
    for outcome in itertools.product(*outcomes):
        likelihoods = [
            sum(
                mass
                * _product(
                    1 + gain * (value in chosen)
                    for gain, value, chosen in zip(gains, cell, outcome, strict=True)
                )
                for cell, mass in row.items()
            )
            for row in masses
        ]
        yield max(likelihoods) / min(likelihoods)


def _product(factors):
    found = Decimal(1)
    for factor in factors:
        found *= factor
    return found


def _subsets(values):
    return [
        set(some) for size in range(1, len(values)) for some in itertools.combinations(values, size)
    ]
