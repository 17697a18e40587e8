"""How numbers and labels are put into words: a bound stays a bound, a label stays text."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from itertools import takewhile
from shutil import get_terminal_size

BEYOND_WORDS = 14.0
"""Odds that are moved by more than e to this, a million times, are said as a power of e."""

MOST_LISTED = 240
"""Characters of names that an error lists."""

HUGE = 1e15
"""Numbers from this on are printed with a power of ten."""


def rounded_up(number: float, decimals: int = 3) -> str:
    """A bound with so many decimals, more where it is small, rounded up so that what is read is still a bound.

    A float is taken for the shortest decimal that reads as it: 0.1 stays 0.100, and a promise of 2.2 is kept by 2.200.

    >>> rounded_up(2.4849), rounded_up(0.0000123), rounded_up(0.000000125), rounded_up(12345.6), rounded_up(1e308)
    ('2.485', '0.0000123', '1.25e-7', '12346', '1.000e+308')
    """
    if number == 0.0 or not math.isfinite(number):
        return f"{abs(number):g}" if number == 0.0 else f"{number:g}"
    if abs(number) >= HUGE:
        return _rounded(number, decimals - math.floor(math.log10(abs(number))), ROUND_CEILING)
    if abs(number) >= 10**decimals:
        return _rounded(number, 0, ROUND_CEILING)
    places = max(decimals, decimals - 1 - math.floor(math.log10(abs(number))))
    return _rounded(number, places, ROUND_CEILING)


def rounded_down(number: float, decimals: int = 3) -> str:
    """A lower bound with so many decimals, rounded down so that what is read is still one.

    >>> rounded_down(2.4849), rounded_down(-0.0001), rounded_down(12.99, 1)
    ('2.484', '-0.001', '12.9')
    """
    return _rounded(number, decimals, ROUND_FLOOR) if math.isfinite(number) else f"{number:g}"


def spent(budget: float) -> str:
    """A budget, rounded down; one that is a hair below a round number, so that a sum keeps a promise, as that number.

    >>> spent(0.1 - 1e-16), spent(0.29999999999999993), spent(0.2999)
    ('0.100', '0.300', '0.299')
    """
    return rounded_down(budget * (1.0 + 1e-9))


def times(nats: float) -> str:
    """By how many times a leakage of so many nats moves odds, at most: e to its power, rounded up.

    >>> times(1.0), times(3.0), times(0.0), times(50.0)
    ('2.719', '20.09', '1', 'e^50.000')
    """
    if not nats < BEYOND_WORDS:
        return f"e^{rounded_up(nats)}" if math.isfinite(nats) else "∞"
    if nats == 0.0:
        return "1"
    with localcontext(prec=40):
        factor = Decimal(nats).exp()
        places = 3 if factor < 10 else 2 if factor < 100 else 0
        return str(factor.quantize(Decimal(1).scaleb(-places), ROUND_CEILING))


BECOMES = "50 % sure becomes"
"""The heading of what ``surety`` says."""


def surety(nats: float, before: float = 0.5, at_least: bool = False) -> str:
    """How sure someone who was ``before`` sure of an answer is at most, once a total of so many nats is told.

    ``at_least``: for a total that is a lower bound.

    >>> surety(1.0), surety(3.0), surety(0.0), surety(2.0, before=0.1), surety(20.0)
    ('73.2 %', '95.3 %', '50 %', '45.1 %', '100 %')
    """
    if nats > BEYOND_WORDS:
        return "99.9 %" if at_least else "100 %"
    rounding = ROUND_FLOOR if at_least else ROUND_CEILING
    with localcontext(prec=40):
        prior = Decimal(repr(before))
        odds = prior / (1 - prior) * Decimal(nats).exp()
        share = (100 * odds / (1 + odds)).quantize(Decimal("0.1"), rounding)
    return f"{str(share).removesuffix('.0')} %"


def interval(low: float, high: float) -> str:
    """An interval, rounded outward, with four decimals, or as many as keep its ends apart.

    >>> interval(0.12341, 0.2), interval(0.0, 0.0000031), interval(0.1, 0.1)
    ('0.1234 to 0.2000', '0 to 0.0000031', '0.1000 to 0.1000')
    """
    width = high - low
    places = 4 if not width > 0.0 else max(4, 1 - math.floor(math.log10(width)))
    ends = _rounded(low, places, ROUND_FLOOR), _rounded(high, places, ROUND_CEILING)
    return " to ".join(
        "0" if end == 0.0 else text for end, text in zip((low, high), ends, strict=True)
    )


def share(number: float) -> str:
    """A number with four decimals, or with two digits where that would read as nothing.

    >>> share(0.12345), share(0.0000123), share(0.0)
    ('0.1235', '0.000012', '0')
    """
    if number == 0.0 or not math.isfinite(number):
        return f"{number:g}" if number else "0"
    if abs(number) >= 0.00005:
        return f"{number:.4f}"
    return f"{number:.{1 - math.floor(math.log10(abs(number)))}f}"


def told(nats: float, before: float = 0.5) -> str:
    """What a total means to someone who has never met an ε.

    >>> told(2.0), told(50.0)
    ('nobody who was 50 % sure of an answer becomes surer than 88.1 %', 'somebody who was 50 % sure may become certain')
    """
    after, prior = surety(nats, before), f"{100.0 * before:g} %"
    if after == "100 %":
        return f"somebody who was {prior} sure may become certain"
    return f"nobody who was {prior} sure of an answer becomes surer than {after}"


def _rounded(number: float, places: int, rounding: str) -> str:
    """To so many decimals, from the shortest digits that read as the float."""
    with localcontext(prec=800):
        text = str(Decimal(repr(float(number))).quantize(Decimal(1).scaleb(-places), rounding))
    return text.replace("E", "e")


def printable(label: str) -> str:
    r"""A label on one line, with control characters written out, so that it cannot steer a terminal.

    >>> print(printable("two\nlines"))
    two\nlines
    """
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")
        for sign in label
    )


def cut(label: str, most: int) -> str:
    """A label of at most so many characters, the last of them an ellipsis where some are left out.

    >>> cut("marital_status", 8), cut("sex", 8)
    ('marital…', 'sex')
    """
    return label if len(label) <= most else label[: most - 1] + "…"


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """Labels of at most so many characters, different for different names.

    Those that begin alike keep their ends, too; those that also end alike show where they differ.

    >>> told_apart(["sex", "satisfaction_1", "satisfaction_2"], 9)
    ['sex', 'sati…on_1', 'sati…on_2']
    >>> told_apart(["ever_told_of_diabetes_by_a_doctor", "ever_told_of_hypertension_by_a_doctor"], 14)
    ['ever…diabetes…', 'ever…hyperten…']
    """
    shown = {name: cut(name, most) for name in names}
    for way in (_both_ends, _what_differs, _numbered):
        alike: dict[str, list[str]] = {}
        for name, short in shown.items():
            alike.setdefault(short, []).append(name)
        for group in alike.values():
            if len(group) > 1:
                shown |= {name: way(name, group, most) for name in group if len(name) > most}
    return [shown[name] for name in names]


def _both_ends(name: str, group: Sequence[str], most: int) -> str:
    return name[: most // 2] + "…" + name[most // 2 + 1 - most :]


def _what_differs(name: str, group: Sequence[str], most: int) -> str:
    """The beginning, and the word in which it differs from the one that it is most like."""
    differs = max(_alike(name, other) for other in group if other != name)
    head = most // 3
    words = [place for place in range(differs - head, differs) if not name[place].isalnum()]
    start = words[-1] + 1 if words else differs
    return name[:head] + "…" + cut(name[start:], most - head - 1)


def _alike(one: str, other: str) -> int:
    """How many characters two names begin with that are the same."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in pairs)


