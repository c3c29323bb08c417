"""Retention: the days of events in the database, and which of them go when they are too old or take too much."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import msgspec
from psycopg import errors, sql

from neuron_top.store.postgres.connection import Database, Opened
from neuron_top.store.postgres.migration import DAYS_AHEAD

_DAYS = """
SELECT c.relname, i.inhparent IS NOT NULL, coalesce(i.inhdetachpending, false), pg_total_relation_size(c.oid),
       nullif(c.reltuples, -1)::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
WHERE n.nspname = 'neurontop' AND c.relkind = 'r' AND c.relname ~ '^events_[0-9]{8}$'
ORDER BY c.relname
"""
_FORGET = (
    "DELETE FROM neurontop.node_now WHERE at < %(before)s",
    "DELETE FROM neurontop.nodes WHERE seen < %(before)s",
    # What landed before the days that went, and has no events left, is known by nobody any more.
    "DELETE FROM neurontop.parts p WHERE p.touched < %(before)s "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.events e WHERE e.run = p.run)",
    # A node that has been idle for long still ships to its job.
    "DELETE FROM neurontop.runs r WHERE r.touched < %(before)s "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.parts p WHERE p.run = r.id) "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.nodes n WHERE n.job = r.id) "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.node_now a WHERE a.job = r.id)",
    "DELETE FROM neurontop.waits w WHERE w.last < %(before)s "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.runs r WHERE r.id = w.job)",
    "DELETE FROM neurontop.phases p WHERE p.until < %(before)s "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.runs r WHERE r.id = p.job)",
    # An agent reports an entry when it changed, so an old row of a node that is there holds still.
    "DELETE FROM neurontop.node_keys k WHERE k.seen < %(before)s "
    "AND (k.state = 'gone' OR NOT EXISTS (SELECT 1 FROM neurontop.nodes n WHERE n.node = k.node))",
    "DELETE FROM neurontop.claims WHERE until < to_timestamp(%(before)s)",
    "DELETE FROM neurontop.intents WHERE asked < to_timestamp(%(before)s) AND state NOT IN ('asked', 'taken')",
    "DELETE FROM neurontop.wakes WHERE at < to_timestamp(%(before)s)",
)


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """The events that arrived on one day, in UTC."""

    day: str
    """As in 2026-03-01."""
    bytes: int
    """With its indexes."""
    batches: int | None = None
    """About how many, as the server last counted them; None before it did."""
    attached: bool = True
    """False where dropping it was cut short."""
    pending: bool = False
    """Whether detaching it was cut short."""


def days(database: Database) -> list[Day]:
    """All of them, oldest first."""
    with database.connection() as connection:
        rows = connection.execute(_DAYS).fetchall()
    return [
        Day(
            day=datetime.datetime.strptime(name[-8:], "%Y%m%d").replace(tzinfo=datetime.UTC).date().isoformat(),
            attached=attached,
            pending=pending,
            bytes=size,
            batches=count,
        )
        for name, attached, pending, size, count in rows
    ]


def surplus(found: Sequence[Day], today: str, keep_seconds: float | None, most_bytes: int | None) -> list[Day]:
    """Which days a policy drops, oldest first. `found`: oldest first. Today stays, and what is to come. Pure."""
    past = [day for day in found if day.day < today]
    total = sum(day.bytes for day in found)
    going = []
    for day in past:
        age = (datetime.date.fromisoformat(today) - datetime.date.fromisoformat(day.day)).days
        too_old = keep_seconds is not None and age > keep_seconds / 86400
        too_much = most_bytes is not None and total > most_bytes
        if not (too_old or too_much):
            break
        going.append(day)
        total -= day.bytes
    return going


def today(database: Database) -> str:
    """The day that events of this moment arrive on, by the server's clock."""
    with database.connection() as connection:
        row = connection.execute("SELECT (now() AT TIME ZONE 'UTC')::date::text").fetchone()
    return str(row[0]) if row is not None else ""


def drop(database: Database, going: Sequence[Day]) -> None:
    """Drop days, and forget the runs and nodes that are known by nothing else; then make the days to come.

    A day is detached first without locking readers out. A drop that was cut short is finished by the next one.
    """
    with database.connection() as connection:
        for day in going:
            _drop_day(connection, day)
    if going:
        last = datetime.date.fromisoformat(going[-1].day) + datetime.timedelta(days=1)
        before = datetime.datetime.combine(last, datetime.time(), datetime.UTC).timestamp()
        with database.transaction() as connection:
            for statement in _FORGET:
                connection.execute(statement, {"before": before})
    with database.connection() as connection:
        connection.execute("SELECT neurontop.make_days(%s)", (DAYS_AHEAD,))


def _drop_day(connection: Opened, day: Day) -> None:
    table = sql.Identifier("neurontop", f"events_{day.day.replace('-', '')}")
    if day.attached:
        how = sql.SQL("FINALIZE" if day.pending else "CONCURRENTLY")
        connection.execute(sql.SQL("ALTER TABLE neurontop.events DETACH PARTITION {} {}").format(table, how))
    try:
        connection.execute(sql.SQL("DROP TABLE {}").format(table))
    except errors.UndefinedTable:
        return  # another one dropped it at the same moment
