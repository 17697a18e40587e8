"""Plots: what is drawn is what the library says, and names are drawn as they are."""

import io
import math
import sys
from itertools import pairwise

import numpy as np
import pytest

import deptriad as dt
from deptriad.utils.colours import ROLES, ROLES_ON_DARK, SEQUENTIAL

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib, which draws, is not installed")
pd = pytest.importorskip("pandas")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

HOSTILE = ["$x^2$", r"\frac{$a$", "costs 5$ or 6${", "<b>&</b>\n$", "name " * 20]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def records(names, count=400):
    """Answers of two values that all lean on the first: an example of something to draw, the same each time."""
    rng = np.random.default_rng(31)
    answers = rng.integers(0, 2, (count, len(names)))
    lean = rng.random((count, len(names))) < 0.5
    return pd.DataFrame(np.where(lean, answers[:, :1], answers), columns=names)


def analysed(names):
    frame = records(names)
    return dt.analyze(dt.Prior.from_data(frame, dt.Schema.infer(frame)))


@pytest.fixture
def analysis():
    return analysed(["sex", "age", "job"])


def drawn(ax):
    """Draw for real: text that is parsed as mathematics would fail here."""
    ax.figure.savefig(picture := io.BytesIO(), format="png")
    assert picture.getvalue().startswith(b"\x89PNG")
    return ax


def line(ax, label):
    (found,) = [each for each in ax.lines if each.get_label() == label]
    return np.asarray(found.get_xdata()), np.asarray(found.get_ydata())


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


# ------------------------------------------------------------------------------------------- leakage


@pytest.mark.parametrize("epsilon", [1.0, {"sex": 0.5, "age": 0.0, "job": 2.0}])
def test_a_heatmap_has_the_leakages_and_blanks_for_own_budgets(analysis, epsilon):
    ax = drawn(dt.plot_leakage(analysis, epsilon))
    (image,) = ax.images
    shown, wanted = np.ma.filled(image.get_array(), np.nan), np.array(analysis.leakage(epsilon))
    off = ~np.eye(3, dtype=bool)
    assert (shown[off] == wanted[off]).all()
    assert np.isnan(np.diag(shown)).all()
    assert image.get_clim() == (0.0, 1.0 if epsilon == 1.0 else 2.0)
    assert ticks(ax.xaxis) == ticks(ax.yaxis) == ["sex", "age", "job"]


def test_the_numbers_in_a_heatmap_are_bounds(analysis):
    ax = dt.plot_leakage(analysis, 1.0)
    leakages = np.array(analysis.leakage(1.0))
    assert len(ax.texts) == 6
    for text in ax.texts:
        column, row = text.get_position()
        assert 0.0 <= float(text.get_text().removeprefix("< ")) - leakages[row, column] < 0.011


def test_numbers_stand_out_from_their_cells(analysis):
    ax = dt.plot_leakage(analysis, 1.0)
    colours = ax.images[0].cmap
    assert matplotlib.colors.to_hex(colours(0.0)) == SEQUENTIAL[0]
    assert matplotlib.colors.to_hex(colours(1.0)) == SEQUENTIAL[-1]
    for text in ax.texts:
        column, row = text.get_position()
        cell = luminance(colours(analysis.leakage(1.0).values[row, column]))
        ink = luminance(matplotlib.colors.to_rgb(text.get_color()))
        assert (max(cell, ink) + 0.05) / (min(cell, ink) + 0.05) >= 4.5


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_many_attributes_have_no_numbers_and_small_names():
    ax = drawn(dt.plot_leakage(analysed([f"attribute {i}" for i in range(40)])))
    assert not ax.texts
    assert len(ticks(ax.xaxis)) == 40
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    heights = sorted((box.y0, box.y1) for box in boxes)
    assert all(high <= low for (_, high), (low, _) in pairwise(heights))


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 100.0, math.inf])
def test_extreme_budgets_are_drawn(analysis, epsilon):
    ax = drawn(dt.plot_leakage(analysis, epsilon))
    assert np.isfinite(ax.images[0].get_clim()).all()