def _numbered(name: str, group: Sequence[str], most: int) -> str:
    number = str(group.index(name) + 1)
    return cut(name, most - len(number)) + number


def brief(value: object, most: int = 120) -> str:
    """How a message shows a value that may be long."""
    try:
        shown = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        return f"a {type(value).__name__}"
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def shortened(values: Sequence[str]) -> str:
    """The first eight labels, and how many there are if that is not all."""
    shown = ", ".join(printable(value) for value in values[:8])
    return shown + (f", … ({len(values)} values)" if len(values) > 8 else "")


def few(labels: Sequence[str], most: int) -> str:
    """The first labels, and how many more there are.

    >>> few(["a", "b"], 3), few(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(labels[:most]) + more


def among(attribute: str, values: Sequence[str]) -> str:
    """How a sentence says that an attribute has one of some values.

    >>> print(among("sex", ["f"]), among("job", ["a", "b"]))
    `sex = f` `job` in {a, b}
    """
    name, labels = printable(attribute), [printable(value) for value in values]
    if len(labels) == 1:
        return f"`{name} = {labels[0]}`"
    more = f" or {len(labels) - 6} more" if len(labels) > 6 else ""
    return f"`{name}` in {{{', '.join(labels[:6])}{more}}}"


def closest(name: object, names: Sequence[str]) -> str:
    """What to say to someone who typed a name that is not there."""
    near = difflib.get_close_matches(str(name), names, n=1)
    shown: list[str] = []
    room = MOST_LISTED
    for each in map(repr, names):
        room -= len(each) + 2
        if room < 0 and shown:
            break
        shown.append(each)
    listed = ", ".join(shown) + (", …" if len(shown) < len(names) else "")
    return f"did you mean {near[0]!r}? There are {listed}" if near else f"there are {listed}"


def place_of(name: str, names: Sequence[str], called: str = "attribute") -> int:
    """Place of a name.

    Raises
    ------
    ValueError
        If it is not there, with the one that comes closest.
    """
    if name not in names:
        raise ValueError(f"there is no {called} {name!r}: {closest(name, names)}")
    return names.index(name)


def aligned(rows: Sequence[Sequence[str]], gap: str = "  ") -> list[str]:
    """Columns of equal width with a gap between them; the first one to the left."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        gap.join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in rows
    ]


