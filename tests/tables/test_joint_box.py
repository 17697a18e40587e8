"""JointBox: edges that are attained, and the four kinds of uncertainty for tables of many axes."""

import numpy as np
import pytest
from scipy.optimize import linprog

import deptriad as dt
from deptriad.tables.joint_box import joint_rows


def random_table(rng, shape):
    return rng.dirichlet(np.full(int(np.prod(shape[1:])), 0.7), shape[0]).reshape(shape)


def test_it_is_the_box_of_its_rows(rng):
    """Every kind makes of a joint table what it makes of the same table laid out in two axes."""
    table, other = random_table(rng, (3, 2, 4)), random_table(rng, (3, 2, 4))
    delta = rng.uniform(0.0, 0.1, table.shape)
    counts = rng.integers(0, 50, table.shape)
    flat = [each.reshape(3, -1) for each in (table, other, delta, counts)]
    pairs = [
        (dt.Relative(0.2).box(table), dt.Relative(0.2).box(flat[0])),
        (dt.Absolute(0.05).box(table), dt.Absolute(0.05).box(flat[0])),
        (dt.Absolute(delta).box(table), dt.Absolute(flat[2]).box(flat[0])),
        (dt.Spread("std").box([table, other]), dt.Spread("std").box(flat[:2])),
        (dt.Confidence(0.9).box(counts), dt.Confidence(0.9).box(flat[3])),
        (dt.Confidence(0.9, cells=500).box(counts), dt.Confidence(0.9, cells=500).box(flat[3])),
    ]
    for joint, box in pairs:
        assert isinstance(joint, dt.JointBox)
        assert isinstance(box, dt.Box)
        assert joint.shape == table.shape == joint.lower.shape == joint.upper.shape
        assert np.array_equal(joint.lower.reshape(3, -1), box.lower)
        assert np.array_equal(joint.upper.reshape(3, -1), box.upper)


def test_every_edge_is_attained(rng):
    """The least and the largest that a linear program finds for each cell are its edges."""
    table = random_table(rng, (2, 2, 3))
    box = dt.JointBox(np.maximum(table - 0.2, 0.0), table + rng.uniform(0.0, 0.3, table.shape))
    for lower, upper in zip(box.lower, box.upper, strict=True):
        bounds = list(zip(lower.ravel(), upper.ravel(), strict=True))
        for place in range(lower.size):
            goal = np.eye(lower.size)[place]
            for sign, edge in ((1.0, lower), (-1.0, upper)):
                found = linprog(
                    sign * goal, A_eq=np.ones((1, lower.size)), b_eq=[1.0], bounds=bounds
                )
                assert sign * found.fun == pytest.approx(edge.ravel()[place], abs=1e-9)


def test_the_level_holds_for_all_tables_together(rng):
    """More cells that share the level, wider boxes; fewer than its own are refused."""
    counts = rng.integers(1, 50, (2, 3, 2))
    alone, shared = dt.Confidence(0.95).box(counts), dt.Confidence(0.95, cells=1200).box(counts)
    assert (shared.lower < alone.lower).all()
    assert (shared.upper > alone.upper).all()
    with pytest.raises(ValueError, match="cells is 11, expected at least the 12 of this table"):
        dt.Confidence(0.95, cells=11).box(counts)


def test_a_row_without_records_is_wholly_uncertain():
    counts = np.zeros((2, 2, 2), dtype=int)
    counts[0] = 10
    box = dt.Confidence(0.9).box(counts)
    assert (box.lower[1] == 0.0).all()
    assert (box.upper[1] == 1.0).all()


def test_names_and_what_is_refused(rng):
    table = random_table(rng, (2, 3, 2))
    box = dt.JointBox(table * 0.9, table * 1.1, names=["vote", "age", "educ"])
    assert repr(box).startswith("JointBox(p(age, educ | vote), 2 × 3 × 2, widest")
    with pytest.raises(ValueError, match="expected 3 different ones"):
        dt.JointBox(table, table, names=["vote", "age"])
    with pytest.raises(ValueError, match="expected the same shape"):
        dt.JointBox(table, table[:, :2])
    with pytest.raises(ValueError, match="expected an axis for the target"):
        dt.JointBox(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="the box is empty"):
        dt.JointBox(table * 1.2, table * 1.3)
    with pytest.raises(ValueError, match=r"shape of the table, \(2, 3, 2\)"):
        dt.Absolute(np.zeros((2, 6))).box(table)
    with pytest.raises(ValueError, match="masked"):
        dt.JointBox(np.ma.masked_less(table, 0.1), table)


def test_rows_of_tables_and_of_counts():
    counts = np.array([[[3, 1], [0, 0]], [[0, 0], [0, 0]], [[1, 1], [1, 1]]])
    rows, shape = joint_rows(counts)
    assert shape == (2, 2, 2)
    assert rows.table.tolist() == [[0.75, 0.25, 0.0, 0.0], [0.25] * 4]
    again, whole = joint_rows(rows.table.reshape(shape))
    assert whole == shape
    assert np.array_equal(again.table, rows.table)
