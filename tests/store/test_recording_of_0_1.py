"""Recordings of version 0.1 replay. `recording_of_0_1.sql` is the dump of a store that 0.1 wrote: a small run named
`bert`, and `all-events` with one of each event that 0.1 knew, every field filled in."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from neuron_top.events import AnyEvent, CompileEnded, GraphDescribed, encode, legacy
from neuron_top.ingest.recordings import load_run
from neuron_top.ingest.side_channel_source import SideChannel
from neuron_top.run.graph import GraphState
from neuron_top.store.sqlite import FILE_NAME, SCHEMA_VERSION, SqliteStore
from neuron_top.views.runs import run_row

DUMP = Path(__file__).with_name("recording_of_0_1.sql")


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    path = tmp_path / FILE_NAME
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(DUMP.read_text())
    return path


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def lines_of(path: Path, run: str) -> list[bytes]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT data FROM events WHERE run = ? ORDER BY number", (run,)).fetchall()
    return b"\n".join(zlib.decompress(data) for (data,) in rows).split(b"\n")


def as_old(event: AnyEvent) -> object:
    """An event's record with the names of 0.1 put back."""
    record = json.loads(encode(event))
    back = {new: old for old, new in legacy.FIELDS.get(record["type"], {}).items()}
    record = {back.get(name, name): value for name, value in record.items()}
    kinds = {new: old for old, new in legacy.EVENTS.items()}
    record["type"] = kinds.get(record["type"], record["type"])
    states = {new: old for old, new in legacy.ENTRY_STATES.items()}
    return record | {name: states.get(record[name], record[name]) for name in ("state", "previous") if name in record}


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("run", ["bert", "all-events"])
def test_every_event_of_an_old_recording_comes_back_with_every_field(old_store: Path, run: str, read_only: bool):
    with SqliteStore(old_store, read_only=read_only) as store:
        events = list(store.replay(run))
    assert [as_old(event) for event in events] == [json.loads(line) for line in lines_of(old_store, run)]
    assert version_of(old_store) == (2 if read_only else SCHEMA_VERSION)


def test_an_old_recording_replays_to_the_run_that_was_shown(old_store: Path):
    with SqliteStore(old_store, read_only=True) as store:
        run = load_run(store, "bert")
        row = run_row(store.runs()[-1], 0.0, recorder_alive=False)
    graphs = list(run.compiles.graphs.values())
    assert [graph.state for graph in graphs] == [GraphState.COMPILED, GraphState.CACHED_FAILURE, GraphState.EXTRACTED]
    compiled = graphs[0]
    assert (compiled.artifact_bytes, compiled.op_counts) == (123456, {"add": 7, "mm": 5})
    assert [attempt.artifact_bytes for attempt in compiled.attempts] == [123456]
    assert [(worker.loads, worker.blocks) for worker in compiled.workers.values()] == [(1, 4), (1, None)]
    assert run.compiles.counts.dots == 3
    assert (run.torch.caches["fx-graph"].hit, run.torch.caches["fx-graph"].miss) == (1, 1)
    assert [process.exit_code for process in run.job.processes.values()] == [0, 1]
    assert (run.job.finished, run.job.exit_code) == (1_760_000_020.0, 0)
    assert (row.state, row.graphs, row.seconds) == ("finished", 3, 20.0)


def test_an_old_store_is_continued_and_old_and_new_batches_are_read_side_by_side(old_store: Path):
    new = CompileEnded(module="MODULE_1", seconds=2.0, ok=True, artifact_bytes=5)
    with SqliteStore(old_store) as store:
        store.append("all-events", [new])
        assert [record.op_counts for record in store.compile_history()] == [{"add": 7, "mm": 5}]
    with SqliteStore(old_store, read_only=True) as store:
        events = list(store.replay("all-events"))
    assert (len(events), events[-1]) == (69, new)


def test_what_a_recorder_of_0_1_still_appends_after_the_upgrade_is_read(old_store: Path):
    batch = zlib.compress(b'{"type":"ArtefactLoaded","module":"MODULE_1","seconds":1.0}')
    with SqliteStore(old_store) as store:  # the upgrade, while the old program goes on with its own statements
        with closing(sqlite3.connect(old_store)) as connection:
            connection.execute(
                "INSERT INTO events (run, number, node, first, last, count, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
                ("all-events", 1, "", None, None, 1, batch),
            )
            connection.commit()
        assert type(list(store.replay("all-events"))[-1]).__name__ == "ArtifactLoaded"


def test_a_process_of_the_job_that_speaks_as_0_1_did_is_understood(tmp_path: Path):
    (tmp_path / "7.jsonl").write_bytes(
        b'{"type":"GraphShared","module":"MODULE_1","blocks":3}\n'
        b'{"type":"CompileEnded","module":"MODULE_1","seconds":1.0,"ok":true,"artefact_bytes":9}\n'
        b'{"type":"GraphDescribed","module":"MODULE_1","mix":{"mix":2}}\n'
    )
    events: list[AnyEvent] = []
    source = SideChannel(tmp_path)
    source.stop()
    source.start(events.append)
    assert [type(event).__name__ for event in events] == ["GraphReused", "CompileEnded", "GraphDescribed"]
    assert isinstance(events[1], CompileEnded)
    assert events[1].artifact_bytes == 9
    assert isinstance(events[2], GraphDescribed)
    assert events[2].op_counts == {"mix": 2}


@pytest.mark.parametrize(
    "line",
    [
        b'["ArtefactLoaded"]',
        b'{"type":["CompileDotted"]}',
        b'{"mix":1}',
        b'{"type":"CacheScanned","states":"todo"',
        b"[" * 100_000 + b'"todo"',
        b'{"type":"CacheScanned","root":"/","states":"todo","x":"todo"}',
    ],
)
def test_a_broken_line_with_an_old_name_is_refused_as_any_other(line: bytes):
    with pytest.raises(msgspec.DecodeError):
        legacy.decode_any(line)
