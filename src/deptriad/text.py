"""How numbers and labels are put into words: a bound stays a bound, a label stays text."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal


def rounded_up(number: float, decimals: int = 3) -> str:
    """A bound with so many decimals, more where it is small, rounded up so that what is read is still a bound.

    >>> rounded_up(2.4849), rounded_up(0.0000123), rounded_up(12345.6)
    ('2.485', '0.0000124', '12346')
    """
    if not number > 0.0 or not math.isfinite(number):
        return f"{number:g}"
    if number >= 10**decimals:
        return str(Decimal(number).to_integral_value(ROUND_CEILING))
    places = max(decimals, decimals - 1 - math.floor(math.log10(number)))
    return str(Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_CEILING))


def printable(label: str) -> str:
    r"""A label on one line, with control characters written out, so that it cannot steer a terminal.

    >>> print(printable("two\nlines"))
    two\nlines
    """
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")
        for sign in label
    )
