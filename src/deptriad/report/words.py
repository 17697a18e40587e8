"""What a reader must know about an analysis, in sentences; counts below a threshold are not told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from deptriad.analysis.analysis import Analysis
from deptriad.analysis.prior import Prior
from deptriad.tables import uncertainty
from deptriad.tables.uncertainty import Confidence
from deptriad.utils.text import printable, told_apart

ALLOWED_FOR = {
    "Relative": "tables somewhat unlike the data’s",
    "Absolute": "tables somewhat unlike the data’s",
    "Spread": "differences between groups",
    "Confidence": "chance in who was asked",
}
"""What each kind of uncertainty is about."""

SEEN = 13
"""Characters of a name that the matrix shows on the smallest screen."""

MOST_CHANGES = 200
"""Thin values that are listed one by one."""


def label(text: str) -> str:
    """A name or a value that can be seen: in quotes if it is blank.

    >>> label("age"), label(" ")
    ('age', '“ ”')
    """
    return printable(text) if text.strip() else f"“{printable(text)}”"


def heads(names: Sequence[str]) -> list[str]:
    """Names over a matrix, which shows their beginnings: those that begin alike show where they differ.

    >>> heads(["legal_marital_status", "unmet_need_for_medical_care", "unmet_need_for_dental_care"])
    ['legal_marital_status', 'unme…medical…', 'unme…dental_…']
    """
    seen = Counter(name[:SEEN] for name in names)
    apart = zip(names, told_apart(names, SEEN), strict=True)
    return [short if seen[name[:SEEN]] > 1 else name for name, short in apart]


def count(number: int, threshold: int) -> str:
    """A count in words: not told below the threshold.

    >>> count(12345, 10), count(3, 10), count(0, 10)
    ('12,345', 'fewer than 10', 'fewer than 10')
    """
    return f"{number:,}" if number >= threshold else f"fewer than {threshold:,}"


def records(analysis: Analysis, threshold: int) -> str | None:
    """How many records there are; None where that is not known."""
    known = None if analysis.prior is None else _records(analysis.prior)
    return None if known is None else count(known, threshold)


def _records(prior: Prior) -> int | None:
    """How many records a prior was counted from; one that was learnt from reports has none."""
    found: int | None = getattr(prior.counts, "records", None)
    return found


def certainty(analysis: Analysis) -> dict[str, str]:
    """What is assumed about the tables: a title, what it means, and what it guarantees."""
    if analysis.uncertainty is None:
        return {
            "title": "The data is taken as it is",
            "means": "The frequencies in the data are taken as the truth. Nothing is added for chance, or for people "
            "who are unlike those in the data.",
            "guarantees": "The bounds hold for a population with exactly these frequencies of pairs of answers.",
        }
    means = uncertainty.in_words(analysis.uncertainty)
    if not isinstance(analysis.uncertainty, Confidence):
        guarantees = (
            "The bounds hold for every population within that margin. That the margin is wide enough is an assumption, "
            "which the data cannot prove."
        )
    elif analysis.facts.get("values_chosen_from_the_records"):
        guarantees = "No guarantee: the values were chosen by looking at the same records. Fix them beforehand for one."
    else:
        guarantees = (
            "A guarantee, for records drawn independently from the population and values that were fixed beforehand: "
            f"with a probability of at least {analysis.uncertainty.level:g} all bounds from pairs hold at once, and so "
            "do those of one table here in which joint tables take part."
        )
    return {
        "title": f"Allowed for: {ALLOWED_FOR[type(analysis.uncertainty).__name__]}",
        "means": f"{means[0].upper()}{means[1:]}.",
        "guarantees": guarantees,
    }


def caveats(analysis: Analysis) -> list[str]:
    """What would mislead if it were not said."""
    found = []
    facts = analysis.facts
    if facts.get("values_chosen_from_the_records"):
        found.append(
            "The values were chosen by looking at the data itself, which is right for public data only."
        )
    if facts.get("weighted"):
        found.append("Records were weighted.")
    if (sources := facts.get("sources", 1)) > 1:
        found.append(
            f"The data comes from {sources} groups; tables are their mean. No records have just these, so that "
            "nothing is shown as attained."
        )
    if analysis.prior is None:
        return found
    if _records(analysis.prior) is None:
        found.append("The tables were estimated from perturbed reports; records were not seen.")
    if any(each.action == "kept" for each in analysis.prior.thin):
        found.append(
            f"Some values have fewer than {analysis.prior.min_records:,} records, too few to know their tables well; "
            "they were kept, and are listed below. Numbers about them may tell of single people: merge or drop them "
            "before showing this page to others."
        )
    if any(each.action == "dropped" for each in analysis.prior.thin):
        found.append(
            "Values that were dropped are not protected: nothing is claimed about what tells them from others."
        )
    if isinstance(analysis.uncertainty, Confidence) and analysis.prior.unknown:
        found.append(
            "Values without records are wholly uncertain, so that leakages about their attributes come close to the "
            "whole budget."
        )
    return found


def changes(analysis: Analysis, threshold: int) -> list[str]:
    """What was left out, merged or noted on the way from the data to the tables."""
    found = [printable(note) for note in analysis.schema.notes]
    thin = analysis.prior.thin if analysis.prior else ()
    for each in thin[:MOST_CHANGES]:
        what = f"{label(each.attribute)} = {label(each.value)}"
        found.append(f"{what}: {count(each.records, threshold)} records, {printable(each.action)}")
    if len(thin) > MOST_CHANGES:
        found.append(f"and {len(thin) - MOST_CHANGES:,} more values with few records")
    return found
