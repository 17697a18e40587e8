"""How data is opened: a frame of any engine as it is, files of CSV or Parquet as a relation of DuckDB."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw

from deptriad.data.column_types import Frame, folded, refuse_twice
from deptriad.data.engines import ENGINES, engine_of
from deptriad.data.safe_query import refuse_unsafe
from deptriad.utils.text import closest

if TYPE_CHECKING:
    from deptriad.data.schema import Schema

PARQUET = (".parquet", ".pq", ".parq")
SUFFIXES = dict.fromkeys((".csv", ".tsv", ".txt"), "csv") | dict.fromkeys(PARQUET, "parquet")

MOST_HELD = 1 << 25
"""Bytes of CSV files that DuckDB may look over for the types of their columns: it holds them meanwhile."""

DELIMITERS = (",", ";", "\t", "|")

SAMPLE = 20_480
"""Records that tell the types of larger files, if all others agree."""

BAR = "enable_progress_bar"
"""A setting that would go to the output. In a notebook without widgets it is off, and refuses to be set."""

SETTINGS = """
SET autoinstall_known_extensions = false;  -- nothing is fetched
SET autoload_known_extensions = false;
SET python_enable_replacements = false;  -- a query's tables are not Python's variables
SET lock_configuration = true;
"""


class Opened(NamedTuple):
    """Data that is open already, and may be passed on as such; and how messages name it."""

    frame: Frame
    name: str


def opened_once(data: Any, query: str | None = None, schema: Schema | None = None) -> Opened:
    """Whatever came in, opened for several uses: the columns of a CSV are looked over once."""
    return Opened(opened(data, query, schema), name_of(data))


def opened(data: Any, query: str | None = None, schema: Schema | None = None) -> Frame:
    """A narwhals frame of whatever came in: a frame of any engine, or a path or glob read out of core by DuckDB."""
    if isinstance(data, Opened):
        return _as_called(data.frame, schema)
    where = "the frame"
    if isinstance(data, str | os.PathLike):
        data = _file(os.fspath(data), query, schema)
        where = "the result of the query" if query else where
    elif query is not None:
        raise ValueError("query is for files: pass the frame that the query gives")
    elif isinstance(data, nw.DataFrame | nw.LazyFrame):
        data = data.to_native()
    engine = engine_of(data)
    if engine.columns:
        refuse_twice(getattr(data, engine.columns, ()), where)
    _refuse_nameless(_narwhal(data).collect_schema().names(), where)
    return _as_called(_narwhal(engine.plain(data)), schema)


def _as_called(frame: Frame, schema: Schema | None) -> Frame:
    """The frame with its columns called as the schema calls their attributes."""
    other = {each.source: each.name for each in schema or () if each.source != each.name}
    if not other:
        return frame
    there = frame.collect_schema().names()
    new = {column: name for column, name in other.items() if column in there}
    for column, name in other.items():
        if column not in there and name not in there:
            raise ValueError(
                f"there is no column {column!r}, which the schema calls {name!r}: {closest(column, there)}"
            )
        if column in there and name in there and name not in new:
            raise ValueError(
                f"the schema calls column {column!r} {name!r}, as another column is called: call it otherwise"
            )
    return frame.rename(new)


def _narwhal(data: Any) -> Frame:
    try:
        frame: Frame = nw.from_native(data)
    except TypeError:
        *names, last = (engine.name for engine in ENGINES)
        raise ValueError(
            f"data is a {type(data).__name__}, expected a {', '.join(names)} or {last} frame, or the path of a .csv or "
            ".parquet file"
        ) from None
    return frame


def name_of(data: Any) -> str:
    """How a message names the data: by its path, where it has one."""
    if isinstance(data, Opened):
        return data.name
    return os.fspath(data) if isinstance(data, str | os.PathLike) else "the data"


# --- files ----------------------------------------------------------------------------------------------------


def _file(path: str, query: str | None, schema: Schema | None) -> Any:
    """A DuckDB relation over a file or several; with a schema, a CSV's columns are read as declared."""
    for module in ("duckdb", "pyarrow"):  # DuckDB hands batches over in Arrow
        if not find_spec(module):
            raise ModuleNotFoundError(
                f"reading files needs {module}: pip install 'deptriad[files]'", name=module
            )
    import duckdb

    paths = _paths(path)
    kinds = {_kind(each): each for each in paths}
    if odd := kinds.get(None):
        raise ValueError(f"{odd} is of no kind known here, expected one of {', '.join(SUFFIXES)}")
    if len(kinds) > 1:
        raise ValueError(f"{path} has files of two kinds: {' and '.join(kinds.values())}")
    for each in paths:
        if not Path(each).stat().st_size:
            raise ValueError(f"{each} is empty")
    connection = duckdb.connect()
    if connection.execute(f"SELECT current_setting('{BAR}')").fetchall()[0][0]:
        connection.execute(f"SET {BAR} = false")
    connection.execute(SETTINGS)
    with reading(path):
        [kind] = kinds
        relation = READERS[str(kind)](connection, paths, schema)
        if query is None:
            return relation
        refuse_unsafe(connection, query)
        return relation.query("data", query)