def narrow(rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """``aligned``, with the first column cut so that lines fit the terminal, or a width.

    >>> for line in narrow([["attribute", "error"], ["main_mode_of_transport", "0.1"]], 20):
    ...     print(line)
    attribute      error
    main_mode_of…    0.1
    """
    width = get_terminal_size().columns if width is None else width
    columns = list(zip(*rows, strict=True))
    others = sum(max(map(len, column)) + 2 for column in columns[1:])
    first = told_apart(columns[0], max(width - others, 8))
    return aligned(list(zip(first, *columns[1:], strict=True)))


def lines_left(lines: Sequence[str]) -> int:
    """How many lines of the terminal are left by others, which may be longer than it is wide."""
    screen = get_terminal_size()
    return screen.lines - sum(max(-(-len(line) // screen.columns), 1) for line in lines)


def on_one_screen(
    rows: Sequence[Sequence[str]], beside: Sequence[str], headings: int = 1, least: int = 12
) -> list[str]:
    """``narrow``, with as many rows as the terminal has lines for beside others.

    >>> on_one_screen([["attribute"], ["age"], ["job"], ["sex"]], ["above"] * 99, least=2)
    ['attribute', 'age', 'job', 'and 1 more: to_frame() has all of them']
    """
    most = headings + max(lines_left(beside) - headings - 3, least)
    more = len(rows) - most
    left = [f"and {more} more: to_frame() has all of them"] if more > 0 else []
    return [*narrow(rows[:most]), *left]
