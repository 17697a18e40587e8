"""promise(): a total in words."""

import math

import pytest

import deptriad as dt


def test_odds_move_by_just_that_much():
    for sure, before in ((0.9, 0.5), (0.2, 0.01), (0.99, 0.3)):
        odds = before / (1.0 - before) * math.exp(dt.promise(sure=sure, before=before))
        assert odds / (1.0 + odds) == pytest.approx(sure, rel=1e-14)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sure": 1.0}, "sure is 1.0"),
        ({"sure": 0.4}, "expected before < sure"),
        ({"sure": 0.9, "before": 0.0}, "before is 0.0"),
    ],
)
def test_what_cannot_be_promised_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        dt.promise(**given)
