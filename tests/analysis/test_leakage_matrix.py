"""LeakageMatrix: how it prints, and what it says of names that are none."""

import numpy as np
import pytest

from deptriad.analysis.leakage_matrix import LeakageMatrix


def matrix(count, length=8):
    names = tuple(f"{'column'[: length - 2]}{place:02d}" for place in range(count))
    return LeakageMatrix(names, np.full((count, count), 0.5))


@pytest.mark.parametrize("count", [2, 5, 12, 200])
@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (60, 30), (200, 50)])
def test_a_print_fits_the_terminal(monkeypatch, count, columns, lines):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", str(lines))
    shown = repr(matrix(count)).splitlines()
    assert max(map(len, shown)) <= columns
    assert len(shown) <= lines
    whole = count * 9 + 8 <= columns and count + 2 <= lines - 6
    assert ("…" in "".join(shown)) is not whole
    assert shown[-1].startswith(f"{count} attributes") is not whole


def test_long_names_stay_apart_and_leave_room_for_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = tuple(f"unmet_need_for_care_of_kind_{i}_in_last_12_months" for i in range(9))
    head = repr(LeakageMatrix(names, np.full((9, 9), 0.5))).splitlines()[1].split()
    assert len(set(head)) == len(head) >= 5


def test_one_name_is_no_pair():
    for odd in ("column01", ("column01",), 3):
        with pytest.raises(ValueError, match=r"names no pair, expected a source and a target"):
            matrix(3)[odd]
    assert matrix(3)["column00", "column02"] == 0.5
