"""Where tables lie: end to end, singles first, each pair once and both ways round."""

import numpy as np

from deptriad.data.table_layout import Layout


def test_tables_lie_end_to_end_without_a_gap():
    layout = Layout((2, 3, 4))
    assert layout.pairs == [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    assert layout.starts.tolist() == [0, 2, 5, 9, 15, 23, 35]
    cells = np.arange(2 * layout.cells).reshape(2, -1)  # of two sources
    parts = [layout.single(cells, i) for i in range(3)]
    parts += [layout.table(cells, i, j).reshape(2, -1) for i, j in layout.pairs[3:]]
    assert np.array_equal(np.concatenate(parts, axis=1), cells)


def test_a_table_is_a_view_either_way_round():
    layout = Layout((2, 3))
    cells = np.zeros(layout.cells, dtype=np.int64)
    layout.table(cells, 1, 0)[2, 1] = 7
    assert layout.table(cells, 0, 1)[1, 2] == 7
    assert cells.tolist() == [0] * 10 + [7]
