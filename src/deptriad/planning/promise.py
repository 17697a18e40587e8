"""promise(): a total in words, from how sure one may become."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

from deptriad.utils.arrays import as_share
from deptriad.utils.errors import InvalidValue, Parameter


def promise(sure: float, before: float = 0.5) -> float:
    """The total under which nobody who is ``before`` sure of an answer becomes more than ``sure`` of it.

    What a report tells moves the odds between any two answers by at most e^total. So whoever holds an answer for
    true with a chance of ``before`` holds it for true with at most ``sure`` afterwards: the total is ln of the ratio of
    the two odds.

    Parameters
    ----------
    sure
        The largest chance afterwards, below 1.
    before
        The chance before, above 0 and below ``sure``.

    Returns
    -------
    float
        A total for ``calibrate``, rounded down.

    Raises
    ------
    ValueError
        If nobody could become surer, or everybody certain.

    Examples
    --------
    >>> import deptriad as dt
    >>> round(dt.promise(sure=0.9, before=0.5), 4)
    2.1972
    """
    after, prior = (
        as_share(sure, Parameter("sure"), 0.9),
        as_share(before, Parameter("before"), 0.5),
    )
    if not prior < after:
        raise InvalidValue(
            *(Parameter("sure"), f" is {sure:g} and ", Parameter("before")),
            f" is {before:g}, expected before < sure",
        )
    with localcontext(prec=60):
        one, two = Decimal(repr(after)), Decimal(repr(prior))
        exact = (one / (1 - one) * (1 - two) / two).ln()
        found = float(exact)
        return found if Decimal(found) <= exact else math.nextafter(found, 0.0)
