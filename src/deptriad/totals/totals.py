"""What all releases together give away about one target: two estimates, a bound, and its proof (maths §5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.curves import lines
from deptriad.curves.leakage import leakages, profile
from deptriad.data.results import ByTarget, columns_of
from deptriad.tables.table import Box
from deptriad.totals.proof import Form, Proof
from deptriad.totals.shared_target import Table, finite, shared_target
from deptriad.utils import html_table
from deptriad.utils.arrays import as_probability
from deptriad.utils.rounding import ROUNDOFF, widening
from deptriad.utils.text import aligned, printable, rounded_up, times

if TYPE_CHECKING:
    from deptriad.totals._kernels import Sources
    from deptriad.utils.arrays import Floats, Integers


@dataclass(frozen=True, repr=False)
class Total:
    """What all releases together give away about one target, in nats; every number includes ``own``.

    Parameters
    ----------
    own
        Budget of the target's own release, 0 if it is not released.
    pairwise
        The paper's sum of the leakages of all sources. An estimate: a bound only if the sources' answers are
        independent given the target.
    paired
        The same with one pair of target values for all sources: never above ``pairwise``, and an estimate too.
    certified
        A bound for every joint distribution with these tables and all mechanisms with independent noise; ``proof``
        says why.
    budgets
        The plain sum of all budgets, which bounds everything.
    """

    target: str
    own: float
    pairwise: float
    paired: float
    certified: float
    budgets: float
    proof: Proof = field(compare=False)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={_shown(self, name)}" for name in NUMBERS)
        return f"Total({printable(self.target)}: {numbers})"


NUMBERS = ("own", "paired", "pairwise", "certified", "budgets")
"""The columns of a table of totals, after the target."""

KINDS = {"paired": "estimate", "pairwise": "estimate", "certified": "bound", "budgets": "bound"}
"""What each of them is; the own budget is just that."""


def _shown(total: Total, name: str) -> str:
    """A number as text: a bound rounded up, so that what is read is still a bound; an estimate to nearest."""
    number = float(getattr(total, name))
    return rounded_up(number) if KINDS.get(name) == "bound" else f"{number:.4g}"


def target_total(
    tables: Mapping[str, Table],
    budgets: Mapping[str, float],
    own: float = 0.0,
    target: str | None = None,
) -> Total:
    """What the releases of all sources give away about one target.

    Parameters
    ----------
    tables
        p(source | target) for each source, all with the same target values: Conditional, or Box where it is uncertain.
    budgets
        ε of each source's release; 0 for a source that is not released.
    own
        ε of the target's own release.
    target
        Its name; needed only where there are no tables, since nothing else is released.

    Examples
    --------
    The target is the exclusive or of two fair coins: each alone says nothing, both together do.

    >>> import deptriad as dt
    >>> coin = dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="xor")
    >>> target_total({"first": coin, "second": coin}, {"first": 1.0, "second": 1.0})
    Total(xor: own=0, paired=0, pairwise=0, certified=0.434, budgets=2.000)
    """
    target = _named(tables, target)
    own = finite(own, f"own budget of {target!r}")
    given = _budgets(tables, budgets)
    released = {name: epsilon for name, epsilon in given.items() if epsilon > 0.0}
    telling = [name for name in released if tables[name].shape[1] > 1]
    everything = sum_up([own, *given.values()])
    if not telling or tables[telling[0]].shape[0] < 2:
        # no source, or one of one value, or a target of one: there is nothing to tell
        proof = Proof(target, own, released, "plain", own)
        return Total(target, own, own, own, own, everything, proof)
    packed = _Packed([tables[name] for name in telling], [released[name] for name in telling])
    proof = _certify(target, own, released, packed)
    pairwise = sum_up([own, *packed.leakages])
    return Total(
        target=target,
        own=own,
        pairwise=pairwise,
        # the sum over the worst pair has a rounding of its own
        paired=min(sum_up([own, packed.paired]), pairwise),
        certified=proof.value,
        budgets=everything,
        proof=proof,
    )


def sum_up(terms: Iterable[float]) -> float:
    """The sum, rounded up; exact where it is a float.

    Examples
    --------
    >>> sum_up([0.1, 0.2]), sum_up([0.5, 0.25])
    (0.30000000000000004, 0.75)
    """
    numbers = [float(term) for term in terms]
    total = math.fsum(numbers)
    return total if math.fsum([*numbers, -total]) <= 0.0 else math.nextafter(total, math.inf)


# --- checks ---------------------------------------------------------------------------------------------------


def _named(tables: Mapping[str, Table], target: str | None) -> str:
    """The target of the tables, or the one given where there are none."""
    if isinstance(tables, Mapping) and not tables and target is not None:
        return str(target)
    found = shared_target(tables)
    if target is not None and target != found:
        raise ValueError(
            f"target is {target!r}, the tables are about {found!r}: expected the same target"
        )
    return found


def _budgets(tables: Mapping[str, Table], budgets: Mapping[str, float]) -> dict[str, float]:
    """A finite budget for each table, in the order of the tables."""
    if not isinstance(budgets, Mapping):
        raise ValueError(
            f"budgets are {budgets!r}, expected a mapping from each source to its ε, 0 if it is not released"
        )
    if extra := [name for name in budgets if name not in tables]:
        raise ValueError(
            f"there is a budget for {extra[0]!r} but no table, expected one of {list(tables)}; the target's "
            "own budget is given as own="
        )
    if missing := [name for name in tables if name not in budgets]:
        raise ValueError(f"no budget for {missing[0]!r}, expected one; 0 if it is not released")
    return {name: finite(budgets[name], f"budget of {name!r}") for name in tables}


# --- the numbers ------------------------------------------------------------------------------------------------


class _Packed:
    """The tables of all sources that say anything, laid out for the compiled loops, with their leakages."""

    def __init__(self, tables: list[Table], budgets: list[float]) -> None:
        from deptriad.totals import _kernels

        self.rows = tables[0].shape[0]
        self.epsilon = np.array(budgets)
        self.sources, self.width = _laid_out(tables)
        focus = lines.inverse_gain(self.epsilon)
        self.leakages = self._leakages(tables, focus)
        self.plain, paired = _kernels.plain_bounds(
            self.sources, self.epsilon, focus, self.leakages, self.rows, self.width
        )
        self.paired = min(paired * widening(2 * len(tables) + 16), sum_up(self.leakages))

    def _leakages(self, tables: list[Table], focus: Floats) -> Floats:
        """L of each source: of a box of few values from its sets, which are exact, otherwise as ``leakages`` has it."""
        from deptriad.totals import _kernels

        boxes = np.array([isinstance(table, Box) for table in tables])
        by_sets = boxes & (self.sources.columns <= _kernels.FEW)
        found = np.zeros(len(tables))
        if by_sets.any():
            found = _kernels.largest_leakages(
                self.sources, self.epsilon, focus, self.rows, self.width
            )
            found = np.minimum(found * widening(16), self.epsilon)
        for others in (~boxes, boxes & ~by_sets):
            if others.any():
                some = [tables[i] for i in np.flatnonzero(others)]
                found[others] = leakages(some, self.epsilon[others])
        return found

    def refine(self, x: int, y: int, enough: float) -> tuple[float, Floats, Floats]:
        """The reference bound of one pair, its a and its shares."""
        from deptriad.totals import _kernels

        bound, a, shares = _kernels.refine(self.sources, self.epsilon, x, y, self.width, enough)
        return float(bound), a, shares


def _laid_out(tables: list[Table]) -> tuple[Sources, int]:
    """Tables end to end with the sums of their sets, and the most points that a source may have."""
    from deptriad.totals import _kernels as kernels

    rows = tables[0].shape[0]
    columns = np.array([table.shape[1] for table in tables])
    edges = [
        (x.lower, x.upper) if isinstance(x, Box) else (x.table, x.table)  # a table: twice the same
        for x in tables
    ]
    unbounded = np.full(rows, np.inf)
    spare = np.array([x.spare if isinstance(x, Box) else unbounded for x in tables])
    surplus = np.array([x.surplus if isinstance(x, Box) else unbounded for x in tables])
    few = columns <= kernels.FEW
    sets = np.where(few, rows << np.minimum(columns, kernels.FEW), 0)
    set_starts = np.cumsum(sets) - sets
    top, low = np.zeros(sets.sum()), np.zeros(sets.sum())
    order = np.zeros(sets.sum(), dtype=np.int64)
    for i in np.flatnonzero(few):
        shape = rows, 1 << int(columns[i])
        place = slice(set_starts[i], set_starts[i] + sets[i])
        views = (array[place].reshape(shape) for array in (top, low, order))
        kernels.sum_sets(*edges[i], spare[i], surplus[i], *views)
    sources = kernels.Sources(
        lower=np.concatenate([low_edge.ravel() for low_edge, _ in edges]),
        upper=np.concatenate([high_edge.ravel() for _, high_edge in edges]),
        starts=np.cumsum(rows * columns) - rows * columns,
        columns=columns,
        spare=spare,
        surplus=surplus,
        top=top,
        low=low,
        order=order,
        set_starts=set_starts,
    )
    widest = np.where(few, 1 << np.minimum(columns, kernels.FEW), columns + 1)
    return sources, int(max(widest.max(), kernels.SLOPES + 2))


def _certify(target: str, own: float, released: Mapping[str, float], packed: _Packed) -> Proof:
    """The least of all forms, with its proof (maths §5)."""
    ceiling = sum_up([own, *packed.epsilon])
    if packed.epsilon.size == 1:
        exact = min(sum_up([own, packed.leakages[0]]), ceiling)
        return Proof(target, own, released, "one source", exact)
    bound, pairs, a, shares = _refined(packed)
    slack = rounding_slack(packed.epsilon)
    value = sum_up([own, max(bound, 0.0), slack])
    if value >= ceiling:
        return Proof(target, own, released, "sum of budgets", ceiling)
    form: Form = "reference" if len(pairs) else "plain"
    return Proof(target, own, released, form, value, pairs, a, shares)


def _refined(packed: _Packed) -> tuple[float, Integers, Floats, Floats]:
    """The largest bound of any pair, and (a, λ) of the pairs that needed them.

    Pairs come by falling plain bound. Once that is not above what some pair already has, the rest stay plain.
    """
    waiting = np.argsort(-packed.plain, axis=None, kind="stable")
    pairs: list[tuple[int, int]] = []
    a: list[Floats] = []
    shares: list[Floats] = []
    highest = -math.inf
    for place in waiting:
        x, y = divmod(int(place), packed.rows)
        if x == y:
            continue
        bound = float(packed.plain[x, y])
        if bound <= highest:
            break
        better, at, share = packed.refine(x, y, highest)
        if better < bound:
            bound = better
            pairs.append((x, y))
            a.append(at)
            shares.append(share)
        highest = max(highest, bound)
    size = packed.epsilon.size
    return (
        highest,
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        np.array(a).reshape(-1, size),
        np.array(shares).reshape(-1, size),
    )


def rounding_slack(epsilon: Floats) -> float:
    """How far a computed plain or reference bound of m sources may be off, generously.

    Sums of up to m positive terms appear in k, in W and over the sources, a few roundings each; every logarithm is
    taken so that an error of its argument by ρ moves its term by at most about 2ρ·ε_i, or ρ·λ_i·R, and Σ λ_i = 1. So
    the whole is off by at most about (14m + 30) roundings of R = Σ ε_i. A second computation may be off as far.
    """
    return float((32 * epsilon.size + 128) * ROUNDOFF * epsilon.sum())


# --- many targets -----------------------------------------------------------------------------------------------

PROMISES = (
    "certified is a bound: no joint distribution with these tables gives away more,\n"
    "for all ε-LDP mechanisms with independent noise; it covers the target values that have a row in the tables.\n"
    "budgets, the sum of all ε, is a bound too.\n"
    "paired and pairwise are estimates: bounds only if the other answers are independent given the target."
)


class Totals(ByTarget[Total]):
    """The totals of many targets, by name; prints as a table.

    Examples
    --------
    >>> import deptriad as dt
    >>> coin = dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="xor")
    >>> Totals([target_total({"one": coin, "two": coin}, {"one": 1.0, "two": 1.0})])
    certified is a bound: no joint distribution with these tables gives away more,
    for all ε-LDP mechanisms with independent noise; it covers the target values that have a row in the tables.
    budgets, the sum of all ε, is a bound too.
    paired and pairwise are estimates: bounds only if the other answers are independent given the target.
    <BLANKLINE>
                 estimate  estimate      bound    bound
    target  own    paired  pairwise  certified  budgets
    xor       0         0         0      0.434    2.000
    """

    called = ("total", "of")

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each target: target, own, paired, pairwise, certified, budgets."""
        return columns_of(self.values(), ("target", *NUMBERS))

    def _repr_html_(self) -> str:
        odds = [
            "",
            "odds moved at most",
            *(f"{times(each.certified)} times" for each in self.values()),
        ]
        rows = [[*row, factor] for row, factor in zip(self._rows(), odds, strict=True)]
        return html_table.table(rows, below=PROMISES.splitlines(), headings=2)

    def __repr__(self) -> str:
        return "\n".join([PROMISES, "", *aligned(self._rows())])

    def _rows(self) -> list[list[str]]:
        """Two headings, and a row for each target."""
        rows = [["", *(KINDS.get(name, "") for name in NUMBERS)], ["target", *NUMBERS]]
        return rows + [
            [printable(target), *(_shown(total, name) for name in NUMBERS)]
            for target, total in self.items()
        ]


