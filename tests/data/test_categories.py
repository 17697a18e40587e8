"""Categories and edges: numbers that are close, and messages that stay short."""

import pytest

import deptriad as dt
from small_records import codes

pd = pytest.importorskip("pandas")


def test_numbers_beyond_what_a_float_can_tell_apart_are_not_confused():
    for value in (2**53, -(2**53), 2.0**53, 2**53 + 1, 10**400):
        with pytest.raises(ValueError, match=r"identity.*2\^53"):
            dt.Attribute("identity", categories=[0, value])
    near = 2**53 - 1
    assert codes(dt.Attribute("identity", categories=[near]), [near]) == [0]
    with pytest.raises(ValueError, match=r"identity.*9007199254740993"):
        codes(dt.Attribute("identity", categories=[near]), [near, near + 2])


NEAR = [0.3, 0.1 + 0.2, 1, 1 + 2**-50]


def test_floats_that_are_nearly_equal_are_told_apart_by_all_their_digits():
    assert dt.Attribute("x", NEAR, missing="error").values == (
        "0.3",
        "0.30000000000000004",
        "1",
        "1.0000000000000009",
    )
    assert dt.Attribute("x", edges=NEAR, missing="error").values == (
        "[0.3, 0.30000000000000004)",
        "[0.30000000000000004, 1.0)",
        "[1.0, 1.0000000000000009]",
    )
    assert dt.Attribute("x", edges=[0.1, 1 / 3], missing="error").values == (
        "[0.1, 0.333333333333]",
    )
    assert codes(dt.Attribute("x", NEAR), NEAR) == [0, 1, 2, 3]
    many = [1 + place * 2**-50 for place in range(5000)]
    assert len(set(dt.Attribute("x", many).values)) == 5001


@pytest.mark.parametrize(
    "declared",
    [
        {"edges": [3.0] * 5000},
        {"edges": [10**400, 1]},
        {"edges": [0, 10**6000]},
        {"edges": ["much"] * 5000},
        {"categories": "abc" * 5000},
        {"categories": [["nested"] * 5000]},
        {"categories": ["a", "(missing)", *map(str, range(5000))]},
    ],
)
def test_a_message_about_many_values_is_short(declared):
    with pytest.raises(ValueError, match="peculiar") as caught:
        dt.Attribute("peculiar", **declared)
    assert len(str(caught.value)) < 400
