"""Tables and boxes of certain shapes for the tests of curves."""

import numpy as np

import deptriad as dt


def random_box(rng, a, b):
    """The random family of maths.md §3: relative 5 to 50 %, or absolute 5 %."""
    table = rng.dirichlet(np.ones(b), size=a)
    if rng.random() < 0.5:
        return dt.Relative(float(rng.uniform(0.05, 0.5))).box(table)
    return dt.Absolute(0.05).box(table)


def ordered_table(size):
    """Likelihood ratios that grow steadily: the regime that is hardest for a triad."""
    place = np.linspace(-1, 1, size)
    table = np.exp(4 * np.outer(place, place))
    return table / table.sum(axis=1, keepdims=True)
