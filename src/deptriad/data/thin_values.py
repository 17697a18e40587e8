"""Merging thin values: into (other), or a neighbouring bin, in the schema and in the counts alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptriad.data.attribute import Attribute
from deptriad.data.categories import bin_labels
from deptriad.data.counts import Counts
from deptriad.data.table_layout import Layout
from deptriad.utils.arrays import Integers

Moved = tuple[str, str, int, str]
"""Attribute, value, its records, and what was done about it."""


def merged(counts: Counts, min_records: int) -> tuple[Counts, list[Moved]]:
    """Counts whose values all have enough records, as far as merging can do that, and what was merged."""
    attributes, places, moved = [], [], []
    for attribute in counts.schema:
        records = counts.singles(attribute.name, weighted=False)
        merge = _merged_categories if attribute.edges is None else _merged_bins
        after, place = merge(attribute, records, min_records)
        attributes.append(after)
        places.append(place)
        thin = thin_of(records, max(min_records, 1))
        for code in _joined(place, attribute, after):
            if attribute.edges is not None and not thin[code]:
                continue  # a bin that took in its neighbour
            into, number = f"merged into {after.values[place[code]]}", int(records[:, code].sum())
            moved.append((attribute.name, attribute.values[code], number, into))
    schema = counts.schema.of(attributes)
    cells = _regrouped(counts.cells, counts.layout, Layout(schema.sizes), places)
    weights = counts.weights
    if weights is not None:
        weights = _regrouped(weights, counts.layout, Layout(schema.sizes), places)
    joint = counts.joint.regrouped(schema, places) if counts.joint else None
    return Counts(schema, counts.sources, cells, weights, counts.by, joint), moved


def _joined(place: Integers, before: Attribute, after: Attribute) -> list[int]:
    """Old codes that share a new code with another, or are called something else now."""
    return [
        code
        for code in range(place.size)
        if (place == place[code]).sum() > 1 or before.values[code] != after.values[place[code]]
    ]


def thin_of(records: NDArray[Any], min_records: int) -> NDArray[np.bool_]:
    """Which values (columns) have too few records, given those of each group (rows): two groups must have enough."""
    return np.asarray((records >= min_records).sum(axis=0) < min(2, len(records)))


def _merged_categories(
    attribute: Attribute, records: Integers, min_records: int
) -> tuple[Attribute, Integers]:
    """The attribute after merging, and the new code of each old one.

    Thin categories, and a thin (missing), become (other); the rarest others join until that is not thin.
    """
    declared, size = attribute.declared, attribute.size
    pool = set(np.flatnonzero(thin_of(records, min_records)).tolist())
    if not records[:, sorted(pool)].any():  # values that no one has are no reason to merge any
        return attribute, np.arange(size)
    if attribute.unseen == "other":
        pool.add(declared)
    rarest = sorted(range(declared), key=lambda code: (int(records[:, code].sum()), code))
    while thin_of(records[:, sorted(pool)].sum(axis=1, keepdims=True), min_records)[0]:
        more = [code for code in rarest if code not in pool]
        if len(more) < 2:
            break
        pool.add(more[0])
    kept = [code for code in range(declared) if code not in pool]
    if not kept:  # something must stay declared: the most frequent one
        kept = [rarest[-1]]
        pool.discard(rarest[-1])
    missing = attribute.missing
    if missing == "category" and size - 1 in pool:
        missing = "other"
    after = attribute.keeping(kept, missing=missing, unseen="other")
    place = np.full(size, len(kept))
    place[kept] = np.arange(len(kept))
    if missing == "category":
        place[size - 1] = after.size - 1
    return after, place


def _merged_bins(
    attribute: Attribute, records: Integers, min_records: int
) -> tuple[Attribute, Integers]:
    """The same where a thin bin joins the neighbour with fewer records, until none is thin or one is left."""
    edges = list(attribute.edges or ())
    groups = [[code] for code in range(attribute.declared)]

    def total(group: list[int]) -> Integers:
        return np.asarray(records[:, group].sum(axis=1, keepdims=True))

    while len(groups) > 1:
        thin = [at for at, group in enumerate(groups) if thin_of(total(group), min_records)[0]]
        if not thin:
            break
        at = min(thin, key=lambda place: int(total(groups[place]).sum()))
        sides = [side for side in (at - 1, at + 1) if 0 <= side < len(groups)]
        low = min(at, min(sides, key=lambda side: int(total(groups[side]).sum())))
        groups[low : low + 2] = [groups[low] + groups[low + 1]]
        del edges[low + 1]
    whole = bin_labels(edges)  # what was merged loses its own label
    after = replace(
        attribute, edges=edges, labels=[each for each in attribute._labels if each[0] in whole]
    )
    place = np.empty(attribute.size, dtype=np.int64)
    for new, group in enumerate(groups):
        place[group] = new
    extra = attribute.size - attribute.declared  # (other) and (missing) stay what they are
    place[attribute.declared :] = len(groups) + np.arange(extra)
    return after, place


def _regrouped(
    cells: NDArray[Any], before: Layout, after: Layout, places: list[Integers]
) -> NDArray[Any]:
    """The same counts with old codes added up under their new ones."""
    new = np.zeros((len(cells), after.cells), dtype=cells.dtype)
    every: Any = slice(None)
    for i, j in before.pairs:
        if i == j:
            np.add.at(after.single(new, i), (every, places[i]), before.single(cells, i))
        else:
            cell = every, places[i][:, None], places[j]
            np.add.at(after.table(new, i, j), cell, before.table(cells, i, j))
    return new
