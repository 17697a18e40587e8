"""The paper's linear program for boxes in closed form, against HiGHS (maths.md §3)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deptriad as dt
import oracle
from drawn import (
    boxes,
    budgets,
    ordinary_tables,
)

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


# ------------------------------------------------------------------------- boxes, the paper's part


@settings(max_examples=60)
@given(boxes(max_rows=3, max_columns=8))
def test_closed_form_equals_the_linear_program_of_the_paper(uncertain):
    """Two knapsacks and one sort give what HiGHS gives, cut off where β = ∞ (maths.md §3)."""
    box = uncertain.box
    triad = dt.triad(box, relaxation="paper")
    ratio = oracle.largest_ratio(oracle.as_fractions(box.lower), oracle.as_fractions(box.upper))
    delta = oracle.lost_mass(oracle.as_fractions(box.lower), oracle.as_fractions(box.upper))
    cap = float(1 - (1 - delta) / ratio)
    program = oracle.paper_phi(box.lower, box.upper)
    assert triad.phi == pytest.approx(min(program, cap), abs=1e-7)


@given(boxes())
def test_robust_alpha_and_delta_of_the_paper(uncertain):
    """α: the largest Up/Lo' with Lo' > 0; δ: Σ Up where Lo' = 0, at most 1 and φ (maths.md §3)."""
    lower, upper = oracle.tightened(uncertain.lower, uncertain.upper)
    triad = dt.triad(uncertain.box, relaxation="paper")
    # a tightened edge inherits the roundings of its whole row, which may be large beside it
    assert oracle.is_close(triad.alpha, oracle.log(oracle.largest_ratio(lower, upper)), 1e-11)
    mass = oracle.lost_mass(lower, upper)
    assert oracle.is_bound(triad.delta, min(mass, oracle.hockey_stick(uncertain.cloud(), 1)))
    assert triad.delta <= float(mass) + 1e-12


@given(boxes(), budgets())
def test_triad_of_the_paper_is_a_bound_for_every_table_of_the_box(uncertain, epsilon):
    """Not below brute force over all subsets and all tables, not above ε (maths.md §3)."""
    reported = dt.triad(uncertain.box, relaxation="paper").leakage(epsilon)
    assert oracle.is_bound(reported, oracle.leakage(uncertain.cloud(), epsilon))
    assert reported <= epsilon


@given(boxes(), budgets())
def test_triad_of_a_box_is_a_bound_for_every_table_of_it(uncertain, epsilon):
    reported = dt.triad(uncertain.box).leakage(epsilon)
    assert oracle.is_bound(reported, oracle.leakage(uncertain.cloud(), epsilon))
    assert reported <= epsilon


@given(ordinary_tables(), st.sampled_from([0.0, 0.05, 0.1, 0.5, 1.0]), budgets())
def test_relative_uncertainty_is_a_bound_from_end_to_end(known, e, epsilon):
    """(1 ± e)P with P read in all three ways: nothing is lost on the way through the box."""
    reported = dt.triad(dt.Relative(e).box(known.floats)).leakage(epsilon)
    share = oracle.Fraction(e)
    for reading, table in oracle.readings(known.exact).items():
        if reading == "floats":
            continue  # does not sum to 1 exactly, so the box around it may be empty
        lower = [[max(oracle.Fraction(0), (1 - share) * entry) for entry in row] for row in table]
        upper = [[min(oracle.Fraction(1), (1 + share) * entry) for entry in row] for row in table]
        truth = oracle.leakage(oracle.box_cloud(lower, upper), epsilon)
        assert oracle.is_bound(reported, truth), reading
