"""The triads as measures."""

import itertools

from hypothesis import given

import deptriad as dt
from drawn import budgets, tables
from rival_measures import P, measured


@given(tables(), budgets(least=0.1))
def test_the_order_of_the_triads(known, epsilon):
    values = [
        measured(name, known.floats, epsilon) for name in ("exact", "triad-calibrated", "triad")
    ]
    values.append(measured("triad-uncalibrated", known.floats, epsilon))
    for lower, higher in itertools.pairwise(values):
        assert lower <= higher + 1e-12 * max(1, higher)


def test_triads_are_those_of_the_package():
    assert measured("triad", P, 1.0) == dt.triad(P).leakage(1.0)
    assert measured("triad-uncalibrated", P, 1.0) == dt.uncalibrated(P).leakage(1.0)
    at = dt.triad(P, calibrate_at=0.5).leakage(1.0)
    assert measured("triad-calibrated", P, 1.0, calibrate_at=0.5) == at
