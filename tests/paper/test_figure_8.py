"""Figure 8: an uncertain sine table, and the brute force it is held against."""

import json

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import deptriad as dt
from deptriad.paper import boxes, figure_8, sine
from paper_items import as_read_back, quick


@pytest.fixture(scope="module")
def found():
    return quick(figure_8)


def program(low, high, low2, high2, gamma):
    """The event with the largest g(S) − γ·h(S), by a mixed-integer program."""
    size = low.size
    rows = np.zeros((4, size + 2))
    rows[0, :size], rows[0, size] = -high, 1
    rows[1, :size], rows[1, size] = -low, 1
    rows[2, :size], rows[2, size + 1] = low2, -1
    rows[3, :size], rows[3, size + 1] = high2, -1
    limits = [0.0, 1.0 - low.sum(), 0.0, high2.sum() - 1.0]
    whole = np.concatenate([np.ones(size), [0, 0]])
    cost = np.concatenate([np.zeros(size), [-1.0, gamma]])
    constraints = LinearConstraint(rows, -np.inf, limits)
    options = {"mip_rel_gap": 1e-10}
    found = milp(
        cost, constraints=constraints, integrality=whole, bounds=Bounds(0, 1), options=options
    )
    return found.x[size], found.x[size + 1]


def test_the_largest_leakage_is_that_of_mixed_integer_programs(rng):
    box = dt.Relative(0.2).box(rng.dirichlet(np.ones(5), size=3))
    gain, gamma = np.expm1(1.5), 1.0
    for x in range(3):
        for y in set(range(3)) - {x}:
            while True:
                more, less = program(box.lower[x], box.upper[x], box.lower[y], box.upper[y], gamma)
                better = (1 + gain * more) / (1 + gain * less)
                if better <= gamma * (1 + 1e-9):
                    break
                gamma = better
    assert boxes.largest_leakage(box, 1.5) == pytest.approx(np.log(gamma), abs=1e-7)


def test_no_table_in_the_box_leaks_less_than_the_smallest(rng):
    table = rng.dirichlet(np.full(4, 2.0), size=3)
    box = dt.Relative(0.15).box(table)
    least = boxes.smallest_leakage(box, 1.0)
    for _ in range(200):
        inside = table + rng.uniform(-1, 1, table.shape) * 0.15 * table
        inside += (1 - inside.sum(axis=1, keepdims=True)) / 4
        if (inside >= box.lower).all() and (inside <= box.upper).all():
            assert dt.leakage(inside, 1.0) >= least - 1e-6
    assert least <= dt.leakage(table, 1.0)


def test_the_smallest_leakage_of_two_by_two_is_at_the_inner_corners():
    box = dt.Relative(0.1).box([[0.9, 0.1], [0.2, 0.8]])
    nearest = [[0.89, 0.11], [0.22, 0.78]]
    assert boxes.smallest_leakage(box, 1.0) == pytest.approx(dt.leakage(nearest, 1.0), abs=1e-6)


def test_bounds_are_near_the_published_ones(found, shared_dir):
    """The published table is counted from records, ours is their law: within 2 per cent."""
    golden = json.loads((shared_dir / "golden" / "paper_triads.json").read_text())
    for margin in (0.1, 0.2):
        (row,) = [
            r for r in found.rows if (r["by"], r["margin"], r["epsilon"]) == ("margin", margin, 1.0)
        ]
        published = golden[f"10:{margin}"]["leakage"]["1"]
        assert row["paper"] == pytest.approx(published, rel=0.02)


def test_the_order_of_the_bounds(found):
    for row in found.rows:
        assert row["largest"] <= row["certified"] * (1 + 1e-9)
        assert row["certified"] <= row["knots"] * (1 + 1e-9)
        assert row["tight"] <= row["paper"] * (1 + 1e-9)
        if row["by"] == "budget":
            assert row["smallest"] <= row["known"] <= row["largest"]


def test_claims_look_at_the_rows(found):
    assert [claim.holds for claim in found.claims] == [True, True, None, True, True]
    rows = [dict(row) for row in found.rows]
    rows[-1]["paper"] = 0.0
    assert figure_8._above(rows).holds is False
    assert figure_8._grows(rows).holds is False
    rows[0]["known_triad"] = rows[0]["known"] * 0.9
    assert figure_8._known(rows).holds is False


def test_too_many_values_are_refused():
    with pytest.raises(ValueError, match="expected at most 14"):
        boxes.largest_leakage(dt.Relative(0.1).box(sine.table(15)), 1.0)


def test_it_is_drawn_from_text(found):
    rows = as_read_back(found.rows)
    left, right = figure_8.draw(rows).axes
    assert len(left.lines) == 4 + len(figure_8.BOUNDS)
    assert len(right.lines) == 1 + len(figure_8.BOUNDS)
