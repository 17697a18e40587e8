"""How often each value occurs, of all columns in one pass over batches of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deptriad.data.batches import BATCH
from deptriad.data.column_types import Frame
from deptriad.data.engines import engine_of
from deptriad.data.plain_columns import undictionaried
from deptriad.data.readers import reading

MOST_DIFFERENT = 1 << 14
"""Different values up to which a column is tallied with the others; one of more is counted by itself."""


def tallied(frame: Frame, columns: Sequence[str]) -> dict[str, Any]:
    """Tables of the values and records of those columns that have few different values; none from other engines."""
    arrow = engine_of(frame.to_native()).arrow_batches
    if not arrow or not columns:
        return {}
    found: dict[str, Any] = dict.fromkeys(columns)
    with reading("the data", OSError):
        for batch in arrow(frame.select(*columns).to_native(), BATCH):
            for name, column in zip(columns, batch.columns, strict=True):
                if name in found and not _add(found, name, undictionaried(column)):
                    del found[name]
            if not found:
                break
    return {name: table for name, table in found.items() if table is not None}


def _add(found: dict[str, Any], name: str, column: Any) -> bool:
    """Add a batch of a column to its tally, unless it has too many values or such that cannot be told apart."""
    import pyarrow as pa

    try:
        counts = column.value_counts()
    except pa.ArrowNotImplementedError:  # as of nested ones
        return False
    more = pa.table({"value": counts.field(0), "records": counts.field(1)})
    if (before := found[name]) is not None:
        both = pa.concat_tables([before, more])
        more = both.group_by("value").aggregate([("records", "sum")])
        more = more.rename_columns({"records_sum": "records"})
    found[name] = more
    return bool(more.num_rows <= MOST_DIFFERENT)
