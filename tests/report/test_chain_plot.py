"""The plot of a chain draws what the chain says."""

import pytest

import deptriad as dt

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib, which draws, is not installed")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")
CHAIN = dt.Chain([[0.9, 0.1], [0.2, 0.8]])


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def drawn(ax):
    return {line.get_label(): line.get_ydata() for line in ax.lines}


def test_the_bridge_its_parts_the_sum_and_the_limit_are_drawn():
    told = CHAIN.totals([0.3] * 24)
    lines = drawn(dt.plot_chain(CHAIN, [0.3] * 24, total=3.0))
    assert (lines["all releases"] == told.total).all()
    assert (lines["those up to then"] == told.backward).all()
    assert (lines["those from then on"] == told.forward).all()
    assert lines["budgets added up"][-1] == pytest.approx(7.2)
    assert set(lines["all, for ever"]) == {CHAIN.limit_total(0.3)}
    assert set(lines["promise"]) == {3.0}


def test_a_sum_that_leaves_the_plot_is_named_where_it_does():
    ax = dt.plot_chain(CHAIN, [0.3] * 24)
    assert [text.get_text() for text in ax.texts] == ["on to 7.2"]
    assert ax.get_ylim()[1] < 7.2


@pytest.mark.parametrize("epsilons", [[0.0], [1.0], [0.5, 0.1, 0.7], [0.0, 0.0]])
def test_short_and_uneven_and_silent_ones_are_drawn(epsilons):
    ax = dt.plot_chain(CHAIN, epsilons)
    assert ("all, for ever" in drawn(ax)) == (len(set(epsilons)) == 1 and epsilons[0] > 0.0)
    ax.figure.canvas.draw()


def test_only_chains_are_drawn():
    with pytest.raises(ValueError, match="expected a Chain"):
        dt.plot_chain([[0.5, 0.5]], [1.0])
