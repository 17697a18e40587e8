"""Work on batches of codes, done where the data lives, without holding all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw

from deptriad.data.column_types import Frame
from deptriad.data.engines import Batch, Work, engine_of
from deptriad.data.readers import opened, reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.data.encoding import Encoder
    from deptriad.utils.progress import Progress

BATCH = 1 << 17
"""Records that are handed on at a time."""


def batches(codes: Frame) -> Iterator[Batch]:
    """A frame of numbers without nulls as batches of arrays, a column each, in the order of the rows."""
    if isinstance(codes, nw.LazyFrame):
        native = codes.to_native()
        if engine_batches := engine_of(native).batches:
            with reading("the data", OSError):
                yield from engine_batches(native, BATCH)
            return
        codes = codes.collect()
    columns = [codes[name].to_numpy() for name in codes.columns]
    for start in range(0, len(codes), BATCH):
        yield [column[start : start + BATCH] for column in columns]


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
        yield work(_watched(batches(encode(frame)), progress))


def _part_result(encode: Encoder, work: Work, part: Any) -> list[NDArray[Any]]:
    return work(batches(encode(opened(part))))


def _watched(stream: Iterator[Batch], progress: Progress | None) -> Iterator[Batch]:
    """The same batches; before each next one the progress is told how many records are done."""
    done = 0
    for batch in stream:
        yield batch
        done += len(batch[0])
        if progress:
            progress(done, None)
