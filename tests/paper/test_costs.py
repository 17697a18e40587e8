"""Times and sizes, and the paper's program."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper import costs, table_2


def test_exponents_of_known_growth():
    sizes = np.array([10.0, 20.0, 40.0])
    assert costs.exponent(sizes, 3e-6 * sizes**2.5) == pytest.approx(2.5)
    assert costs.doublings([5, 6, 8], [1.0, 2.0, 8.0]) == pytest.approx(1.0)


def test_the_program_as_published_has_the_value_of_the_closed_form():
    box = costs.box(6)
    pairs = [(x, y) for x in range(6) for y in range(6) if x != y]
    largest = max(costs.published_program(box, x, y) for x, y in pairs)
    assert largest == pytest.approx(dt.triad(box, relaxation="paper").phi, abs=1e-7)


def test_kept_bytes_are_those_of_the_numbers():
    triad = dt.triad(costs.table(5))
    assert costs.kept_bytes(triad) == 8 * 5  # α, β, φ, δ and the budget of calibration
    every, merged = table_2.pieces_kept(5)
    assert every == 3 * 5 * 5 * 5
    assert merged < 25
