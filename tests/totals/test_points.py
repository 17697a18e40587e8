import numpy as np
import pandas as pd
import pytest

import deptriad as dt
from deptriad.totals import _point_kernels, _slope_kernels, _term_kernels, points
from deptriad.totals.layout import laid_out
from deptriad.totals.totals import target_total
from total_cases import random_tables

MANY = (
    (_point_kernels, "table_points"),
    (_point_kernels, "box_points"),
    (_term_kernels, "plain_edges"),
    (_slope_kernels, "reference_rows"),
)
"""Loops that are for sources of many values, or for many sources."""


def test_few_answers_of_few_values_compile_no_loops_for_many(rng, monkeypatch):
    """Each of them takes a second to compile, which a first look at a small survey need not wait for."""

    def refused(*_):
        pytest.fail("this loop is not needed here")

    for module, name in MANY:
        monkeypatch.setattr(module, name, refused)
    frame = pd.DataFrame(rng.integers(0, 3, (300, 4)), columns=list("abcd"))
    schema = dt.Schema([dt.Attribute(name, [0, 1, 2]) for name in "abcd"])
    analysis = dt.analyze(dt.Prior.from_data(frame, schema))
    assert all(each.certified <= 4.0 for each in analysis.totals(1.0).values())
    plan = dt.calibrate(analysis, total=3.0, views="all")
    assert all(each["certified"] <= 3.0 for each in plan.totals.values())


def with_boxes(rng, rows):
    """Tables, and boxes of some."""
    tables = random_tables(rng, rows, 5, sizes=(2, 3, 5, 14))
    boxed = rng.random(len(tables)) < 0.5
    return {
        name: dt.Relative(0.1).box(table) if wide else table
        for (name, table), wide in zip(tables.items(), boxed, strict=True)
    }


@pytest.mark.parametrize("mechanisms", [None, "grr"])
def test_points_that_are_not_kept_say_the_same(rng, monkeypatch, mechanisms):
    tables = with_boxes(rng, 4)
    budgets = dict.fromkeys(tables, float(rng.uniform(0.1, 2.0)))

    def found():
        total = target_total(tables, budgets, mechanisms=mechanisms)
        return total, total.proof.to_dict()

    kept = found()
    monkeypatch.setattr(points, "MOST_HELD", 0)
    assert found() == kept


@pytest.mark.parametrize("guarantee", ["certified", "paired", "pairwise"])
def test_budgets_do_not_depend_on_what_is_kept(rng, monkeypatch, guarantee):
    """Also with two attributes, where one source is all there is."""
    wide = 14
    for number in (2, 3):
        frame = pd.DataFrame(rng.integers(0, wide, (500, number)) % [3, wide, 2][:number])
        frame.columns = list("abc")[:number]
        schema = dt.Schema([dt.Attribute(name, sorted(set(frame[name]))) for name in frame])
        prior = dt.Prior.from_data(frame, schema)

        def found(prior=prior):
            analysis = dt.analyze(prior)
            return dt.calibrate(analysis, total=2.0, views="all", guarantee=guarantee).budgets

        with monkeypatch.context() as patch:
            kept = found()
            patch.setattr(points, "MOST_HELD", 0)
            assert found() == kept


def test_points_of_a_pair_come_by_rising_sums(rng):
    """B and A of each source, both rising, and A not below B but for roundings."""
    tables = list(with_boxes(rng, 3).values())
    every = points.AllPoints(laid_out(tables))
    for x in range(3):
        for y in range(3):
            found = every.at(x, y)
            if x == y:
                assert not found.counts.any()
                continue
            assert (found.counts > 0).all()
            for i, count in enumerate(found.counts):
                lower, upper = found.lower[i, :count], found.upper[i, :count]
                assert (np.diff(lower) >= 0.0).all()
                assert (np.diff(upper) >= 0.0).all()
                assert upper.max() <= 1.0
    assert every.distances().shape == (9, len(tables))
    assert not every.distances()[[0, 4, 8]].any()
