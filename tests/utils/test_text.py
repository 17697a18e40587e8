"""Numbers in words."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptriad.utils.text import interval, lines_left, narrow, rounded_down, rounded_up, told_apart


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


NAMES = st.lists(st.text("ab_9", min_size=1, max_size=40), unique=True, max_size=12)


@given(NAMES, st.integers(8, 30))
def test_different_names_have_different_labels_that_fit(names, most):
    labels = told_apart(names, most)
    assert len(set(labels)) == len(names)
    assert all(len(label) <= most for label in labels)
    assert all(
        label == name for label, name in zip(labels, names, strict=True) if len(name) <= most
    )


def test_names_that_begin_and_end_alike_show_the_word_in_which_they_differ():
    names = [f"unmet_need_for_{kind}_care_in_last_12_months" for kind in ("medical", "dental")]
    assert told_apart(names, 14) == ["unme…medical_…", "unme…dental_c…"]


def test_what_stands_twice_in_a_first_column_stays_as_it_is():
    assert narrow([["", "a"], ["", "b"], ["x", "c"]], 40) == ["   a", "   b", "x  c"]


def test_lines_that_are_longer_than_the_terminal_are_counted_as_they_wrap(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    assert lines_left(["", "a" * 80, "b" * 81, "c" * 160]) == 24 - 6
