"""Fixtures of a real PostgreSQL: one server per session, a fresh database for each test; skipped where there is none.

Import them into a test module: `from tests.servers.postgres import postgres_server, postgres_url`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.migration import migrate
from tests.servers.postgresql import PostgresMissing, PostgresServer, running


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running server, one per session (and per xdist worker). Tests that kill it start one of their own."""
    try:
        starting = running(settings="fsync = off")
        with starting as server:
            yield server
    except PostgresMissing as reason:
        pytest.skip(str(reason))


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The superuser's address of a fresh database that has the schema."""
    name = postgres_server.new_database()
    url = postgres_server.url(name)
    with Database(url, prepared=False) as database:
        migrate(database)
    yield url
    postgres_server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
