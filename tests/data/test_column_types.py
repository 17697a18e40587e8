"""Columns by their names: those that are absent, and those that SQL takes for the same."""

import pytest

import deptriad as dt
from small_records import GOOD, PERSON, in_form, refused

pd = pytest.importorskip("pandas")


def test_a_missing_column_is_named_with_close_ones(given_as, tmp_path):
    refused(tmp_path, given_as(GOOD.rename(columns={"age": "agee"})), PERSON, "'age'", "'agee'")


@pytest.mark.parametrize("option", ["weight", "by"])
def test_a_missing_column_of_an_option_is_named(given_as, tmp_path, option):
    name = {"weight": "ww", "by": "staat"}[option]
    near = {"weight": "'w'", "by": "'state'"}[option]
    refused(tmp_path, given_as(GOOD), PERSON, name, near, **{option: name})


CASES = GOOD.assign(AGE=[70.0, 1.0, 1.0, 1.0])[["AGE", "sex", "age"]]


CASES_SCHEMA = dt.Schema([PERSON["age"], dt.Attribute("AGE", edges=[0, 18, 100]), PERSON["sex"]])


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow"])
def test_names_that_differ_in_case_are_two_columns_of_a_frame(form, tmp_path):
    counts = dt.Counts.from_data(in_form(form, CASES, tmp_path), CASES_SCHEMA)
    assert counts.single("age").tolist() == [1, 3, 0]
    assert counts.single("AGE").tolist() == [3, 1, 0]
    assert counts.table("AGE", "sex").tolist() == [[1, 1, 0], [2, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_names_of_a_file_that_differ_in_case_are_not_confused(form, tmp_path):
    refused(tmp_path, in_form(form, CASES, tmp_path), CASES_SCHEMA, "'age'")


def test_the_case_of_a_name_matters(given_as, tmp_path):
    refused(tmp_path, given_as(GOOD.rename(columns={"age": "AGE"})), PERSON, "'age'", "'AGE'")


@pytest.mark.parametrize("names", [["age", "age"], ["age", "AGE"]])
def test_a_relation_with_a_name_twice_is_refused(tmp_path, names):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql(f"SELECT 1 AS {names[0]}, 2 AS {names[1]}, 'f' AS sex")
    refused(tmp_path, relation, PERSON, "'age'")
    assert dt.Counts.from_data(duckdb.sql("SELECT 1 AS a, 'f' AS sex"), PERSON.only("sex")).records
