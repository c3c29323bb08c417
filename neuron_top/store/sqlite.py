"""The store: recordings of runs in one SQLite file that several processes use at a time.

Write-ahead logging lets a screen read a run while another process records it. Events are kept in batches of
deflated JSON lines, so appending is one insert and replay is a stream; nothing is ever read as a whole.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from neuron_top import private_files
from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.decoders import MALFORMED
from neuron_top.errors import RefusedForSafety
from neuron_top.escapes import json_bytes, name_text
from neuron_top.events import AnyEvent, Event, RunStarted
from neuron_top.store.batches import FORMAT, BatchUnreadable, pack, portions, unpack
from neuron_top.store.errors import StoreBusy, StoreCorrupt, StoreFull, StoreMissing, StoreNewer, StoreUnusable
from neuron_top.store.records import CompileRecord, RunRecord, chosen

FILE_NAME = "neurontop.db"
SCHEMA_VERSION = 3
_UPGRADES = {
    1: "ALTER TABLE compiles ADD COLUMN mix TEXT NOT NULL DEFAULT '{}'",
    2: "ALTER TABLE events ADD COLUMN format INTEGER NOT NULL DEFAULT 1",
}
"""Version → the SQL that migrates a file to the next version."""
BUSY_SECONDS = 5.0
"""How long a writer waits for another before it gives up."""
_FOREIGN = (
    "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%' "
    "UNION ALL SELECT 'computed column', x.name FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS x "
    "WHERE m.type = 'table' AND x.hidden > 1 LIMIT 1"
)
"""Finds triggers, views, virtual tables and computed columns: a file with them could run any query when read."""

Record = TypeVar("Record", bound=msgspec.Struct)


class SqliteStore:
    """An open store; use it in one thread at a time (each thread opens its own). Closes as a context manager."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open, or create, the store at `path` (a file; its folder is made).

        Raises StoreCorrupt for a broken file, after moving it aside unless `read_only`, StoreNewer for a later
        program's file, StoreUnusable when it cannot be opened or written, StoreMissing when `read_only` and there is
        none.
        """
        self.path, self._read_only = path, read_only
        self._connection, self._file = _connect(path, read_only=read_only)
        try:
            with self._checked():
                self._prepare(read_only=read_only)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> str:
        """Its path."""
        return str(self.path)

    def close(self) -> None:
        """Close the connection; a second close does nothing."""
        self._connection.close()

    # --- writing ---

    def begin(self, event: RunStarted, *, pid: int | None = None, folder: Path | str = "", now: float = 0.0) -> None:
        """Enter a new recording. `pid`: of the recording process; `folder`: its files, below the state folder.

        The event itself is not appended. Raises StoreUnusable when the id is taken.
        """
        values = (
            event.run,
            event.node,
            name_text(event.name),
            json_bytes(event.command).decode(),
            name_text(event.directory),
            pid,
            event.time,
            event.time or now,
            str(folder),
        )
        with self._checked():
            try:
                self._connection.execute(
                    "INSERT INTO runs (id, node, name, command, directory, pid, started, touched, folder) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    values,
                )
            except sqlite3.IntegrityError:
                raise StoreUnusable(f"{self.path}: there is already a recording {event.run!r}") from None

    def append(self, run: str, events: Sequence[Event], now: float | None = None) -> None:
        """Add events to a recording, in order, durably against a crash of this process. `now`: wall clock."""
        with self._checked(), self._transaction() as connection:
            found = connection.execute("SELECT coalesce(max(number), -1) FROM events WHERE run = ?", (run,)).fetchone()
            number, size = found[0], 0
            for portion in portions(events):
                number += 1
                size += self._insert_batch(run, number, portion)
            connection.execute(
                "UPDATE runs SET events = events + ?, bytes = bytes + ?, touched = max(touched, ?) WHERE id = ?",
                (len(events), size, now if now is not None else _latest(events), run),
            )

    def finish(self, run: str, exit_code: int | None, finished: float, summary: bytes = b"") -> None:
        """Note that the command ended; `summary` is the closing summary as JSON."""
        with self._checked():
            self._connection.execute(
                "UPDATE runs SET finished = ?, exit_code = ?, summary = ?, touched = max(touched, ?), pid = NULL "
                "WHERE id = ?",
                (finished, exit_code, summary.decode(), finished, run),
            )

    def remember_compiles(self, records: Iterable[CompileRecord]) -> None:
        """Store measured compile times for later estimates; duplicates are stored once."""
        with self._checked(), self._transaction() as connection:
            connection.executemany(
                f"INSERT OR REPLACE INTO compiles ({_COMPILE_COLUMNS}, mix) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                [
                    (*msgspec.structs.astuple(record)[:-1], msgspec.json.encode(record.op_counts).decode())
                    for record in records
                ],
            )

    def forget(self, run: str) -> None:
        """Delete a recording's rows (`retention` deletes its folder)."""
        with self._checked(), self._transaction() as connection:
            connection.execute("DELETE FROM runs WHERE id = ?", (run,))
        with self._checked():
            self._connection.execute("PRAGMA incremental_vacuum").fetchall()

    # --- reading ---

    def clock(self) -> float:
        """This machine's clock."""
        return time.time()

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Recordings, newest first."""
        with self._checked():
            rows = self._connection.execute(
                f"SELECT {_RUN_COLUMNS} FROM runs ORDER BY coalesce(started, touched) DESC, id DESC LIMIT ?",  # noqa: S608
                (-1 if limit is None else limit,),
            ).fetchall()
        return [self._run_record(row) for row in rows]

    def run(self, run: str) -> RunRecord | None:
        """One recording by id, by an unambiguous prefix of an id, or the newest of that name; None if none."""
        return chosen(self.runs(), run)

    def replay(self, run: str, after: int = -1, since: float | None = None) -> Iterator[AnyEvent]:
        """The events of a recording in the order they were appended, one batch in memory at a time.

        `after`: skip batches up to this number (see `batches`); `since`: skip batches that ended before this time.
        Each step reads what is stored by then, also of a run that another process is recording.
        """
        for _number, events in self.batches(run, after, since):
            yield from events

    def batches(self, run: str, after: int = -1, since: float | None = None) -> Iterator[tuple[int, list[AnyEvent]]]:
        """As `replay`, batch by batch with its number: hand the last number back as `after` to go on later."""
        while True:
            with self._checked():
                row = self._connection.execute(
                    f"SELECT number, data, {self._format_column} FROM events WHERE run = ? AND number > ? "  # noqa: S608
                    "AND (?3 IS NULL OR last IS NULL OR last >= ?3) ORDER BY number LIMIT 1",
                    (run, after, since),
                ).fetchone()
            if row is None:
                return
            after = row[0]
            yield after, self._decoded(run, *row)

    def span(self, run: str) -> tuple[float, float] | None:
        """First and last event time of a recording: the ends of a replay's slider."""
        with self._checked():
            row = self._connection.execute("SELECT min(first), max(last) FROM events WHERE run = ?", (run,)).fetchone()
        return (row[0], row[1]) if row[0] is not None and row[1] is not None else None

    def compile_history(self, most: int = 20_000) -> list[CompileRecord]:
        """Measured compile times of all runs, newest first, at most `most`: the basis of estimates."""
        with self._checked():
            rows = self._connection.execute(
                f"SELECT {_COMPILE_COLUMNS}, {self._mix_column} FROM compiles ORDER BY finished DESC LIMIT ?",  # noqa: S608
                (most,),
            ).fetchall()
        return [self._record(CompileRecord, (*row[:-1], _op_counts(row[-1]))) for row in rows]

    def _run_record(self, row: tuple[Any, ...]) -> RunRecord:
        names = RunRecord.__struct_fields__
        place = names.index("command")
        return self._record(RunRecord, (*row[:place], _command(row[place]), *row[place + 1 :], ()))

    def _record(self, kind: type[Record], row: tuple[Any, ...]) -> Record:
        """Check a row and make it a typed value, as SQLite lets any column hold anything."""
        try:
            record = msgspec.convert(dict(zip(kind.__struct_fields__, row, strict=True)), kind)
        except msgspec.ValidationError as problem:
            raise StoreCorrupt(f"{self.path}: a row of {kind.__name__} cannot be read ({problem})") from None
        if not all(is_in_calendar(value) for value in msgspec.structs.astuple(record) if isinstance(value, float)):
            raise StoreCorrupt(f"{self.path}: a row of {kind.__name__} holds an impossible time")
        return record

    def _insert_batch(self, run: str, number: int, events: Sequence[Event]) -> int:
        batch = pack(events)
        self._connection.execute(
            "INSERT INTO events (run, number, node, first, last, count, data, format) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (run, number, events[0].node, batch.first, batch.last, batch.count, batch.data, FORMAT),
        )
        return len(batch.data)

    def _decoded(self, run: str, number: int, data: bytes, written_as: int) -> list[AnyEvent]:
        try:
            return unpack(data, written_as)
        except BatchUnreadable as problem:
            raise StoreCorrupt(f"{self.path}: batch {number} of recording {run} cannot be read ({problem})") from None

    def _prepare(self, *, read_only: bool) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise StoreNewer(f"{self.path} was written by a newer neuron-top (schema {version}); update this one")
        if version == 0 and read_only and self._has_no_tables():
            raise StoreMissing(f"{self.path} is empty; `neurontop run -- <command>` makes the first recording")
        # What stands for a column that an older file lacks: one that is only read is not migrated.
        self._mix_column = "mix" if version != 1 else "'{}'"
        self._format_column = "format" if version not in (1, 2) else "1"
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.execute("PRAGMA trusted_schema = OFF")
        if foreign := self._connection.execute(_FOREIGN).fetchone():
            raise StoreUnusable(
                f"{self.path} holds {foreign[0]} {foreign[1]!r}, which no version of neuron-top makes: not used; "
                "set state_dir to another folder"
            )
        if read_only or version == SCHEMA_VERSION:
            return
        self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with self._transaction() as connection:  # two processes may create it at the same moment
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            steps = _statements() if version == 0 else (_UPGRADES[older] for older in range(version, SCHEMA_VERSION))
            for statement in steps:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        self._mix_column, self._format_column = "mix", "format"

    def _has_no_tables(self) -> bool:
        """Whether the database has no tables, like the empty file that a crash or a full disk leaves."""
        return self._connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _checked(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as problem:
            raise self._explained(problem) from problem

    def _explained(self, problem: sqlite3.DatabaseError) -> StoreUnusable:
        name = getattr(problem, "sqlite_errorname", "")
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            self._connection.close()
            return StoreCorrupt(f"{self.path} is not a readable store any more{self._set_aside()}")
        if name == "SQLITE_FULL" or "disk is full" in str(problem):
            return StoreFull(f"{self.path}: no space left on its disk; free some, or set state_dir to another one")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return StoreBusy(f"{self.path}: another process has been writing for more than {BUSY_SECONDS:.0f} s")
        if "no such table" in str(problem) or "no such column" in str(problem):
            return StoreUnusable(f"{self.path} is a database of another program ({problem}); move it away")
        return StoreUnusable(f"{self.path}: {problem}")

    def _set_aside(self) -> str:
        """Move the broken file aside, unless that was done already or this program only reads; returns a sentence about
        what was done and what to do next."""
        try:
            if _file_at(self.path) != self._file:  # another program made a new store
                return "; it was moved aside already. Start again."
            if self._read_only:
                return "; move it away with its -wal and -shm files, and the next recording makes a new one"
            return f"; it was moved to {_move_aside(self.path)}. Start again."
        except OSError as problem:
            return f", and cannot be moved aside: {problem.strerror}"


_COMPILE_COLUMNS = "module, node, run, compiler, graph_bytes, operators, seconds, peak_rss, finished"
_RUN_COLUMNS = (
    "id, node, name, command, directory, pid, started, finished, exit_code, touched, events, bytes, folder, summary"
)


def _command(text: Any) -> Any:
    try:
        return msgspec.json.decode(text)
    except (TypeError, *MALFORMED):
        return None  # no command: the row is refused


def _op_counts(text: Any) -> dict[str, int]:
    """Operators of a graph; empty if they cannot be read, as they only make an estimate more exact."""
    try:
        return msgspec.json.decode(text, type=dict[str, int])
    except (TypeError, *MALFORMED):
        return {}


def _latest(events: Sequence[Event]) -> float:
    return max((event.time for event in events if event.time is not None), default=0.0)


def _statements() -> Iterator[str]:
    text = files("neuron_top.store").joinpath("schema.sql").read_text(encoding="utf-8")
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _connect(path: Path, *, read_only: bool) -> tuple[sqlite3.Connection, tuple[int, int] | None]:
    """Open a connection; returns it with the identity of the file."""
    try:
        if path.exists() and not path.is_file():
            raise StoreUnusable(f"{path} is not a file, so it cannot be the store; move it away")
        if read_only and not path.is_file():
            raise StoreMissing(f"{path}: there is no store yet; `neurontop run -- <command>` makes the first recording")
        if not read_only:
            private_files.make_folder(path.parent)
            private_files.make_file(path)  # SQLite gives its own two files the same permissions
        uri = f"{path.resolve().as_uri()}?mode={'ro' if read_only else 'rwc'}"
        file = _file_at(path)  # before it is opened, so that a file put there later is not taken for it
        return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None), file
    except RefusedForSafety as problem:
        raise StoreUnusable(str(problem)) from None
    except NotADirectoryError as problem:
        raise StoreUnusable(
            f"{problem.filename}: a file stands where a folder should be; set state_dir (NEURONTOP_STATE_DIR) to a "
            "folder of your own"
        ) from problem
    except (OSError, sqlite3.Error) as problem:
        where, why = (problem.filename, problem.strerror) if isinstance(problem, OSError) else (path, problem)
        raise StoreUnusable(f"{where}: {why}; set state_dir to a folder that can be written") from problem


def _file_at(path: Path) -> tuple[int, int] | None:
    """The identity of a file: device and inode; None if there is no file."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_dev, facts.st_ino


def _move_aside(path: Path) -> Path:
    """Rename a broken store and its two companions; never deletes."""
    number = 1
    while (aside := path.with_name(f"{path.name}.broken-{number}")).exists():
        number += 1
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside
