"""Inserts batches exactly once: the mark of a spool moves in the same transaction that inserts the batches above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from psycopg import errors

from neuron_top.store.batches import FORMAT, Packed
from neuron_top.store.fleet_records import Batch
from neuron_top.store.postgres.connection import Database, Opened

Result = TypeVar("Result")
Row = tuple[str, str, str, int, float | None, float | None, int, int, bytes]
"""A row of `events`: run, node, spool, sequence, first, last, count, format, data."""
_MARK = "SELECT sequence FROM neurontop.parts WHERE run = %s AND node = %s AND spool = %s FOR UPDATE"
_COLUMNS = "run, node, spool, sequence, first, last, count, format, data"
_VALUES = "%s, %s, %s, %s, %s, %s, %s, %s, %s"
_FEWER_THAN_COPIED = 8
"""Fewer rows than this are inserted directly: a temporary table, emptied at each commit, would cost more."""
_AHEAD = "SELECT neurontop.land(%s, %s, %s, {}::bigint[], {}::float8[], {}::float8[], {}::integer[], %s, {}::bytea[])"


def in_transaction(database: Database, work: Callable[[Opened], Result]) -> Result:
    """Do `work` in a transaction; if today has no partition yet, make it and do the work again."""
    with database.connection() as connection:
        try:
            with connection.transaction():
                return work(connection)
        except errors.CheckViolation:  # no partition for this day
            connection.execute("SELECT neurontop.make_days(1)")
        with connection.transaction():
            return work(connection)


def lock_part(connection: Opened, run: str, node: str, spool: str) -> int:
    """Lock and return the mark of a spool in a run until the transaction ends; a second agent of that spool waits."""
    part = (run, node, spool)
    row = connection.execute(_MARK, part).fetchone()
    if row is None:  # the first batch; another process may enter it at the same moment
        connection.execute(
            "INSERT INTO neurontop.parts (run, node, spool) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", part
        )
        row = connection.execute(_MARK, part).fetchone()
    return int(row[0]) if row is not None else 0


def land_ahead(connection: Opened, node: str, spool: str, batches: Sequence[Batch]) -> bool:
    """Insert a few batches of one run, all above the spool's mark, in one statement, as is usual.

    The mark moves, and listeners are woken. Returns False, with nothing done, if the batches are not of that kind.
    """
    run = batches[0].run
    if len(batches) >= _FEWER_THAN_COPIED or any(batch.run != run for batch in batches):
        return False
    columns = zip(*((one.sequence, one.first, one.last, one.count, one.data) for one in batches), strict=True)
    sequences, firsts, lasts, counts, contents = columns
    array = f"ARRAY[{', '.join(['%s'] * len(batches))}]"  # of single values: psycopg makes a list's text in Python
    values = (run, node, spool, *sequences, *firsts, *lasts, *counts, FORMAT, *contents)
    try:
        landed = connection.execute(_AHEAD.format(*[array] * 5).encode(), values).fetchone()
        return landed is not None and bool(landed[0])
    except errors.CheckViolation:  # no partition for this day: `in_transaction` makes it
        return False


def land(connection: Opened, rows: Sequence[Row]) -> None:
    """Insert batches, once per transaction. A table with row security takes no COPY, so a temporary one is filled."""
    if len(rows) < _FEWER_THAN_COPIED:  # an agent that keeps up ships a batch or two at a time
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO neurontop.events ({_COLUMNS}) VALUES ({_VALUES})", rows)
        return
    connection.execute(
        "CREATE TEMPORARY TABLE IF NOT EXISTS neurontop_incoming (run text, node text, spool text, sequence bigint, "
        "first double precision, last double precision, count integer, format smallint, data bytea) "
        "ON COMMIT DELETE ROWS"
    )
    with connection.cursor() as cursor, cursor.copy(f"COPY pg_temp.neurontop_incoming ({_COLUMNS}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    connection.execute(
        f"INSERT INTO neurontop.events ({_COLUMNS}) SELECT {_COLUMNS} FROM pg_temp.neurontop_incoming ORDER BY sequence"
    )


def move_mark(
    connection: Opened,
    run: str,
    node: str,
    spool: str,
    sequence: int,
    landed: Sequence[Packed],
    touched: float | None = None,
) -> None:
    """Count the new batches and move the mark to the last of them. `touched`: when; None: by the server's clock."""
    connection.execute(
        "UPDATE neurontop.parts SET sequence = %s, events = events + %s, bytes = bytes + %s, "
        "first = least(first, %s), last = greatest(last, %s), "
        "touched = greatest(touched, coalesce(%s, extract(epoch FROM clock_timestamp()))) "
        "WHERE run = %s AND node = %s AND spool = %s",
        (
            sequence,
            sum(batch.count for batch in landed),
            sum(len(batch.data) for batch in landed),
            min((batch.first for batch in landed if batch.first is not None), default=None),
            max((batch.last for batch in landed if batch.last is not None), default=None),
            touched,
            run,
            node,
            spool,
        ),
    )
