"""One step in time: the limit of each kind of passage is the fixed point of the published forms, at any budget."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deptriad as dt
import oracle
from deptriad.chains.passage import ByTable, Unknown
from deptriad.rivals.temporal import supremum


def iterated(passage, epsilon, steps=4000):
    bound = epsilon
    for _ in range(steps):
        bound = epsilon + passage.leakage(bound)
    return bound


@oracle.exactly
def published(upper, lower, epsilon):
    """The supremum for one set of one pair of rows, as published, None for ∞; in plain floats small numbers cancel."""
    upper, lower, grown = oracle.decimal(upper), oracle.decimal(lower), oracle.exp(epsilon)
    if not lower:
        free = 1 - upper * grown
        return oracle.log((1 - upper) * grown / free) if free > 0 else None
    middle = lower + upper * grown - 1
    root = (4 * lower * grown * (1 - upper) + middle**2).sqrt()
    return oracle.log((root + middle) / (2 * lower))


def test_the_limit_of_one_line_is_the_published_supremum(rng):
    for _ in range(25):
        lower, upper = np.sort(rng.random(2))
        lower *= rng.integers(2)
        epsilon = float(10.0 ** rng.uniform(-6, 1))
        gap = upper - lower
        curve = dt.Profile([gap, 0.0], [lower, 0.0]) if lower else dt.Profile([gap], [0.0])
        exact = published(Fraction(gap) + Fraction(lower), lower, epsilon)
        limit = ByTable(curve).limit(epsilon)
        if exact is None:
            assert limit == supremum(upper, lower, epsilon) == math.inf
            continue
        assert oracle.is_bound(limit, exact)
        assert limit == pytest.approx(float(exact), rel=1e-9)
        if epsilon > 0.1 and not 0.0 < lower < 0.01:
            assert supremum(upper, lower, epsilon) == pytest.approx(float(exact), rel=1e-9)


def test_the_limit_is_what_the_steps_tend_to(rng):
    for _ in range(10):
        size = int(rng.integers(2, 7))
        passage = ByTable(
            dt.profile(rng.dirichlet(np.ones(size), size=size)),
            slack=float(rng.choice([0.0, 1e-9])),
        )
        epsilon = float(10.0 ** rng.uniform(-8, 1))
        limit = passage.limit(epsilon)
        assert epsilon + passage.leakage(limit) <= limit * (1 + 1e-15)
        assert limit == pytest.approx(iterated(passage, epsilon), rel=1e-6)


@pytest.mark.parametrize("diameter", [0.0, 1e-9, 0.3, 5.0, 100.0, 2000.0])
@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 30.0, 900.0])
def test_the_limit_of_an_unknown_start_is_what_the_steps_tend_to(diameter, epsilon):
    passage = Unknown(diameter)
    limit = passage.limit(epsilon)
    assert epsilon <= limit <= (epsilon + diameter) * (1 + 1e-14)
    assert epsilon + passage.leakage(limit) <= limit * (1 + 1e-15)
    if diameter < 10.0:
        assert limit == pytest.approx(iterated(passage, epsilon, 20_000), rel=1e-6)


@pytest.mark.parametrize("bound", [1e-12, 0.5, 20.0, 1399.0, 1e5])
@pytest.mark.parametrize("diameter", [1e-12, 0.5, 20.0, 1399.0])
def test_an_unknown_start_follows_the_hyperbolic_tangents(bound, diameter):
    found = Unknown(diameter).leakage(bound)
    assert found <= min(bound, diameter)
    exact = math.tanh(bound / 4.0) * math.tanh(diameter / 4.0)
    if exact < 0.999:
        assert found == pytest.approx(4.0 * math.atanh(exact), rel=1e-12)
    else:
        assert found >= min(bound, diameter) - 2.0 * math.log(2.0)


def test_slopes_are_those_of_the_leakage(rng):
    for _ in range(50):
        passage = ByTable(dt.profile(rng.dirichlet(np.ones(4), size=4)))
        for each in (passage, Unknown(float(rng.uniform(0.1, 5.0)))):
            bound = float(rng.uniform(0.1, 6.0))
            step = 1e-6
            rise = (each.leakage(bound + step) - each.leakage(bound - step)) / (2 * step)
            assert each.slope(bound) == pytest.approx(rise, abs=1e-4) or isinstance(each, ByTable)
            assert 0.0 <= each.slope(bound) <= 1.0


def test_huge_bounds_pass_whole_where_something_is_excluded():
    passage = ByTable(dt.profile([[1.0, 0.0], [0.0, 1.0]]))
    assert passage.leakage(5000.0) == 5000.0
    assert passage.threshold == 0.0
    kept = ByTable(dt.profile([[0.9, 0.1], [0.1, 0.9]]))
    assert kept.limit(900.0) == pytest.approx(900.0 + math.log(9.0))
