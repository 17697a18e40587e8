"""How numbers and labels are put into words: a bound stays a bound, a label stays text."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext


def rounded_up(number: float, decimals: int = 3) -> str:
    """A bound with so many decimals, more where it is small, rounded up so that what is read is still a bound.

    >>> rounded_up(2.4849), rounded_up(0.0000123), rounded_up(0.000000125), rounded_up(12345.6)
    ('2.485', '0.0000124', '1.25e-7', '12346')
    """
    if number == 0.0 or not math.isfinite(number):
        return f"{abs(number):g}" if number == 0.0 else f"{number:g}"
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


def _rounded(number: float, places: int, rounding: str) -> str:
    """To so many decimals, from all digits that the float has."""
    with localcontext(prec=800):
        text = str(Decimal(number).quantize(Decimal(1).scaleb(-places), rounding))
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


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Columns of equal width; the first one to the left."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, wide, strict=True))
        ).rstrip()
        for row in rows
    ]
