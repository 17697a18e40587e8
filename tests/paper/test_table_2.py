"""Table 2: claimed orders and measured exponents."""

import pytest

from deptriad.paper import table_2
from paper_items import anew, as_read_back


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


@pytest.mark.usefixtures("small")
def test_the_table_to_read_has_a_line_for_each_row():
    rows = anew(table_2).rows
    shown = table_2.table(as_read_back(rows))
    assert [line["algorithm"] for line in shown] == [row["algorithm"] for row in rows]
