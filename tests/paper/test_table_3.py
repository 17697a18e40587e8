"""Table 3: totals, and claims that follow the numbers."""

import pytest

import deptriad as dt
from deptriad.paper import five, table_3
from deptriad.paper.figures import those
from deptriad.paper.item import Work
from paper_items import as_read_back, quick


@pytest.fixture(scope="module")
def table(library):
    return quick(table_3, library)


def test_the_totals_are_those_of_the_analysis(library, table):
    work = Work("table-3", library, quick=True)
    analysis = dt.analyze(five.prior_of(work, "cvd"))
    chosen = those(table.rows, dataset="cvd", variant="equal counts")
    for row in chosen:
        exact = dt.metrics.total_leakage(analysis.leakage(row["epsilon"], exact=True))
        assert row["exact"] == pytest.approx(exact)
        estimate = dt.metrics.total_leakage(analysis.leakage(row["epsilon"]))
        assert row["triad"] == pytest.approx(estimate)


def test_claims_of_the_table_follow_its_rows(table):
    paper = [
        {**row, "exact": row["paper_exact"], "triad": row["paper_triad"]} for row in table.rows
    ]
    same = table_3._numbers(paper, "adult", quick=False)
    assert (same.holds, same.why) == (True, "")
    assert table_3._numbers(paper, "adult", quick=True).holds is None
    assert table_3._numbers(paper, "dss", quick=False).holds is None
    assert table_3._first_left_out(paper, quick=False).holds is True
    off = [{**row, "exact": 1.1 * row["exact"]} for row in paper]
    assert table_3._numbers(off, "adult", quick=False).holds is False
    assert table_3._first_left_out(off, quick=False).holds is False
    assert table_3._bounds(off).holds is False
    loose = [{**row, "nmse triad": 1.0} for row in table.rows]
    assert table_3._exact_on_binary(loose).holds is False
    assert table_3._grows(loose).holds is False


def test_the_table_to_read_has_a_line_for_each_row(table):
    shown = table_3.table(as_read_back(table.rows))
    assert [line["ε"] for line in shown] == ["0.5", "1"] * (len(shown) // 2)
    first = table.rows[0]
    assert (shown[0]["TCPL*"], shown[0]["8 knots"]) == (
        f"{first['exact']:.2f}",
        f"{first['8 knots']:.2f}",
    )
