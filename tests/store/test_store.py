"""The store: what was appended comes back in order, other processes may read meanwhile, and damage is said clearly."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import strategies as st

from neuron_top.events import AnyEvent, CacheHit, OutputGrew, RunStarted
from neuron_top.run.model import Run
from neuron_top.store.errors import StoreBusy, StoreCorrupt, StoreFull, StoreMissing, StoreNewer, StoreUnusable
from neuron_top.store.records import CompileRecord
from neuron_top.store.sqlite import FILE_NAME, SqliteStore

STARTED = RunStarted(run="r1", name="bert", command=("torchrun", "train.py"), at=100.0, node="host")
cuts = st.lists(st.integers(0, 60), max_size=5)


def grown(count: int, first: int = 0) -> list[AnyEvent]:
    return [OutputGrew(path="/log", end=number, at=float(number)) for number in range(first, first + count)]


def run_of(events: list[AnyEvent]) -> Run:
    run = Run()
    for event in events:
        run.apply(event)
    return run


def _record(path: Path, ready: object, go_on: object) -> None:
    with SqliteStore(path) as store:
        store.begin(STARTED, pid=os.getpid())
        for first in range(0, 500, 10):
            store.append("r1", grown(10, first))
        ready.set()
        go_on.wait(30)
        store.append("r1", grown(10, 500))


def test_a_run_is_read_while_another_process_records_it(tmp_path: Path):
    context = multiprocessing.get_context("spawn")
    ready, go_on = context.Event(), context.Event()
    writer = context.Process(target=_record, args=(tmp_path / FILE_NAME, ready, go_on))
    writer.start()
    try:
        assert ready.wait(60)
        with SqliteStore(tmp_path / FILE_NAME, read_only=True) as store:
            first = list(store.batches("r1"))
            assert sum(len(events) for _, events in first) == 500
            go_on.set()
            writer.join(60)
            assert [event.end for event in store.replay("r1", after=first[-1][0])] == list(range(500, 510))
    finally:
        writer.kill()
        writer.join()


def _append_many(path: Path, run: str) -> None:
    with SqliteStore(path) as store:
        store.begin(RunStarted(run=run, at=1.0))
        for first in range(0, 200, 10):
            store.append(run, grown(10, first))


def _record_another(path: Path) -> None:
    with SqliteStore(path) as store:
        store.begin(RunStarted(run="r2"))


def test_a_second_store_of_the_process_that_records_takes_no_lock_from_the_first(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    with SqliteStore(path) as recorder:
        recorder.begin(STARTED)
        recorder.append("r1", grown(1))
        SqliteStore(path).close()
        other = multiprocessing.get_context("spawn").Process(target=_record_another, args=(path,))
        other.start()
        other.join(60)
        assert other.exitcode == 0
        recorder.append("r1", grown(10, 1))
        reader = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute('SELECT sum(count) FROM events'))"
        found = subprocess.run([sys.executable, "-c", reader, path], capture_output=True, text=True, check=True)
        assert found.stdout == "(11,)\n"


def test_several_processes_open_and_write_one_new_store_at_once(tmp_path: Path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(tmp_path / FILE_NAME, f"r{number}")) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    with SqliteStore(tmp_path / FILE_NAME) as store:
        assert {record.id: record.events for record in store.runs()} == {"r0": 200, "r1": 200, "r2": 200}
        assert [event.end for event in store.replay("r1")] == list(range(200))


def test_a_file_that_is_no_store_is_moved_aside_and_the_next_start_works(tmp_path: Path):
    path = tmp_path / FILE_NAME
    path.write_bytes(b"this is not a database, whatever its name says" * 100)
    with pytest.raises(StoreCorrupt, match="moved to"):
        SqliteStore(path)
    assert (tmp_path / f"{FILE_NAME}.broken-1").read_bytes().startswith(b"this is not")
    SqliteStore(path).close()


def test_a_store_that_breaks_while_in_use_says_so(tmp_path: Path):
    path = tmp_path / FILE_NAME
    with SqliteStore(path) as store:
        store.begin(STARTED)
        store.append("r1", grown(5000))
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = b"\xff" * (len(damaged) - 4096)
    path.write_bytes(damaged)
    with pytest.raises(StoreCorrupt), SqliteStore(path) as store:
        list(store.replay("r1"))


def recorded_and_checkpointed(path: Path) -> None:
    """Some recordings, all of them in the file itself."""
    with SqliteStore(path) as store:
        for number in range(40):
            store.begin(RunStarted(run=f"old{number}", command=("x" * 3000,), at=1.0))


def damage(path: Path) -> None:
    """Overwrite all but the first page, as a failing disk does: whoever has the file open, reads it too."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))


@pytest.mark.parametrize("read_only", [True, False])
def test_a_program_that_has_a_broken_file_open_leaves_the_new_store_that_took_its_place(
    tmp_path: Path, *, read_only: bool
):
    path = tmp_path / FILE_NAME
    recorded_and_checkpointed(path)
    with SqliteStore(path, read_only=read_only) as old:
        damage(path)
        with pytest.raises(StoreCorrupt, match="moved to"), SqliteStore(path) as other:
            other.runs()
        with SqliteStore(path) as new:
            new.begin(STARTED)
            with pytest.raises(StoreCorrupt, match="moved aside already"):
                old.runs()
            new.append("r1", grown(5))
    assert sorted(tmp_path.glob("*.broken-?")) == [tmp_path / f"{FILE_NAME}.broken-1"]
    with SqliteStore(path, read_only=True) as store:
        assert len(list(store.replay("r1"))) == 5


