"""Expected errors of mechanisms: formulas, their slopes, and a simulation."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptriad.mechanisms import expected_error


@pytest.mark.parametrize("mechanism", ["grr", "oue", "sue", "auto"])
@pytest.mark.parametrize("size", [2, 7, 40])
def test_slopes_of_errors(mechanism, size):
    epsilon, step = np.array([0.05, 0.5, 2.0, 8.0]), 1e-6
    sizes = np.full(4, float(size))
    _, slope = expected_error.smooth_moment(mechanism, epsilon, sizes)
    up, down = (
        expected_error.smooth_moment(mechanism, epsilon * factor, sizes)[0]
        for factor in (1 + step, 1 - step)
    )
    assert slope * epsilon == pytest.approx((up - down) / (2 * step), rel=1e-4)


def levels(mechanism, epsilon, size):
    """P and q as in the books."""
    e = math.exp(epsilon)
    if mechanism == "grr":
        return e / (e + size - 1), 1 / (e + size - 1)
    if mechanism == "oue":
        return 0.5, 1 / (e + 1)
    if mechanism == "sue":
        half = math.exp(epsilon / 2)
        return half / (half + 1), 1 / (half + 1)
    hashed = round(e) + 1
    return e / (e + hashed - 1), 1 / hashed


@given(
    mechanism=st.sampled_from(["grr", "oue", "sue", "olh"]),
    epsilon=st.floats(0.01, 12.0),
    size=st.integers(1, 100),
)
def test_moments_are_those_of_the_formula(mechanism, epsilon, size):
    p, q = levels(mechanism, epsilon, size)
    expected = 1 + (p * (1 - p) + (size - 1) * q * (1 - q)) / (p - q) ** 2
    if size == 1 and mechanism == "grr":
        expected = 1.0  # there is no other value to report
    assert expected_error.moment(mechanism, epsilon, size) == pytest.approx(expected, rel=1e-9)


def test_moments_at_the_ends():
    assert expected_error.moment("grr", 0.0, 3) == math.inf
    for mechanism in ("grr", "oue", "sue", "olh"):
        assert expected_error.moment(mechanism, 1e4, 3) < 3.0
    assert expected_error.moment("grr", 1e4, 3) == 1.0


def test_expected_errors_are_those_of_a_simulation():
    chance = np.random.default_rng(20)
    users, repeats, sizes, epsilon = 500, 2000, (3, 4), (1.0, 0.6)
    joint = chance.dirichlet(np.ones(12)).reshape(3, 4)
    flat = chance.choice(12, size=(repeats, users), p=joint.ravel())
    true = [flat // 4, flat % 4]
    z = []
    for values, size, budget in zip(true, sizes, epsilon, strict=True):
        p, q = levels("grr", budget, size)
        other = (values + chance.integers(1, size, values.shape)) % size
        report = np.where(chance.random(values.shape) < p, values, other)
        z.append((np.eye(size)[report] - q) / (p - q))
    moments = [expected_error.moment("grr", e, b) for e, b in zip(epsilon, sizes, strict=True)]
    one = z[0].mean(axis=1)
    spread = ((one - joint.sum(axis=1)) ** 2).sum(axis=1).mean()
    assert spread == pytest.approx((moments[0] - (joint.sum(axis=1) ** 2).sum()) / users, rel=0.06)
    two = np.einsum("rnv,rnw->rvw", z[0], z[1]) / users
    spread = ((two - joint) ** 2).sum(axis=(1, 2)).mean()
    expected = (moments[0] * moments[1] - (joint**2).sum()) / users
    assert spread == pytest.approx(expected, rel=0.06)


def test_the_mean_error_counts_every_marginal_once():
    weights = np.array([2.0, 1.0, 3.0])
    sizes, epsilon = (2, 5, 3), np.array([0.5, 1.0, 2.0])
    scaled = weights / weights.mean()
    m = [expected_error.moment("grr", e, b) for e, b in zip(epsilon, sizes, strict=True)]
    pairs = list(itertools.combinations(range(3), 2))
    top = sum(scaled * m) + sum(scaled[i] * scaled[j] * m[i] * m[j] for i, j in pairs)
    bottom = sum(scaled) + sum(scaled[i] * scaled[j] for i, j in pairs)
    ours = expected_error.Utility(sizes, ["grr"] * 3, weights)
    assert ours.exact(epsilon) == pytest.approx(top / bottom)
    assert ours.smooth(epsilon)[0] == pytest.approx(math.log(top / bottom))
