"""What a view tells about every attribute, by plain tensors of records: an independent check of plans."""

import numpy as np


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
