"""Five datasets: the paper's CelebA totals, and cells by hand."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper import five, table_3


def test_the_papers_celeba_totals_are_those_of_39_attributes(library):
    prior = library.prior("celeba")
    for epsilon, paper in ((0.5, 101.04), (1.0, 221.53)):
        adjusted = five.adjusted_tables_without(prior, table_3.FIRST)
        assert dt.leakages(adjusted, epsilon).sum() == pytest.approx(paper, abs=0.01)
        plain = five.tables_without(prior, table_3.FIRST)
        assert dt.leakages(plain, epsilon).sum() == pytest.approx(paper, abs=0.05)


def test_adjusted_cells_by_hand():
    import pandas as pd

    frame = pd.DataFrame({"a": [0] * 6 + [1] * 4, "b": [0] * 5 + [1] + [1] * 4, "c": [0, 1] * 5})
    prior = dt.Prior.from_data(frame, dt.Schema.infer(frame), min_records=0)
    table = five.adjusted_tables_without(prior, "c")[0]  # p(a | b): counts 5, 0 and 1, 4
    assert table.table == pytest.approx(np.array([[1.0, 0.0], [0.0, 1.0]]))
