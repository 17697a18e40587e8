"""The mark that reports carry: which strategy they were collected with, and whether a seed was used.

A Parquet file carries it, and so do frames of pandas (in ``attrs``, which pandas writes to Parquet and reads again) and
of Arrow (in the metadata of their schema). Frames of other engines and CSV files have no place for one.
It guards against accidents: anyone can make it. A collector's store has one, too, but its reports came from anybody.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from deptriad.collection import report_store
from deptriad.utils.errors import InvalidValue, Parameter

if TYPE_CHECKING:
    from deptriad.collection.strategy import Strategy

STRATEGY, SEEDED = "deptriad strategy", "deptriad seeded"
PANDAS = "PANDAS_ATTRS"
"""Where pandas keeps the attributes of a frame in the metadata of a file."""


class Allowed(NamedTuple):
    """What is taken for reports of a strategy that would be refused otherwise.

    Parquet files without a mark; files of reports that a seed was used for; and, without a mark, reports that the law
    of the mechanisms rules out.
    """

    unmarked: bool = False
    seeded: bool = False
    implausible: bool = False


class Origin(NamedTuple):
    """What is known of where reports come from."""

    marked: bool
    seeded: bool
    sent: bool = False
    """Whether people sent them by themselves, so that each may have done as they like."""


def mark(strategy: Strategy, seeded: bool) -> dict[str, str]:
    """What reports of a strategy carry."""
    return {STRATEGY: strategy.fingerprint} | ({SEEDED: "yes"} if seeded else {})


def marked(schema: Any, own: dict[str, str]) -> Any:
    """An Arrow schema with a mark, which pandas finds as well."""
    return schema.with_metadata({**(schema.metadata or {}), **own, PANDAS: json.dumps(own)})


def mark_frame(frame: Any, own: dict[str, str]) -> Any:
    """A frame with a mark, if its kind can carry one."""
    if isinstance(getattr(frame, "attrs", None), dict):
        frame.attrs.update(own)
    elif hasattr(frame, "replace_schema_metadata"):
        frame = frame.replace_schema_metadata(marked(frame.schema, own).metadata)
    return frame


def origin(reports: Any, strategy: Strategy, allowed: Allowed) -> Origin:
    """Where reports come from; refused if it is another strategy, a seed, or unknown where it should be known."""
    found = list(_marks(reports))
    for where, own in found:
        told = own.get(STRATEGY)
        if told is None and where and not allowed.unmarked:
            raise InvalidValue(
                f"{where} carries no mark of a plan, so that it may hold records that were never perturbed, expected a "
                "file that `deptriad perturb` wrote: if these are reports, set ",
                Parameter("unmarked", "True"),
            )
        if told not in (None, strategy.fingerprint):
            raise ValueError(
                f"{where or 'the frame'} holds reports of another plan: attributes, mechanisms or budgets differ; "
                "expected the plan that they were perturbed with"
            )
        if SEEDED in own and where and not allowed.seeded:
            raise InvalidValue(
                f"{where} was perturbed with a seed, and who knows it can undo the noise: perturb without one, or for "
                "a simulation set ",
                Parameter("seeded", "True"),
            )
    every = [own for _, own in found]
    return Origin(
        bool(every) and all(STRATEGY in own for own in every),
        any(SEEDED in own for own in every),
        report_store.is_store(reports),
    )


def _marks(reports: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """The marks of all files, with their paths, of a store, or of a frame; CSV files and most frames have none."""
    if report_store.is_store(reports):
        yield report_store.shown(reports), report_store.facts_of(reports)
        return
    if not isinstance(reports, str | os.PathLike):
        native = reports.to_native() if hasattr(reports, "to_native") else reports
        attributes = getattr(native, "attrs", None)
        if isinstance(attributes, dict):
            yield "", attributes
        elif hasattr(native, "replace_schema_metadata"):
            yield "", _read(native.schema.metadata)
        return
    from deptriad.data import readers

    for path in readers.parquet_files(os.fspath(reports)):
        import pyarrow as pa
        import pyarrow.parquet as pq

        with readers.reading(path, pa.ArrowInvalid):
            yield path, _read(pq.read_metadata(path).metadata)


def _read(metadata: dict[bytes, bytes] | None) -> dict[str, str]:
    """The mark in the metadata of Arrow, its own or that of pandas."""
    held = {key.decode("utf-8", "replace"): text for key, text in (metadata or {}).items()}
    own = {key: held[key].decode("utf-8", "replace") for key in (STRATEGY, SEEDED) if key in held}
    if own or PANDAS not in held:
        return own
    try:
        kept = json.loads(held[PANDAS])
    except ValueError:
        return {}
    marks = kept if isinstance(kept, dict) else {}
    return {key: str(marks[key]) for key in (STRATEGY, SEEDED) if key in marks}
