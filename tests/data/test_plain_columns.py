"""Column types of Arrow that say too little are read as what they hold."""

from decimal import Decimal

import pytest

import deptriad as dt

pa = pytest.importorskip("pyarrow", reason="the tables are made with PyArrow, which is absent")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

ARROW = {
    "string view": (pa.array(["a", "b", None], pa.string()).cast("string_view"), ["b", "a"]),
    "decimals": (pa.array([Decimal("0.35"), Decimal("2.675"), None]), [2.675, 0.35]),
    "decimals of 256 bits": (pa.array([Decimal("0.35"), None], pa.decimal256(50, 2)), [1, 0.35]),
    "dictionary of decimals": (
        pa.array([Decimal("0.35"), None, Decimal("0.35")]).dictionary_encode(),
        [0.35],
    ),
}


@pytest.mark.parametrize("form", ["pyarrow", "pandas", "pandas of Arrow"])
@pytest.mark.parametrize("held", ARROW)
def test_types_of_arrow_are_read_as_what_they_hold(form, held):
    column, categories = ARROW[held]
    table = pa.table({"x": column, "unused": column})
    data = table
    if form == "pandas":
        data = table.to_pandas()
    elif form == "pandas of Arrow":
        data = table.to_pandas(types_mapper=pd.ArrowDtype)
    schema = dt.Schema([dt.Attribute("x", categories=categories)])
    plain = [float(value) if isinstance(value, Decimal) else value for value in column.to_pylist()]
    codes = [len(categories) if value is None else categories.index(value) for value in plain]
    assert schema.encode(data)[:, 0].tolist() == codes
    found = dt.Schema.infer(data, columns=["x"])["x"]
    assert found.categories == tuple(sorted({value for value in plain if value is not None}))
