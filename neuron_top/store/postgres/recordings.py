"""Recordings in PostgreSQL: the same protocol as the SQLite file's, and the same batches."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from neuron_top.calendar_bounds import EARLIEST, LATEST, is_in_calendar
from neuron_top.decoders import MALFORMED
from neuron_top.escapes import json_bytes
from neuron_top.events import AnyEvent, Event, RunStarted
from neuron_top.store.batches import FORMAT, BatchUnreadable, Packed, pack, portions, unpack
from neuron_top.store.errors import StoreCorrupt, StoreUnusable
from neuron_top.store.job_merge import JobMerge
from neuron_top.store.postgres.connection import Database, Opened
from neuron_top.store.postgres.landing import in_transaction, land, lock_part, move_mark
from neuron_top.store.postgres.values import storable
from neuron_top.store.records import CompileRecord, RunRecord, chosen

RECORDER = "recording"
"""The name of the spool of a recording that one process appends to."""
_BATCHES_AT_ONCE = 16
TOTALS = """
LEFT JOIN LATERAL (
    SELECT sum(p.events) AS events, sum(p.bytes) AS bytes, max(p.newest[1]) AS touched,
           count(*) AS nodes, count(p.newest[2]) AS ended, max(p.newest[2]) AS finished,
           (array_agg(p.newest[3]::integer ORDER BY abs(p.newest[3]) DESC NULLS LAST))[1] AS exit_code
    FROM (
        SELECT sum(events) AS events, sum(bytes) AS bytes, max(ARRAY[touched, finished, exit_code]::float8[]) AS newest
        FROM neurontop.parts WHERE run = r.id GROUP BY node
    ) p
) t ON true
"""
"""A run's parts added up. A node's newest spool says whether and how its part ended: an agent that is started with an
empty state folder begins a new spool, and nobody continues the old one. In an array, an open end (null) sorts above the
others."""
ENDED = "t.nodes > 0 AND t.ended = t.nodes"
LAST_PHASES = f"""
CASE WHEN {ENDED} AND coalesce(r.exit_code, t.exit_code) IS NULL THEN ARRAY(
    SELECT DISTINCT newest.phase FROM (
        SELECT DISTINCT ON (node) phase FROM neurontop.phases WHERE job = r.id
        ORDER BY node DESC, since DESC  -- as the index has them, backward
    ) newest
) ELSE '{{}}' END
"""
_BEATS = """
LEFT JOIN (SELECT job, max(at) AS at FROM neurontop.node_now WHERE NOT ended GROUP BY job) beats ON beats.job = r.id
"""
"""The last sign of life of a job's nodes: while nothing happens in their logs, they ship nothing else."""
_RUN_COLUMNS = (
    "r.id, r.node, r.name, r.command, r.directory, r.pid, r.started, "
    f"coalesce(r.finished, CASE WHEN {ENDED} THEN t.finished END), "
    f"coalesce(r.exit_code, CASE WHEN {ENDED} THEN t.exit_code END), "
    "greatest(r.touched, t.touched, beats.at), coalesce(t.events, 0)::bigint, coalesce(t.bytes, 0)::bigint, "
    f"r.folder, r.summary, {LAST_PHASES}"
)
_COMPILE_COLUMNS = "module, node, run, compiler, graph_bytes, operators, seconds, peak_rss, finished, mix"


