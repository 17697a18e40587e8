"""Items, claims and chance of the paper."""

import pytest

from deptriad.paper import NAMES, items
from deptriad.paper.data import Library
from deptriad.paper.item import Claim, Outcome, Work

CLAIM = Claim("one is one", "1", True)


def test_every_name_has_a_file_of_its_own_name():
    assert [item.name for item in items()] == list(NAMES)


def test_an_unknown_item_is_named_with_its_neighbour():
    with pytest.raises(ValueError, match="'tabel-3': did you mean 'table-3'"):
        items(["tabel-3"])


def test_chance_depends_on_the_seed_and_the_part_alone():
    works = [Work("table-4", Library(), seed=seed) for seed in (0, 0, 1)]
    first, same, other = (work.chance("a").random() for work in works)
    assert first == same != other
    assert works[0].chance("b").random() != first


def test_a_claim_that_does_not_hold_needs_a_reason():
    with pytest.raises(ValueError, match="expected a reason"):
        Claim("one is two", "1", False)


def test_rows_must_agree():
    with pytest.raises(ValueError, match="different columns"):
        Outcome([{"x": 1}, {"y": 1}], [CLAIM], "none")
    with pytest.raises(ValueError, match="no rows"):
        Outcome([], [CLAIM], "none")
