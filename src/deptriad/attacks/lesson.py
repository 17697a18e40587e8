"""What attacks have learnt, in sentences: beside guesses that see no report, and why an attacker may be below them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from deptriad.utils.text import printable

if TYPE_CHECKING:
    from deptriad.attacks.result import AttackResult

MOST_NAMED = 4
"""Targets that are named one by one."""


def lesson(results: Iterable[AttackResult]) -> list[str]:
    """One sentence about what was learnt, and one for each way of being below a guess without reports."""
    every = sorted(results, key=lambda each: each.majority.accuracy - each.accuracy)
    more = [each for each in every if learns(each)]
    rare = [each for each in every if each not in more and tells_rare_values(each)]
    none = [each for each in every if each not in more and each not in rare]
    parts = []
    if more:
        first, *others = [_shares(each) for each in more[:MOST_NAMED]]
        named = [f"{first[0]} for {first[1]} (the commonest answer: {first[2]})"]
        named += [f"{target} for {ours} ({theirs})" for target, ours, theirs in others]
        left = f" and {len(more) - MOST_NAMED} more above" if len(more) > MOST_NAMED else ""
        parts.append(f"of 100 people the attacker is right about {', '.join(named)}{left}")
    if rare:
        parts.append(
            f"about {_named(rare)} it is right no more often than the commonest answer, but tells rare values better "
            "than a guess without reports"
        )
    if none:
        parts.append(f"about {_named(none)} it has learnt nothing that chance does not explain")
    return [f"In words: {'; '.join(parts)}.", *_below(every)]


def learns(each: AttackResult) -> bool:
    """Whether it is right more often than the commonest answer, beyond what chance in who was guessed explains."""
    return each.score.accuracy_interval[0] > each.majority.accuracy


def tells_rare_values(each: AttackResult) -> bool:
    """Whether its balanced guess has a higher macro-F1 than guesses without reports, beyond chance likewise."""
    return each.balanced.macro_f1_interval[0] > each.baseline.macro_f1


def _below(every: list[AttackResult]) -> list[str]:
    """Why an attacker may be below guesses that see no report."""
    said = []
    if blind := [each for each in every if each.macro_f1 < each.baseline.macro_f1]:
        said.append(
            f"Below the baseline, about {_named(blind)}: macro-F1 counts every value alike, and the attacker guesses "
            "the likeliest, hardly ever a rare one; a guess with random values does. What it knows of rare values is "
            "under balanced."
        )
    if misled := [each for each in every if each.accuracy < each.majority.accuracy]:
        said.append(
            f"Right less often than the commonest answer, about {_named(misled)}: what the reports tell is less than "
            "their noise, or than chance in the records it learnt from, and it follows both."
        )
    return said


def _shares(each: AttackResult) -> tuple[str, str, str]:
    """A target, of how many of 100 people it is guessed right, and of how many the commonest answer is right.

    Rounded to whole people unless that would hide the difference.
    """
    ours, theirs = 100.0 * each.accuracy, 100.0 * each.majority.accuracy
    places = 0 if round(ours) != round(theirs) else 1
    return printable(each.target), f"{ours:.{places}f}", f"{theirs:.{places}f}"


def _named(some: list[AttackResult]) -> str:
    names = [printable(each.target) for each in some]
    left = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + left