class PostgresStore:
    """Recordings in a database; see `store.protocol.Store`."""

    def __init__(self, address: str, *, insecure: bool = False) -> None:
        """Raises StoreUnusable where it cannot be used as it is, UsageError and RefusedForSafety (see Database)."""
        self._ahead: float | None = None
        self._database = Database(address, insecure=insecure)
        with self._database.connection():
            pass  # so that a wrong address raises now

    @property
    def place(self) -> str:
        """Its address without a password."""
        return self._database.place

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a second close does nothing."""
        self._database.close()

    # --- writing ---

    def begin(self, event: RunStarted, *, pid: int | None = None, folder: Path | str = "", now: float = 0.0) -> None:
        """Enter a new recording; the event itself is not appended. Raises StoreUnusable when the id is taken."""
        with self._database.connection() as connection:
            made = connection.execute(
                "INSERT INTO neurontop.runs (id, node, name, command, directory, pid, started, touched, folder) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (
                    event.run,
                    event.node,
                    storable(event.name),
                    storable(json_bytes(event.command).decode()),
                    storable(event.directory),
                    pid,
                    event.time,
                    event.time or now,
                    storable(str(folder)),
                ),
            ).rowcount
        if not made:
            raise StoreUnusable(f"{self.place}: there is already a recording {event.run!r}")

    def append(self, run: str, events: Sequence[Event], now: float | None = None) -> None:
        """Add events to a recording, in order; when it returns they survive a crash of the server."""
        batches = [pack(portion) for portion in portions(events)]
        touched = now if now is not None else max((event.time or 0.0 for event in events), default=0.0)
        in_transaction(self._database, lambda connection: self._land(connection, run, batches, touched))
        with self._database.connection() as connection:
            connection.execute("SELECT neurontop.wake(%s)", (run,))

    def _land(self, connection: Opened, run: str, batches: Sequence[Packed], touched: float) -> None:
        found = connection.execute(
            "UPDATE neurontop.runs SET touched = greatest(touched, %s) WHERE id = %s RETURNING node", (touched, run)
        ).fetchone()
        if found is None:
            raise StoreUnusable(f"{self.place}: there is no recording {run!r} that this login may append to")
        node = found[0]
        sequence = lock_part(connection, run, node, RECORDER)
        rows = [
            (run, node, RECORDER, number, batch.first, batch.last, batch.count, FORMAT, batch.data)
            for number, batch in enumerate(batches, sequence + 1)
        ]
        land(connection, rows)
        move_mark(connection, run, node, RECORDER, sequence + len(batches), batches, touched)

    def finish(self, run: str, exit_code: int | None, finished: float, summary: bytes = b"") -> None:
        """Note that the command ended; `summary` is the closing summary as JSON."""
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE neurontop.runs SET finished = %s, exit_code = %s, summary = %s, "
                "touched = greatest(touched, %s), pid = NULL WHERE id = %s",
                (finished, exit_code, storable(summary.decode()), finished, run),
            )

    def remember_compiles(self, records: Iterable[CompileRecord]) -> None:
        """Store measured compile times for later estimates; duplicates are stored once."""
        put_compiles(self._database, records)

    def forget(self, run: str) -> None:
        """Delete a recording's rows."""
        with self._database.transaction() as connection:
            for statement in (
                "DELETE FROM neurontop.events WHERE run = %s",
                "DELETE FROM neurontop.parts WHERE run = %s",
                "DELETE FROM neurontop.runs WHERE id = %s",
            ):
                connection.execute(statement, (run,))

    # --- reading ---

    def clock(self) -> float:
        """The server's clock, by how far this machine's is ahead, which is measured once."""
        if self._ahead is None:
            with self._database.connection() as connection:
                row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
            self._ahead = time.time() - float(row[0]) if row is not None else 0.0
        return time.time() - self._ahead

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Recordings and jobs, newest first."""
        with self._database.without_jit() as connection:
            rows = connection.execute(
                f"SELECT {_RUN_COLUMNS} FROM (SELECT * FROM neurontop.runs "
                f"ORDER BY coalesce(started, touched) DESC, id DESC LIMIT %s) r {TOTALS} {_BEATS} "
                "ORDER BY coalesce(r.started, r.touched) DESC, r.id DESC",
                (limit,),
            ).fetchall()
        return [self._run_record(row) for row in rows]

    def run(self, run: str) -> RunRecord | None:
        """One recording by id, by an unambiguous prefix of an id, or the newest of that name; None if none."""
        return chosen(self.runs(), run)

    def replay(self, run: str, after: int = -1, since: float | None = None) -> Iterator[AnyEvent]:
        """The events of a recording in the order they arrived; see the protocol."""
        for _number, events in self.batches(run, after, since):
            yield from events

    def batches(self, run: str, after: int = -1, since: float | None = None) -> Iterator[tuple[int, list[AnyEvent]]]:
        """As `replay`, batch by batch with its number; what nodes shipped to a job is merged.

        For such a job, this reads only what has arrived: a batch can still arrive with a lower number than one that was
        read already. `FleetStore.news` follows such a job without gaps.
        """
        merge = JobMerge(run, self._clock_offsets)
        while True:
            with self._database.connection() as connection:
                rows = connection.execute(
                    "SELECT number, node, spool, data, format FROM neurontop.events WHERE run = %s AND number > %s "
                    "AND (%s::float8 IS NULL OR last IS NULL OR last >= %s) ORDER BY number LIMIT %s",
                    (run, after, since, since, _BATCHES_AT_ONCE),
                ).fetchall()
            if not rows:
                return
            for number, node, spool, data, written_as in rows:
                after = number
                events = decoded(self.place, run, number, data, written_as)
                yield number, events if spool == RECORDER else merge.merged(node, spool, events)

    def _clock_offsets(self) -> dict[str, float]:
        """By how many seconds the clock of each node is ahead of the database's, as it was measured last."""
        with self._database.connection() as connection:
            return dict(
                connection.execute(
                    "SELECT node, clock_offset FROM neurontop.nodes "
                    "WHERE clock_offset > '-Infinity' AND clock_offset < 'Infinity'"
                )
            )

    def span(self, run: str) -> tuple[float, float] | None:
        """First and last event time of a recording."""
        with self._database.connection() as connection:
            row = connection.execute(
                "SELECT min(first), max(last) FROM neurontop.parts WHERE run = %s", (run,)
            ).fetchone()
        return (row[0], row[1]) if row is not None and row[0] is not None and row[1] is not None else None

    def compile_history(self, most: int = 20_000) -> list[CompileRecord]:
        """Measured compile times of all runs, newest first, `most` at the most; what nobody can read is left out."""
        with self._database.connection() as connection:
            rows = connection.execute(
                f"SELECT {_COMPILE_COLUMNS} FROM neurontop.compiles WHERE seconds >= 0 AND seconds < 'Infinity' "
                "AND finished BETWEEN %s AND %s ORDER BY finished DESC LIMIT %s",
                (EARLIEST, LATEST, most),
            ).fetchall()
        names = CompileRecord.__struct_fields__
        found = []
        for row in rows:
            with suppress(msgspec.ValidationError):
                found.append(msgspec.convert(dict(zip(names, row, strict=True)), CompileRecord))
        return found

    def _run_record(self, row: tuple[object, ...]) -> RunRecord:
        values = dict(zip(RunRecord.__struct_fields__, row, strict=True))
        try:
            values["command"] = msgspec.json.decode(str(values["command"]))
            record = msgspec.convert(values, RunRecord)
        except MALFORMED as problem:
            raise StoreCorrupt(f"{self.place}: the row of recording {row[0]} cannot be read ({problem})") from None
        started, finished, touched = map(_moment, (record.started, record.finished, record.touched))
        return msgspec.structs.replace(record, started=started, finished=finished, touched=touched or 0.0)


def _moment(seconds: float | None) -> float | None:
    """A time as any login may have written it; None for one that is none."""
    return seconds if seconds is not None and is_in_calendar(seconds) else None


def decoded(place: str, run: str, number: int, data: bytes, written_as: int) -> list[AnyEvent]:
    """The events of a row. Raises StoreCorrupt."""
    try:
        return unpack(data, written_as)
    except BatchUnreadable as problem:
        raise StoreCorrupt(f"{place}: batch {number} of recording {run} cannot be read ({problem})") from None


def put_compiles(database: Database, records: Iterable[CompileRecord]) -> None:
    """Store measured compile times; duplicates are stored once."""
    rows = [
        (*msgspec.structs.astuple(record)[:-1], msgspec.json.encode(record.op_counts).decode()) for record in records
    ]
    with database.transaction() as connection, connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO neurontop.compiles ({_COMPILE_COLUMNS}) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) "
            "ON CONFLICT (module, node, run, finished) DO UPDATE SET compiler = excluded.compiler, "
            "graph_bytes = excluded.graph_bytes, operators = excluded.operators, "
            "seconds = excluded.seconds, peak_rss = excluded.peak_rss, mix = excluded.mix",
            rows,
        )
