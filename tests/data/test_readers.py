"""Files: what is read of them, what is refused, queries, and several files as one."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.data import readers
from small_records import GOOD, PERSON, in_form, refused

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize("double", ["age", "sex", "w", "state"])
def test_duplicate_columns_of_a_frame_are_named(tmp_path, double):
    frame = pd.concat([GOOD, GOOD[[double]]], axis=1)
    refused(tmp_path, frame, PERSON, double, weight="w", by="state")


def test_duplicate_columns_of_an_arrow_table_are_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table([GOOD["age"], GOOD["sex"], GOOD["age"]], names=["age", "sex", "age"])
    refused(tmp_path, table, PERSON, "age")


LATE = {
    "numbers": ["1"] * 30 + ["2"],
    "a decimal": ["1"] * 30 + ["2.5"],
    "text": ["1"] * 30 + ["many"],
    "an answer": ["yes"] * 30 + ["perhaps"],
    "a flag": ["true"] * 30 + ["no"],
    "nothing at first": [""] * 30 + ["7"],
    "no date": ["2020-01-01"] * 30 + ["soon"],
    "zeros": ["007"] * 31,
}


@pytest.mark.parametrize("late", LATE)
def test_types_of_a_large_csv_are_true_of_all_its_records(tmp_path, monkeypatch, late):
    """A sample tells them as a look at the whole file does."""
    pytest.importorskip("duckdb")
    lines = [f"{value},{place % 2}" for place, value in enumerate(LATE[late])]
    (tmp_path / "large.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    whole = readers.opened(tmp_path / "large.csv").collect_schema()
    monkeypatch.setattr(readers, "MOST_HELD", 0)
    monkeypatch.setattr(readers, "SAMPLE", 8)
    assert readers.opened(tmp_path / "large.csv").collect_schema() == whole


def test_a_star_is_no_name_to_engines_that_take_it_for_all_columns(tmp_path, given_as):
    frame = pd.DataFrame({"*": [0, 1] * 30, "b": [0, 1, 1] * 20})
    data = given_as(frame)
    if isinstance(data, pd.DataFrame) or type(data).__module__.startswith("pyarrow"):
        assert dt.Schema.infer(data).names == ("*", "b")
        return
    with pytest.raises(ValueError, match=r"column '\*' has '\*' in its name.*rename it"):
        dt.Schema.infer(data)
    assert dt.Schema.infer(data, columns=["b"]).names == ("b",)


def test_duplicate_columns_of_a_csv_are_named(tmp_path):
    pytest.importorskip("duckdb")
    (tmp_path / "twice.csv").write_text("age,sex,age\n1,f,2\n2,m,3\n")
    refused(tmp_path, tmp_path / "twice.csv", PERSON, "age", "twice.csv")


def test_duplicate_columns_of_a_parquet_file_are_named(tmp_path):
    pytest.importorskip("duckdb")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table([GOOD["age"], GOOD["sex"], GOOD["age"]], names=["age", "sex", "age"])
    pq.write_table(table, tmp_path / "twice.parquet")
    refused(tmp_path, tmp_path / "twice.parquet", PERSON, "age", "twice.parquet")


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet"])
def test_an_empty_file_is_named(tmp_path, name):
    pytest.importorskip("duckdb")
    (tmp_path / name).touch()
    refused(tmp_path, tmp_path / name, PERSON, name)


@pytest.mark.parametrize("text", ["age,sex\n", "age,sex", "age,sex,w,state\n"])
def test_a_csv_of_a_header_only_has_no_records(tmp_path, text):
    pytest.importorskip("duckdb")
    (tmp_path / "header.csv").write_text(text)
    refused(tmp_path, tmp_path / "header.csv", PERSON, "header.csv", "record")


@pytest.mark.parametrize("kept", [3, 200, -1, -100])
def test_a_truncated_parquet_file_is_named(tmp_path, kept):
    path = in_form("parquet", GOOD, tmp_path)
    path.write_bytes(path.read_bytes()[:kept])
    refused(tmp_path, path, PERSON, "records.parquet")


def test_a_truncated_file_among_others_is_named(tmp_path):
    path = in_form("parquet", GOOD, tmp_path)
    (tmp_path / "part-1.parquet").write_bytes(path.read_bytes())
    (tmp_path / "part-2.parquet").write_bytes(path.read_bytes()[:-50])
    refused(tmp_path, tmp_path / "part-*.parquet", PERSON, "part-2.parquet")


def test_a_csv_whose_rows_are_ragged_is_named(tmp_path):
    pytest.importorskip("duckdb")
    rows = "".join(f"{i % 60},f\n" for i in range(30_000))
    (tmp_path / "ragged.csv").write_text("age,sex\n" + rows + "1,f,3,4\n" + rows)
    refused(tmp_path, tmp_path / "ragged.csv", PERSON, "ragged.csv")


@pytest.mark.parametrize(
    "text", ["a,b,c\n1,2\n3,4\n1,4\n", "a,b,c\n1,2,3\n3,4\n1,4,4\n3,2\n", "a;b\n1\n2\n"]
)
def test_lines_of_other_lengths_are_not_read_as_one_column(tmp_path, text):
    pytest.importorskip("duckdb")
    path = tmp_path / "ragged.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"ragged\.csv has one column, called 'a[,;]b"):
        readers.opened(path)
    path.write_text('"a,b"\n1\n2\n')  # a name as it is
    assert readers.opened(path).collect_schema().names() == ["a,b"]


def test_text_late_in_a_csv_of_numbers_is_refused(tmp_path):
    pytest.importorskip("duckdb")
    rows = "".join(f"{i % 60},f\n" for i in range(60_000))
    (tmp_path / "late.csv").write_text("age,sex\n" + rows + "old,f\n")
    refused(tmp_path, tmp_path / "late.csv", PERSON, "age")


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none-*.parquet"])
def test_a_file_that_is_not_there_is_named(tmp_path, name):
    pytest.importorskip("duckdb")
    with pytest.raises((OSError, ValueError), match="none"):
        dt.Counts.from_data(tmp_path / name, PERSON)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "records.xlsx").write_bytes(b"PK")
    refused(tmp_path, tmp_path / "records.xlsx", PERSON, "records.xlsx", r"\.csv", r"\.parquet")


@pytest.mark.parametrize(
    "data", [None, 3, [1, 2], {"age": [1]}, np.zeros((2, 2)), pd.Series([1, 2], name="age")]
)
def test_what_is_no_data_is_refused(data):
    with pytest.raises((TypeError, ValueError), match=type(data).__name__):
        dt.Counts.from_data(data, PERSON)


def test_text_of_digits_in_a_csv_stays_text_where_text_is_declared(tmp_path):
    pytest.importorskip("duckdb")
    (tmp_path / "codes.csv").write_text("code,sex\n01,f\n1,f\n01,m\n1.0,m\n")
    schema = dt.Schema([dt.Attribute("code", categories=["01", "1", "1.0"]), PERSON["sex"]])
    counts = dt.Counts.from_data(tmp_path / "codes.csv", schema)
    assert counts.table("code", "sex").tolist() == [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("digits", [39, 40, 300])
def test_whole_numbers_of_a_csv_may_have_any_length(tmp_path, digits):
    """As long ones as 64 or 128 bits cannot hold, and DuckDB has a type for which Arrow has none."""
    pytest.importorskip("duckdb")
    numbers = [10 ** (digits - 1), 2 * 10 ** (digits - 1), 9 * 10 ** (digits - 1)]
    lines = [f"{number},{place % 2}" for place, number in enumerate(numbers * 4)]
    (tmp_path / "long.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    schema = dt.Schema.infer(tmp_path / "long.csv")
    assert schema["x"].edges == (-np.inf, float(numbers[1]), float(numbers[2]), np.inf)
    assert dt.Counts.from_data(tmp_path / "long.csv", schema).single("x").tolist() == [4, 4, 4]


def test_numbers_that_no_float_holds_are_not_called_missing(tmp_path):
    pytest.importorskip("duckdb")
    lines = [f"{10**399 + place},{place % 2}" for place in range(6)]
    (tmp_path / "long.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    with pytest.warns(UserWarning, match="'x' is left out: its numbers are infinite or too large"):
        assert dt.Schema.infer(tmp_path / "long.csv").names == ("y",)


def test_a_type_that_is_not_known_is_not_called_missing():
    duckdb = pytest.importorskip("duckdb")
    data = duckdb.sql(
        "select map {'a': i} as x, interval (i) month as w, null as n, i % 2 as y from range(6) t(i)"
    )
    with pytest.warns(UserWarning, match="is left out") as said:
        assert dt.Schema.infer(data).names == ("y",)
    unknown = "it holds a type that is not known here, expected text, numbers or booleans"
    assert [str(each.message) for each in said] == [
        f"column 'x' is left out: {unknown}",
        f"column 'w' is left out: {unknown}",
        "column 'n' is left out: all its values are missing",
    ]


@pytest.mark.parametrize("folder", ["it's", 'a "b"', "a b", "ä"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_hostile_paths_are_only_paths(tmp_path, folder, form):
    (tmp_path / folder).mkdir()
    path = in_form(form, GOOD, tmp_path / folder)
    assert dt.Counts.from_data(path, PERSON).records == 4
    assert dt.Counts.from_data(str(path), PERSON).records == 4


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_query_is_asked_of_the_file(tmp_path, form):
    path = in_form(form, GOOD, tmp_path)
    query = "SELECT age * 2 AS age, sex FROM data WHERE state = 'TX' AND w > 1"
    counts = dt.Counts.from_data(path, PERSON, query=query)
    assert counts.records == 1
    assert counts.table("sex", "age").tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT nothing FROM data", "nothing"),
        ("SELEC age FROM data", "SELEC"),
        ("SELECT sex FROM data", "'age'"),
        ("SELECT * FROM data WHERE age > 1000", "record"),
        ("SELECT age, sex, age FROM data", "query.*'age' twice"),
        ("SELECT age, sex, w AS age FROM data", "query.*'age' twice"),
        ("SELECT age, sex, w AS AGE FROM data", "'age'.*case"),
    ],
)
def test_a_query_that_cannot_be_is_refused(tmp_path, query, said):
    refused(tmp_path, in_form("parquet", GOOD, tmp_path), PERSON, said, query=query)


# ------------------------------------------------------------------------------------ several files


def csv_files(folder, **texts):
    """Some CSV files by their names, and the pattern of these."""
    pytest.importorskip("duckdb")
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return folder / "*.csv"


def parquet_files(folder, **columns):
    """Some Parquet files by their names, and the pattern of these."""
    pytest.importorskip("duckdb")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for name, table in columns.items():
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
    return folder / "*.parquet"


def test_csv_files_are_read_as_one(tmp_path):
    path = csv_files(tmp_path, a="age,sex\n10,f\n20,m\n", b="sex,age\nf,30.5\n")
    counts = dt.Counts.from_data(path, PERSON)
    assert counts.table("sex", "age").tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    schema = dt.Schema.infer(path)
    assert schema["age"].categories == (10, 20, 30.5)
    assert schema["sex"].categories == ("f", "m")


def test_text_late_in_many_csv_files_makes_their_column_text(tmp_path):
    texts = {f"f{i:02}": "x,y\n1,a\n2,b\n" for i in range(30)}
    path = csv_files(tmp_path, **texts | {"f25": "x,y\nold,a\n"})
    assert dt.Schema.infer(path)["x"].categories == ("1", "2", "old")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("age,sex,more\n1,f,2\n", ("b.csv", "'more'")),
        ("age\n1\n", ("b.csv", "'sex'")),
        ("age;sex\n1;f\n", ("b.csv", "'age'")),
        ("age,sex,age\n1,f,2\n", ("b.csv", "'age' twice")),
        ("age,sex,AGE\n1,f,2\n", ("b.csv", "'age' and 'AGE'")),
        ("", ("b.csv", "empty")),
    ],
)
def test_csv_files_that_differ_are_named(tmp_path, other, said):
    refused(tmp_path, csv_files(tmp_path, a="age,sex\n10,f\n20,m\n", b=other), PERSON, *said)


def test_parquet_files_are_widened_and_not_rounded(tmp_path):
    path = parquet_files(tmp_path, a={"x": [1, 2, 2]}, b={"x": [1.4, 1.6, 1.3]})
    assert dt.Schema.infer(path)["x"].categories == (1, 1.3, 1.4, 1.6, 2)
    schema = dt.Schema([dt.Attribute("x", categories=[1, 2], unseen="other")])
    assert dt.Counts.from_data(path, schema).single("x").tolist() == [1, 2, 3, 0]


def test_a_parquet_file_of_nulls_only_fits_with_others(tmp_path):
    columns = {"a": {"x": [None]}, "b": {"x": ["u", "v"]}, "c": {"x": [None, None]}}
    schema = dt.Schema.infer(parquet_files(tmp_path, **columns))
    assert schema["x"].values == ("u", "v", "(missing)")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"age": ["1"], "sex": ["f"]}, ("b.parquet", "'age'", "text", "numbers")),
        ({"age": [1.0], "sex": [True]}, ("b.parquet", "'sex'")),
        ({"age": [1.0]}, ("b.parquet", "'sex'")),
        ({"age": [1.0], "sex": ["f"], "more": [1]}, ("b.parquet", "'more'")),
        ({"age": [1.0], "sex": ["f"], "AGE": [1]}, ("b.parquet", "'age' and 'AGE'")),
    ],
)
def test_parquet_files_that_differ_are_named(tmp_path, other, said):
    path = parquet_files(tmp_path, a={"age": [1.0, 2.0], "sex": ["f", "m"]}, b=other)
    refused(tmp_path, path, PERSON, *said)


def test_a_name_twice_in_a_later_parquet_file_is_refused(tmp_path):
    path = parquet_files(tmp_path, a={"age": [1.0], "sex": ["f"]})
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table([[1.0], ["f"], [2.0]], names=["age", "sex", "age"])
    pq.write_table(table, tmp_path / "b.parquet")
    refused(tmp_path, path, PERSON, "b.parquet", "'age' twice")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_folder_of_parts_is_read(tmp_path, form):
    folder = tmp_path / f"survey.{form}"
    folder.mkdir()
    path = in_form(form, GOOD, tmp_path)
    for name in ("part-0", "part-1", "_hidden", ".hidden"):
        (folder / f"{name}.{form}").write_bytes(path.read_bytes())
    (folder / "_SUCCESS").touch()
    assert dt.Counts.from_data(folder, PERSON).records == 8
    assert dt.Counts.from_data(f"{folder}/", PERSON).records == 8


@pytest.mark.parametrize("name", ["survey.parquet", "survey"])
def test_a_folder_without_parts_is_named(tmp_path, name):
    pytest.importorskip("duckdb")
    (tmp_path / name).mkdir()
    refused(tmp_path, tmp_path / name, PERSON, name, "folder")


@pytest.mark.parametrize("name", ["a[1]", "a*", "a?"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_signs_of_a_pattern_in_a_name_are_only_signs(tmp_path, name, form):
    path = in_form(form, GOOD, tmp_path).rename(tmp_path / f"{name}.{form}")
    in_form(form, GOOD, tmp_path).rename(tmp_path / f"a1.{form}")
    assert dt.Counts.from_data(path, PERSON).records == 4


def test_an_error_in_one_of_many_files_names_it(tmp_path):
    rows = "".join(f"{i % 60},f\n" for i in range(30_000))
    texts = {"a": "age,sex\n" + rows, "b": "age,sex\n" + rows + "old,f\n"}
    refused(tmp_path, csv_files(tmp_path, **texts), PERSON, r"cannot read \S*b\.csv", "old")


@pytest.mark.parametrize(
    ("spelt", "kind", "values"),
    [
        (("yes", "no"), "text", ("no", "yes")),
        (("t", "f"), "text", ("f", "t")),
        (("true", "no"), "text", ("no", "true")),
        (("true", "FALSE"), "boolean", (False, True)),
    ],
)
def test_only_true_and_false_of_a_csv_are_booleans(tmp_path, spelt, kind, values):
    pytest.importorskip("duckdb")
    rows = "".join(f"{spelt[i % 2]},{i % 3}\n" for i in range(30)) + ",1\n"
    (tmp_path / "flags.csv").write_text('"a ""flag""",x\n' + rows)
    flag = dt.Schema.infer(tmp_path / "flags.csv")['a "flag"']
    assert (flag.kind, flag.categories, flag.missing) == (kind, values, "category")
    schema = dt.Schema([flag])
    assert dt.Counts.from_data(tmp_path / "flags.csv", schema).single(flag.name).tolist() == [
        *(15, 15, 1),
    ]
    if kind == "text":
        frame = pd.read_csv(tmp_path / "flags.csv")
        assert dt.Schema.infer(frame)['a "flag"'] == flag


