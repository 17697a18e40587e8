"""Counter-examples: the numbers by hand."""

import math

import pytest

from deptriad.paper import corrections
from paper_items import as_read_back, quick


def test_the_numbers_are_those_by_hand():
    outcome = quick(corrections)
    sums, limits, alphas = outcome.rows
    p = math.e / (math.e + 1)
    assert sums["paper"] == pytest.approx(0.0, abs=1e-12)
    assert sums["truth"] == pytest.approx(math.log((p**2 + (1 - p) ** 2) / (2 * p * (1 - p))))
    assert limits["paper"] == pytest.approx(0.5 / 0.495)
    assert limits["truth"] == pytest.approx(math.log(0.5 / 0.495), rel=1e-9)
    assert alphas["paper"] == pytest.approx(math.log(4.0))
    assert alphas["truth"] == pytest.approx(math.log(0.25 / 0.1))
    assert [claim.holds for claim in outcome.claims] == [False] * 3


def test_a_claim_follows_its_numbers():
    same = corrections.Example("a", "b", 1.0, 1.0, "c")
    assert same.claim().holds is True
    assert same._replace(truth=1.1).claim().holds is False


def test_the_table_to_read_has_both_numbers():
    shown = corrections.table(as_read_back(quick(corrections).rows))
    assert (shown[1]["by the paper"], shown[1]["in truth"]) == ("1.0101", "0.0101")


def test_the_sum_is_exceeded_on_real_faces(library):
    faces = quick(corrections, library).claims[1]
    assert "of 168 triples" in faces.ours
    assert faces.holds is False
