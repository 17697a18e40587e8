"""Tables, boxes and budgets to draw: exact rationals with their floats."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import oracle

# ------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True)
class Known:
    """A table as exact fractions; ``floats`` is what a user would have typed."""

    exact: list[list[Fraction]]

    @property
    def floats(self) -> np.ndarray:
        return oracle.as_floats(self.exact)


@st.composite
def _rows(draw, size: int, tiny: bool) -> list[Fraction]:
    """One row: ties and zeros, ordinary numbers, near-deterministic with tiny rest, or one-hot."""
    kinds = ["ties", "ordinary", "one-hot"] + ["near-deterministic"] * tiny
    kind = draw(st.sampled_from(kinds))
    if kind == "ties":
        weights = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    elif kind == "ordinary":
        weights = draw(st.lists(st.integers(1, 10**6), min_size=size, max_size=size))
    else:
        weights = [0] * size
        if kind == "near-deterministic":
            digits = st.integers(0, 9)
            exponents = st.sampled_from([2, 8, 15, 16, 17, 30, 150, 299])
            parts = st.builds(lambda k, e: Fraction(k, 10**e), digits, exponents)
            weights = draw(st.lists(parts, min_size=size, max_size=size))
        weights[draw(st.integers(0, size - 1))] = 1
    if not any(weights):
        weights = [1] * size
    total = sum(weights)
    return [Fraction(weight) / total for weight in weights]


@st.composite
def _fractions(draw, min_rows, max_rows, min_columns, max_columns, tiny):
    size = draw(st.integers(min_columns, max_columns))
    table = []
    for _ in range(draw(st.integers(min_rows, max_rows))):
        if table and draw(st.sampled_from([True] + [False] * 5)):
            table.append(draw(st.sampled_from(table)))  # a duplicate row
        else:
            table.append(draw(_rows(size, tiny)))
    return table


def tables(min_rows=1, max_rows=6, min_columns=1, max_columns=6, tiny=True):
    """Tables of any shape up to 6×6; with ``tiny``, entries go down to 1e-300."""
    return _fractions(min_rows, max_rows, min_columns, max_columns, tiny).map(Known)


def ordinary_tables(max_rows=5, max_columns=6):
    """Tables of at least 2×2 without tiny entries (zeros and ties stay)."""
    return tables(2, max_rows, 2, max_columns, tiny=False)


def positive_tables(max_rows=5, max_columns=6):
    """Tables of at least 2×2 whose entries are all well above 0."""

    def mix(known: Known) -> Known:
        floor = Fraction(1, len(known.exact[0]))
        return Known([[(9 * entry + floor) / 10 for entry in row] for row in known.exact])

    return ordinary_tables(max_rows, max_columns).map(mix)


# -------------------------------------------------------------------------------------------- boxes


@dataclass(frozen=True)
class Uncertain:
    """A box as exact fractions, with a table inside it."""

    centre: list[list[Fraction]]
    lower: list[list[Fraction]]
    upper: list[list[Fraction]]

    @property
    def box(self):
        import deptriad as dt

        return dt.Box(oracle.as_floats(self.lower), oracle.as_floats(self.upper))

    def cloud(self):
        return oracle.box_cloud(self.lower, self.upper)


PARTS = st.sampled_from(
    [Fraction(0), Fraction(1, 20), Fraction(1, 10), Fraction(3, 10), Fraction(1)]
)


@st.composite
def _edges(draw, row: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """Edges around one row: relative, absolute, each edge by itself, zero lower edges, or none."""
    size = len(row)
    kind = draw(st.sampled_from(["relative", "absolute", "asymmetric", "zeros below", "known"]))
    below = above = [Fraction(0)] * size
    if kind == "relative":
        part = draw(PARTS)
        below = above = [part * entry for entry in row]
    elif kind == "absolute":
        below = above = [draw(PARTS) / 4] * size
    elif kind != "known":
        parts = st.lists(PARTS, min_size=size, max_size=size)
        below = [part * entry for part, entry in zip(draw(parts), row, strict=True)]
        above = [part / 3 for part in draw(parts)]
        if kind == "zeros below":
            gone = draw(st.sets(st.integers(0, size - 1), min_size=1))
            below = [row[u] if u in gone else below[u] for u in range(size)]
    lower = [max(Fraction(0), entry - part) for entry, part in zip(row, below, strict=True)]
    upper = [min(Fraction(1), entry + part) for entry, part in zip(row, above, strict=True)]
    return lower, upper


@st.composite
def boxes(draw, max_rows=5, max_columns=8, tiny=False):
    """Boxes of up to 5×8 around a table that is not tiny anywhere, unless that is asked for."""
    centre = draw(_fractions(2, max_rows, 2, max_columns, tiny))
    edges = [draw(_edges(row)) for row in centre]
    return Uncertain(centre, [low for low, _ in edges], [up for _, up in edges])


@st.composite
def nested_boxes(draw, max_rows=4, max_columns=6):
    """Two boxes around one table, the first inside the second."""
    inner = draw(boxes(max_rows, max_columns))
    other = [draw(_edges(row)) for row in inner.centre]
    lower = [_each(min, low, low2) for low, (low2, _) in zip(inner.lower, other, strict=True)]
    upper = [_each(max, up, up2) for up, (_, up2) in zip(inner.upper, other, strict=True)]
    return inner, Uncertain(inner.centre, lower, upper)


def _each(choose, row, other):
    return [choose(pair) for pair in zip(row, other, strict=True)]


# ------------------------------------------------------------------------------------------ budgets

SOME_BUDGETS = [
    0.0,
    1e-12,
    1e-6,
    0.01,
    0.1,
    0.5,
    1.0,
    2.0,
    5.0,
    10.0,
    36.7,
    100.0,
    709.5,
    710.0,
    1e4,
]


def budgets(least=0.0, most=1e4):
    """Budgets from 0 and 1e-12 to 1e4, on a logarithmic scale and at the awkward places."""
    some = [budget for budget in SOME_BUDGETS if least <= budget <= most]
    spread = st.floats(np.log10(max(least, 1e-12)), np.log10(most)).map(lambda p: float(10.0**p))
    return st.sampled_from(some) | spread.map(lambda budget: min(max(budget, least), most))


def gammas(most=1e6, least=1.0):
    """Slopes γ of the hockey-stick divergence."""
    return st.sampled_from([1.0, 1.5, 2.0, 3.0, 10.0]) | st.floats(least, most)
