"""Changes that operators ask nodes for: rows whose state only moves forward, by whoever finds it as expected."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from psycopg import errors
from psycopg.rows import dict_row

from neuron_top.store.errors import StoreCorrupt
from neuron_top.store.fleet_records import Intent, IntentState
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.values import jsonb

LASTS_SECONDS = 900.0
"""Seconds after which an intent that nobody began is expired."""
LISTED_CHANGES, LISTED_INTENTS = 10, 200
"""How many changes are listed, however many nodes they were requested from; more of them up to so many intents."""
_NEWEST = """
SELECT batch FROM (
    SELECT batch, row_number() OVER newest_first AS changes, sum(count(*)) OVER newest_first AS intents
    FROM neurontop.intents GROUP BY batch WINDOW newest_first AS (ORDER BY max(id) DESC)
) counted WHERE changes <= %s OR intents <= %s
"""
_COLUMNS = (
    "id, node, CASE jsonb_typeof(plan) WHEN 'object' THEN plan ELSE '{}' END AS plan, asked_by, "
    "extract(epoch FROM asked)::float8 AS asked, state, "
    "CASE jsonb_typeof(result) WHEN 'object' THEN result ELSE '{}' END AS result, batch, "
    "extract(epoch FROM until)::float8 AS until, until < clock_timestamp() AS expired"
)
"""What a login wrote that is no object is read as an empty one: one such row would make all others unreadable."""


class Intents:
    """The intents of a fleet's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(self, node: str, plan: Mapping[str, object], batch: str = "", seconds: float = LASTS_SECONDS) -> int:
        """Ask a node's agent for a change; returns the intent's id. `seconds`: how long it may still be begun."""
        with self._database.connection() as connection:
            row = connection.execute(
                "INSERT INTO neurontop.intents (node, plan, batch, until) "
                "VALUES (%s, %s, %s, clock_timestamp() + make_interval(secs => %s)) RETURNING id",
                (node, jsonb(plan), batch, seconds),
            ).fetchone()
        return int(row[0]) if row is not None else 0

    def of_batch(self, batch: str) -> list[Intent]:
        """The intents of one command, by node."""
        return self._found("batch = %s ORDER BY node, id", (batch,))

    def of_node(self, node: str, states: tuple[IntentState, ...]) -> list[Intent]:
        """The intents for a node, oldest first."""
        return self._found("node = %s AND state = ANY(%s) ORDER BY id", (node, [str(state) for state in states]))

    def newest(self) -> list[Intent]:
        """The intents of the newest changes, newest first: of at least `LISTED_CHANGES`, of each all."""
        return self._found(f"batch IN ({_NEWEST}) ORDER BY id DESC", (LISTED_CHANGES, LISTED_INTENTS))

    def move(
        self,
        intent: int,
        before: IntentState,
        after: IntentState,
        result: Mapping[str, object] | None = None,
    ) -> bool:
        """Take an intent from one state to the next; False if it is not in `before` any more, or expired.

        Of many who try, one succeeds.
        """
        what, values = "state = %s", [str(after)]
        if result is not None:
            what, values = f"{what}, result = %s", [*values, jsonb(result)]
        if after is IntentState.UNDO:
            what = f"{what}, until = clock_timestamp() + make_interval(secs => {LASTS_SECONDS})"
        statement = f"UPDATE neurontop.intents SET {what} WHERE id = %s AND state = %s"
        with self._database.connection() as connection:
            try:
                with connection.transaction():
                    return connection.execute(statement.encode(), (*values, intent, str(before))).rowcount > 0
            except errors.CheckViolation:
                return False

    def _found(self, condition: str, values: tuple[object, ...]) -> list[Intent]:
        statement = f"SELECT {_COLUMNS} FROM neurontop.intents WHERE {condition}"
        with self._database.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(statement.encode(), values).fetchall()
        try:
            return msgspec.convert(rows, list[Intent])
        except msgspec.ValidationError as problem:
            raise StoreCorrupt(f"{self._database.place}: an intent cannot be read ({problem})") from None
