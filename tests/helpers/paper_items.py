"""What the tests of the paper's items share."""

from matplotlib.figure import Figure

from deptriad.paper.data import Library
from deptriad.paper.item import Item, Work


def quick(module, library=None):
    """The outcome of an item on small samples."""
    return module.ITEM.run(Work(module.ITEM.name, library or Library(), quick=True))


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
