"""What results share: entries by name, and frames."""

from typing import NamedTuple

import pytest

from deptriad.data.results import ByTarget, columns_of


class One(NamedTuple):
    target: str
    size: float


class Sizes(ByTarget[One]):
    called = ("size", "of")

    def columns(self):
        return columns_of(self.values(), One._fields)


def test_a_result_is_a_mapping_in_the_order_given():
    found = Sizes([One("b", 2.0), One("a", 1.0)])
    assert list(found) == ["b", "a"]
    assert len(found) == 2
    assert found["a"] == One("a", 1.0)
    assert "c" not in found
    assert found.get("c") is None


def test_unknown_and_repeated_targets_are_named():
    with pytest.raises(KeyError, match="there is no size of 'aeg': did you mean 'age'"):
        Sizes([One("age", 1.0)])["aeg"]
    with pytest.raises(ValueError, match="got two sizes of 'age', expected one a target"):
        Sizes([One("age", 1.0), One("age", 2.0)])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_are_of_the_kind_that_is_wanted(kind):
    pytest.importorskip(kind)
    frame = Sizes([One("b", 2.0), One("a", 1.0)], kind).to_frame()
    assert type(frame).__module__.partition(".")[0] == kind
    assert [list(map(str, frame["target"])), list(map(float, map(str, frame["size"])))] == [
        ["b", "a"],
        [2.0, 1.0],
    ]
