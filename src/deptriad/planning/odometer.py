"""Odometer: what everything that a person was asked so far has told about each attribute at most (maths §12).

Totals of several collections are never added up: two that ask X₁ and X₂ apart tell 0 each about X₁ ⊕ X₂, and 0.434
together. What holds is worked out again from the union of all reports; whatever cannot be counted with the others adds
its whole ε, since no likelihood of it differs by more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deptriad.analysis.analysis import Analysis
from deptriad.chains.chain import Chain
from deptriad.planning.history import Asked, Report, Reports, World, as_history, plain, worlds
from deptriad.planning.spent import Spent, Told
from deptriad.planning.together import Together
from deptriad.utils.errors import InvalidValue, Parameter, refuse_unknown
from deptriad.utils.rounding import sum_up

if TYPE_CHECKING:
    from deptriad.planning.plan import Plan

MOST_WORLDS = 20_000
"""Combinations of views that are thought of; entries beyond are counted in full."""

MOST_LOOKED_AT = 200
"""Of these, how many are looked at together."""

Bound = Callable[[str, Reports], tuple[float, str]]
"""What some reports tell about a target at most, and by which way."""

MOST_TIMES = 100_000
"""Steps of a chain between the first and the last time."""


class Odometer:
    """A history, and all that is known to judge it by.

    Parameters
    ----------
    plan
        The plan whose attributes are looked at.
    entries
        What was asked.
    analysis
        Tables of the plan's attributes; None where nothing is known of them.
    chains
        The attributes whose answers change: a Chain each, or None where nothing is known of how.
    anew
        The attribute given whose answer everything else that is asked at a time is drawn anew.
    """

    def __init__(
        self,
        plan: Plan,
        entries: Sequence[Asked],
        analysis: Analysis | None,
        chains: Mapping[str, Chain | None],
        anew: str | None,
    ) -> None:
        self.plan, self.entries, self.chains, self.anew = plan, tuple(entries), chains, anew
        self.choices = [entry.choices(plan.schema) for entry in self.entries]
        self.times = sorted({entry.time for entry in self.entries})
        self.worlds = worlds(self.choices, MOST_WORLDS)
        self.certain = analysis is not None and analysis.uncertainty is None
        self.together = Together(analysis, self._wanted()) if analysis else None

    def _wanted(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Each target with the attributes of reports that can be seen together."""
        for world in self._all_worlds():
            for time in (*self.times, None):
                some = (report.names for report in self._seen_at(time, world.reports))
                names = frozenset(name for each in some for name in each)
                yield from ((target, names) for target in self.plan.names)
            for report in world.reports:
                if len(report.names) > 1:
                    yield from ((target, frozenset(report.names)) for target in self.plan.names)

    def _all_worlds(self) -> Iterator[World]:
        yield from self.worlds
        if self.anew:
            for time in self.times:
                yield from self._worlds_at(time)

    def _worlds_at(self, time: int) -> list[World]:
        """Those of the entries of one time."""
        pairs = zip(self.entries, self.choices, strict=True)
        return worlds([each for entry, each in pairs if entry.time == time], MOST_WORLDS)

    def _moves(self, report: Report) -> bool:
        return any(name in self.chains for name in report.names)

    def _seen_at(self, time: int | None, reports: Reports) -> Reports:
        """Reports about answers that a person has at a time: those that never change, and those of that time."""
        return tuple(each for each in reports if each.time == time or not self._moves(each))

    def _source(self, report: Report) -> tuple[tuple[str, ...], int | None]:
        """Reports of the same answer are of the same source."""
        return report.names, report.time if self._moves(report) else None

    # --- about one target -------------------------------------------------------------------------------------------

    def told(self, target: str) -> Told:
        """What is told about one attribute; of one that changes, about the answer of which most is told."""
        if target not in self.chains or not self.times:
            return self._worst(self.worlds, target, self._about_fixed)
        return max((self._told_at(target, time) for time in (*self.times, None)), key=_most)

    def _told_at(self, target: str, time: int | None) -> Told:
        """About the answer at one time, of an attribute that changes; None is any other time, from the first one on."""

        def about(name: str, reports: Reports) -> tuple[float, str]:
            return self._about_moving(name, reports, time)

        found = [self._worst(self.worlds, target, about)]
        if (chain := self.chains[target]) is not None:
            budgets, others = self._by_itself(target)
            ways = [(budgets, others, "chain")]
            if self.anew == target:
                ways.append((self._totals_by_time(target), [], "chain, anew"))
            found += [
                found[0]._replace(most=sum_up([self._followed(chain, each, time), *rest]), by=by)
                for each, rest, by in ways
            ]
        return min(found, key=_most)._replace(time=time)

    def _worst(self, some: Sequence[World], target: str, bound: Bound) -> Told:
        """The most that any combination of views tells; one that cannot tell as much is passed over.

        One view and ε of all others bound a combination. That bound stands, too, where too many would be looked at.
        """
        views = {view for world in some for view in world.views}
        alone = {view: bound(target, view) for view in views}
        capped = sorted(((self._cap(target, each, alone), each) for each in some), key=_cap)[::-1]
        found: list[tuple[float, str]] = []
        for number, (cap, world) in enumerate(capped):
            if found and cap[0] <= max(found)[0]:
                break
            if number == MOST_LOOKED_AT:
                found.append(cap)
                break
            value, by = bound(target, world.reports)
            found.append(min([cap, (sum_up([value, world.rest]), by)], key=_first))
        return Told(target, *max(found, key=_first), max(world.plain for world in some))

    def _cap(
        self, target: str, world: World, alone: Mapping[Reports, tuple[float, str]]
    ) -> tuple[float, str]:
        """The least that one view, or a plan's file, and ε of all else say about a combination."""
        sums = [plain(view) for view in world.views]
        ways = [(world.plain, "sum of ε"), *self._by_files(target)]
        for place, view in enumerate(world.views):
            value, by = alone[view]
            others = sums[:place] + sums[place + 1 :]
            ways.append((sum_up([value, world.rest, *others]), by))
        return min(ways, key=_first)

    def _by_files(self, target: str) -> list[tuple[float, str]]:
        """What each plan says in its file, and all that was asked besides in full; only without an analysis.

        It says nothing about answers of other times.
        """
        if self.together is not None or target in self.chains:
            return []
        largest = [max(map(plain, each)) for each in self.choices]
        found = []
        for place, entry in enumerate(self.entries):
            if (own := entry.promised(self.plan.schema[target])) is not None:
                others = largest[:place] + largest[place + 1 :]
                found.append((sum_up([own, *others]), "plan's own"))
        return found

    def _at_one_time(self, target: str, reports: Reports) -> tuple[float, str]:
        """By the joint table, and where that is unknown or uncertain by the tables of pairs."""
        if self.together is None:
            return plain(reports), "sum of ε"
        exact = self.together.joint(target, reports)
        if exact is not None and self.certain:
            return exact, "joint"
        certified = self.together.certified(target, reports, self._source)
        if exact is not None and exact <= certified:
            return exact, "joint"
        return certified, "certified"

    def _about_moving(self, target: str, reports: Reports, time: int | None) -> tuple[float, str]:
        """Reports about the answers at that time together, and all others in full."""
        now = self._seen_at(time, reports)
        value, by = self._at_one_time(target, now)
        return sum_up([value, *_besides(now, reports)]), by

    def _about_fixed(self, target: str, reports: Reports) -> tuple[float, str]:
        """The same at the best time; or all reports by tables of pairs, an answer that changes as one source a time."""
        seen = list(dict.fromkeys(self._seen_at(time, reports) for time in (*self.times, None)))
        found = []
        for now in seen if len(seen) > 2 else seen[:1]:  # of one time there is nothing besides
            value, by = self._at_one_time(target, now)
            found.append((sum_up([value, *_besides(now, reports)]), by))
        if self.together is not None and len(seen) > 2:
            found.append((self.together.certified(target, reports, self._source), "certified"))
        return min(found, key=_first)

    # --- by a chain ---------------------------------------------------------------------------------------------------

    def _by_itself(self, target: str) -> tuple[dict[int, float], list[float]]:
        """ε of the target's own reports by time, and of all others by entry: the most of the views of each entry."""
        own: dict[int, float] = {}
        others = []
        for entry, views in zip(self.entries, self.choices, strict=True):
            alone = [[each for each in view if each.names == (target,)] for view in views]
            besides = [[each for each in view if each.names != (target,)] for view in views]
            own[entry.time] = sum_up([own.get(entry.time, 0.0), max(map(plain, alone))])
            others.append(max(map(plain, besides)))
        return own, others

    def _totals_by_time(self, target: str) -> dict[int, float]:
        """The total of each time, in the place of a budget: a bound where all else is drawn anew (maths §12)."""
        return {
            time: self._worst(self._worlds_at(time), target, self._at_one_time).most
            for time in self.times
        }

    def _followed(self, chain: Chain, budgets: Mapping[int, float], time: int | None) -> float:
        """The total of a chain at a time; for None the largest of those where nothing is asked, one after the last."""
        first, last = self.times[0], self.times[-1]
        every = range(first, last + 2)
        totals: list[float] = chain.totals(
            [budgets.get(each, 0.0) for each in every]
        ).total.tolist()
        if time is not None:
            return totals[time - first]
        return max(totals[each - first] for each in every if each not in budgets)


