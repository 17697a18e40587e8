"""A query reads the rows of its file and nothing else: whatever writes, attaches, fetches or reads is refused."""

import pytest

from deptriad.data.readers import opened

pytest.importorskip("duckdb", reason="DuckDB, which reads the files, is not installed")

READS = [
    "select a from data",
    "select a from data;",
    "from data select a",
    "with x as (select * from data) select a from x",
    "select a from data where b = (select max(b) from data)",
    "select a from data, generate_series(2) s(i), unnest([1, 2]) u(j)",
    "with recursive r as (select 1 as a union all select a + 1 from r where a < 3) select a from r",
    "select a from data d where exists (select 1 from data e where e.b = d.b)",
]
DOES_MORE = {
    "COPY data TO '{out}'": "COPY",
    "COPY (SELECT * FROM data) TO '{out}' (FORMAT csv, use_tmp_file false)": "COPY",
    "ATTACH '{out}' AS other": "ATTACH",
    "EXPORT DATABASE '{out}'": "EXPORT",
    "CREATE TABLE t AS SELECT * FROM data": "CREATE",
    "INSERT INTO data VALUES ('z', 3)": "INSERT",
    "INSTALL httpfs": "LOAD",
    "LOAD httpfs": "LOAD",
    "SET lock_configuration = false": "SET",
    "PRAGMA database_list": "expected one SELECT",
    "CALL pragma_version()": "expected one SELECT",
    "EXPLAIN ANALYZE SELECT 1": "EXPLAIN",
    "SELECT a FROM data; COPY data TO '{out}'": "2 statements",
    "": "0 statements",
    "SELECT * FROM read_csv('{secret}')": r"read_csv\(\)",
    "SELECT (SELECT content FROM read_text('{secret}')) AS a FROM data": r"read_text\(\)",
    "SELECT * FROM glob('/*')": r"glob\(\)",
    "SELECT * FROM sniff_csv('{secret}')": r"sniff_csv\(\)",
    "SELECT * FROM query('SELECT 1')": r"query\(\)",
    "SELECT * FROM json_execute_serialized_sql('x')": "json_execute_serialized_sql",
    "SELECT * FROM '{secret}'": "reads the table",
    'SELECT * FROM "{secret}"': "reads the table",
    'WITH "{secret}" AS (SELECT 1) SELECT * FROM "{secret}"': "reads the table",
    "SELECT * FROM main.data": "reads the table",
    "SELECT * FROM information_schema.tables": "reads the table",
    "SELECT * FROM secrets_in_python": "reads the table",
    "DESCRIBE data": "describes a table",
    "SUMMARIZE data": "describes a table",
    "SELECT * FROM (DESCRIBE data)": "describes a table",
}


@pytest.fixture
def file(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,1\ny,2\n")
    (tmp_path / "secret.csv").write_text("a,b\nmine,1\n")
    return tmp_path / "t.csv"


@pytest.mark.parametrize("query", READS)
def test_what_only_reads_is_asked(file, query):
    assert opened(file, query=query).collect_schema().names() == ["a"]


@pytest.mark.parametrize("query", DOES_MORE)
def test_what_does_more_is_refused(file, query):
    secrets_in_python = pytest.importorskip("pandas").DataFrame({"a": [1]})
    before = sorted(file.parent.iterdir())
    place = {"out": file.parent / "out.csv", "secret": file.parent / "secret.csv"}
    with pytest.raises(ValueError, match=DOES_MORE[query]):
        opened(file, query=query.format(**place)).lazy().collect()
    assert sorted(file.parent.iterdir()) == before
    assert len(secrets_in_python) == 1


def test_a_query_that_would_overwrite_its_own_file_leaves_it(file):
    before = file.read_bytes()
    with pytest.raises(ValueError, match="COPY"):
        opened(file, query=f"COPY data TO '{file}' (use_tmp_file false)")
    assert file.read_bytes() == before