def test_a_heatmap_of_a_loaded_analysis(analysis, tmp_path):
    analysis.save(tmp_path / "a.json")
    ax = dt.plot_leakage(dt.Analysis.load(tmp_path / "a.json"))
    shown = np.ma.filled(ax.images[0].get_array(), 1.0)
    assert (shown == np.array(analysis.leakage(1.0))).all()


# ------------------------------------------------------------------------------------------- profile

TABLE = [[0.5, 0.3, 0.15, 0.05, 0.0], [0.1, 0.15, 0.2, 0.5, 0.05]]


def test_a_profile_has_its_knots_and_the_chord_of_its_triad():
    curve, triad = dt.profile(TABLE), dt.triad(TABLE)
    ax = drawn(dt.plot_profile(TABLE))
    gamma, stick = line(ax, "profile")
    assert gamma[0] == 1.0
    assert (stick == curve.hockey_stick(gamma)).all()
    assert np.isin(curve.knots[:, 0], gamma).all()
    assert np.column_stack(line(ax, "_knots")).tolist() == curve.knots.tolist()
    gamma, chord = line(ax, "triad")
    assert chord[0] == pytest.approx(float(triad.phi), abs=1e-12)
    assert chord[gamma >= math.exp(triad.alpha) * (1 + 1e-9)] == pytest.approx(float(triad.delta))
    assert (chord >= curve.hockey_stick(gamma) - 1e-12).all()


def test_a_profile_alone_has_no_chord_unless_one_is_given():
    curve = dt.profile(TABLE)
    assert "triad" not in dt.plot_profile(curve).get_legend_handles_labels()[1]
    assert "triad" in dt.plot_profile(curve, dt.triad(TABLE)).get_legend_handles_labels()[1]


def test_leakage_is_drawn_against_the_budget():
    ax = drawn(dt.plot_profile(TABLE, kind="leakage"))
    for label, curve in (("profile", dt.profile(TABLE)), ("triad", dt.triad(TABLE))):
        epsilon, leakage = line(ax, label)
        assert (leakage == curve.leakage(epsilon)).all()
    epsilon, budget = line(ax, "budget")
    assert (epsilon == budget).all()


@pytest.mark.parametrize(
    "table",
    [
        [[0.5, 0.5], [0.5, 0.5]],
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0 - 1e-300, 1e-300], [0.5, 0.5]],
        dt.Relative(0.1).box([[0.5, 0.5], [0.2, 0.8]]),
    ],
    ids=["independent", "disjoint", "tiny", "box"],
)
@pytest.mark.parametrize("kind", ["profile", "leakage"])
def test_extreme_tables_are_drawn(table, kind):
    ax = drawn(dt.plot_profile(table, kind=kind))
    assert np.isfinite(ax.get_xlim()).all()
    assert np.isfinite(line(ax, "profile")[1]).all()


# -------------------------------------------------------------------------------------------- totals


def test_totals_are_brackets_from_the_least_to_what_is_certified(analysis):
    totals = analysis.totals(1.0)
    ax = drawn(dt.plot_totals(totals, promise=2.5))
    for name in ("paired", "pairwise", "certified"):
        (label,) = [
            each for each in ax.get_legend_handles_labels()[1] if each.startswith(f"{name} ")
        ]
        values, rows = line(ax, label)
        assert values.tolist() == [getattr(totals[target], name) for target in totals]
        assert rows.tolist() == [0, 1, 2]
    assert line(ax, "promise")[0].tolist() == [2.5, 2.5]
    assert ticks(ax.yaxis) == list(totals)
    low, high = ax.get_ylim()
    assert low > high  # the first at the top
    for (start, end), total in zip(ax.collections[0].get_segments(), totals.values(), strict=True):
        assert (start[0], end[0]) == (total.paired, total.certified)


def test_what_is_attained_includes_the_own_budget(analysis):
    totals = analysis.totals({"sex": 0.5, "age": 1.0, "job": 2.0})
    frame = records(["sex", "age", "job"])
    seen = dt.witness(frame, 1.0, "sex", schema=analysis.schema)
    values, _ = line(dt.plot_totals(totals, witness={"sex": seen, "job": 2.25}), "attained (fact)")
    assert values[0] == 0.5 + max(seen.overall, 0.0)
    assert np.isnan(values[1])
    assert values[2] == 2.25


