"""Table 4: errors under six kinds of dependence."""

import pytest

import deptriad as dt
from deptriad.paper import table_4
from deptriad.paper.data import Library
from deptriad.paper.item import Work
from deptriad.paper.regimes import REGIMES, SETS
from deptriad.rivals import measures
from paper_items import as_read_back


@pytest.fixture(scope="module")
def work():
    return Work("table-4", Library(), quick=True)


@pytest.fixture(scope="module")
def found(work):
    return table_4.ITEM.run(work)


def test_errors_are_the_triad_less_hcc_2(work, found):
    table = REGIMES["near monotone"](30, work.chance("moderate", "near monotone", 0), False)
    errors = table_4._errors(work, "moderate", "near monotone", 0, 30)
    for place, budget in enumerate(table_4.BUDGETS):
        expected = dt.triad(table).leakage(budget) - measures["hcc-2"].measure(table, budget)
        assert errors["triad"][place] == pytest.approx(expected, abs=1e-9)


def test_rows_cover_every_cell_and_ours_is_never_looser_where_it_is_made_for(found):
    assert len(found.rows) == len(SETS) * len(REGIMES) * len(table_4.BUDGETS)
    for row in found.rows:
        assert row["triad_least"] >= -1e-12
        if row["epsilon"] <= table_4.EPSILON_MAX:
            assert row["tuned_mean"] <= row["triad_mean"] + 1e-12


def test_misprints_of_the_paper_are_found(monkeypatch):
    assert table_4._deviation().holds is False
    assert table_4._own_order().holds is False
    means, _ = table_4.PAPER["near monotone"]
    monkeypatch.setitem(table_4.PAPER, "near monotone", (means, (2.5e-4, 0.1, 0.1, 0.1)))
    assert table_4._deviation().holds is True


def test_claims_look_at_the_rows(found):
    rows = [dict(row) for row in found.rows if row["set"] == "moderate"]
    assert table_4._tight(rows, "moderate").holds is True
    for row in rows:
        row["triad_mean"] = 0.1 * row["epsilon"]
    assert table_4._tight(rows, "moderate").holds is False
    assert table_4._intermediate(rows, "moderate").holds is False
    assert table_4._conservative(rows, "moderate").holds is False
    rows[0]["triad_least"] = -0.1
    assert table_4._bound(rows).holds is False


def test_the_table_to_read_has_every_cell(found):
    shown = table_4.table(as_read_back(found.rows))
    assert len(shown) == len(found.rows)
    assert shown[0]["as printed in the paper"] == "9.4e-09 ± 4.3e-09"
    assert set(table_4.METHODS.values()) < set(shown[0])
