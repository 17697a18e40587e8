"""What the figures share."""

import math

import numpy as np
import pytest

from deptriad.paper import figure_2, figure_3, figure_4, figures
from paper_items import as_read_back, quick

ROWS = [
    {"name": "a", "size": 10, "cost": 0.5},
    {"name": "b", "size": "10", "cost": ""},
    {"name": "a", "size": 20, "cost": "2"},
]


def test_rows_are_chosen_whether_numbers_or_text():
    assert figures.those(ROWS, size=10) == ROWS[:2]
    assert figures.those(ROWS, name="a", size="20") == ROWS[2:]
    assert figures.values(ROWS, "size") == ["10", "20"]


def test_columns_are_numbers_and_empty_cells_are_nan():
    first, second, third = figures.column(ROWS, "cost")
    assert (first, third) == (0.5, 2.0)
    assert math.isnan(second)


def test_one_legend_names_each_line_once():
    figure = figures.sheet(2)
    for axes in figures.panels(figure, 2):
        axes.plot([0, 1], [0, 1], label="same")
        assert not axes.spines["top"].get_visible()
    figures.legend_below(figure, 2)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["same"]


@pytest.mark.parametrize("module", [figure_2, figure_3, figure_4])
def test_rows_read_back_are_drawn_alike(module):
    rows = quick(module).rows
    first, again = module.draw(rows), module.draw(as_read_back(rows))
    for one, two in zip(first.axes, again.axes, strict=True):
        for line, same in zip(one.lines, two.lines, strict=True):
            assert np.allclose(line.get_xydata(), same.get_xydata(), equal_nan=True)
