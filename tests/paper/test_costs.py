"""Tables 1 and 2 and figure 11: what algorithms support and cost."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.paper import costs, figure_11, table_1, table_2
from deptriad.paper.data import Library
from deptriad.paper.item import Work


def outcome(module):
    return module.ITEM.run(Work(module.ITEM.name, Library(), quick=True))


@pytest.fixture
def small(monkeypatch):
    """Sizes at which everything takes milliseconds; the numbers mean nothing, their handling does."""
    sizes = dict.fromkeys(costs.SIZES, ((4, 6, 8), (4, 6, 8)))
    monkeypatch.setattr(costs, "SIZES", sizes)
    for name in ("BOX_SIZES", "PROGRAM_SIZES", "PIECES_SIZES"):
        monkeypatch.setattr(table_2, name, ((4, 6, 8), (4, 6, 8)))
    monkeypatch.setattr(figure_11, "SHORT", (3, 5, 8))


def as_text(rows):
    return [{name: str(value) for name, value in row.items()} for row in rows]


def test_exponents_of_known_growth():
    sizes = np.array([10.0, 20.0, 40.0])
    assert costs.exponent(sizes, 3e-6 * sizes**2.5) == pytest.approx(2.5)
    assert costs.doublings([5, 6, 8], [1.0, 2.0, 8.0]) == pytest.approx(1.0)


def test_the_program_as_published_has_the_value_of_the_closed_form():
    box = costs.box(6)
    pairs = [(x, y) for x in range(6) for y in range(6) if x != y]
    largest = max(costs.published_program(box, x, y) for x, y in pairs)
    assert largest == pytest.approx(dt.triad(box, relaxation="paper").phi, abs=1e-7)


def test_kept_bytes_are_those_of_the_numbers():
    triad = dt.triad(costs.table(5))
    assert costs.kept_bytes(triad) == 8 * 5  # α, β, φ, δ and the budget of calibration
    every, merged = table_2.pieces_kept(5)
    assert every == 3 * 5 * 5 * 5
    assert merged < 25


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("module", [table_1, table_2, figure_11])
def test_quick_runs_give_rows_that_can_be_drawn(module):
    found = outcome(module)
    assert module.draw(as_text(found.rows)).axes


@pytest.mark.usefixtures("small")
def test_table_1_verdicts():
    found = outcome(table_1)
    verdicts = {claim.paper: claim.holds for claim in found.claims}
    assert verdicts["none of the earlier algorithms takes an uncertain distribution"] is True
    assert verdicts["MI and PCC do not measure the leakage under any mechanism"] is True
    assert (
        verdicts["ITS, in O(ab), covers two-level mechanisms, unary encoding among them"] is False
    )
    assert verdicts["HCC-2 is not scalable"] is None  # quick


def test_scalability_is_judged_by_the_rows():
    row = {"algorithm": "LTM", "paper_scalable": "no", "scalable": "no"}
    row |= {"time_grows_as": "size^3.5", "largest_size": 9}
    assert table_1._scales(row, quick=False).holds is True
    assert table_1._scales(row | {"scalable": "yes"}, quick=False).holds is False
    assert table_1._scales(row | {"time_grows_as": "size^2.9"}, quick=False).holds is None


@pytest.mark.parametrize(
    "name, exponents, holds",
    [
        ("hcc-1", ("", 2.9, 2.0), True),
        ("hcc-1", ("", 4.9, 2.0), False),
        ("triad", (3.0, 0.1, 0.0), True),
        ("triad", (3.0, 1.1, 0.0), False),
        ("triad", (3.0, 0.1, 1.0), False),
        ("ltm", (3.1, 0.1, 1.0), None),
        ("ltm", (3.9, 0.1, 1.0), False),
    ],
)
def test_claimed_orders_are_judged_by_measured_exponents(name, exponents, holds):
    names = ("precompute_exponent", "query_exponent", "space_exponent")
    row = dict(zip(names, exponents, strict=True))
    assert table_2._claim(name, row, quick=False).holds is holds
    assert table_2._claim(name, row, quick=True).holds is None


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
