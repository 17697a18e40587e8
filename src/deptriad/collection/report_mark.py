"""The mark that a file of reports carries: which strategy it was collected with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deptriad.collection.strategy import Strategy

KEY = "deptriad strategy"


def marked(schema: Any, strategy: Strategy) -> Any:
    """An Arrow schema with the strategy's fingerprint."""
    return schema.with_metadata({**(schema.metadata or {}), KEY: strategy.fingerprint})


def refuse_foreign(reports: Any, strategy: Strategy) -> None:
    """Refuse Parquet files that another plan or strategy was collected with; other files and frames carry no mark."""
    if not isinstance(reports, str | os.PathLike):
        return
    from deptriad.data import readers

    for path in readers.parquet_files(os.fspath(reports)):
        import pyarrow as pa
        import pyarrow.parquet as pq

        with readers.reading(path, pa.ArrowInvalid):
            mark = (pq.read_metadata(path).metadata or {}).get(KEY.encode())
        if mark is not None and mark.decode() != strategy.fingerprint:
            raise ValueError(
                f"{path} holds reports of another plan: attributes, mechanisms or budgets differ; expected the plan "
                "that they were perturbed with"
            )
