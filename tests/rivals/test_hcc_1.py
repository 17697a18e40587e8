"""HCC-1 and ITS: actual leakages of mechanisms against the worst case."""

import math

import numpy as np
from hypothesis import given

import deptriad as dt
from deptriad.rivals import channels
from drawn import budgets, tables
from rival_measures import P, measured, same


def of_grr(table, epsilon):
    return measured("hcc-1", table, epsilon)


@given(tables(), budgets())
def test_its_of_grr_is_hcc_1_of_grr(known, epsilon):
    its = measured("its", known.floats, epsilon)
    assert its == same(of_grr(known.floats, epsilon))
    assert its == measured("its", known.floats, epsilon, mechanism="grr")
    assert its <= dt.leakage(known.floats, epsilon) + 1e-12 * max(1, epsilon)


@given(tables(max_columns=5), budgets(most=50.0))
def test_full_unary_encoding_attains_the_worst_case(known, epsilon):
    size = known.floats.shape[1]
    exact = dt.leakage(known.floats, epsilon)
    symmetric = measured(
        "hcc-1", known.floats, epsilon, mechanism=lambda e: channels.unary(size, e)
    )
    assert symmetric == same(exact)
    if epsilon <= 20.0:
        optimised = measured("hcc-1", known.floats, epsilon, mechanism=oue(size, epsilon))
        assert optimised == same(exact)


def oue(size, epsilon):
    """Optimised unary encoding: bits of the true value are set with probability ½, others with 1/(e^ε + 1)."""
    bits = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    other = 1 / (math.exp(epsilon) + 1)
    each = np.where(bits, other, 1 - other)
    return np.stack([0.5 * np.delete(each, u, axis=1).prod(axis=1) for u in range(size)], axis=1)


def test_grr_and_one_bit_leak_less_than_full_unary_encoding():
    table = [[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]]
    full = measured("its", table, 1.0, mechanism="unary")
    bit = math.exp(0.5) / (1 + math.exp(0.5))
    one_bit = measured(
        "hcc-1", table, 1.0, mechanism=[[bit, *[1 - bit] * 3], [1 - bit, *[bit] * 3]]
    )
    assert one_bit < of_grr(table, 1.0) < full
    assert measured("cbp", table, 1.0) == same(full)


def random_channel(rng, size):
    """Any matrix with positive entries, and the least ε for which it is ε-LDP."""
    matrix = np.exp(rng.uniform(0, rng.choice([0.1, 1.0, 5.0]), (rng.integers(1, 7), size)))
    matrix /= matrix.sum(axis=0)
    return matrix, float(np.log(matrix.max(axis=1) / matrix.min(axis=1)).max())


def test_no_channel_leaks_more_than_the_worst_case(rng):
    close = 0
    for _ in range(300):
        rows, columns = rng.integers(2, 6, 2)
        table = rng.dirichlet(np.full(columns, 0.5), rows)
        channel, epsilon = random_channel(rng, columns)
        actual, worst = (
            measured("hcc-1", table, epsilon, mechanism=channel),
            dt.leakage(table, epsilon),
        )
        assert actual <= worst + 1e-12
        close += actual > 0.8 * worst
    assert close  # the bound is not idle


def test_the_channel_that_favours_the_worst_set_attains_the_worst_case(rng):
    for _ in range(50):
        table = rng.dirichlet(np.full(6, 0.5), 4)
        epsilon = float(10 ** rng.uniform(-2, 1))
        favoured = np.isin(np.arange(6), dt.where(table, epsilon).values)
        yes = np.where(favoured, math.exp(epsilon), 1.0) / (1 + math.exp(epsilon))
        actual = measured("hcc-1", table, epsilon, mechanism=[yes, 1 - yes])
        assert actual == same(dt.leakage(table, epsilon))


def test_a_matrix_is_measured_as_it_is():
    assert measured("hcc-1", P, [0.1, 1.0], mechanism=np.eye(3)) == same([math.log(7)] * 2)
    assert measured("hcc-1", np.eye(2), 1.0, mechanism=np.eye(2)) == math.inf
    assert measured("hcc-1", P, 1.0, mechanism=[[1.0, 1.0, 1.0]]) == same(0)
    never = [[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [0.5, 0.5, 0.5]]
    assert measured("hcc-1", P, 1.0, mechanism=never) == same(0)
    unused = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]  # no target value has the third source value
    assert measured("hcc-1", [[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]], 1.0, mechanism=unused) == same(0)
