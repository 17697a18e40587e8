"""The reference triads of the paper's sine tables, to 1e-6."""

import json

import numpy as np
import pytest

import deptriad as dt

SIZES = (4, 7, 10)


@pytest.fixture
def golden(shared_dir):
    return json.loads((shared_dir / "golden" / "paper_triads.json").read_text())


@pytest.fixture
def sine(shared_dir):
    return lambda size: np.loadtxt(shared_dir / "golden" / f"sin_{size}.csv", delimiter=",")


def assert_triad(triad, expected):
    assert triad.alpha == pytest.approx(expected["alpha"], abs=1e-6)
    assert triad.beta == pytest.approx(expected["beta"], abs=1e-6)
    assert triad.delta == pytest.approx(expected["delta"], abs=1e-6)
    budgets = [float(budget) for budget in expected["leakage"]]
    leakages = list(expected["leakage"].values())
    assert triad.leakage(budgets) == pytest.approx(leakages, abs=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_the_triad_of_a_table(golden, sine, size):
    assert_triad(dt.triad(sine(size)), golden[f"{size}:0"])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("e", ["0", "0.1", "0.2"])
def test_the_triad_under_uncertainty_by_the_program_of_the_paper(golden, sine, size, e):
    box = dt.Relative(float(e)).box(sine(size))
    assert_triad(dt.triad(box, relaxation="paper"), golden[f"{size}:{e}"])


@pytest.mark.parametrize("size", SIZES)
def test_the_exact_leakage(golden, sine, size):
    """The paper's CPL*."""
    expected = golden[f"{size}:star"]
    budgets = [float(budget) for budget in expected]
    assert dt.leakage(sine(size), budgets) == pytest.approx(list(expected.values()), abs=1e-6)


@pytest.mark.parametrize("size", (50, 100))
def test_larger_tables_obey_the_order_of_the_bounds(sine, size):
    """Exact ≤ triad ≤ the paper's triad under uncertainty ≤ ε, beyond what brute force can reach."""
    table = sine(size)
    budgets = np.array([0.1, 1.0, 5.0])
    exact, triad = dt.leakage(table, budgets), dt.triad(table).leakage(budgets)
    robust = dt.triad(dt.Relative(0.1).box(table), relaxation="paper").leakage(budgets)
    assert (exact <= triad).all()
    assert (triad < robust).all()
    assert (robust <= budgets).all()
