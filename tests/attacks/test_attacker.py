"""Tokens: one row for each person and question, zeros and ones."""

import numpy as np
import pytest

from deptriad.attacks.attacker import Tokens

ASKED = np.eye(3, dtype=bool)


def test_rows_are_taken_from_every_question():
    tokens = Tokens(("a", "b"), (ASKED, np.array([[1, 1], [0, 0], [0, 1]], np.uint8)))
    for index in (slice(1, None), [1, 2], np.array([False, True, True])):
        some = tokens.rows(index)
        assert (len(some), some.names, some.sizes) == (2, ("a", "b"), (3, 2))
        assert some.supports[0].tolist() == ASKED[1:].tolist()
        assert some.supports[1].tolist() == [[0, 0], [0, 1]]
    assert repr(tokens) == "Tokens(3 people; a: 3, b: 2)"


@pytest.mark.parametrize(
    "supports, message",
    [
        ((ASKED,), "2 names for 1 supports"),
        ((ASKED, ASKED[:2]), "the supports of 'b' have 2 rows and those before it 3"),
        ((ASKED, ASKED[0]), r"'b' are bool of shape \(3,\)"),
        ((ASKED, ASKED.astype(float)), "'b' are float64"),
        ((ASKED, ASKED.astype(np.uint8) * 2), "'b' go up to 2"),
    ],
)
def test_what_is_wrong_is_named(supports, message):
    with pytest.raises(ValueError, match=message):
        Tokens(("a", "b"), supports)
