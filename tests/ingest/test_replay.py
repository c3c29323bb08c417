"""A recording played back shows at each moment what was shown then."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.errors import NothingToShow
from neuron_top.events import AnyEvent, OutputGrew, RunFinished, RunStarted, StepReported
from neuron_top.ingest.replay import ReplayClock, ReplayFeed
from neuron_top.store.errors import StoreCorrupt, StoreUnusable
from neuron_top.store.location import StoreLocation
from neuron_top.store.sqlite import SqliteStore


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_clock_passes_at_its_speed_stops_and_jumps() -> None:
    real = Time()
    clock = ReplayClock(1000.0, 1060.0, speed=10.0, now=real)
    real.now += 2
    assert clock.now == 1020.0
    clock.pause()
    real.now += 50
    assert clock.now == 1020.0
    clock.resume()
    clock.speed = 1.0
    real.now += 5
    assert clock.now == 1025.0
    clock.skip(-1000)
    assert clock.now == 1000.0
    clock.skip(+1000)
    assert clock.now == 1060.0


@given(st.lists(st.one_of(st.sampled_from(["pause", "resume"]), st.floats(-100, 100), st.integers(1, 50)), max_size=20))
def test_the_clock_never_leaves_the_recording(moves: list[str | float | int]) -> None:
    real = Time()
    clock = ReplayClock(10.0, 20.0, now=real)
    for move in moves:
        real.now += 0.7
        if isinstance(move, str):
            getattr(clock, move)()
        elif isinstance(move, float):
            clock.skip(move)
        else:
            clock.speed = move
        assert 10.0 <= clock.now <= 20.0


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    log = tmp_path / "runs" / "r-1" / "output.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"step one\nstep two\nstep three\n")
    events: list[AnyEvent] = [RunStarted(run="r-1", name="demo", at=1000.0, seen=1000.1)]
    for number, end in enumerate((9, 18, 29)):
        moment = 1010.0 + 10 * number
        events.append(StepReported(step=number, at=moment, seen=moment))
        events.append(OutputGrew(path=str(log), end=end, lines=number + 1, seen=moment))
    events.append(RunFinished(run="r-1", exit_code=0, at=1040.0, seen=1040.00001))  # taken down after it came
    path = tmp_path / "s.db"
    with SqliteStore(path) as store:
        store.begin(events[0])  # type: ignore[arg-type]
        store.append("r-1", events, 1040.0)
        store.finish("r-1", 0, 1040.0)
    return path


def at(feed: ReplayFeed, moment: float) -> tuple[int | None, int | None, list[str]]:
    """What a screen would show at a recorded moment: step, exit status, log tail."""
    feed.show(moment)
    step, code = feed.read(lambda run, now: (run.training.step, run.job.exit_code))
    return step, code, [line.text for line in feed.log_tail(2)]


def test_each_moment_shows_what_was_known_then_forwards_and_back(store_path: Path) -> None:
    feed = ReplayFeed(StoreLocation(store_path), "r-1")
    assert at(feed, feed.clock.start) == (None, None, [])
    assert feed.read(lambda run, now: run.job.run) == "r-1", (
        "stored a moment after it began, it is no moment without a job"
    )
    assert at(feed, 1005.0) == (None, None, [])
    assert at(feed, 1021.0) == (1, None, ["step one", "step two"])
    assert at(feed, 1040.0) == (2, 0, ["step two", "step three"])
    assert at(feed, 1010.0) == (0, None, ["step one"])
    feed.stop()


def test_a_recording_whose_state_folder_was_moved_shows_its_log(tmp_path: Path) -> None:
    """The events, and the record, name the folder that it was made in."""
    then, now = tmp_path / "then" / "runs" / "r-1", tmp_path / "now" / "runs" / "r-1"
    now.mkdir(parents=True)
    (now / "output.log").write_bytes(b"step one\nstep two\n")
    (tmp_path / "then").mkdir()
    (tmp_path / "then" / "secret").write_bytes(b"not of the recording\n")
    begun = RunStarted(run="r-1", name="moved", at=1000.0, seen=1000.0)
    grown = [
        OutputGrew(path=str(path), end=18, lines=2, seen=1010.0)
        for path in (then / "output.log", then / "..", then / "other.log", tmp_path / "then" / "secret")
    ]
    with SqliteStore(tmp_path / "now" / "s.db") as store:
        store.begin(begun, folder=then)
        store.append("r-1", [begun, *grown], 1010.0)
        store.finish("r-1", 0, 1020.0)
    feed = ReplayFeed(StoreLocation(tmp_path / "now" / "s.db"), "r-1")
    feed.show(1020.0)
    source = f"log:{then / 'output.log'}"
    assert [line.text for line in feed.log_tail(5)] == ["step one", "step two"]
    assert [line.text for line in feed.log_tail(5, source)] == ["step one", "step two"]
    assert [line.text for line in feed.log_older({source: 9}, 5).lines] == ["step one"]
    assert [line.text for line in feed.log_newer({source: 9}, 5).lines] == ["step two"]
    assert [line.text for line in feed.log_lines([(source, 9)])] == ["step two"]
    assert [chain.files for chain in feed.log_chains()] == [(source,)]
    feed.stop()


def test_a_recording_is_found_by_name_and_by_the_beginning_of_its_id(store_path: Path) -> None:
    assert ReplayFeed(StoreLocation(store_path), "demo").clock.end == 1040.0
    assert ReplayFeed(StoreLocation(store_path), "r-").clock.start == 1000.0
    assert ReplayFeed(StoreLocation(store_path), "last").clock.start == 1000.0
    with pytest.raises(NothingToShow):
        ReplayFeed(StoreLocation(store_path), "nothing like it")


def test_nobody_reads_a_recording_before_it_stands_where_it_begins(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = ReplayFeed(StoreLocation(store_path), "r-1")
    feed.clock.pause()
    feed.clock.seek(feed.clock.end)
    show = feed.show

    def after_a_while(moment: float) -> bool:
        time.sleep(0.3)
        return show(moment)

    monkeypatch.setattr(feed, "show", after_a_while)
    feed.start(lambda: None)
    try:
        assert feed.read(lambda run, now: (run.job.exit_code, now)) == (0, 1040.0)
        assert [line.text for line in feed.log_tail(1)] == ["step three"]
    finally:
        feed.stop()


def at_its_end(store_path: Path) -> ReplayFeed:
    feed = ReplayFeed(StoreLocation(store_path), "r-1")
    feed.clock.pause()
    feed.clock.seek(feed.clock.end)
    return feed


def test_a_recording_with_a_damaged_batch_is_not_shown_in_part(store_path: Path) -> None:
    with sqlite3.connect(store_path) as connection:
        connection.execute("UPDATE events SET data = x'00112233'")
    connection.close()
    feed, changed = at_its_end(store_path), threading.Event()
    feed.start(changed.set)
    try:
        for _ in range(2):
            with pytest.raises(StoreCorrupt, match="batch 0 of recording r-1 cannot be read"):
                feed.read(lambda run, now: run.job.exit_code)
        assert changed.wait(60)
    finally:
        feed.stop()


def test_a_recording_whose_store_comes_back_is_shown_again(store_path: Path) -> None:
    feed, changed = at_its_end(store_path), threading.Event()
    away = store_path.rename(store_path.with_suffix(".away"))
    store_path.mkdir()
    feed.start(changed.set)
    try:
        with pytest.raises(StoreUnusable):
            feed.read(lambda run, now: run.job.exit_code)
        assert changed.wait(60)
        changed.clear()
        store_path.rmdir()
        away.rename(store_path)
        assert changed.wait(60)
        assert feed.read(lambda run, now: (run.job.exit_code, run.training.step)) == (0, 2)
    finally:
        feed.stop()


def test_playing_calls_back_and_ends(store_path: Path) -> None:
    changed = threading.Event()
    feed = ReplayFeed(StoreLocation(store_path), "r-1", speed=1000.0)
    feed.start(changed.set)
    assert changed.wait(60)
    feed.stop()