def test_promises_by_name_are_drawn_where_they_are(analysis):
    ax = drawn(dt.plot_totals(analysis.totals(1.0), {"job": 2.0, "sex": math.inf, "age": 3.0}))
    (found,) = [each for each in ax.collections if each.get_label() == "promise"]
    middles = [np.mean(segment, axis=0).tolist() for segment in found.get_segments()]
    assert middles == [[3.0, 1.0], [2.0, 2.0]]


def test_odds_stand_above_totals(analysis):
    ax = drawn(dt.plot_totals(analysis.totals(1.0)))
    (above,) = ax.child_axes
    for place, label in zip(above.get_xticks(), ticks(above.xaxis), strict=True):
        assert math.exp(place) == pytest.approx(float(label.removeprefix("×").replace(",", "")))


# ---------------------------------------------------------------------------------------------- plan


def test_a_plan_stands_beside_splitting(analysis):
    plan = dt.calibrate(
        analysis, {"sex": 2.0, "age": 3.0, "job": math.inf}, fixed={"age": 0.0}, views="all"
    )
    ax = drawn(dt.plot_plan(plan))
    assert line(ax, "plan")[0].tolist() == [plan.budgets["sex"], plan.budgets["job"]]
    assert line(ax, "splitting")[0] == pytest.approx(2.0 / 2)  # age is not released
    assert "from 2 to 3" in ax.get_title()
    assert ticks(ax.yaxis) == ["sex", "job"]


# ------------------------------------------------------------------------------------------- for all


def all_plots(analysis, ax=None):
    plan = dt.calibrate(analysis, 2.0, views="all")
    yield dt.plot_leakage(analysis, ax=ax)
    yield dt.plot_profile(analysis.table(*analysis.pairs[0]), ax=ax)
    yield dt.plot_totals(analysis.totals(1.0), ax=ax)
    yield dt.plot_plan(plan, ax=ax)


def test_hostile_names_are_drawn_as_text():
    for ax in all_plots(analysed(HOSTILE)):
        drawn(ax)
        labels = [label for label in ax.get_yticklabels() if not label.get_text()[:1].isdigit()]
        if ax.get_ylabel() != r"$E_\gamma$":
            assert len(labels) == 5
            assert [each.get_text() for each in labels[:3]] == HOSTILE[:3]
            assert labels[3].get_text() == r"<b>&</b>\n$"
            assert len(labels[4].get_text()) < 30
            assert not any(each.get_parse_math() or each.get_usetex() for each in labels)


def test_axes_given_are_drawn_on_and_returned(analysis):
    _, given = plt.subplots()
    before = plt.get_fignums()
    for ax in all_plots(analysis, given):
        assert ax is given
    assert plt.get_fignums() == before


def test_dark_backgrounds_have_colours_of_their_own(analysis):
    totals = analysis.totals(1.0)
    for style, roles in (("default", ROLES), ("dark_background", ROLES_ON_DARK)):
        with plt.style.context(style):
            ax = dt.plot_totals(totals)
            (certified,) = [each for each in ax.lines if each.get_label().startswith("certified")]
            assert certified.get_markeredgecolor() == roles["certified"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda a: dt.plot_leakage([1.0]), "analysis is a list, expected an Analysis"),
        (lambda a: dt.plot_leakage(a, -1.0), "-1"),
        (lambda a: dt.plot_profile(TABLE, kind="both"), "kind is 'both'"),
        (lambda a: dt.plot_profile(TABLE, a.numbers), "6 triads, expected one"),
        (lambda a: dt.plot_totals({}), "totals is a dict"),
        (lambda a: dt.plot_totals(dt.Totals([])), "totals is empty"),
        (lambda a: dt.plot_totals(a.totals(1.0), {"sxe": 1.0}), "did you mean 'sex'"),
        (lambda a: dt.plot_totals(a.totals(1.0), witness={"sxe": 1.0}), "did you mean 'sex'"),
        (lambda a: dt.plot_plan(a), "plan is a Analysis, expected a Plan"),
    ],
)
def test_mistakes_are_explained(analysis, call, said):
    with pytest.raises(ValueError, match=said):
        call(analysis)
    assert not plt.get_fignums()


def test_without_matplotlib_the_extra_is_named(analysis, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'deptriad\[plot\]'"):
        dt.plot_leakage(analysis)
