"""Table 4: six kinds of dependence."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper import table_4
from deptriad.paper.data import Library
from deptriad.paper.item import Work
from deptriad.paper.regimes import REGIMES, SETS
from deptriad.rivals import measures


@pytest.fixture(scope="module")
def work():
    return Work("table-4", Library(), quick=True)


@pytest.fixture(scope="module")
def found(work):
    return table_4.ITEM.run(work)


@pytest.mark.parametrize("extreme", [False, True])
@pytest.mark.parametrize("name", REGIMES)
def test_tables_are_conditional_distributions(rng, name, extreme):
    table = REGIMES[name](30, rng, extreme)
    assert table.shape == (30, 30)
    assert (table > 0.0).all()
    assert table.sum(axis=1) == pytest.approx(np.ones(30))


def test_kinds_are_what_they_are_called(rng):
    entropy = {
        name: -np.sum((table := maker(60, rng, False)) * np.log(table), axis=1).mean()
        for name, maker in REGIMES.items()
    }
    # means over 60 rows: about 0.69 ± 0.06 (ψ(1.6) − ψ(1.01)), 1.2 and 2.2
    assert entropy["low entropy"] == pytest.approx(0.687, abs=0.36)
    assert entropy["low entropy"] < entropy["sparse concentrated"] < entropy["one to many"]
    images = REGIMES["many to one"](60, rng, False).argmax(axis=1)
    assert len(set(images)) <= 6
    monotone = REGIMES["near monotone"](60, rng, False)
    assert np.corrcoef(np.log(monotone[-1] / monotone[0]), np.arange(60))[0, 1] > 0.99
    tail = REGIMES["limited tail"](60, rng, False)[:, 12:].sum(axis=1)
    assert (tail <= 0.05).all()
    assert (tail >= 0.001).all()


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


def test_it_is_drawn_from_text(found):
    rows = [{name: str(value) for name, value in row.items()} for row in found.rows]
    assert [len(axes.lines) for axes in table_4.draw(rows).axes] == [4] * 12
