"""Figure 11: time and space against the alphabet size."""

import pytest

from deptriad.paper import figure_11
from paper_items import anew, as_read_back


def test_figure_11_claims_look_at_the_rows():
    rows = [
        {
            "algorithm": name,
            "size": size,
            "precompute": "",
            "query": query(size),
            "bytes": kept(size),
        }
        for name, query, kept in (
            ("triad", lambda n: 1e-6, lambda n: 40.0),
            ("hcc-2", lambda n: 1e-8 * n**3, lambda n: 8.0 * n**2),
            ("ltm", lambda n: 2e-6, lambda n: 24.0 * n),
        )
        for size in (10, 20, 40)
    ]
    assert figure_11._constant(rows, "query", "w", False).holds is True
    assert figure_11._polynomial(rows, "query", "w", (2.3, 3.7), False).holds is True
    assert figure_11._faster(rows).holds is True
    assert figure_11._smaller(rows).holds is True
    slow = [row | {"query": row["size"] * 1e-6} for row in rows]
    assert figure_11._constant(slow, "query", "w", False).holds is False
    assert figure_11._polynomial(slow, "query", "w", (2.3, 3.7), False).holds is False
    assert figure_11._faster(slow).holds is False


@pytest.mark.usefixtures("small")
def test_quick_rows_can_be_drawn():
    assert figure_11.draw(as_read_back(anew(figure_11).rows)).axes
