"""Rows of a fleet's tables as they are in the database, for tests of what the product writes there."""

from __future__ import annotations

from typing import Any

from psycopg import sql
from psycopg.rows import namedtuple_row

from neuron_top.store.postgres.fleet import FleetStore


def rows(store: FleetStore, table: str, **where: str) -> list[Any]:
    """The rows of `neurontop.<table>` that a store may read and whose columns have these values."""
    conditions = [sql.SQL("{} = {}").format(sql.Identifier(name), value) for name, value in where.items()]
    statement = sql.SQL("SELECT * FROM {} WHERE {}").format(
        sql.Identifier("neurontop", table), sql.SQL(" AND ").join([sql.SQL("true"), *conditions])
    )
    with store._database.connection() as connection, connection.cursor(row_factory=namedtuple_row) as cursor:
        return cursor.execute(statement).fetchall()
