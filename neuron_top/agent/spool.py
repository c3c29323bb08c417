"""The spool: a SQLite file with the batches to be shipped, their sequence numbers, and how far logs were read.

A batch and the reading marks of the lines it came from are written in one transaction. An agent that is killed at any
moment goes on where the last transaction left it: nothing is lost, and nothing is reported twice.
"""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from neuron_top import private_files
from neuron_top.decoders import MALFORMED
from neuron_top.errors import NeuronTopError, UsageError
from neuron_top.escapes import name_of, name_text
from neuron_top.events import (
    AnyEvent,
    CoreCountersRead,
    CoresSampled,
    EventsFolded,
    ExecutionsCounted,
    HostSampled,
    NeuronProcessesSampled,
    OutputGrew,
    StepReported,
    WorkerMemoryReported,
)
from neuron_top.store.batches import BatchUnreadable, Packed, pack, portions, unpack
from neuron_top.store.fleet_records import AgentCount, Batch

MOST_BYTES = 512 * 1024**2
"""Enough for days of a job that goes well, or for hours of the busiest start."""
SAMPLES = (
    CoresSampled, HostSampled, ExecutionsCounted, NeuronProcessesSampled, WorkerMemoryReported, CoreCountersRead,
    StepReported, OutputGrew,
)  # fmt: skip
"""Events that are dropped first if there is no room: a newer one of the same kind follows."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (sequence INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL,
    first REAL, last REAL, count INTEGER NOT NULL, data BLOB NOT NULL, thinned INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE IF NOT EXISTS marks (source TEXT PRIMARY KEY, mark BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending (one INTEGER PRIMARY KEY CHECK (one = 1), data BLOB NOT NULL) STRICT;
"""


_DAMAGED = "; move it away, then a new one is made, and the logs of this job are shipped from their beginning once more"


class SpoolUnusable(UsageError):
    """The spool cannot be opened, or another agent uses it."""


