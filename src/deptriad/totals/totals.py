"""What all releases together give away about one target: two estimates, a bound, and its proof (maths §5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deptriad.data.results import ByTarget, columns_of
from deptriad.totals.certificate import Released, certify
from deptriad.totals.proof import Proof
from deptriad.totals.shared_target import Table, budgets_by_source, shared_target
from deptriad.utils import html_table
from deptriad.utils.arrays import as_finite_budget
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import aligned, printable, rounded_up, times


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

    Returns
    -------
    Total
        Two estimates, and a certified bound with its proof.

    Raises
    ------
    ValueError
        Tables of different target values, or budgets that are not theirs.

    Examples
    --------
    The target is the exclusive or of two fair coins: each alone says nothing, both together do.

    >>> import deptriad as dt
    >>> coin = dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="xor")
    >>> target_total({"first": coin, "second": coin}, {"first": 1.0, "second": 1.0})
    Total(xor: own=0, paired=0, pairwise=0, certified=0.434, budgets=2.000)
    """
    target = _named(tables, target)
    own = as_finite_budget(own, f"own budget of {target!r}")
    given = budgets_by_source(tables, budgets)
    released = {name: epsilon for name, epsilon in given.items() if epsilon > 0.0}
    telling = [name for name in released if tables[name].shape[1] > 1]
    everything = sum_up([own, *given.values()])
    if not telling or tables[telling[0]].shape[0] < 2:
        # no source, or one of one value, or a target of one: there is nothing to tell
        proof = Proof(target, own, released, "plain", own)
        return Total(target, own, own, own, own, everything, proof)
    sources = Released([tables[name] for name in telling], [released[name] for name in telling])
    proof = certify(target, own, released, sources)
    pairwise = sum_up([own, *sources.leakages])
    return Total(
        target=target,
        own=own,
        pairwise=pairwise,
        # the sum over the worst pair has a rounding of its own
        paired=min(sum_up([own, sources.paired]), pairwise),
        certified=proof.value,
        budgets=everything,
        proof=proof,
    )


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
        odds = ["", "odds moved at most"]
        odds += [f"{times(each.certified)} times" for each in self.values()]
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
