"""The paper's datasets and its survey by states, and sizes at which nothing takes long."""

import pytest

from deptriad.paper import costs, figure_11, table_2
from deptriad.paper.data import Library
from deptriad.paper.item import Work
from deptriad.paper.states import Survey


@pytest.fixture(scope="session")
def library(shared_dir):
    return Library(shared_dir / "data")


@pytest.fixture(scope="session")
def survey(library):
    return Survey.of(Work("figure-9", library, quick=True))


@pytest.fixture
def small(monkeypatch):
    """Sizes at which everything takes milliseconds; the numbers mean nothing, their handling does."""
    sizes = dict.fromkeys(costs.SIZES, ((4, 6, 8), (4, 6, 8)))
    monkeypatch.setattr(costs, "SIZES", sizes)
    for name in ("BOX_SIZES", "PROGRAM_SIZES", "PIECES_SIZES"):
        monkeypatch.setattr(table_2, name, ((4, 6, 8), (4, 6, 8)))
    monkeypatch.setattr(figure_11, "SHORT", (3, 5, 8))
