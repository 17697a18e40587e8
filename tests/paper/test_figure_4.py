"""Figure 4: the sine table as a heatmap."""

import numpy as np

from deptriad.paper import figure_4, sine
from paper_items import as_read_back, quick


def test_figure_4_has_the_table_and_its_turns():
    rows = quick(figure_4).rows
    assert np.array_equal(figure_4.grid(as_read_back(rows), "probability"), sine.table(20))
    level = [row | {"probability": 0.05} for row in rows]
    assert figure_4._nonlinear(level).holds is False
    assert figure_4._shape(level).holds is False
