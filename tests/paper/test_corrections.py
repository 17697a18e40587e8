"""Counter-examples: the numbers by hand."""

import math

import pytest

from deptriad.paper import corrections
from deptriad.paper.data import Library
from deptriad.paper.item import Work


def test_the_numbers_are_those_by_hand():
    outcome = corrections.run(Work("corrections", Library()))
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


def test_the_sum_is_exceeded_on_real_faces(shared_dir):
    outcome = corrections.run(Work("corrections", Library(shared_dir / "data"), quick=True))
    faces = outcome.claims[1]
    assert "of 168 triples" in faces.ours
    assert faces.holds is False
