"""Entries by name: one for each attribute, none for anything else, and errors that say which."""

import numpy as np
import pytest

from deptriad.utils.by_name import budgets_for_each, by_name, for_each

NAMES = ("sex", "age", "job")


def doubled(value, what):
    if value < 0:
        raise ValueError(f"{what} is below 0")
    return 2 * value


def test_entries_come_in_the_order_of_the_names():
    assert for_each({"job": 3, "sex": 1, "age": 2}, NAMES, "rooms", doubled) == [2, 4, 6]
    assert for_each(5, NAMES, "rooms", doubled) == [10, 10, 10]
    assert by_name({"age": 2}, NAMES, "rooms", doubled, default=-1) == [-1, 4, -1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sex": 1, "aeg": 1}, "rooms names no attribute 'aeg': did you mean 'age'"),
        (
            {"sex": 1, "age": 1},
            "rooms has no entry for 'job', expected one for each attribute; or 0",
        ),
        ({"sex": 1, "age": -1, "job": 1}, r"rooms\['age'\] is below 0"),
        (-1, "rooms is below 0"),
    ],
)
def test_errors_name_what_is_wrong(given, message):
    with pytest.raises(ValueError, match=message):
        for_each(given, NAMES, "rooms", doubled, hint="; or 0")


def test_one_value_for_all_may_be_refused():
    with pytest.raises(ValueError, match="rooms is 5, expected a mapping"):
        by_name(5, NAMES, "rooms", doubled)


def test_budgets_are_numbers_from_0_and_a_mapping_may_leave_out_what_is_optional():
    assert budgets_for_each({"sex": 1, "job": np.inf}, NAMES, ["age"]).tolist() == [1, 0, np.inf]
    assert budgets_for_each({"sex": 1, "age": 2, "job": 3}, NAMES, ["age"]).tolist() == [1, 2, 3]
    for bad, message in (
        ({"sex": 1, "job": 1}, "epsilon has no entry for 'age', .* 0 where it is not released"),
        ({"sex": 1, "age": -2, "job": 1}, r"epsilon\['age'\] is -2.0, expected a number ≥ 0"),
        ([1, 2, 3], r"epsilon has shape \(3,\), expected one number, or a mapping"),
    ):
        with pytest.raises(ValueError, match=message):
            budgets_for_each(bad, NAMES)