@contextmanager
def usable(path: Path) -> Iterator[None]:
    """Raise SpoolUnusable for what is wrong with the spool at `path`."""
    try:
        yield
    except (OSError, sqlite3.Error, NeuronTopError) as problem:
        damaged = getattr(problem, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
        raise SpoolUnusable(f"{path}: the spool cannot be used: {problem}{_DAMAGED if damaged else ''}") from None
    except (BatchUnreadable, *MALFORMED) as problem:
        raise SpoolUnusable(f"{path}: the spool cannot be used: {problem}{_DAMAGED}") from None


class Spool:
    """An open spool; safe from several threads."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        """Open the spool, or create it. Raises SpoolUnusable."""
        self.path, self._most_bytes = path, most_bytes
        self._lock = threading.Lock()
        """Held while the connection is used or the count of bytes changes, so that both always fit."""
        with usable(path):
            private_files.make_folder(path.parent)
            private_files.make_file(path)
            self._connection = sqlite3.connect(path, timeout=1.0, isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        connection = self._connection
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # only one agent uses it
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_SCHEMA)
        connection.execute("INSERT OR IGNORE INTO facts VALUES ('id', ?)", (uuid.uuid4().hex,))
        self.id = str(self._fact("id"))
        self._bytes = int(connection.execute("SELECT coalesce(sum(length(data)), 0) FROM batches").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    # --- what is reported ---

    def commit(
        self, run: str, events: Sequence[AnyEvent], pending: Sequence[AnyEvent], marks: Mapping[str, bytes]
    ) -> None:
        """Store in one transaction the reported events, those that a fold still holds, and how far logs were read.

        Raises sqlite3.Error if the disk has no room; nothing is stored then.
        """
        packed = [pack(portion) for portion in portions(events)]
        with self._lock:
            with self._transaction() as connection:
                connection.executemany(
                    "INSERT INTO batches (run, first, last, count, data) VALUES (?, ?, ?, ?, ?)",
                    [(run, one.first, one.last, one.count, one.data) for one in packed],
                )
                connection.execute("DELETE FROM pending")
                if pending:
                    connection.execute("INSERT INTO pending VALUES (1, ?)", (pack(pending).data,))
                named = [(name_text(source), mark) for source, mark in marks.items()]
                connection.executemany("INSERT OR REPLACE INTO marks VALUES (?, ?)", named)
                grown = sum(len(one.data) for one in packed)
                if self._bytes + grown > self._most_bytes:
                    grown -= self._make_room(connection, self._bytes + grown - self._most_bytes)
            self._bytes += grown

    def pending(self) -> list[AnyEvent]:
        """The events that the fold of an earlier process held."""
        with self._lock:
            row = self._connection.execute("SELECT data FROM pending").fetchone()
        return unpack(row[0]) if row is not None else []

    def marks(self) -> dict[str, bytes]:
        """How far an earlier process had read, by source."""
        with self._lock:
            rows = self._connection.execute("SELECT source, mark FROM marks").fetchall()
        return {name_of(source): mark for source, mark in rows}

    # --- what is shipped ---

    def batches(self, after: int, most: int = 64) -> list[Batch]:
        """The next batches after this sequence number, in order."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT first, last, count, data, sequence, run FROM batches WHERE sequence > ? "
                "ORDER BY sequence LIMIT ?",
                (after, most),
            ).fetchall()
        return [Batch(*row) for row in rows]

    def shipped(self, sequence: int) -> None:
        """Delete batches that are stored in the database."""
        with self._lock:
            with self._transaction() as connection:
                size = connection.execute(
                    "SELECT coalesce(sum(length(data)), 0) FROM batches WHERE sequence <= ?", (sequence,)
                ).fetchone()[0]
                connection.execute("DELETE FROM batches WHERE sequence <= ?", (sequence,))
            self._bytes -= size

    def continue_after(self, sequence: int) -> None:
        """Continue numbering after this sequence, so that no number is used that the database knows already."""
        with self._lock:
            row = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'batches'").fetchone()
            if row is not None and row[0] >= sequence:  # avoid a write, as the disk may be full
                return
            with self._transaction() as connection:
                connection.execute(
                    "INSERT INTO sqlite_sequence (name, seq) SELECT 'batches', 0 WHERE NOT EXISTS "
                    "(SELECT 1 FROM sqlite_sequence WHERE name = 'batches')"
                )
                connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'batches'", (sequence,))

    def notes(self) -> dict[str, int]:
        """Counts of what waits, and of what was dropped for want of room."""
        with self._lock:
            waiting = self._connection.execute("SELECT coalesce(sum(count), 0) FROM batches").fetchone()[0]
            dropped = self._fact("dropped")
        return {
            AgentCount.SPOOLED_EVENTS: int(waiting),
            AgentCount.SPOOLED_BYTES: self._bytes,
            AgentCount.DROPPED_SAMPLES: int(dropped or 0),
        }

    # --- below ---

    def _make_room(self, connection: sqlite3.Connection, wanted: int) -> int:
        """Remove samples from the oldest batches until `wanted` bytes are free or none are left; gives bytes freed."""
        freed = dropped = 0
        whole = connection.execute("SELECT sequence FROM batches WHERE thinned = 0 ORDER BY sequence").fetchall()
        for (sequence,) in whole:
            if freed >= wanted:
                break
            # One at a time: all of them would be half a gigabyte of memory.
            data, count = connection.execute(
                "SELECT data, count FROM batches WHERE sequence = ?", (sequence,)
            ).fetchone()
            try:
                events = unpack(data)
            except BatchUnreadable:  # it is damaged; who reads the job is told
                continue
            rest = pack([event for event in events if not is_sample(event)])
            if rest.count < count:
                freed, dropped = freed + len(data) - len(rest.data), dropped + count - rest.count
            _replace(connection, sequence, rest)
        total = int(self._fact("dropped") or 0) + dropped
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('dropped', ?)", (str(total),))
        return freed

    def _fact(self, name: str) -> str | None:
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return row[0] if row is not None else None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction of the caller, who holds the lock."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def is_sample(event: AnyEvent) -> bool:
    """Whether an event is one of those that are dropped first."""
    return isinstance(event.last if isinstance(event, EventsFolded) else event, SAMPLES)


def _replace(connection: sqlite3.Connection, sequence: int, rest: Packed) -> None:
    connection.execute(
        "UPDATE batches SET first = ?, last = ?, count = ?, data = ?, thinned = 1 WHERE sequence = ?",
        (*msgspec.structs.astuple(rest), sequence),
    )