def test_a_program_that_only_reads_moves_no_broken_file(tmp_path: Path):
    path = tmp_path / FILE_NAME
    recorded_and_checkpointed(path)
    damage(path)
    with pytest.raises(StoreCorrupt, match="move it away"), SqliteStore(path, read_only=True) as store:
        store.runs()
    assert path.exists()
    assert not list(tmp_path.glob("*.broken-?*"))


def test_a_broken_batch_is_named_and_the_rest_of_the_store_stays(tmp_path: Path):
    path = tmp_path / FILE_NAME
    with SqliteStore(path) as store:
        store.begin(STARTED)
        store.append("r1", grown(5))
    connection = sqlite3.connect(path)
    connection.execute("UPDATE events SET data = x'00'")
    connection.commit()
    connection.close()
    with SqliteStore(path) as store, pytest.raises(StoreCorrupt, match="batch 0 of recording r1"):
        list(store.replay("r1"))
    assert path.exists()


@pytest.mark.parametrize("column", ["started", "finished", "touched"])
@pytest.mark.parametrize("moment", [-1e11, 2.6e11, float("inf")])
def test_a_recording_of_a_time_that_cannot_be_shown_is_refused(tmp_path: Path, column: str, moment: float):
    path = tmp_path / FILE_NAME
    with SqliteStore(path) as store:
        store.begin(STARTED)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE runs SET {column} = ?", (moment,))
    with SqliteStore(path, read_only=True) as store, pytest.raises(StoreCorrupt, match="impossible time"):
        store.runs()


def test_a_store_of_a_newer_program_is_left_alone(tmp_path: Path):
    path = tmp_path / FILE_NAME
    SqliteStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreNewer, match="update"):
        SqliteStore(path)


def test_reading_where_nothing_was_recorded_yet_says_what_to_do_and_makes_nothing(tmp_path: Path):
    with pytest.raises(StoreMissing, match="neurontop run") as raised:
        SqliteStore(tmp_path / "deep" / FILE_NAME, read_only=True)
    assert raised.value.exit_code == 3
    assert not (tmp_path / "deep").exists()


def test_a_state_folder_that_is_a_file_is_a_clear_error(tmp_path: Path):
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StoreUnusable, match="state_dir"):
        SqliteStore(tmp_path / "state" / FILE_NAME)


def test_a_full_disk_is_its_own_error_and_loses_nothing_that_was_kept(tmp_path: Path):
    with SqliteStore(tmp_path / FILE_NAME) as store:
        store.begin(STARTED)
        store.append("r1", grown(10))
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 1}")  # what a full disk is to SQLite
        noise = [CacheHit(module=os.urandom(2000).hex(), pid=1) for _ in range(100)]
        with pytest.raises(StoreFull, match="no space left"):
            store.append("r1", noise)
        assert len(list(store.replay("r1"))) == 10


def test_a_writer_that_is_kept_out_for_too_long_says_who_is_to_blame(tmp_path: Path):
    with SqliteStore(tmp_path / FILE_NAME) as holder, SqliteStore(tmp_path / FILE_NAME) as other:
        holder.begin(STARTED)
        holder._connection.execute("BEGIN IMMEDIATE")
        other._connection.execute("PRAGMA busy_timeout = 20")
        with pytest.raises(StoreBusy, match="another process"):
            other.append("r1", grown(1))


def test_only_its_owner_can_enter_the_state_folder(tmp_path: Path):
    SqliteStore(tmp_path / "state" / FILE_NAME).close()
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) & 0o077 == 0


def as_version_one(path: Path) -> None:
    """A store as the first release left it: without the operators of past compiles."""
    with SqliteStore(path) as store:
        store.begin(STARTED)
        store.append("r1", grown(3))
        store.remember_compiles([CompileRecord("MODULE_1+a", "host", "r1", "c", 1000, 20, 10.0, None, 1.0)])
        store._connection.execute("ALTER TABLE compiles DROP COLUMN mix")
        store._connection.execute("ALTER TABLE events DROP COLUMN format")
        store._connection.execute("PRAGMA user_version = 1")


def test_a_store_of_the_first_release_is_read_as_it_is_and_brought_up_to_date_by_the_next_writer(tmp_path: Path):
    path = tmp_path / FILE_NAME
    as_version_one(path)
    with SqliteStore(path, read_only=True) as reader:
        assert [(one.seconds, one.op_counts) for one in reader.compile_history()] == [(10.0, {})]
        with SqliteStore(path) as writer:
            writer.remember_compiles(
                [CompileRecord("MODULE_2+a", "host", "r1", "c", 1000, 20, 7.0, None, 2.0, {"mm": 3})]
            )
            assert [one.op_counts for one in writer.compile_history()] == [{"mm": 3}, {}]
            assert len(list(writer.replay("r1"))) == 3
        assert [one.seconds for one in reader.compile_history()] == [7.0, 10.0]  # opened before, still reads
    with SqliteStore(path, read_only=True) as reader:
        assert [one.op_counts for one in reader.compile_history()] == [{"mm": 3}, {}]
