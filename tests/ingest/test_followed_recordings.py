"""A recording that another process makes is followed: each event once, whatever becomes of the store meanwhile."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top.events import AnyEvent, CacheHit, RunFinished, RunStarted, SourceUnavailable
from neuron_top.ingest.discover import Discovery
from neuron_top.ingest.follow import FollowedFeed, FollowedRun
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.recordings import LOCK_NAME, OUTPUT_NAME, load_run, run_folder, store_path
from neuron_top.ingest.replay import ReplayFeed
from neuron_top.run.state import JobState
from neuron_top.settings import Settings
from neuron_top.store.errors import StoreMissing
from neuron_top.store.location import location_of
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.overview import overview

RUN = "20260101-000000-abcd"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Those of a state folder with the folder of a recording, of which only the log is there yet."""
    settings = Settings(state_dir=str(tmp_path))
    folder = run_folder(settings, RUN)
    folder.mkdir(parents=True)
    (folder / OUTPUT_NAME).write_text("only line\n")
    return settings


@pytest.fixture(autouse=True)
def lock(settings: Settings) -> Iterator[int]:
    """The lock that its recorder holds."""
    lock = os.open(run_folder(settings, RUN) / LOCK_NAME, os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield lock
    os.close(lock)


def hits(first: int) -> list[AnyEvent]:
    return [CacheHit(module=f"MODULE_{number}+a", at=1.0, seen=1.0) for number in range(first, first + 5)]


def record(settings: Settings) -> None:
    started, finished = RunStarted(run=RUN, at=1.0, seen=1.0), RunFinished(run=RUN, exit_code=0, at=2.0, seen=2.0)
    with SqliteStore(store_path(settings)) as store:
        store.begin(started, now=1.0)
        batches: list[list[AnyEvent]] = [[started], hits(0), hits(5), [finished]]
        for batch in batches:
            store.append(RUN, batch, 1.0)


def exchange(settings: Settings, data: bytes) -> bytes:
    """Put these bytes in the place of the last batch but one; what stood there."""
    with sqlite3.connect(store_path(settings)) as connection:
        number, before = connection.execute(
            "SELECT number, data FROM events WHERE run = ? ORDER BY number DESC LIMIT 1 OFFSET 1", (RUN,)
        ).fetchone()
        connection.execute("UPDATE events SET data = ? WHERE run = ? AND number = ?", (data, RUN, number))
    connection.close()
    return bytes(before)


def test_what_cannot_be_followed_yet_holds_no_file_open(settings: Settings) -> None:
    with pytest.raises(StoreMissing):
        FollowedRun(settings, RUN, LogBuffer()).start(lambda event: None)
    log = run_folder(settings, RUN) / OUTPUT_NAME
    assert not any(link.exists() and link.samefile(log) for link in Path("/proc/self/fd").iterdir())


def test_a_recording_whose_recorder_was_killed_is_cut_off_for_whoever_follows_it(settings: Settings, lock: int) -> None:
    with SqliteStore(store_path(settings)) as store:
        store.begin(RunStarted(run=RUN, at=1.0, seen=1.0), now=1.0)
        store.append(RUN, [RunStarted(run=RUN, at=1.0, seen=1.0), *hits(0)], 9.0)
    feed = FollowedFeed(settings, RUN)
    changed = threading.Event()
    feed.start(changed.set)
    try:
        assert feed.read(overview).header.state is not JobState.CUT_OFF
        fcntl.flock(lock, fcntl.LOCK_UN)
        until = time.monotonic() + 60
        while feed.read(overview).header.active and time.monotonic() < until:
            changed.wait(0.1)
        header = feed.read(overview).header
    finally:
        feed.stop()
    assert (header.state, header.elapsed) == (JobState.CUT_OFF, 8.0)


def test_a_recording_whose_last_events_had_no_room_has_the_end_of_its_row(settings: Settings, lock: int) -> None:
    with SqliteStore(store_path(settings)) as store:
        store.begin(RunStarted(run=RUN, at=1.0, seen=1.0), now=1.0)
        store.append(RUN, [RunStarted(run=RUN, at=1.0, seen=1.0), *hits(0)], 9.0)
        store.finish(RUN, 3, 11.0)
        loaded = load_run(store, RUN)
    assert (loaded.job.ended_as, loaded.job.exit_code, loaded.job.finished) == (JobState.FAILED, 3, 11.0)
    fcntl.flock(lock, fcntl.LOCK_UN)
    feed = FollowedFeed(settings, RUN)
    feed.start(lambda: None)
    feed.wait_for(f"recording {RUN}")
    followed = feed.read(overview).header
    feed.stop()
    replayed = ReplayFeed(location_of(settings), RUN)
    replayed.show(replayed.clock.end)
    for header in (followed, replayed.read(overview).header):
        assert (header.state, header.exit_code, header.elapsed) == (JobState.FAILED, 3, 10.0)
    replayed.stop()


def test_after_an_error_a_recording_is_followed_from_where_it_was(settings: Settings) -> None:
    record(settings)
    whole = exchange(settings, b"cannot be read")
    buffer, found = LogBuffer(), list[AnyEvent]()
    discovery = Discovery(settings, buffer)

    def emit(event: AnyEvent) -> None:
        found.append(event)
        if isinstance(event, SourceUnavailable):
            exchange(settings, whole)
        elif isinstance(event, RunFinished):
            discovery.stop()

    discovery.start(emit)
    assert [type(event).__name__ for event in found if not isinstance(event, CacheHit)] == [
        "SourceAvailable", "RunStarted", "SourceUnavailable", "SourceAvailable", "RunFinished",
    ]  # fmt: skip
    assert [event for event in found if isinstance(event, CacheHit)] == [*hits(0), *hits(5)]
    assert [line.text for line in buffer.tail(10)] == ["only line"]
