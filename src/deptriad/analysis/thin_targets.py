"""Target values with few records: which they are, what becomes of them, and the note about those that are kept."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from deptriad.data.attribute import MISSING, OTHER
from deptriad.data.counts import Counts
from deptriad.data.thin_values import thin_of
from deptriad.utils.errors import Note, Parameter
from deptriad.utils.text import few, printable

Thin = Literal["keep", "merge", "drop"]


class ThinValue(NamedTuple):
    """A target value with few records, and what was done about it."""

    attribute: str
    value: str
    records: int
    action: str


def action(value: str, records: int, thin: Thin) -> str:
    """What becomes of a thin value that was not merged. That nobody is (missing) or (other) needs no protection."""
    if records == 0 and value in (OTHER, MISSING):
        return "left out"
    if thin == "drop":
        return "dropped"
    return "kept" if records else "no records"


def thin_targets(counts: Counts, min_records: int) -> list[tuple[str, str, int]]:
    """Attribute, value and records of each; a value all of whose records have no weight is an error."""
    found = []
    for attribute in counts.schema:
        records = counts.singles(attribute.name, weighted=False)
        for code in np.flatnonzero(thin_of(records, max(min_records, 1))):
            found.append((attribute.name, attribute.values[code], int(records[:, code].sum())))
        weightless = (records > 0).any(axis=0) & ~counts.singles(attribute.name).any(axis=0)
        if weightless.any():
            value = attribute.values[int(np.argmax(weightless))]
            raise ValueError(
                f"all records with {attribute.name} = {value} have weight 0, so that nothing is known about them: "
                "leave the value out of the schema, or the records out of the data"
            )
    return found


def warn_of(values: Sequence[ThinValue], min_records: int, several: bool) -> None:
    """One note about all that are kept."""
    if not values:
        return
    shown = ", ".join(
        f"{printable(each.attribute)} = {printable(each.value)} ({each.records})"
        for each in values[:10]
    )
    more = f" and {len(values) - 10} more" if len(values) > 10 else ""
    one = len(values) == 1
    number = "1 target value has" if one else f"{len(values)} target values have"
    sources = " in all groups, or in all but one" if several else ""
    said = (
        f"{number} fewer than {min_records} records{sources}, too few to know {'its' if one else 'their'} "
        f"tables by: {shown}{more}; merge or drop them with "
    )
    warnings.warn(Note(said, Parameter("thin", "")), stacklevel=4)


def done_about(facts: Mapping[str, Any]) -> str:
    """What was done about thin values, by the facts of an analysis or a plan, those of an attribute together.

    >>> done_about({"thin": [["town", "A", "dropped"], ["town", "B", "dropped"], ["sex", "x", "kept"]]})
    'Thin values: town: A, B dropped.'
    """
    done: dict[tuple[str, str], list[str]] = {}
    for name, value, action in facts.get("thin", []):
        if action not in ("kept", f"merged into {value}"):
            done.setdefault((name, action), []).append(printable(value))
    said = "; ".join(
        f"{printable(name)}: {few(values, 6)} {printable(action)}"
        for (name, action), values in done.items()
    )
    return f"Thin values: {said}." if said else ""