def test_a_quoted_empty_text_is_a_value_where_it_is_declared(tmp_path):
    pytest.importorskip("duckdb")
    (tmp_path / "quoted.csv").write_text('name,n\n"",1\n,2\nb,3\n')
    path = tmp_path / "quoted.csv"
    declared = dt.Schema([dt.Attribute("name", categories=["", "b"])])
    assert dt.Counts.from_data(path, declared).single("name").tolist() == [1, 1, 1]
    others = dt.Schema([dt.Attribute("name", categories=["b"])])
    assert dt.Counts.from_data(path, others).single("name").tolist() == [1, 2]


# ---------------------------------------------------------------------------------- names of columns


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("folder", ["a=w", "b=1/c=2"])
def test_the_name_of_a_folder_is_no_column(tmp_path, folder, form):
    """DuckDB takes ``a=w/t.csv`` for a part of a table whose column a is w everywhere."""
    place = tmp_path / folder
    place.mkdir(parents=True)
    frame = pd.DataFrame({"a": ["x", "y", "y"], "b": [3, 4, 4]})
    if form == "csv":
        frame.to_csv(place / "t.csv", index=False)
    else:
        frame.to_parquet(place / "t.parquet")
    schema = dt.Schema.infer(place / f"t.{form}")
    assert schema.names == ("a", "b")
    assert dt.Counts.from_data(place / f"t.{form}", schema).single("a").tolist() == [1, 2]


