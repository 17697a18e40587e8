"""Figure 2: sorted ratios of the toy example."""

import numpy as np
import pytest

from deptriad.paper import figure_2, toy
from paper_items import anew, quick


def holds(claims, words):
    """Whether the one claim with these words holds."""
    (found,) = [claim for claim in claims if words in claim.paper]
    return found.holds


def test_figure_2_finds_the_misprints_of_scenario_2_only(monkeypatch):
    claims = quick(figure_2).claims
    assert holds(claims, "ratios of scenario 1") is True
    assert holds(claims, "ratios of scenario 2") is False
    more, less = toy.SCENARIOS[2]
    monkeypatch.setitem(toy.PRINTED, 2, tuple((more / less).round(2)))
    assert holds(anew(figure_2).claims, "ratios of scenario 2") is True


def test_figure_2_levels_keep_the_total_variation():
    """Two-level rows with the ratios e^α and e^−β differ by as much as the rows themselves."""
    rows = quick(figure_2).rows
    for scenario, (more, less) in toy.SCENARIOS.items():
        levels = {row["alpha_beta_level"] for row in rows if row["scenario"] == scenario}
        low, high = min(levels), max(levels)
        mass = (1 - low) / (high - low)  # of G' at the upper level, so that G sums to 1
        assert mass * (high - 1) == pytest.approx(np.abs(more - less).sum() / 2)


def test_figure_2_formula_is_what_is_claimed(monkeypatch):
    assert holds(quick(figure_2).claims, "formula in α and γ") is True
    monkeypatch.setattr(figure_2, "_formula", lambda alpha, gamma, epsilon: 0.5)
    assert holds(anew(figure_2).claims, "formula in α and γ") is False
