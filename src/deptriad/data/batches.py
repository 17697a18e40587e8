"""Work on batches of codes, done where the data lives, without holding all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw

from deptriad.data.code_lookup import CodeLookup
from deptriad.data.column_types import Frame, require
from deptriad.data.engines import Batch, Work, engine_of
from deptriad.data.readers import opened, reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.data.encoding import Encoder
    from deptriad.utils.progress import Progress

BATCH = 1 << 17
"""Records that are handed on at a time; of text, which takes many times the memory, an eighth of it."""


def batches(codes: Frame) -> Iterator[Batch]:
    """A frame of numbers without nulls, or of text, as batches of arrays, a column each, in the order of the rows."""
    plain = all(dtype.is_numeric() for dtype in codes.collect_schema().values())
    size = BATCH if plain else max(BATCH // 8, 1)
    if isinstance(codes, nw.LazyFrame):
        native = codes.to_native()
        if engine_batches := engine_of(native).batches:
            with reading("the data", OSError):
                yield from engine_batches(native, size)
            return
        codes = codes.collect()
    columns = [codes[name].to_numpy() for name in codes.columns]
    for start in range(0, len(codes), size):
        yield [column[start : start + size] for column in columns]


def coded(frame: Frame, encode: Encoder) -> Iterator[Batch]:
    """Codes of all records of a local frame in batches, in the order of the rows."""
    arrow = engine_of(frame.to_native()).arrow_batches
    # only a schema's values can be looked up, not what is in reports
    if not arrow or isinstance(frame, nw.DataFrame) or not hasattr(encode, "schema"):
        yield from batches(encode(frame))
        return
    require(frame, encode.columns)
    lookup = CodeLookup(encode)
    with reading("the data", OSError):
        for batch in arrow(frame.select(*encode.columns).to_native(), BATCH):
            yield lookup(batch)


def streams(frame: Frame) -> bool:
    """Whether an engine hands over batches, or does the work itself on its partitions."""
    engine = engine_of(frame.to_native())
    ways = engine.batches, engine.on_parts, engine.on_codes
    return isinstance(frame, nw.DataFrame) or any(ways)


def results(
    frame: Frame, encode: Encoder, work: Work, progress: Progress | None = None
) -> Iterator[list[NDArray[Any]]]:
    """The work's results on all batches of codes: one from a local engine, one for each partition of a cluster."""
    engine = engine_of(frame.to_native())
    if engine.on_parts:
        native = frame.select(*encode.columns).to_native()
        yield from engine.on_parts(native, partial(_part_result, encode, work))
    elif engine.on_codes:
        yield from engine.on_codes(encode(frame).to_native(), work)
    else:
        yield work(_watched(coded(frame, encode), progress))


def _part_result(encode: Encoder, work: Work, part: Any) -> list[NDArray[Any]]:
    return work(coded(opened(part), encode))


def _watched(stream: Iterator[Batch], progress: Progress | None) -> Iterator[Batch]:
    """The same batches; before each next one the progress is told how many records are done."""
    done = 0
    for batch in stream:
        yield batch
        done += len(batch[0])
        if progress:
            progress(done, None)