def _kind(path: str) -> str | None:
    bare = path.rstrip("/").removesuffix(".gz").removesuffix(".zst")
    return SUFFIXES.get(Path(bare).suffix.lower())


def _paths(path: str) -> list[str]:
    """The files that a path stands for: itself, those in a folder of that name, or those that fit a pattern."""
    if Path(path).is_file():
        return [path]
    if Path(path).is_dir():
        kind = _kind(path)
        names = [name for name in os.listdir(path) if name[0] not in "._" and _kind(name) == kind]
        if not kind or not names:
            raise ValueError(
                f"{path} is a folder, expected files, such as {Path(path, '*.parquet')}"
            )
        return [str(Path(path) / name) for name in sorted(names)]
    if not glob.has_magic(path):
        raise FileNotFoundError(f"there is no file {path}")
    found = sorted(each for each in glob.glob(path, recursive=True) if Path(each).is_file())
    if not found:
        raise FileNotFoundError(f"there is no file {path}: nothing fits this pattern")
    return found


def files_of(path: str) -> list[str]:
    """The files that a path or a pattern stands for; none where there are none."""
    try:
        return _paths(path)
    except (OSError, ValueError):
        return []


def parquet_files(path: str) -> list[str]:
    """Those of the files that a path stands for which are Parquet."""
    return [each for each in _paths(path) if _kind(each) == "parquet"]


def _refuse_nameless(names: Sequence[Any], where: str) -> None:
    for place, name in enumerate(names, 1):
        if not str(name).strip():
            raise ValueError(
                f"{where} has no name for column {place} of {len(names)}, expected one for each: name it, or leave it "
                "out (pandas writes such a column unless index=False)"
            )


def _refuse_names(names: Sequence[str], path: str) -> None:
    """DuckDB renames columns without a name, or whose names are the same to it, so they are refused before."""
    _refuse_nameless(names, path)
    refuse_twice(names, path)
    seen: dict[Any, str] = {}
    for name in names:
        if (other := seen.setdefault(folded(name), name)) != name:
            raise ValueError(
                f"{path} has columns {other!r} and {name!r}, which differ only in case: rename one, as SQL takes them "
                "for the same"
            )


def _refuse_other_names(names: Sequence[str], path: str, wanted: Sequence[str], first: str) -> None:
    for one, lacking, two, there in ((path, wanted, first, names), (first, names, path, wanted)):
        known = set(there)
        for name in lacking:
            if name not in known:
                raise ValueError(
                    f"{one} has no column {name!r}, but {two} has: expected files of the same columns"
                )


# --- Parquet --------------------------------------------------------------------------------------------------


def _parquet(connection: Any, paths: Sequence[str], schema: Schema | None) -> Any:
    """Types of several files are widened, as from integers to floats, but text is not mixed with numbers."""
    wanted: dict[str, str] = {}
    for path in paths:
        with reading(path):
            names = _parquet_names(connection, path)
            relation = connection.read_parquet(glob.escape(path), hive_partitioning=False)
            kinds = dict(zip(relation.columns, map(_held, relation.types), strict=True))
        _refuse_names(list(names), path)
        held = {name: kinds[name] for name in names if name in kinds}
        wanted = wanted or held
        _refuse_other_names(list(held), path, list(wanted), paths[0])
        for name, kind in held.items():
            if not kind or not wanted[name]:  # nulls only fit in anywhere
                wanted[name] = wanted[name] or kind
            elif kind != wanted[name]:
                raise ValueError(
                    f"column {name!r} holds {kind} in {path} and {wanted[name]} in files before it, expected one kind"
                )
    escaped = [glob.escape(path) for path in paths]
    return connection.read_parquet(escaped, union_by_name=len(paths) > 1, hive_partitioning=False)


def _parquet_names(connection: Any, path: str) -> list[str]:
    """Names of the top columns of a Parquet file as they are; DuckDB renames those that come twice."""
    rows = connection.execute(
        "select name, coalesce(num_children, 0) from parquet_schema(?)", [glob.escape(path)]
    ).fetchall()
    names, place = [], 1
    while place < len(rows):
        names.append(rows[place][0])
        inside = 1
        while inside:  # skip what is nested in it
            inside += rows[place][1] - 1
            place += 1
    return names


def _held(dtype: Any) -> str:
    """What a type of DuckDB holds; nothing for a column of nulls only."""
    name = str(dtype).strip('"')
    if re.match(r"U?(TINY|SMALL|BIG|HUGE)?INT|INTEGER|DOUBLE|FLOAT|DECIMAL", name):
        return "numbers"
    if name == "NULL":
        return ""
    return {"VARCHAR": "text", "BOOLEAN": "booleans"}.get(name, name)


# --- CSV ------------------------------------------------------------------------------------------------------


