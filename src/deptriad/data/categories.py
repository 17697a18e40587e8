"""The categories or edges that an attribute declares: checked, and put into words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from deptriad.utils.text import brief, closest

Value = str | float | int | bool
Kind = Literal["text", "number", "boolean", "bins"]


def kind_of(value: object) -> Literal["text", "number", "boolean"]:
    """What a category is."""
    if isinstance(value, bool | np.bool_):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def checked_categories(name: str, given: Sequence[Value]) -> tuple[Value, ...]:
    """Distinct categories of one kind as plain Python values; whole numbers as int."""
    if isinstance(given, str | Mapping) or not hasattr(given, "__iter__"):
        raise ValueError(f"attribute {name!r} has categories {brief(given)}, expected a list")
    values = tuple(
        value.item() if isinstance(value, np.generic) else value
        for value in (sorted(given) if isinstance(given, set | frozenset) else given)
    )
    if not values:
        raise ValueError(f"attribute {name!r} has no categories, expected at least one")
    for value in values:
        infinite = isinstance(value, float) and not math.isfinite(value)
        if infinite or not isinstance(value, str | int | float):
            raise ValueError(
                f"attribute {name!r} has the category {brief(value)}, expected text, a finite number or a boolean; "
                "missing values are declared by missing="
            )
    kinds = {kind_of(value): value for value in values}
    if len(kinds) > 1:
        (one, first), (two, second) = list(kinds.items())[:2]
        raise ValueError(
            f"attribute {name!r} mixes {one} ({first!r}) and {two} ({second!r}) in its categories, expected one kind"
        )
    values = tuple(
        int(value) if isinstance(value, float) and value.is_integer() else value for value in values
    )
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise ValueError(f"attribute {name!r} has the category {twice!r} twice, expected once")
    if any(isinstance(value, int) and abs(value) >= 2**53 for value in values):
        raise ValueError(
            f"attribute {name!r} has a category of 2^53 or beyond, where numbers run together: make its column text"
        )
    return values


def checked_edges(name: str, given: Any) -> tuple[float, ...]:
    """Two or more increasing numbers, the outer ones possibly infinite."""
    try:
        edges = tuple(float(edge) for edge in given)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(
            f"attribute {name!r} has edges {brief(given)}, expected a list of numbers of ordinary size"
        ) from None
    if any(isinstance(edge, str | bool) for edge in given):
        raise ValueError(f"attribute {name!r} has edges {brief(given)}, expected a list of numbers")
    if len(edges) < 2:
        raise ValueError(
            f"attribute {name!r} has {len(edges)} edges, expected two or more: where each bin begins and the last ends"
        )
    if not all(low < high for low, high in pairwise(edges)):
        raise ValueError(f"attribute {name!r} has edges {brief(given)}, expected increasing ones")
    return tuple(edge + 0.0 for edge in edges)


def checked_groups(
    name: str, given: Any, categories: Sequence[Value]
) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    """Sets of categories by name: each category in one of them at most, and no name that another category has."""
    pairs = tuple(given.items()) if isinstance(given, Mapping) else tuple(given)
    if pairs and not categories:
        raise ValueError(f"attribute {name!r} has groups and bins, expected groups of categories")
    seen: dict[Value, str] = {}
    for group, members in pairs:
        if not isinstance(group, str) or isinstance(members, str) or not members:
            raise ValueError(
                f"attribute {name!r} has the group {brief(group)}: {brief(members)}, expected a name and a list of "
                "categories"
            )
        for value in members:
            if value not in categories or kind_of(value) != kind_of(categories[0]):
                raise ValueError(
                    f"attribute {name!r} has {value!r} in its group {group!r}, which is none of its categories: "
                    f"{closest(value, labels(categories))}"
                )
            if value in seen:
                raise ValueError(
                    f"attribute {name!r} has {value!r} in its groups {seen[value]!r} and {group!r}, expected one"
                )
            seen[value] = group
    alone = labels([value for value in categories if value not in seen])
    for group, _ in pairs:
        if group in alone:
            raise ValueError(
                f"attribute {name!r} has a group {group!r} and a category of that name outside it: rename the group"
            )
    return tuple((group, tuple(members)) for group, members in pairs)


def checked_labels(name: str, given: Any, values: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What to call values, by what they are called otherwise: text that tells them apart."""
    pairs = tuple(given.items()) if isinstance(given, Mapping) else tuple(map(tuple, given))
    for value, label in pairs:
        if value not in values:
            raise ValueError(
                f"attribute {name!r} has a label for {value!r}, which is none of its values: {closest(value, values)}"
            )
        if not isinstance(label, str) or not label:
            raise ValueError(
                f"attribute {name!r} has the label {brief(label)} for {value!r}, expected text"
            )
    shown = [dict(pairs).get(value, value) for value in values]
    if len(set(shown)) < len(shown):
        twice = next(label for label in shown if shown.count(label) > 1)
        raise ValueError(
            f"attribute {name!r} has two values that are called {twice!r}: put them into one of its groups, or call "
            "them otherwise"
        )
    return pairs


def labels(values: Sequence[Value]) -> tuple[str, ...]:
    """Values in words; floats with twelve digits, or with all of them where those would read alike."""
    short = [f"{value:.12g}" if isinstance(value, float) else str(value) for value in values]
    times = Counter(short)
    return tuple(
        repr(value) if isinstance(value, float) and times[label] > 1 else label
        for value, label in zip(values, short, strict=True)
    )


def bin_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Bins in words: [18, 65), < 18, ≥ 65; the last one with a closed end."""
    bins = []
    for (low, high), (start, stop) in zip(pairwise(edges), pairwise(labels(edges)), strict=True):
        last = high == edges[-1]
        if math.isinf(low) and math.isinf(high):
            bins.append("any")
        elif math.isinf(low):
            bins.append(f"{'≤' if last else '<'} {stop}")
        elif math.isinf(high):
            bins.append(f"≥ {start}")
        else:
            bins.append(f"[{start}, {stop}{']' if last else ')'}")
    return tuple(bins)
