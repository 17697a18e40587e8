"""What all releases together give away about one target: two estimates, a bound, and its proof (maths §5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deptriad.data.results import ByTarget, columns_of
from deptriad.totals.certificate import Released, Tables, certify
from deptriad.totals.own_mechanisms import favoured, mechanisms_of
from deptriad.totals.proof import Proof
from deptriad.totals.shared_target import Table, budgets_by_source, shared_target
from deptriad.utils import html_table
from deptriad.utils.arrays import as_finite_budget
from deptriad.utils.rounding import sum_up
from deptriad.utils.text import BECOMES, on_one_screen, printable, rounded_up, surety, times

UNNAMED = "joint totals are for mechanisms that are named, such as mechanisms='grr'"

PAIRS_ALONE = "only tables of pairs were looked at: analysis.totals looks at joint tables, too"


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
    mechanisms
        The mechanism of each source, where leakages and bounds hold for these alone; None where they hold for all.
    joint
        A bound too, for these mechanisms: exact for the joint table of all that is released, which says more than the
        tables of pairs. None where there is none; ``joint_reason`` says why.

    Examples
    --------
    >>> import deptriad as dt
    >>> job = dt.Conditional([[0.7, 0.3], [0.2, 0.8]], target="sex")
    >>> age = dt.Conditional([[0.5, 0.5], [0.4, 0.6]], target="sex")
    >>> dt.target_total({"job": job, "age": age}, {"job": 1.0, "age": 1.0})
    Total(sex: own=0, paired=0.5913, pairwise=0.5913, certified=0.805, budgets=2.000; 50 % sure becomes 69.1 %)
    """

    target: str
    own: float
    pairwise: float
    paired: float
    certified: float
    budgets: float
    proof: Proof = field(compare=False)
    mechanisms: Mapping[str, str] | None = None
    joint: float | None = None
    joint_reason: str = UNNAMED

    @property
    def least(self) -> float:
        """The smallest of the bounds: it holds. Over wide boxes of joint tables that may be the certified one."""
        return self.certified if self.joint is None else min(self.certified, self.joint)

    @property
    def least_by(self) -> str:
        """Which bound that is: "joint" or "certified"."""
        return "certified" if self.joint is None or self.certified < self.joint else "joint"

    def __repr__(self) -> str:
        names = NUMBERS if self.joint is None else WITH_JOINT
        numbers = ", ".join(f"{name}={_shown(self, name)}" for name in names)
        return f"Total({printable(self.target)}: {numbers}; {BECOMES} {surety(self.least)})"


NUMBERS = ("own", "paired", "pairwise", "certified", "budgets")
"""The columns of a table of totals, after the target."""

WITH_JOINT = ("own", "paired", "pairwise", "joint", "certified", "budgets")
"""The same where mechanisms are named."""

KINDS = {
    "paired": "estimate",
    "pairwise": "estimate",
    "joint": "bound",
    "certified": "bound",
    "budgets": "bound",
}
"""What each of them is; the own budget is just that."""


def _shown(total: Total, name: str) -> str:
    """A number as text: a bound rounded up, so that what is read is still a bound; an estimate to nearest."""
    if getattr(total, name) is None:
        return "–"
    number = float(getattr(total, name))
    return rounded_up(number) if KINDS.get(name) == "bound" else f"{number:.4g}"