def _most(told: Told) -> float:
    return told.most


def _first(pair: tuple[float, str]) -> float:
    return pair[0]


def _cap(pair: tuple[tuple[float, str], World]) -> float:
    return pair[0][0]


def _besides(some: Reports, every: Reports) -> list[float]:
    """ε of the reports that are not among some."""
    left = list(every)
    for report in some:
        left.remove(report)
    return [report.epsilon for report in left]


def reading(
    plan: Plan,
    history: Any,
    analysis: Analysis | None,
    chains: Mapping[str, Chain | None] | None,
    anew: str | None,
) -> Spent:
    """What a history has told about each attribute of a plan, beside its promises: see ``Plan.spent``."""
    entries = as_history(history)
    moving = _checked_chains(plan, entries, chains or {})
    _check_analysis(plan, analysis)
    if anew is not None:
        _check_anew(anew, entries, plan, moving)
    odometer = Odometer(plan, entries, analysis, moving, anew)
    return Spent(
        tuple(odometer.told(name) for name in plan.names),
        {name: float(each) for name, each in plan.total.items()},
        len(entries),
        tuple(odometer.times),
        tuple(moving),
        analysis.certainty if analysis else "",
        lambda entry: reading(plan, [*entries, entry], analysis, chains, anew),
    )


def _check_analysis(plan: Plan, analysis: Any) -> None:
    if analysis is None:
        return
    if not isinstance(analysis, Analysis):
        raise InvalidValue(
            Parameter("analysis"),
            f" is a {type(analysis).__name__}, expected an Analysis: analyze(Prior.from_data(…))",
        )
    for each in plan.schema:
        if each.name not in analysis.names or analysis.schema[each.name].values != each.values:
            raise InvalidValue(
                Parameter("analysis"),
                f" does not have the plan's attribute {each.name!r} with its {each.size} values: analyze a prior with "
                "plan.schema",
            )
    if not analysis.tables and len(analysis.names) > 1:
        raise InvalidValue(
            Parameter("analysis"),
            " was loaded from a file, which holds triads and no tables: analyze the prior again",
        )


