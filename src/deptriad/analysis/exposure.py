"""Which attributes are most exposed, by what, and which of them tell each other everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deptriad.analysis.leakage_matrix import Leak
from deptriad.totals.totals import Total
from deptriad.utils.arrays import Booleans, Floats
from deptriad.utils.progress import Progress

if TYPE_CHECKING:
    from deptriad.analysis.analysis import Analysis

ENTIRELY = 0.999
"""Share of a source's budget from which on its report tells as much as a report of the target itself would."""


@dataclass(frozen=True)
class Exposure:
    """How far one attribute is exposed when the others are released.

    Parameters
    ----------
    target
        The attribute.
    source
        Which one of the others tells the most about it; None where none is released.
    leakage
        How much that one tells at most.
    entirely_by
        Which of the others tell as much as a report of the target itself with their budget would.
    total
        What all releases together tell; None where that was not worked out.
    """

    target: str
    source: str | None
    leakage: float
    entirely_by: tuple[str, ...]
    total: Total | None = None

    @property
    def entirely(self) -> int:
        """How many tell everything."""
        return len(self.entirely_by)


@dataclass(frozen=True)
class Exposures:
    """All attributes, most exposed first, and the pairs behind them.

    Parameters
    ----------
    attributes
        One entry for each target that was asked for.
    groups
        Attributes of which each tells everything about each other, two or more.
    pairs
        The leakages of all ordered pairs that were asked for, largest first.
    saturated
        How many ordered pairs leak the whole budget.
    below
        The pairs that do not; all of them where targets or sources were chosen.
    """

    attributes: tuple[Exposure, ...]
    groups: tuple[tuple[str, ...], ...]
    pairs: tuple[Leak, ...]
    saturated: int
    below: tuple[Leak, ...]


def exposures(
    analysis: Analysis,
    epsilon: float | Mapping[str, float],
    targets: Sequence[str] = (),
    sources: Sequence[str] = (),
    *,
    totals: bool = True,
    progress: Progress | None = None,
) -> Exposures:
    """Which attributes are most exposed when each is released with its budget.

    Parameters
    ----------
    analysis
        Of all pairs, with its tables where totals are wanted.
    epsilon
        One budget for all attributes, or a mapping with one for each.
    targets, sources
        Only these; all by default. Totals are of all releases in any case.
    totals
        Whether to bound what all releases together tell, which takes most of the time.
    progress
        Called with the number of totals done, and how many there are.
    """
    names = analysis.names
    for name in (*targets, *sources):
        analysis.schema.index(name)
    budgets = dict(zip(names, analysis.budgets(epsilon).tolist(), strict=True))
    matrix = np.asarray(analysis.leakage(budgets))
    full = _saturated(matrix)
    seen = np.array([not sources or name in sources for name in names])
    wanted = [name for name in names if not targets or name in targets]
    found = []
    for done, target in enumerate(wanted):
        total = analysis.total(target, budgets) if totals else None
        found.append(_exposure(analysis, budgets, matrix, full, seen, target, total))
        if progress and totals:
            progress(done + 1, len(wanted))
    pairs = [
        leak
        for leak in analysis.worst(len(analysis.pairs), budgets)
        if leak.target in wanted and (not sources or leak.source in sources)
    ]
    below = [each for each in pairs if each.leakage < ENTIRELY * budgets[each.source]]
    return Exposures(
        attributes=tuple(sorted(found, key=_most_exposed)),
        groups=_groups(names, full),
        pairs=tuple(pairs),
        saturated=int(full.sum()),
        below=tuple(pairs if targets or sources else below),
    )


def _most_exposed(each: Exposure) -> tuple[float, ...]:
    total = 0.0 if each.total is None else each.total.certified
    return -each.leakage, -total, -each.entirely


def _saturated(matrix: Floats) -> Booleans:
    """Which sources (rows) tell as much about which targets as their budget allows."""
    own = np.diag(matrix)[:, None]
    full: Booleans = (matrix >= ENTIRELY * own) & (own > 0.0)
    np.fill_diagonal(full, False)
    return full


def _exposure(
    analysis: Analysis,
    budgets: Mapping[str, float],
    matrix: Floats,
    full: Booleans,
    seen: Booleans,
    target: str,
    total: Total | None,
) -> Exposure:
    names = analysis.names
    place = names.index(target)
    told = np.where(seen & (np.arange(len(names)) != place), matrix[:, place], 0.0)
    most = float(told.max())
    if not most > 0.0:
        return Exposure(target, None, 0.0, (), total)

    def preference(source: int) -> tuple[bool, bool]:
        """Of those that tell as much: many records first, then the target's near-duplicates."""
        name = names[source]
        thin = fewest_records(analysis, name, target, budgets[name]) is not None
        return thin, not full[place, source]

    alike = np.flatnonzero(told >= (1.0 - 1e-9) * most).tolist()
    worst = min(alike, key=preference) if len(alike) > 1 else alike[0]
    entirely = tuple(names[source] for source in np.flatnonzero(full[:, place] & seen))
    return Exposure(target, names[worst], most, entirely, total)


def _groups(names: Sequence[str], full: Booleans) -> tuple[tuple[str, ...], ...]:
    """Sets in which each tells everything about each, the first that fit in the order of names: no chains of them."""
    mutual = full & full.T
    groups: list[list[int]] = []
    for place in range(len(names)):
        group = next((each for each in groups if mutual[place, each].all()), None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return tuple(tuple(names[place] for place in each) for each in groups if len(each) > 1)


def fewest_records(analysis: Analysis, source: str, target: str, epsilon: float) -> int | None:
    """Records of the rarer of the two target values on which a leakage rests, where they are thin; None where not."""
    prior = analysis.prior
    if prior is None:
        return None
    values = prior.schema[target].values
    records = prior.counts.single(target, weighted=False)
    labels = analysis.where(source, target, epsilon).pair_labels
    fewest = min(int(records[values.index(label)]) for label in labels)
    return fewest if fewest < prior.min_records else None
