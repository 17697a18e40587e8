"""Numbers in words."""

import math
from decimal import Decimal

import pytest

from deptriad.utils.text import interval, rounded_down, rounded_up


@pytest.mark.parametrize(
    ("number", "up", "down"),
    [
        (1.45e-7, "1.45e-7", "0.000"),
        (1.25e-7, "1.25e-7", "0.000"),
        (1.5e-300, "1.50e-300", "0.000"),
        (0.0000123, "0.0000123", "0.000"),
        (2.4849, "2.485", "2.484"),
        (12345.6, "12346", "12345.600"),
        (0.1, "0.100", "0.100"),
        (0.3, "0.300", "0.300"),
        (2.2, "2.200", "2.200"),
        (math.nextafter(2.2, 3.0), "2.201", "2.200"),
        (math.nextafter(0.3, 0.0), "0.300", "0.299"),
        (0.0, "0", "0.000"),
        (-0.0004, "-0.000400", "-0.001"),
        (math.inf, "inf", "inf"),
        (math.nan, "nan", "nan"),
    ],
)
def test_numbers_in_words(number, up, down):
    assert rounded_up(number) == up
    assert rounded_down(number) == down
    if math.isfinite(number):
        # what is read is the number itself where it has so few digits, and otherwise beyond all of its digits
        assert float(down) <= number <= float(up)
        if float(up) != number:
            assert Decimal(number) <= Decimal(up)
        if float(down) != number:
            assert Decimal(down) <= Decimal(number)


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1e-9), (0.0, 0.00004), (0.12340001, 0.12340002), (-1e-7, 1e-7)]
)
def test_an_interval_never_looks_empty_and_holds_what_it_holds(low, high):
    one, two = interval(low, high).split(" to ")
    assert one != two
    assert float(one) <= low < high <= float(two)
    assert float(two) - float(one) < 2 * (high - low)
