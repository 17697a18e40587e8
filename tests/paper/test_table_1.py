"""Table 1: what the algorithms support."""

import pytest

from deptriad.paper import table_1
from paper_items import anew, as_read_back


@pytest.mark.usefixtures("small")
def test_table_1_verdicts():
    found = anew(table_1)
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


@pytest.mark.usefixtures("small")
def test_the_table_to_read_has_a_line_for_each_row():
    rows = anew(table_1).rows
    shown = table_1.table(as_read_back(rows))
    assert [line["algorithm"] for line in shown] == [row["algorithm"] for row in rows]
