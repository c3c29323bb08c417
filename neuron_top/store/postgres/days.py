"""Retention: lists the days of events in the database, and drops those that are too old or take too much space."""

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
    # Runs that were stored before the dropped days, and have no events left, are of no use to anybody.
    "DELETE FROM neurontop.parts p WHERE p.touched < %(before)s "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.events e WHERE e.run = p.run)",
    # A node that has been idle for a long time may still ship to its job.
    "DELETE FROM neurontop.runs r WHERE r.touched < %(before)s "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.parts p WHERE p.run = r.id) "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.nodes n WHERE n.job = r.id) "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.node_now a WHERE a.job = r.id)",
    "DELETE FROM neurontop.waits w WHERE w.last < %(before)s "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.runs r WHERE r.id = w.job)",
    "DELETE FROM neurontop.phases p WHERE p.until < %(before)s "
    "AND NOT EXISTS (SELECT 1 FROM neurontop.runs r WHERE r.id = p.job)",
    # An agent reports an entry only when it changes, so an old row of a node that still reports is valid.
    "DELETE FROM neurontop.node_keys k WHERE k.seen < %(before)s "
    "AND (k.state = 'gone' OR NOT EXISTS (SELECT 1 FROM neurontop.nodes n WHERE n.node = k.node))",
    "DELETE FROM neurontop.claims WHERE until < to_timestamp(%(before)s)",
    "DELETE FROM neurontop.intents WHERE asked < to_timestamp(%(before)s) AND state NOT IN ('asked', 'taken')",
    "DELETE FROM neurontop.wakes WHERE at < to_timestamp(%(before)s)",
)


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """The events that arrived on one day, in UTC."""

    day: str
    """For example 2026-03-01."""
    bytes: int
    """Including its indexes."""
    batches: int | None = None
    """Approximate number, as the server last counted it; None before it did."""
    attached: bool = True
    """False if dropping it was interrupted."""
    pending: bool = False
    """Whether detaching it was interrupted."""


def days(database: Database) -> list[Day]:
    """All days, oldest first."""
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
    """Which days a policy drops, oldest first. `found`: oldest first. Today and future days stay. Pure."""
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
    """The current day, by the server's clock."""
    with database.connection() as connection:
        row = connection.execute("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')").fetchone()
    return str(row[0]) if row is not None else ""


def drop(database: Database, going: Sequence[Day]) -> None:
    """Drop days, delete runs and nodes that have nothing else left, and make the partitions of the next days.

    A day is first detached without locking out readers. A drop that was interrupted is finished by the next one.
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
        return  # another process dropped it at the same moment