def _checked_chains(
    plan: Plan, entries: Sequence[Asked], chains: Mapping[str, Chain | None]
) -> dict[str, Chain | None]:
    if not isinstance(chains, Mapping) or not all(
        each is None or isinstance(each, Chain) for each in chains.values()
    ):
        raise InvalidValue(
            Parameter("chains"),
            f" is {chains!r}, expected a Chain, or None, for each attribute whose answers change",
        )
    refuse_unknown(chains, plan.names, Parameter("chains", key=""))
    for name, chain in chains.items():
        if chain is not None:
            _check_chain_of(plan, name, chain)
    times = [entry.time for entry in entries]
    if times and any(chains.values()) and max(times) - min(times) > MOST_TIMES:
        raise ValueError(
            f"there are {max(times) - min(times):,} steps from time {min(times)} to time {max(times)}, expected at "
            f"most {MOST_TIMES:,}: number the collections, so that a chain has one step from each to the next"
        )
    return dict(chains)


def _check_chain_of(plan: Plan, name: str, chain: Chain) -> None:
    """A chain of another attribute would say a wrong number without a word."""
    about, values, size = chain.forward.target, chain.forward.shape[0], plan.schema[name].size
    if about in plan.names and about != name:
        raise InvalidValue(
            Parameter("chains", key=name), f" is a chain of {about!r}, expected one of {name!r}"
        )
    if values != size:
        raise InvalidValue(
            Parameter("chains", key=name),
            f" is a chain of {values} values, expected the {size} of {name!r}",
        )


def _check_anew(
    anew: str, entries: Sequence[Asked], plan: Plan, moving: Mapping[str, Chain | None]
) -> None:
    """It needs a chain, and nothing that never changes is drawn anew."""
    refuse_unknown([anew], plan.names, Parameter("anew"))
    if moving.get(anew) is None:
        raise InvalidValue(
            *(Parameter("anew"), f" is {anew!r}, which has no Chain in ", Parameter("chains")),
            ": expected an attribute that has one",
        )
    for report in (
        each for entry in entries for view in entry.choices(plan.schema) for each in view
    ):
        if fixed := [name for name in report.names if name not in moving]:
            raise InvalidValue(
                Parameter("anew"),
                f" takes all else that was asked as drawn anew each time, but {fixed[0]!r} is not in ",
                Parameter("chains"),
                f", so that it stays the same: pass chains={{…, {fixed[0]!r}: None}} if it does not",
            )
