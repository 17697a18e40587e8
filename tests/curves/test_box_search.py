"""The search for certified hockey sticks: what is asked, and in which way, changes nothing (maths.md §3)."""

import numpy as np
import pytest

import deptriad as dt
import oracle
from deptriad.curves.box_search import Search
from some_tables import random_box

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


@pytest.mark.parametrize("size", [12, 16, 20, 25, 30])
def test_mixed_integer_programs_agree(rng, size):
    """HiGHS on alphabets that enumeration cannot reach: φ and E_2, two rows, both orders."""
    proven = 0
    for _ in range(3):
        box = random_box(rng, 2, size)
        lower, upper = oracle.as_fractions(box.lower), oracle.as_fractions(box.upper)

        def solve(gamma, lower=lower, upper=upper):
            found = [
                oracle.hockey_stick_milp(lower[x], upper[x], lower[1 - x], upper[1 - x], gamma)
                for x in (0, 1)
            ]
            return max(value for value, _ in found), max(bound for _, bound in found)

        triad = dt.triad(box)
        attained, bound = solve(1.0)
        assert oracle.is_bound(triad.phi, attained)
        if triad.exact:
            proven += 1
            assert triad.phi <= bound + 1e-6
        assert triad.phi <= 1.01 * bound
        attained, bound = solve(2.0)
        height = dt.profile(box, tolerance=1e-6).hockey_stick(2.0)
        assert oracle.is_bound(height, attained)
        assert height <= 1.02 * bound + 1e-3
    assert proven >= 2


def test_what_else_is_asked_does_not_matter():
    """Near ε = 36.7, where γ·1e-16 is no longer small, prices matter: they must not come from other budgets."""
    lower = [[0, 0, 0, 4 / 7], [1 / 9, 5 / 9, 1 / 9, 2 / 9], [7 / 90, 7 / 18, 7 / 90, 7 / 45]]
    upper = [
        [67 / 420, 1 / 7, 17 / 70, 19 / 21],
        [1 / 9, 5 / 9, 1 / 9, 2 / 9],
        [13 / 90, 13 / 18, 13 / 90, 13 / 45],
    ]
    box = dt.Box(lower, upper)
    alone = dt.leakage(box, 36.7)
    points = oracle.box_cloud(oracle.as_fractions(lower), oracle.as_fractions(upper))
    assert oracle.is_bound(alone, oracle.leakage(points, 36.7))
    for other in (1e-3, 1.0, 30.0):
        assert dt.leakage(box, [other, 36.7])[1] == pytest.approx(alone, rel=1e-13)


def test_many_equal_pairs_are_settled_by_one_bound():
    """All 39,800 pairs of this box are alike: none needs a look of its own."""
    size = 200
    box = dt.Relative(0.1).box(0.7 * np.eye(size) + 0.3 / size)
    search = Search(box)
    settled = []
    original = search._settle
    search._settle = lambda more, *rest: settled.append(more.size) or original(more, *rest)
    found = search.stick(0.0)
    assert found.exact
    assert sum(settled) < 5 * size


@pytest.mark.parametrize("size", [6, 12, 20])
def test_both_ways_to_search_a_box_agree(rng, size, monkeypatch):
    """Pair after pair on one thread, or with learnt prices on all of them: the same maxima."""
    many = [random_box(rng, size, size) for _ in range(3)]
    grid = [0.1, 1.0, 5.0]
    in_turn = [(dt.triad(box).phi, dt.leakage(box, grid)) for box in many]
    monkeypatch.setattr("deptriad.curves.box_search.SMALL", 0)
    for box, (phi, leaks) in zip(many, in_turn, strict=True):
        triad = dt.triad(box)
        if triad.exact:
            assert phi == pytest.approx(triad.phi, rel=1e-11)
        assert leaks == pytest.approx(dt.leakage(box, grid), rel=1e-3)
