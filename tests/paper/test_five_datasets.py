"""Table 3 and figures 6 and 7: the paper's CelebA totals, and claims that follow the numbers."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper import figure_6, figure_7, five, table_3
from deptriad.paper.data import Library
from deptriad.paper.figures import column, those
from deptriad.paper.item import Work


@pytest.fixture(scope="module")
def library(shared_dir):
    return Library(shared_dir / "data")


def as_read_back(rows):
    return [{key: str(cell) for key, cell in row.items()} for row in rows]


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


@pytest.fixture(scope="module")
def table(library):
    return table_3.run(Work("table-3", library, quick=True))


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
    assert table_3.draw(as_read_back(table.rows)).axes


def test_figure_6_claims_follow_its_rows(library):
    outcome = figure_6.run(Work("figure-6", library, quick=True))
    for limit, most in ((0.025, 10.0), (0.003, 1.0)):
        low = [{**row, "nmse triad": 0.9 * limit} for row in outcome.rows]
        assert figure_6._below(low, limit, most).holds is True
        high = [{**row, "nmse triad": 1.1 * limit} for row in outcome.rows]
        assert figure_6._below(high, limit, most).holds is False
    beyond = [{**row, "nmse triad": float(row["epsilon"] > 1.0)} for row in outcome.rows]
    assert figure_6._below(beyond, 0.003, 1.0).holds is True
    wide = [{**row, "nmse triad": float(row["binning"] == "equal width")} for row in outcome.rows]
    assert figure_6._looser(wide).count("equal width") == 4
    assert column(outcome.rows, "nmse 8 knots").max() < 1e-4
    assert len(figure_6.draw(as_read_back(outcome.rows)).axes) == 2


def test_figure_7_leaves_out_what_has_no_logarithm(library):
    outcome = figure_7.run(Work("figure-7", library, quick=True))
    pairs = those(outcome.rows, kind="pair")
    beta = column(pairs, "beta")
    assert (beta[np.isfinite(beta) & (beta > 0.0)] > 1e-9).all()  # no β that is rounding alone
    assert all(claim.holds is not False for claim in outcome.claims[:2])
    swapped = [
        {**row, "with alpha": row["with beta"], "with beta": row["with alpha"]}
        for row in outcome.rows
    ]
    assert figure_7._dominant(swapped).holds is False
    turned = [{**row, "with alpha": -float(row["with beta"] or 0.0)} for row in outcome.rows]
    back = [{**row, "with beta": -float(row["with alpha"] or 0.0)} for row in outcome.rows]
    assert figure_7._ends(turned)[2].holds is figure_7._ends(outcome.rows)[0].holds
    assert figure_7._ends(back)[0].holds is figure_7._ends(outcome.rows)[2].holds
    falling = [{**row, "with alpha": -float(row["epsilon"])} for row in outcome.rows]
    assert figure_7._ends(falling)[2].holds is False
    assert "not in this order, and" in figure_7._ends(falling)[2].why
    none = [{**row, "beta": 1.0} for row in outcome.rows]
    assert figure_7._excluded(none) == []
    above = [{**row, "leakage": 1.5 if row["kind"] == "pair" else ""} for row in outcome.rows]
    assert figure_7._capped(above).holds is False
    assert len(figure_7.draw(as_read_back(outcome.rows)).axes) == 2


def test_correlation_of_logarithms(rng):
    one = rng.random(50)
    found = figure_7.correlation(np.append(one, [0.0, np.inf]), np.append(3.0 * one**2, [1.0, 1.0]))
    assert found == pytest.approx(1.0)
