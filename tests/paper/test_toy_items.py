"""Figures 2, 3 and 4: the toy example and the heatmap."""

import numpy as np
import pytest

from deptriad.paper import figure_2, figure_3, figure_4, sine, toy
from deptriad.paper.data import Library
from deptriad.paper.item import Work


def outcome(module):
    return module.ITEM.run(Work(module.ITEM.name, Library(), quick=True))


def holds(claims, words):
    """Whether the one claim with these words holds."""
    (found,) = [claim for claim in claims if words in claim.paper]
    return found.holds


def as_text(rows):
    """Rows as a CSV gives them back."""
    return [{name: str(value) for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("module", [figure_2, figure_3, figure_4])
def test_rows_read_back_are_drawn_alike(module):
    rows = outcome(module).rows
    first, again = module.draw(rows), module.draw(as_text(rows))
    for one, two in zip(first.axes, again.axes, strict=True):
        for line, same in zip(one.lines, two.lines, strict=True):
            assert np.allclose(line.get_xydata(), same.get_xydata(), equal_nan=True)


def test_figure_2_finds_the_misprints_of_scenario_2_only(monkeypatch):
    claims = outcome(figure_2).claims
    assert holds(claims, "ratios of scenario 1") is True
    assert holds(claims, "ratios of scenario 2") is False
    more, less = toy.SCENARIOS[2]
    monkeypatch.setitem(toy.PRINTED, 2, tuple((more / less).round(2)))
    assert holds(outcome(figure_2).claims, "ratios of scenario 2") is True


def test_figure_2_levels_keep_the_total_variation():
    """Two-level rows with the ratios e^α and e^−β differ by as much as the rows themselves."""
    rows = outcome(figure_2).rows
    for scenario, (more, less) in toy.SCENARIOS.items():
        levels = {row["alpha_beta_level"] for row in rows if row["scenario"] == scenario}
        low, high = min(levels), max(levels)
        mass = (1 - low) / (high - low)  # of G' at the upper level, so that G sums to 1
        assert mass * (high - 1) == pytest.approx(np.abs(more - less).sum() / 2)


def test_figure_2_formula_is_what_is_claimed(monkeypatch):
    assert holds(outcome(figure_2).claims, "formula in α and γ") is True
    monkeypatch.setattr(figure_2, "_formula", lambda alpha, gamma, epsilon: 0.5)
    assert holds(outcome(figure_2).claims, "formula in α and γ") is False


def test_figure_3_exact_leakage_is_the_best_of_all_sets():
    sets = (np.arange(32)[:, None] >> np.arange(5)) & 1
    for row in outcome(figure_3).rows:
        mass = toy.SCENARIOS[row["scenario"]] @ sets.T
        likelihood = 1 + np.expm1(row["epsilon"]) * mass
        best = np.log(
            np.maximum(likelihood[0] / likelihood[1], likelihood[1] / likelihood[0]).max()
        )
        assert row["exact"] == pytest.approx(best, abs=1e-12)


def test_figure_3_claims_look_at_the_rows():
    rows = [dict(row) for row in outcome(figure_3).rows]
    assert all(claim.holds for claim in outcome(figure_3).claims)
    rows[5]["triad"] = rows[5]["exact"] - 0.01
    assert figure_3._bounded(rows).holds is False
    rows[5]["triad"] = rows[5]["uncalibrated"] + 0.01
    assert figure_3._tighter(rows).holds is False


def test_figure_4_has_the_table_and_its_turns():
    rows = outcome(figure_4).rows
    assert np.array_equal(figure_4.grid(as_text(rows), "probability"), sine.table(20))
    level = [row | {"probability": 0.05} for row in rows]
    assert figure_4._nonlinear(level).holds is False
    assert figure_4._shape(level).holds is False