def _csv(connection: Any, paths: Sequence[str], schema: Schema | None) -> Any:
    """Columns as declared; the types of others are true of whole files, not only of their first rows."""
    delimiter, names = _layout(connection, paths)
    held = {"text": "VARCHAR", "boolean": "BOOLEAN", "number": "DOUBLE", "bins": "DOUBLE"}
    declared = {each.source: held[each.kind] for each in schema or () if each.source in names}
    # an empty field is missing, and so is a quoted one unless it is declared
    empty = any("" in (each.categories or ()) for each in schema or ())

    def read(types: dict[str, str], sample: int) -> Any:
        return connection.read_csv(
            [glob.escape(path) for path in paths],
            delimiter=delimiter,
            header=True,
            dtype=types or None,
            sample_size=sample,
            union_by_name=len(paths) > 1,
            allow_quoted_nulls=not empty,
            hive_partitioning=False,
        )

    large = sum(Path(path).stat().st_size for path in paths) > MOST_HELD
    sample = SAMPLE if large and _is_enough(read(declared, SAMPLE), declared) else -1
    relation = read(declared, sample)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    # whole numbers of any length, which no batch of Arrow holds
    if long := [name for name, dtype in types.items() if dtype == "BIGNUM"]:
        declared |= dict.fromkeys(long, "DOUBLE")
        relation = read(declared, sample)
    flags = [name for name, dtype in types.items() if dtype == "BOOLEAN" and name not in declared]
    if not flags:
        return relation
    # yes and no, t and f are text, as to pandas and Polars
    plain = "coalesce(bool_and(lower({}) IN ('true', 'false')), true)"
    asked = ", ".join(plain.format(_quoted(name)) for name in flags)
    answers = read(declared | dict.fromkeys(flags, "VARCHAR"), sample).aggregate(asked)
    texts = [name for name, spelt in zip(flags, answers.fetchall()[0], strict=True) if not spelt]
    return read(declared | dict.fromkeys(texts, "VARCHAR"), sample) if texts else relation


def _is_enough(relation: Any, declared: Mapping[str, str]) -> bool:
    """Whether the types that a sample tells hold for all records."""
    import duckdb

    found = [name for name in relation.columns if name not in declared]
    if not found:
        return True
    asked = ", ".join(f"count({_quoted(name)})" for name in found)
    try:
        # a column without a value in the sample may hold anything
        if not all(relation.limit(SAMPLE).aggregate(asked).fetchall()[0]):
            return False
        relation.aggregate(asked).fetchall()  # reads every value as what it is taken for
    except duckdb.Error:
        return False
    return True


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _layout(connection: Any, paths: Sequence[str]) -> tuple[str, list[str]]:
    """What stands between the values of CSV files, and the names of their columns, the same in each."""
    first = paths[0]
    with reading(first):
        delimiter, has_header, columns = connection.execute(
            "select Delimiter, HasHeader, Columns from sniff_csv(?)", [glob.escape(first)]
        ).fetchall()[0]
    if not has_header:
        raise ValueError(
            f"{first} has no line of column names at its top, or is no table of values between commas"
        )
    wanted = _header(connection, first, delimiter)
    _refuse_one_of_many(wanted, delimiter, first)
    for path in paths[1:]:
        _refuse_other_names(_header(connection, path, delimiter), path, wanted, first)
    return delimiter, [column["name"] for column in columns]


def _refuse_one_of_many(names: Sequence[str], delimiter: str, path: str) -> None:
    """Lines of different lengths look like one column to DuckDB."""
    if len(names) != 1:
        return
    if marks := [mark for mark in DELIMITERS if mark in names[0] and mark != delimiter]:
        raise ValueError(
            f"{path} has one column, called {names[0]!r}: if {marks[0]!r} stands between values, its lines have not as "
            "many as the first names; if not, call the column otherwise"
        )


def _header(connection: Any, path: str, delimiter: str) -> list[str]:
    asked = (  # a relation would be slow where columns are many
        "select * from read_csv(?, header = false, all_varchar = true, delim = ?, hive_partitioning = false) limit 1"
    )
    with reading(path):
        lines = connection.execute(asked, [glob.escape(path), delimiter]).fetchall()
        names = [name or "" for line in lines for name in line]
    _refuse_names(names, path)
    return names


READERS = {"csv": _csv, "parquet": _parquet}
"""What reads each kind of file that a suffix stands for."""


# --- errors ---------------------------------------------------------------------------------------------------


@contextmanager
def reading(what: str, *also: type[Exception]) -> Iterator[None]:
    """What DuckDB finds wrong with a file while it reads it, as an error of the data that names the file."""
    try:
        yield
    except Exception as error:
        from_duckdb = type(error).__module__.partition(".")[0] in ("_duckdb", "duckdb")
        if not (from_duckdb or isinstance(error, also)):
            raise
        named = re.search(r"^\s*file = (.+)$", str(error), re.MULTILINE)
        what = named[1] if named else what
        raise ValueError(f"cannot read {what}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """What DuckDB says went wrong, without its advice on how to call it."""
    said = re.split(r"\n\s*(?:Possible|LINE \d|This type was|file = )", str(error))[0]
    return "; ".join(line.strip() for line in said.splitlines() if line.strip())
