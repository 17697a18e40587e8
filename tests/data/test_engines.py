"""Equal counts from every engine: each is handed the same table in its own way."""

import itertools
import re
import sys
import warnings
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from functools import cache

import numpy as np
import pytest

import deptriad as dt
import surroundings
from deptriad.data import engines
from plain_counts import assert_counts

pa = pytest.importorskip("pyarrow", reason="the tables are made with PyArrow, which is absent")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
pq = pytest.importorskip("pyarrow.parquet")


# ------------------------------------------------------------------------------------- the engines


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    if not surroundings.java():
        pytest.skip("PySpark needs a Java runtime: there is no java on the path, and no JAVA_HOME")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = (
            sql.SparkSession.builder.master("local[2]")
            .appName("deptriad tests")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.log.level", "ERROR")
            .config("spark.driver.extraJavaOptions", surroundings.QUICK_JAVA)
            .getOrCreate()
        )
        yield session
        session.stop()


@pytest.fixture(scope="module")
def dask_workers():
    """Two worker processes of one thread each."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def in_parts(table, folder, number=3):
    """The table as some Parquet files of different lengths, and the pattern of their names."""
    cuts = [table.num_rows * (part**2) // number**2 for part in range(number + 1)]
    for part, (start, stop) in enumerate(itertools.pairwise(cuts)):
        pq.write_table(table.slice(start, stop - start), folder / f"part-{part}.parquet")
    return str(folder / "part-*.parquet")


def in_one(table, folder):
    pq.write_table(table, folder / "whole.parquet", row_group_size=50_000)
    return str(folder / "whole.parquet")


def in_csv(table, folder):
    csv = pytest.importorskip("pyarrow.csv")
    pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")
    plain = pa.table({name: decoded(table[name]) for name in table.column_names})
    csv.write_csv(plain, folder / "whole.csv")
    return folder / "whole.csv"


def decoded(column):
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def engine_module(name, reason):
    return pytest.importorskip(name, reason=f"{reason} is not installed")


ENGINES = {
    "pandas": lambda table, folder, request: table.to_pandas(),
    "polars": lambda table, folder, request: engine_module("polars", "Polars").from_arrow(table),
    "polars lazy": lambda table, folder, request: engine_module("polars", "Polars").scan_parquet(
        in_parts(table, folder)
    ),
    "pyarrow": lambda table, folder, request: table,
    "duckdb": lambda table, folder, request: engine_module("duckdb", "DuckDB").from_arrow(table),
    "duckdb over a file": lambda table, folder, request: engine_module(
        "duckdb", "DuckDB"
    ).read_parquet(in_one(table, folder)),
    "ibis": lambda table, folder, request: (
        engine_module("ibis", "Ibis").duckdb.connect().read_parquet(in_one(table, folder))
    ),
    "pyspark": lambda table, folder, request: request.getfixturevalue("spark").read.parquet(
        in_parts(table, folder)
    ),
    "dask": lambda table, folder, request: (
        request.getfixturevalue("dask_workers")
        and engine_module("dask.dataframe", "Dask").read_parquet(in_parts(table, folder))
    ),
    "csv file": lambda table, folder, request: in_csv(table, folder),
    "parquet file": lambda table, folder, request: (
        engine_module("duckdb", "DuckDB") and in_one(table, folder)
    ),
    "parquet files": lambda table, folder, request: (
        engine_module("duckdb", "DuckDB") and in_parts(table, folder)
    ),
}


CLUSTERS = ["pyspark", "dask"]
LOCAL = [*(name for name in ENGINES if name not in CLUSTERS), "query"]


@pytest.fixture
def counted(engine, request, tmp_path):
    """Count a table with an engine; ``counted.data`` only hands it over."""

    def data(table):
        return ENGINES["parquet file" if engine == "query" else engine](table, tmp_path, request)

    def count(table, schema, **options):
        query = {"query": "SELECT * FROM data"} if engine == "query" else {}
        return dt.Counts.from_data(data(table), schema, **query, **options)

    count.data = data
    return count


every_engine = pytest.mark.parametrize("engine", [*LOCAL, *CLUSTERS])
local_engines = pytest.mark.parametrize("engine", LOCAL)


# ------------------------------------------------------------------------- a small table of oddities

NAN = float("nan")
ODD = {
    "city": ["rome", "bonn", None, "oslo", "rome"],
    "flag": [True, None, False, True],
    "whole": [0, 1, None, 2, 1, 0],
    "level": [0.0, -0.0, 1.0, NAN, 2.5, None, 1.0],
    "real": [-1.0, -0.0, 0.0, 0.25, 0.5, 1.0, NAN, None, 0.999, -0.5, 1.5],
    "small": [3, 4, 5],
    "price": [Decimal(text) for text in ("0.35", "2.675", "1234567.89", "-0.07")] + [None],
    "weight": [0.5, 1.0, 2.0, 0.25, 0.0, 64.0, 1.0, 3.0],
    "state": ["TX", "CA", "TX", "NY", "TX", "CA", "TX", "NY", "NY"],
}
TYPES = {"small": pa.int8(), "flag": pa.bool_(), "whole": pa.int64(), "price": pa.decimal128(12, 3)}
SMALL = pa.table(
    {
        name: pa.array(itertools.islice(itertools.cycle(values), 240), type=TYPES.get(name))
        for name, values in ODD.items()
    }
)
SMALL = SMALL.set_column(0, "city", SMALL["city"].dictionary_encode())
SMALL_SCHEMA = dt.Schema(
    [
        dt.Attribute("city", categories=["rome", "bonn"], unseen="other"),
        dt.Attribute("flag", categories=[True, False]),
        dt.Attribute("whole", categories=[0, 1, 2]),
        dt.Attribute("level", categories=[2.5, 0, 1], missing="other", unseen="other"),
        dt.Attribute("real", edges=[-1, 0, 0.5, 1], unseen="other"),
        dt.Attribute("small", edges=[3, 4, 5], missing="error"),
        dt.Attribute("price", categories=[0.35, -0.07, 2.675, 1234567.89]),
    ]
)


def rows_of(table):
    """Rows in plain Python, decimals and whole numbers as the nearest floats."""
    return [
        {
            name: float(value) if type(value) in (int, Decimal) else value
            for name, value in row.items()
        }
        for row in table.to_pylist()
    ]


@every_engine
def test_every_engine_counts_what_plain_python_counts(counted):
    counts = counted(SMALL, SMALL_SCHEMA, weight="weight", by="state")
    rows = rows_of(SMALL)
    assert_counts(counts, rows, SMALL_SCHEMA, "weight")
    assert set(counts.sources) == {"TX", "CA", "NY"}
    for state in counts.sources:
        there = [row for row in rows if row["state"] == state]
        assert_counts(counts[state], there, SMALL_SCHEMA, "weight")


JOINT = [("city", "real", "level"), ("price", "city"), ("flag", "whole", "small", "city")]


@every_engine
def test_every_engine_counts_joint_tables_equally(counted, engine):
    query = {"query": "SELECT * FROM data"} if engine == "query" else {}
    options = {"weight": "weight", "by": "state", "min_records": 0}
    prior = dt.Prior.from_data(counted.data(SMALL), SMALL_SCHEMA, **options, **query)
    expected = dt.Prior.from_data(SMALL, SMALL_SCHEMA, **options)
    for found, plain in zip(prior.joints(JOINT), expected.joints(JOINT), strict=True):
        assert np.array_equal(found.by_source, plain.by_source)  # weights are whole eighths
        first, second = found.names[:2]
        rest = tuple(range(2, len(found.names)))
        assert np.array_equal(found.counts.sum(axis=rest), prior.counts.table(second, first))


PANEL = pa.table(
    {
        "who": [f"p{person}" for person in range(8) for _ in range(6)],
        "when": pa.array([0, 1, 2, 5, 3, 4] * 8, type=pa.int32()),
        "city": [
            ["rome", "bonn", None][(person * time // 3) % 3]
            for person in range(8)
            for time in range(6)
        ],
    }
)


@every_engine
def test_every_engine_counts_the_same_transitions(counted, engine):
    """Who goes from where to where between neighbouring times; without three rows, after which runs are broken."""
    from deptriad.chains.sequences import transitions

    kept = [row for place, row in enumerate(PANEL.to_pylist()) if place not in (7, 20, 21)]
    table = pa.Table.from_pylist(kept, schema=PANEL.schema)
    schema = dt.Schema([dt.Attribute("city", categories=["rome", "bonn"])])
    query = "SELECT * FROM data" if engine == "query" else None
    found = transitions(counted.data(table), "who", "when", "city", schema, query)
    order = ["rome", "bonn", None]
    seen = {(row["who"], row["when"]): order.index(row["city"]) for row in kept}
    pairs = Counter(
        (value, seen[who, when + 1])
        for (who, when), value in seen.items()
        if (who, when + 1) in seen
    )
    assert found.counts.tolist() == [[pairs[one, two] for two in range(3)] for one in range(3)]
    assert found.persons == 8
    assert found.runs == len(kept) - pairs.total()


@local_engines
@pytest.mark.parametrize(
    ("by", "sources"),
    [(None, {"all"}), ("small", {"3", "4", "5"}), ("flag", {"true", "false", "(missing)"})],
)
def test_local_engines_count_any_sources_without_weights(counted, by, sources):
    schema = SMALL_SCHEMA.only("city", "real")
    counts = counted(SMALL, schema, by=by)
    assert {source.lower() for source in counts.sources} == sources
    assert counts == dt.Counts.from_data(SMALL, schema, by=by)
    assert_counts(counts, SMALL.to_pylist(), schema)


# without nulls a Parquet file's statistics say that there is no NaN either
STRANGE = pa.table(
    {
        "few": pa.array([1.5, NAN, 3.0, 2.0] * 60),
        "zeros": pa.array([-0.0, 0.0, NAN, 1.0, -0.0] * 48),
        "ends": pa.array([float("inf"), 1.0, float("-inf"), NAN, 7.0, -2.5] * 40),
        "whole": pa.array([1.0, 2.0, NAN, 4.0] * 60),
        "mixed": pa.array([1, 2, None, 40] * 60, type=pa.int32()),
        "single": pa.array([1.5, NAN, None, -0.0, 0.25] * 48, type=pa.float32()),
        "unsigned": pa.array([3_000_000_000, None, 0] * 80, type=pa.uint32()),
        "huge": pa.array([2**53 + 1, None, -(2**62), 7, 0, 2**62] * 40, type=pa.int64()),
        "larger": pa.array([2**64 - 1, None, 2**53, 1] * 60, type=pa.uint64()),
        "weight": pa.array([1.0, 0.5, 2.0] * 80),
    }
)


@every_engine
def test_nan_zeros_infinities_and_nulls_are_the_same_everywhere(counted):
    schema = dt.Schema(
        [
            dt.Attribute("few", categories=[1.5, 2.0], unseen="other"),
            dt.Attribute("zeros", categories=[0, 1]),
            dt.Attribute("ends", edges=[float("-inf"), 0, 2, float("inf")], unseen="other"),
            dt.Attribute("whole", categories=[1, 2, 4]),
            dt.Attribute("mixed", categories=[1, 2, 40]),
            dt.Attribute("single", categories=[0, 0.25, 1.5]),
            dt.Attribute("unsigned", edges=[0, 1, 4e9]),
            dt.Attribute("huge", edges=[-1e19, 0, 7.5, 1e19]),
            dt.Attribute("larger", edges=[0, 2**53, 1e20]),
        ]
    )
    counts = counted(STRANGE, schema, weight="weight")
    assert_counts(counts, rows_of(STRANGE), schema, "weight")
    assert counts.single("few", weighted=False).tolist() == [60, 60, 60, 60]


@every_engine
def test_an_inferred_schema_takes_its_own_data(counted, engine):
    table = STRANGE.drop_columns("weight")
    if engine == "csv file":  # there "inf" is text, unless the column is declared as numbers
        table = table.drop_columns("ends")
    schema = dt.Schema.infer(counted.data(table))
    assert schema == dt.Schema.infer(table)
    assert_counts(dt.Counts.from_data(table, schema), rows_of(table), schema)


MISFITS = {
    "unseen text": (dt.Attribute("city", categories=["rome", "bonn"]), "(?s)'city'.*oslo"),
    "missing": (dt.Attribute("level", [0, 1, 2.5], missing="error"), "(?s)'level'.*missing"),
    "text for bins": (dt.Attribute("city", edges=[0, 1]), "['\"]city['\"]"),
    "outside bins": (dt.Attribute("real", edges=[-1, 0, 1]), r"(?s)'real'.*1\.5"),
    "unseen number": (dt.Attribute("whole", categories=[0, 1]), "(?s)'whole'.*2"),
    "missing flag": (dt.Attribute("flag", [True, False], missing="error"), "(?s)'flag'.*missing"),
    "numbers for flags": (dt.Attribute("flag", categories=[0, 1]), "['\"]flag['\"]"),
    "no such column": (dt.Attribute("flagg", categories=[True, False]), "(?s)'flagg'.*'flag'"),
}
SOME_MISFITS = list(MISFITS)[:3]  # enough for a cluster, where each takes seconds


@pytest.mark.parametrize(
    ("engine", "misfit"),
    [
        *itertools.product(LOCAL, MISFITS),
        *itertools.product(CLUSTERS, SOME_MISFITS),
    ],
)
def test_every_engine_refuses_what_does_not_fit(counted, misfit):
    attribute, said = MISFITS[misfit]
    with pytest.raises(ValueError, match=said):
        counted(SMALL, dt.Schema([attribute]))


WEIGHTS = {
    "missing": ([1.0, None], "missing|null"),
    "negative": ([1.0, -2.0], "negative"),
    "text": (["a", "b"], "number"),
    "NaN": ([1.0, NAN], "missing|null|nan"),
}


@pytest.mark.parametrize(
    ("engine", "wrong"),
    [*itertools.product(LOCAL, WEIGHTS), *itertools.product(CLUSTERS, ["missing"])],
)
def test_every_engine_refuses_bad_weights(counted, wrong):
    weights, said = WEIGHTS[wrong]
    place = SMALL.column_names.index("weight")
    table = SMALL.set_column(place, "weight", pa.array(weights * 120))
    with pytest.raises(ValueError, match=f"(?s)'weight'.*({said})"):
        counted(table, SMALL_SCHEMA.only("city"), weight="weight")


@every_engine
def test_every_engine_says_when_there_are_no_records(counted):
    with pytest.raises(ValueError, match="record"):
        counted(SMALL.slice(0, 0), SMALL_SCHEMA.only("city"))


DOTTED = ["a.b", "`x`"]  # which Spark reads as something else


@every_engine
def test_every_engine_takes_hostile_names(counted, engine):
    names = ["it's", 'a "b"', "ä b", "select", "count", "len", *DOTTED]
    if engine == "pyspark":
        names = names[:-2]
    likes = dict.fromkeys(names, "small") | {"it's": "whole", "len": "city"}
    table = pa.table({name: SMALL[likes[name]] for name in names})
    schema = dt.Schema([replace(SMALL_SCHEMA[likes[name]], name=name) for name in names])
    counts = counted(table, schema)
    plain = dt.Counts.from_data(SMALL, SMALL_SCHEMA)
    for source, target in itertools.permutations(["it's", "len", 'a "b"'], 2):
        expected = plain.table(likes[source], likes[target])
        assert np.array_equal(counts.table(source, target), expected)
    for name in names:
        assert np.array_equal(counts.single(name), plain.single(likes[name]))


@pytest.mark.parametrize("engine", ["pyspark"])
@pytest.mark.parametrize("name", DOTTED)
def test_spark_refuses_names_that_it_would_read_as_something_else(counted, name):
    schema = dt.Schema([replace(SMALL_SCHEMA["small"], name=name)])
    with pytest.raises(ValueError, match=f"'{re.escape(name)}'.*rename"):
        counted(pa.table({name: SMALL["small"]}), schema)


@every_engine
def test_every_engine_proposes_the_same_schema(counted):
    wide = pa.array((np.arange(240) * 37 % 101 / 7).tolist())
    towns = pa.array([f"t{i * i % 60:02}" for i in range(239)] + [None])
    table = SMALL.select(["city", "flag", "level", "price"]).append_column("wide", wide)
    table = table.append_column("towns", towns)
    with pytest.warns(UserWarning, match="'towns' has"):
        schema = dt.Schema.infer(counted.data(table), bins=4, max_categories=7)
    assert [each.kind for each in schema] == ["text", "boolean", "number", "number", "bins", "text"]
    assert [each.missing for each in schema] == ["category"] * 4 + ["error", "category"]
    assert schema["level"].categories == (0, 1, 2.5)
    assert schema["price"].categories == (-0.07, 0.35, 2.675, 1234567.89)
    assert schema["wide"].edges == (-np.inf, *np.sort(wide)[[59, 119, 179]], np.inf)
    times = Counter(towns.drop_null().to_pylist())
    ranked = sorted(times, key=lambda town: (-times[town], town))
    assert schema["towns"].categories == tuple(sorted(ranked[:6]))


@local_engines
@pytest.mark.parametrize(
    "categories", [[1, 2, 99_999], range(-300, 300), [1, 2, 4, 5, 6, 7, 8, 9, 10, 99_999]]
)
@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.uint8()])
def test_categories_may_lie_beyond_the_type_of_a_column(counted, categories, kind):
    table = pa.table({"x": pa.array([1, 2, 100, None, 2], type=kind)})
    schema = dt.Schema([dt.Attribute("x", categories=categories, unseen="other")])
    assert_counts(counted(table, schema), table.to_pylist(), schema)


@local_engines
def test_numbers_that_are_nearly_all_different_are_tallied_equally(counted, engine):
    numbers = np.random.default_rng(1).integers(0, 100_000, 300_000) / 8
    table = pa.table({"x": numbers})
    ranked = np.sort(numbers)
    for binning, inner in (
        ("quantile", ranked[[74_999, 149_999, 224_999]]),
        ("width", np.linspace(ranked[0], ranked[-1], 5)[1:-1]),
    ):
        edges = dt.Schema.infer(counted.data(table), bins=4, binning=binning)["x"].edges
        assert edges == (-np.inf, *inner, np.inf)


@pytest.mark.parametrize("engine", CLUSTERS)
def test_partitions_without_records_do_no_harm(counted):
    data = counted.data(SMALL.sort_by("whole"))
    kept = data[data["whole"] == 2]
    rows = [row for row in rows_of(SMALL) if row["whole"] == 2]
    assert_counts(dt.Counts.from_data(kept, SMALL_SCHEMA), rows, SMALL_SCHEMA)


# ------------------------------------------------------------------------------- an entry more, an entry less


class Ledger(pd.DataFrame):
    """A frame of an engine of its own, which keeps records in pages of 50."""


Ledger.__module__ = "ledgers.frame"


@pytest.fixture
def ledgers(monkeypatch):
    """The entry of that engine; all pages it was asked for are kept in the list."""
    pages = []

    def on_pages(native, function):
        for start in range(0, len(native), 50):
            pages.append(pd.DataFrame(native.iloc[start : start + 50]))
            yield function(pages[-1])

    entry = engines.Engine("Ledgers", ["ledgers"], on_parts=on_pages, results="pyarrow")
    monkeypatch.setattr(engines, "ENGINES", [*engines.ENGINES, entry])
    return pages


def test_one_entry_is_all_that_a_new_engine_needs(ledgers):
    ledger = Ledger(SMALL.to_pandas())
    counts = dt.Counts.from_data(ledger, SMALL_SCHEMA, weight="weight", by="state")
    assert [len(page) for page in ledgers] == [50, 50, 50, 50, 40]
    assert counts == dt.Counts.from_data(SMALL, SMALL_SCHEMA, weight="weight", by="state")
    with pytest.raises(ValueError, match=r"'city'.*'oslo'"):
        dt.Counts.from_data(ledger, dt.Schema([MISFITS["unseen text"][0]]))
    prior = dt.Prior.from_data(ledger, SMALL_SCHEMA, min_records=0)
    assert isinstance(dt.analyze(prior).top(), pa.Table)


@pytest.fixture
def no_entries(monkeypatch):
    monkeypatch.setattr(engines, "ENGINES", [])


@pytest.mark.usefixtures("no_entries")
@pytest.mark.parametrize("engine", ["polars", "polars lazy", "pyarrow", "duckdb", "ibis"])
@pytest.mark.parametrize("by", [None, "state"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_an_engine_without_an_entry_is_counted_all_the_same(counted, by, weight):
    schema = SMALL_SCHEMA.without("city", "price")  # types that only entries make plain
    table = SMALL.drop_columns(["city", "price"])
    counts = counted(table, schema, by=by, weight=weight)
    assert_counts(counts, rows_of(SMALL), schema, weight)
    wanted, options = [("flag", "real", "small"), ("level",)], {"by": by, "weight": weight}
    found, plain = (
        dt.Prior.from_data(data, schema, min_records=0, **options).joints(wanted)
        for data in (counted.data(table), table)
    )
    for one, other in zip(found, plain, strict=True):
        assert np.array_equal(one.counts, other.counts)


@pytest.mark.usefixtures("no_entries")
@pytest.mark.parametrize("engine", ["polars lazy", "duckdb", "ibis"])
def test_an_engine_without_an_entry_refuses_what_does_not_fit(counted):
    plain = SMALL.drop_columns(["city"])
    with pytest.raises(ValueError, match="'whole' has 40 undeclared values, such as 2:"):
        counted(plain, dt.Schema([MISFITS["unseen number"][0]]))
    weights = pa.array([1.0, -2.0, 0.5, float("inf")] * 60)
    table = plain.set_column(plain.column_names.index("weight"), "weight", weights)
    with pytest.raises(ValueError, match="'weight' has 120 values"):
        counted(table, SMALL_SCHEMA.only("whole", "small"), weight="weight")


# --------------------------------------------------------------------------------------- real records

SURVEYS = {
    "adult": {
        "file": "adult.parquet",
        "columns": None,
        "weight": "fnlwgt",
        "by": None,
    },
    "acs": {
        "file": "acs_2018_14_states.parquet",
        "columns": [
            *("AGEP", "SEX", "MAR", "CIT", "COW", "SCHL", "ESR", "RAC1P", "HISP", "MIL"),
            *("PINCP", "WKHP", "PWGTP", "ST"),
        ],
        "weight": "PWGTP",
        "by": "ST",
    },
}


@cache
def survey(path, columns, weight, by):
    """The records, a schema for them, and their counts from pandas: made once."""
    table = pq.read_table(path, columns=columns and list(columns))
    frame = table.to_pandas()
    attributes = [name for name in frame.columns if name not in (weight, by)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        schema = dt.Schema.infer(frame, columns=attributes)
    return table, schema, dt.Counts.from_data(frame, schema, weight=weight, by=by)


@pytest.fixture(params=SURVEYS)
def records(request, shared_dir):
    about = SURVEYS[request.param]
    path = shared_dir / "data" / about["file"]
    if not path.exists():
        pytest.skip(f"no reference data: {path.name} is absent from {path.parent}")
    columns = about["columns"] and tuple(about["columns"])
    options = {name: about[name] for name in ("weight", "by")}
    return *survey(path, columns, **options), options


@every_engine
def test_every_engine_counts_real_records_equally(counted, records):
    table, schema, expected, options = records
    counts = counted(table, schema, **options)
    assert counts.sources == expected.sources
    for source, target in itertools.permutations(schema.names, 2):
        assert np.array_equal(counts.table(source, target), expected.table(source, target))
    assert counts == expected


def test_real_counts_equal_crosstab(records):
    table, schema, counts, options = records
    frame = table.to_pandas()
    for source, target in [("sex", "income"), ("race", "relationship"), ("SEX", "MAR")]:
        if source in schema.names:
            sums = pd.crosstab(
                frame[target], frame[source], frame[options["weight"]], aggfunc="sum"
            )
            assert np.array_equal(counts.table(source, target), sums.fillna(0))
            plain = pd.crosstab(frame[target], frame[source])
            assert np.array_equal(counts.table(source, target, weighted=False), plain)
    if options["by"]:
        assert len(counts.sources) == frame[options["by"]].nunique()
