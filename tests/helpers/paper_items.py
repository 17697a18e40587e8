"""What the tests of the paper's items share."""

from dataclasses import replace

from matplotlib.figure import Figure

from deptriad.paper.data import Library
from deptriad.paper.item import Item, Work

OUTCOMES = {}
"""By the item's name, and whether it had data."""


def quick(module, library=None):
    """The outcome of an item on small samples, which is worked out once; not for tests that change how."""
    key = module.ITEM.name, library is not None
    if key not in OUTCOMES:
        OUTCOMES[key] = anew(module, library)
    return OUTCOMES[key]


def anew(module, library=None):
    """The outcome of an item on small samples, worked out now."""
    return module.ITEM.run(Work(module.ITEM.name, library or Library(), quick=True))


def remembered(item):
    """The item; what comes out of it on small samples, with data, ``quick`` knows from then on."""

    def run(work):
        outcome = item.run(work)
        for given in (True, False) if not (item.needs or item.uses) else (True,):
            OUTCOMES[item.name, given] = outcome
        return outcome

    return replace(item, run=run)


def as_read_back(rows):
    """Rows as a CSV gives them back."""
    return [{name: str(value) for name, value in row.items()} for row in rows]


def made(compute, needs=(), name="figure-3"):
    """An item that computes what is given, with a figure of its column x."""

    def draw(rows):
        figure = Figure()
        figure.subplots().plot([float(row["x"]) for row in rows])
        return figure

    return Item(name, "an item", compute, draw, needs=needs)