@pytest.mark.parametrize("name", ["", " "])
def test_a_column_of_a_parquet_file_without_a_name_is_refused(tmp_path, name):
    """DuckDB would call it C1."""
    pytest.importorskip("duckdb")
    pd.DataFrame({"a": [1, 2], name: [3, 4]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet has no name for column 2 of 2"):
        dt.Schema.infer(tmp_path / "t.parquet")


@pytest.mark.parametrize("library", ["pandas.DataFrame", "polars.DataFrame", "pyarrow.table"])
def test_a_column_of_a_frame_without_a_name_is_refused(library):
    module, _, kind = library.partition(".")
    frame = getattr(pytest.importorskip(module), kind)({"a": [1, 2], "": [3, 4]})
    with pytest.raises(ValueError, match=r"the frame has no name for column 2 of 2"):
        dt.Schema.infer(frame)


@pytest.mark.parametrize("header", [",b", "a,", 'a,""', "a,,c", 'a," "'])
def test_a_column_of_a_csv_without_a_name_is_refused(tmp_path, header):
    row = ",".join("1" * len(header.split(",")))
    (tmp_path / "t.csv").write_text(f"{header}\n{row}\n{row}\n")
    with pytest.raises(ValueError, match=r"t\.csv has no name for column \d of \d"):
        dt.Schema.infer(tmp_path / "t.csv")


def test_files_are_read_in_a_notebook_without_widgets(tmp_path):
    """DuckDB refuses to be told anything about its progress bar there."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    path = tmp_path / "people.csv"
    path.write_text("sex,smokes\n" + "f,yes\nm,no\n" * 30, encoding="utf-8")
    code = f"""
import sys
sys.modules["ipywidgets"] = None
import deptriad as dt
print(dt.Counts.from_data({str(path)!r}, dt.Schema.infer({str(path)!r})))
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    assert "60 records" in str(notebook.cells[0].outputs)
