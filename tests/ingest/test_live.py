"""The live feed: what sources report reaches the run, the store and the screen, whatever breaks in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from neuron_top.events import (
    AnyEvent,
    CoreKind,
    CoreSample,
    CoresSampled,
    RunStarted,
    SourceUnavailable,
    StepReported,
    decode,
    encode,
)
from neuron_top.ingest.followed_logs import LogFiles
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.recordings import load_run
from neuron_top.run.model import Run
from neuron_top.store.sqlite import SqliteStore
from neuron_top.telemetry.source import Emit

LINE = (
    b"2025-03-01 10:00:00.000123:  4242  [INFO]: Using a cached neff at "
    b"/c/neuronxcc-2.21.33363.0+82129205/MODULE_12345678901234567890+e30acd3a/model.neff\n"
)


class Given:
    """A source that reports what it was given, then waits until it is stopped."""

    name = "given"

    def __init__(self, events: Sequence[AnyEvent], then: Exception | None = None) -> None:
        self._events, self._then = events, then
        self._stopped = threading.Event()

    def start(self, emit: Emit) -> None:
        for event in self._events:
            emit(event)
        if self._then is not None:
            raise self._then
        self._stopped.wait()

    def stop(self) -> None:
        self._stopped.set()


class Kept:
    """Keeps events in memory, as the store would read them back."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.ended_by: str | None = None

    def append(self, events: Sequence[AnyEvent], now: float) -> None:
        assert self.ended_by is None
        self.events += [decode(encode(event)) for event in events]

    def end(self) -> None:
        self.ended_by = threading.current_thread().name


class Bell:
    """Rings when the feed has changed."""

    def __init__(self) -> None:
        self.rang = threading.Event()

    def wait_until(self, feed: LiveFeed, wanted: object, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not feed.read(wanted):  # type: ignore[arg-type]
            assert self.rang.wait(deadline - time.monotonic()), "the feed did not come to the state in time"
            self.rang.clear()


def steps(count: int) -> list[AnyEvent]:
    return [StepReported(step=number, loss=1 / (number + 1)) for number in range(count)]


def test_what_the_store_holds_gives_the_run_that_was_shown() -> None:
    kept, bell = Kept(), Bell()
    events: list[AnyEvent] = [RunStarted(run="r", command=("x",)), *steps(500)]
    events.insert(7, CoresSampled(kind=CoreKind.LOCAL, cores=(CoreSample(core=0, memory=5, utilization=0.5),)))
    feed = LiveFeed([Given(events)], buffer=LogBuffer(), sink=lambda: kept)
    feed.start(bell.rang.set)
    bell.wait_until(feed, lambda run, now: run.training.step == 499)
    feed.stop()
    replayed = Run()
    for event in kept.events:
        replayed.apply(event)
    assert len(kept.events) == len(events)
    assert kept.ended_by == "writer", "an open store belongs to the thread that made it"
    assert replayed.canonical() == feed.read(lambda run, now: run.canonical())


def test_every_event_is_stamped_with_its_arrival_and_its_node() -> None:
    kept = Kept()
    feed = LiveFeed([Given(steps(1))], buffer=LogBuffer(), sink=lambda: kept, clock=lambda: 1234.5)
    feed.start(lambda: None)
    feed.settle(60.0)
    feed.stop()
    assert [(event.seen, bool(event.node)) for event in kept.events] == [(1234.5, True)]


def test_a_source_that_breaks_is_reported_and_the_others_go_on() -> None:
    bell = Bell()
    broken = Given([], then=ValueError("no such counter"))
    feed = LiveFeed([broken, Given(steps(3))], buffer=LogBuffer())
    feed.start(bell.rang.set)
    bell.wait_until(feed, lambda run, now: run.training.step == 2 and "given" in run.cores.sources)
    status = feed.read(lambda run, now: run.cores.sources["given"])
    feed.stop()
    assert not status.available
    assert "no such counter" in status.text


def test_a_burst_is_a_few_calls_and_none_is_lost() -> None:
    calls = []
    bell = Bell()
    feed = LiveFeed([Given(steps(20_000))], buffer=LogBuffer())
    began = time.monotonic()
    feed.start(lambda: (calls.append(time.monotonic()), bell.rang.set()))  # type: ignore[func-returns-value]
    bell.wait_until(feed, lambda run, now: run.events == 20_000)
    feed.stop()
    assert len(calls) <= 20 * (time.monotonic() - began) + 3


def test_a_view_that_takes_long_leaves_events_two_thirds_of_the_time() -> None:
    took = 0.1

    def slow(_run: Run, _now: float) -> None:
        time.sleep(took)

    class Endless(Given):
        def start(self, emit: Emit) -> None:
            while not self._stopped.wait(0.005):
                emit(StepReported(step=1))

    looked = list[float]()
    feed = LiveFeed([Endless([])], buffer=LogBuffer())
    began = time.monotonic()
    feed.start(lambda: looked.append(time.monotonic()) or feed.read(slow))  # type: ignore[func-returns-value]
    time.sleep(2.0)
    feed.stop()
    assert 2 <= len(looked) <= (time.monotonic() - began) / (3 * took) + 2


def test_another_job_begins_a_new_run_on_the_same_machine() -> None:
    bell = Bell()
    events: list[AnyEvent] = [
        SourceUnavailable(name="sysfs", reason="no driver"),
        RunStarted(run="one"),
        *steps(5),
        RunStarted(run="two"),
    ]
    feed = LiveFeed([Given(events)], buffer=LogBuffer())
    feed.start(bell.rang.set)
    bell.wait_until(feed, lambda run, now: run.job.run == "two")
    feed.stop()
    assert feed.read(lambda run, now: (run.training.step, "sysfs" in run.cores.sources)) == (None, True)


def test_a_line_of_a_growing_log_is_on_the_screen_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"starting\n")
    buffer, bell = LogBuffer(), Bell()
    feed = LiveFeed([LogFiles(lambda: [path], buffer)], buffer=buffer)
    feed.start(bell.rang.set)
    with path.open("ab") as log:
        log.write(LINE)
    bell.wait_until(feed, lambda run, now: run.compiles.totals.hits == 1)
    feed.stop()
    lines = feed.log_tail(10)
    assert [(line.text, line.offset, line.level) for line in lines] == [
        ("starting", 0, ""),
        (LINE.decode().rstrip(), 9, "event"),
    ]


def test_a_log_that_is_rotated_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(LINE)
    buffer, bell = LogBuffer(), Bell()
    feed = LiveFeed([LogFiles(lambda: [path], buffer)], buffer=buffer)
    feed.start(bell.rang.set)
    bell.wait_until(feed, lambda run, now: run.compiles.totals.hits == 1)
    # In one step: a look between two would see the log vanish and appear, which is reported otherwise.
    (tmp_path / "train.log.1").hardlink_to(path)
    (tmp_path / "next").write_bytes(LINE + b"tail\n")
    (tmp_path / "next").replace(path)
    bell.wait_until(feed, lambda run, now: run.compiles.totals.hits == 2 and run.job.sources[str(path)].rotations == 1)
    feed.stop()
    assert feed.read(lambda run, now: (run.compiles.totals.hits, run.job.sources[str(path)].end)) == (2, len(LINE) + 5)


def test_the_store_gives_back_a_recording_in_batches(tmp_path: Path) -> None:
    started = RunStarted(run="r", at=1.0)
    with SqliteStore(tmp_path / "s.db") as store:
        store.begin(started)
        store.append("r", [started, *steps(3)], 2.0)
        assert load_run(store, "r").training.step == 2
