"""A recording that somebody sends: any schema, any value, events that name files of ours, batches that inflate."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

import pytest

from neuron_top.errors import NeuronTopError
from neuron_top.events import Event, OutputGrew, RunStarted, encode
from neuron_top.ingest.recordings import load_run
from neuron_top.ingest.replay import ReplayFeed
from neuron_top.store.batches import MOST_BYTES
from neuron_top.store.errors import StoreCorrupt, StoreUnusable
from neuron_top.store.location import StoreLocation
from neuron_top.store.sqlite import FILE_NAME, SqliteStore

LOOSE = "".join(
    f"CREATE TABLE loose AS SELECT * FROM {table}; DROP TABLE {table}; ALTER TABLE loose RENAME TO {table};"
    for table in ("events", "runs", "compiles")
)
"""The same tables without the types that ours insist on."""


def recording(folder: Path, *events: Event, change: str = "") -> Path:
    """A store with one recording, changed by hand."""
    path = folder / FILE_NAME
    with SqliteStore(path) as store:
        store.begin(RunStarted(run="r1", at=1.0), now=1.0)
        store.append("r1", [RunStarted(run="r1", at=1.0), *events], 2.0)
        store.finish("r1", 0, 3.0, b"{}")
    connection = sqlite3.connect(path)
    connection.executescript(change)
    connection.close()
    return path


def used(path: Path) -> None:
    """All that reads a recording."""
    with SqliteStore(path, read_only=True) as store:
        for record in store.runs():
            assert record.touched < 1e12
            load_run(store, record.id)
            store.span(record.id)
        store.compile_history()
    feed = ReplayFeed(StoreLocation(path), "last")
    feed.show(feed.clock.end)
    feed.stop()


@pytest.mark.parametrize("link", [False, True])
def test_an_event_that_names_a_file_of_ours_shows_nothing_of_it(tmp_path: Path, *, link: bool) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("-----BEGIN KEY-----\n")
    own = tmp_path / "state" / "runs" / "r1" / "output.log"
    own.parent.mkdir(parents=True)
    own.symlink_to(secret)
    named = own if link else secret
    odd = [Path("/proc/self/environ"), Path("/dev/zero"), own.parent / "../../../id_rsa"]
    grown = [OutputGrew(path=str(path), end=4096, lines=1, at=1.5) for path in (named, *odd)]
    feed = ReplayFeed(StoreLocation(recording(tmp_path / "state", *grown)), "last")
    feed.show(feed.clock.end)
    assert feed.log_tail(10) == []
    assert feed.log_chains() == []
    assert feed.log_lines([(f"log:{path}", 0) for path in (named, *odd)]) == []
    assert feed.log_newer({f"log:{named}": 0}, 10).lines == ()
    feed.stop()


def test_the_recordings_own_log_is_shown(tmp_path: Path) -> None:
    own = tmp_path / "runs" / "r1" / "output.log"
    own.parent.mkdir(parents=True)
    own.write_text("step 1\n")
    feed = ReplayFeed(StoreLocation(recording(tmp_path, OutputGrew(path=str(own), end=7, lines=1, at=1.5))), "last")
    feed.show(feed.clock.end)
    assert [line.text for line in feed.log_tail(10)] == ["step 1"]
    feed.stop()


SCHEMAS = {
    "a view without end": "DROP TABLE events; CREATE VIEW events AS WITH RECURSIVE n(number) AS (SELECT 0 UNION ALL "
    "SELECT number + 1 FROM n) SELECT number, 'r1' AS run, x'00' AS data, 1 AS first, 1 AS last FROM n;",
    "a trigger": "CREATE TRIGGER gone AFTER UPDATE ON runs BEGIN DELETE FROM runs; END;",
    "a virtual table": "DROP TABLE compiles; CREATE VIRTUAL TABLE compiles USING fts5(module);",
    "a computed column": "ALTER TABLE runs ADD COLUMN x ANY AS (zeroblob(1000000000)) VIRTUAL;",
}


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("change", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_that_computes_is_refused(change: str, tmp_path: Path, *, read_only: bool) -> None:
    with pytest.raises(StoreUnusable, match="no version of neuron-top makes"):
        SqliteStore(recording(tmp_path, change=change), read_only=read_only)


VALUES = {
    "command": "UPDATE runs SET command = '[[[';",
    "command of numbers": "UPDATE runs SET command = '[1]';",
    "deep command": "UPDATE runs SET command = replace(hex(zeroblob(100000)), '0', '[');",
    "number as command": "UPDATE runs SET command = 7;",
    "text as time": "UPDATE runs SET started = 'x', touched = 'x';",
    "time without end": "UPDATE runs SET started = 9e999, touched = 9e999, finished = -9e999;",
    "time beyond calendars": "UPDATE runs SET started = 1e300, finished = 1e300;",
    "no time": "UPDATE runs SET touched = NULL;",
    "bytes as name": "UPDATE runs SET name = x'ff00', id = x'ff';",
    "broken text": "UPDATE runs SET name = CAST(x'ff' AS TEXT);",
    "text as number": "UPDATE runs SET pid = 'x', finished = NULL, exit_code = 'x', events = 'y', bytes = 'z';",
    "text as batch": "UPDATE events SET data = 'abc';",
    "number as batch": "UPDATE events SET data = 5;",
    "nothing as batch": "UPDATE events SET data = NULL;",
    "no such table": "DROP TABLE runs;",
}


@pytest.mark.parametrize("change", VALUES.values(), ids=VALUES)
def test_values_of_the_wrong_kind_are_a_sentence(change: str, tmp_path: Path) -> None:
    path = recording(tmp_path, change=LOOSE + change)
    with pytest.raises(NeuronTopError) as reported:
        used(path)
    assert len(str(reported.value)) < 2000
    assert path.exists()


def test_operators_of_a_past_compile_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    change = "INSERT INTO compiles (module, seconds, finished, mix) VALUES ('m', 1.0, 1.0, '[[');"
    with SqliteStore(recording(tmp_path, change=change), read_only=True) as store:
        assert [record.op_counts for record in store.compile_history()] == [{}]


def batch(path: Path, data: bytes) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE events SET data = ?", (data,))
    connection.close()


def test_a_batch_that_inflates_without_end_is_refused(tmp_path: Path) -> None:
    path = recording(tmp_path)
    packer = zlib.compressobj(9)
    block = b" " * (1 << 20)
    parts = [packer.compress(block) for _ in range((MOST_BYTES >> 20) + 1)]
    batch(path, b"".join([*parts, packer.flush()]))
    with pytest.raises(StoreCorrupt, match="more than"):
        used(path)


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_batch_that_is_cut_is_refused(cut: int, tmp_path: Path) -> None:
    path = recording(tmp_path)
    batch(path, zlib.compress(encode(RunStarted(run="r1", at=1.0)))[:-cut])
    with pytest.raises(StoreCorrupt, match="cannot be read"):
        used(path)


def test_events_that_are_nested_deeply_are_refused(tmp_path: Path) -> None:
    path = recording(tmp_path)
    deep = b'{"type":"RunStarted","run":"x","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    batch(path, zlib.compress(deep))
    with pytest.raises(StoreCorrupt, match="nested too deeply"):
        used(path)


@pytest.mark.parametrize("name", ["../../victim", "/etc", "..", ".", "", "a\0b", "r1\x1b]0;x\x07"])
def test_a_recording_of_any_name_leads_nowhere(name: str, tmp_path: Path) -> None:
    from neuron_top.errors import RefusedForSafety
    from neuron_top.store.retention import delete

    (tmp_path / "victim").mkdir()
    state = tmp_path / "state" / "deep"
    path = recording(state, change="PRAGMA foreign_keys = OFF;")
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE runs SET id = ?", (name,))
    connection.close()
    with SqliteStore(path) as store:
        try:
            delete(store, state, name)
        except RefusedForSafety as problem:
            assert "recording" in str(problem)  # noqa: PT017 (either is right)
    assert (tmp_path / "victim").is_dir()


@pytest.mark.parametrize("moment", [1e300, -1e300, 1e17, 3e11, -7e10])
def test_an_event_of_an_impossible_time_is_a_sentence(moment: float, tmp_path: Path) -> None:
    path = recording(tmp_path, OutputGrew(path="output.log", end=5, at=moment, source="log:x"))
    with pytest.raises(StoreCorrupt, match="at"):
        used(path)
