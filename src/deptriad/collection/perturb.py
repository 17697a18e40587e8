"""Collection: perturbing frames and files by a strategy or a plan; and the strategies, under one roof."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from deptriad.collection import report_format
from deptriad.collection.question import Generator
from deptriad.collection.report_mark import mark, mark_frame, marked
from deptriad.collection.split import as_strategy
from deptriad.data.schema import Schema
from deptriad.utils import files
from deptriad.utils.errors import InvalidValue, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deptriad.data.column_types import Frame
    from deptriad.data.engines import Batch
    from deptriad.utils.progress import Progress


def perturb(strategy: Any, frame: Any, rng: Generator = None) -> Any:
    """Reports of all records, in a frame of the same kind.

    The result has columns of reports only, and no index of the frame's: that may be a true value. Rows keep their
    order, so that a frame sorted by an answer gives it away. Attributes that are not released are not looked at.
    GRR and the staircase report labels of the schema; all others an "x" and hexadecimal digits, see
    ``deptriad.collection.report_format``.

    Parameters
    ----------
    strategy
        A plan, or a strategy.
    frame
        Records: a pandas, Polars or Arrow frame, whose kind is kept. Any other is collected: a lazy frame of Polars
        comes back as a Polars frame; a relation of DuckDB, a frame of Ibis, Spark or Dask, and a path as pandas. A
        value that the schema does not allow is an error, and nothing is reported.
    rng
        ``numpy.random.default_rng(seed)`` for a simulation that can be repeated, and the reports are marked so; by
        default the operating system's secure source.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import deptriad as dt
    >>> from deptriad.collection.perturb import perturb
    >>> schema = dt.Schema([dt.Attribute("sex", ["f", "m"], missing="error")])
    >>> frame = pd.DataFrame({"sex": ["f", "m", "m", "f"]})
    >>> perturb(dt.Split(schema, 1.0), frame, rng=np.random.default_rng(1))["sex"].tolist()
    ['m', 'm', 'm', 'f']
    """
    from deptriad.data.encoding import encoded
    from deptriad.data.engines import engine_of

    asked = as_strategy(strategy)
    used = asked.released
    codes = _widened(encoded(frame, used, of_plan=True), used, asked.schema)
    reports = report_format.framed(asked.report(codes, rng), engine_of(frame).results)
    return mark_frame(reports, mark(asked, rng is not None))


def perturb_file(
    strategy: Any,
    data: Any,
    out: str | os.PathLike[str],
    rng: Generator = None,
    progress: Progress | None = None,
) -> int:
    """Write a Parquet file of reports, batch by batch, and return how many: for data larger than memory.

    Parameters
    ----------
    strategy, rng
        As for ``perturb``.
    data
        The path of a .csv or .parquet file, or a frame of any engine.
    out
        The file to write. It appears when all went well; after an error, or killed half-way, there is none.
    progress
        Called with the number of records done, and None.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import deptriad as dt
    >>> import pandas as pd
    >>> from deptriad.collection.perturb import perturb_file
    >>> frame = pd.DataFrame({"sex": ["f", "m"] * 500})
    >>> plan = dt.calibrate(dt.Schema.infer(frame), 2.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "reports.parquet"
    ...     print(perturb_file(plan, frame, place), plan.estimate(place, ["sex"]).n)
    1000 1000
    """
    from deptriad.data import column_types, readers

    asked, named = as_strategy(strategy), f" is {os.fspath(out)!r}"
    if os.path.splitext(out)[1].lower() not in readers.PARQUET:
        raise InvalidValue(Parameter("out"), f"{named}, expected the name of a .parquet file")
    if _is_same_file(data, out):
        raise InvalidValue(Parameter("out"), f"{named}, the data itself, expected another file")
    frame = readers.opened(data, schema=asked.schema)
    column_types.require(frame, asked.released.names)
    frame = frame.select(*asked.released.names)
    import pyarrow.parquet as pq

    def reported(codes: NDArray[Any]) -> Any:
        wide = _widened(codes, asked.released, asked.schema)
        return report_format.arrow(asked.report(wide, rng))

    done, nobody = 0, np.zeros((0, len(asked.released)), dtype=np.int16)
    schema = marked(reported(nobody).schema, mark(asked, rng is not None))
    with files.whole(out) as partial, pq.ParquetWriter(partial, schema) as writer:
        for batch in _allowed(frame, asked.released):
            writer.write_table(reported(np.column_stack(batch)))
            done += len(batch[0])
            if progress:
                progress(done, None)
    return done


def _is_same_file(data: Any, out: str | os.PathLike[str]) -> bool:
    there = isinstance(data, str | os.PathLike) and os.path.exists(data) and os.path.exists(out)
    return there and os.path.samefile(data, out)


def _widened(codes: NDArray[Any], used: Schema, schema: Schema) -> NDArray[Any]:
    """Codes with a column for every attribute; those that are not released stay 0 and are never reported."""
    if used.names == schema.names:
        return codes
    wide = np.zeros((len(codes), len(schema)), dtype=codes.dtype)
    wide[:, [schema.index(name) for name in used.names]] = codes
    return wide


def _allowed(frame: Frame, schema: Schema) -> Iterator[Batch]:
    """Batches of codes up to a value that has none; then the rest is counted, and the schema's own error raised."""
    from deptriad.data import batches, encoding

    bad = np.zeros((2, len(schema)), dtype=np.int64)
    for batch in batches.coded(frame, encoding.Encoder(schema)):
        if min(codes.min(initial=0) for codes in batch) < 0:
            odd = (encoding.UNSEEN, encoding.ABSENT)
            bad += [[np.count_nonzero(codes == code) for codes in batch] for code in odd]
        if not bad.any():
            yield batch
    encoding.refuse_codes(frame, schema, bad, of_plan=True)