# --- approximate LDP ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ApproximateTotal:
    """(ε, δ) of a target when the mechanisms are only (ε, δ)-LDP.

    Parameters
    ----------
    estimate_epsilon, estimate_delta
        The sums of the pairwise ε' and δ'. An ESTIMATE: a bound only if the answers are independent given the target.
    epsilon, delta
        The plain sums of all budgets and of all δ: the only bound known here.
    """

    target: str
    estimate_epsilon: float
    estimate_delta: float
    epsilon: float
    delta: float


def approximate_total(
    tables: Mapping[str, Table],
    budgets: Mapping[str, float],
    deltas: Mapping[str, float],
    own: float = 0.0,
    own_delta: float = 0.0,
    at_delta: Mapping[str, float] | None = None,
) -> ApproximateTotal:
    """Totals of one target under approximate LDP: an estimate from pairwise leakages, and the plain sums as a bound.

    Parameters
    ----------
    tables, budgets, own
        As for ``target_total``.
    deltas, own_delta
        δ of each source's mechanism, and of the target's own.
    at_delta
        δ' that the estimate allows each source about the target; by default its mechanism's δ, at which its ε' is
        never above its ε. A smaller one may need an infinite ε'.

    Examples
    --------
    >>> import deptriad as dt
    >>> table = dt.Conditional([[0.9, 0.1], [0.2, 0.8]], target="sex")
    >>> total = approximate_total({"age": table}, {"age": 1.0}, {"age": 1e-6}, own=0.5)
    >>> round(total.estimate_epsilon, 4), total.epsilon, total.delta
    (1.2063, 1.5, 1e-06)
    """
    target = shared_target(tables)
    own = finite(own, f"own budget of {target!r}")
    given = _budgets(tables, budgets)
    lost = _deltas(tables, deltas, "deltas")
    allowed = lost if at_delta is None else _deltas(tables, at_delta, "at_delta")
    own_lost = float(as_probability(own_delta, "own_delta"))
    estimates, spent = [], []
    for name, table in tables.items():
        if given[name] > 0.0 or lost[name] > 0.0:
            curve = profile(table)
            answer = curve.leakage(given[name], mechanism_delta=lost[name], delta=allowed[name])
            estimates.append(float(np.asarray(answer)))
            spent.append(allowed[name])
    return ApproximateTotal(
        target=target,
        estimate_epsilon=sum_up([own, *estimates]) if np.isfinite(estimates).all() else math.inf,
        estimate_delta=min(sum_up([own_lost, *spent]), 1.0),
        epsilon=sum_up([own, *given.values()]),
        delta=min(sum_up([own_lost, *lost.values()]), 1.0),
    )


def _deltas(
    tables: Mapping[str, Table], deltas: Mapping[str, float], what: str
) -> dict[str, float]:
    """A probability for each table, in the order of the tables."""
    if not isinstance(deltas, Mapping):
        raise ValueError(f"{what} is {deltas!r}, expected a mapping from each source to its δ")
    for name in (*tables, *deltas):
        if (name in tables) != (name in deltas):
            raise ValueError(
                f"{what} has {list(deltas)}, expected one number for each of {list(tables)}"
            )
    return {name: float(as_probability(deltas[name], f"{what} of {name!r}")) for name in tables}
