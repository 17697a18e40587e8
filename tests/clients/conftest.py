"""Fixtures of the tests of clients and the collector."""

import pytest

pytest.importorskip("starlette", reason="the collector is not installed: pip install '.[collect]'")

import collector
import postgres


@pytest.fixture(scope="session")
def plan():
    return collector.survey()


@pytest.fixture(scope="session")
def postgresql():
    """The URL of a server's database that all tests use, one after the other."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if why := postgres.why_not():
        pytest.skip(why)
    with postgres.server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """Where a store can be made, by each database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'reports ?#%.db'}"
    place = request.getfixturevalue("postgresql")
    import sqlalchemy as sa

    from deptriad.collection import report_store

    made = report_store.engine(place, "rw")
    with made.begin() as connection:
        for table in report_store.tables():
            connection.execute(sa.text(f"DROP TABLE IF EXISTS {table.name}"))
    made.dispose()
    return place