def target_total(
    tables: Mapping[str, Table],
    budgets: Mapping[str, float],
    own: float = 0.0,
    target: str | None = None,
    *,
    mechanisms: str | Mapping[str, str] | None = None,
    laid_out: dict[tuple[str, ...], Tables] | None = None,
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
    mechanisms
        What reports the sources, a key of ``deptriad.mechanisms.mechanisms`` for all, or one for each: leakages and
        bound then hold for these alone, and are smaller. By default they hold for all mechanisms.
    laid_out
        Where tables that were laid out are kept for the next call with the same ones.

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
    >>> dt.target_total({"first": coin, "second": coin}, {"first": 1.0, "second": 1.0})
    Total(xor: own=0, paired=0, pairwise=0, certified=0.434, budgets=2.000; 50 % sure becomes 60.7 %)
    """
    target = _named(tables, target)
    own = as_finite_budget(own, f"own budget of {target!r}")
    given = budgets_by_source(tables, budgets)
    released = {name: epsilon for name, epsilon in given.items() if epsilon > 0.0}
    telling = [name for name in released if tables[name].shape[1] > 1]
    everything = sum_up([own, *given.values()])
    if everything == math.inf:
        raise ValueError(
            "the budgets sum to more than 1.7e308, the largest number: make them smaller"
        )
    known = None if mechanisms is None else mechanisms_of(mechanisms, list(released))
    reason = UNNAMED if known is None else PAIRS_ALONE
    if not telling or tables[telling[0]].shape[0] < 2:
        # no source, or one of one value, or a target of one: there is nothing to tell
        proof = Proof(target, own, released, "plain", own, mechanisms=known)
        return Total(target, own, own, own, own, everything, proof, known, joint_reason=reason)
    about = _laid_out(tables, telling, released, known, laid_out)
    sources = Released(about, [released[name] for name in telling])
    proof = certify(target, own, released, sources, known)
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
        mechanisms=known,
        joint_reason=reason,
    )


def _laid_out(
    tables: Mapping[str, Table],
    telling: list[str],
    budgets: Mapping[str, float],
    mechanisms: Mapping[str, str] | None,
    kept: dict[tuple[str, ...], Tables] | None,
) -> Tables:
    """The tables of the sources that tell something; those for all mechanisms are kept for the next time."""
    some = [tables[name] for name in telling]
    if mechanisms is not None:
        sizes = {name: tables[name].shape[1] for name in telling}
        return Tables(some, [favoured(mechanisms[n], sizes[n], budgets[n]) for n in telling])
    known = {} if kept is None else kept
    key = (some[0].target, *telling)
    if key not in known:
        known[key] = Tables(some)
    return known[key]


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
    "for {mechanisms} with independent noise; it covers the target values that have a row in the tables.\n"
    "{joint}"
    "budgets, the sum of all ε, is a bound too.\n"
    "paired and pairwise are estimates: bounds only if the other answers are independent given the target."
)

JOINT = (
    "joint is a bound for the same reports, exact for the joint table of all that is released;\n"
    "the smaller of the two holds.\n"
)


def promises(totals: Iterable[Total]) -> str:
    """What the numbers of some totals promise, and for which mechanisms."""
    every = list(totals)
    named = sorted({name for each in every for name in (each.mechanisms or {}).values()})
    words = f"reports by {', '.join(named)}" if named else "all ε-LDP mechanisms"
    reasons = {each.joint_reason: None for each in every if named and each.joint is None}
    absent = "".join(f"no joint total: {reason}.\n" for reason in reasons)
    joint = JOINT if any(each.joint is not None for each in every) else ""
    return PROMISES.format(mechanisms=words, joint=joint + absent)


class Totals(ByTarget[Total]):
    """The totals of many targets, by name; prints as a table.

    Examples
    --------
    >>> import deptriad as dt
    >>> coin = dt.Conditional([[0.5, 0.5], [0.5, 0.5]], target="xor")
    >>> dt.Totals([dt.target_total({"one": coin, "two": coin}, {"one": 1.0, "two": 1.0})])
    certified is a bound: no joint distribution with these tables gives away more,
    for all ε-LDP mechanisms with independent noise; it covers the target values that have a row in the tables.
    budgets, the sum of all ε, is a bound too.
    paired and pairwise are estimates: bounds only if the other answers are independent given the target.
    <BLANKLINE>
                 estimate  estimate      bound    bound  50 % sure
    target  own    paired  pairwise  certified  budgets    becomes
    xor       0         0         0      0.434    2.000     60.7 %
    """

    called = ("total", "of")

    def columns(self) -> dict[str, list[Any]]:
        """Columns of the frame, a row for each target: target, own, paired, pairwise, certified, budgets.

        Where there are totals from a joint table, joint, too, before certified.
        """
        return columns_of(self.values(), ("target", *self._numbers))

    @property
    def _numbers(self) -> tuple[str, ...]:
        return WITH_JOINT if any(each.joint is not None for each in self.values()) else NUMBERS

    def _repr_html_(self) -> str:
        odds = ["", "odds moved at most"]
        odds += [f"{times(each.least)} times" for each in self.values()]
        rows = [[*row, factor] for row, factor in zip(self._rows(), odds, strict=True)]
        return html_table.table(rows, below=promises(self.values()).splitlines(), headings=2)

    def __repr__(self) -> str:
        above = promises(self.values()).splitlines()
        return "\n".join([*above, "", *on_one_screen(self._rows(), above, headings=2)])

    def _rows(self) -> list[list[str]]:
        """Two headings, and a row for each target."""
        names = self._numbers
        rows = [["", *(KINDS.get(name, "") for name in names), "50 % sure"]]
        rows.append(["target", *names, "becomes"])
        return rows + [
            [printable(target), *(_shown(total, name) for name in names), surety(total.least)]
            for target, total in self.items()
        ]
