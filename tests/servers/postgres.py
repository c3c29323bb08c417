"""Fixtures of a real PostgreSQL: one server per session, a fresh database for each test; skipped where there is none.

`tests/conftest.py` has them for every test; a module that imports them again would start a server of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.postgresql import PostgresMissing, PostgresServer, running


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running server, one per session (and per xdist worker). Tests that kill it start one of their own."""
    try:
        with running(settings="fsync = off") as server:
            yield server
    except PostgresMissing as reason:
        pytest.skip(str(reason))


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The superuser's address of a fresh database that has the schema."""
    pytest.importorskip("psycopg")
    from neuron_top.store.postgres.connection import Database
    from neuron_top.store.postgres.migration import migrate

    name = postgres_server.new_database()
    url = postgres_server.url(name)
    with Database(url, prepared=False) as database:
        migrate(database)
    yield url
    postgres_server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
