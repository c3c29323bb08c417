"""An agent whose database is away for an hour, and one whose disk is full: what waits, what goes, what never does.

The hour is reported by clock readings, not waited for. `NEURONTOP_OUTAGE_LINES=200` reports 200 lines a second of it.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top.agent import sink as sinks
from neuron_top.agent.sink import SpoolSink, thinned
from neuron_top.agent.spool import Spool
from neuron_top.events import AnyEvent, CacheHit, CompileFailed, EventsFolded, LineMarked, StepReported
from neuron_top.events.levels import LogLevel
from neuron_top.run.fold import Fold
from neuron_top.store.batches import unpack
from tests.agent.test_agent import figures, run_of

START = 1_700_000_000.0
RANKS, GRAPHS = 32, 50
LINES = int(os.environ.get("NEURONTOP_OUTAGE_LINES", "20"))
"""A second."""
LOG = "log:/logs/rank.log"


def second(number: int, offsets: Iterator[int], lines: int = LINES) -> list[AnyEvent]:
    """What a node prints in a second of a start: hits of its ranks; a step each tenth second, a failure each minute."""
    at = START + number
    reported: list[AnyEvent] = []
    for one in range(lines):
        place = number * lines + one
        reported.append(
            CacheHit(
                at=at, seen=at, source=LOG, offset=next(offsets), node="n1", pid=1000 + place % RANKS,
                module=f"MODULE_{place // RANKS % GRAPHS:020d}+a1b2c3d4", root="/cache",
            )
        )  # fmt: skip
    if number % 10 == 0:
        reported.append(
            StepReported(at=at, seen=at, source=LOG, offset=next(offsets), node="n1", step=number, loss=2.0)
        )
    if number % 60 == 30:
        key = f"MODULE_{number:020d}+ffffffff"
        reported.append(CompileFailed(at=at, seen=at, source=LOG, offset=next(offsets), node="n1", pid=1, module=key))
        words = f"ERROR number {number}"
        reported.append(
            LineMarked(
                at=at, seen=at, source=LOG, offset=next(offsets), node="n1", level=LogLevel.ERROR, text=words
            )
        )  # fmt: skip
    return reported


def spooled(spool: Spool) -> list[AnyEvent]:
    events, after = list[AnyEvent](), 0
    while batches := spool.batches(after):
        events += [event for batch in batches for event in unpack(batch.data)]
        after = batches[-1].sequence
    return events


def failures(events: list[AnyEvent]) -> int:
    return sum(isinstance(one, CompileFailed) or (isinstance(one, LineMarked) and one.level.is_error) for one in events)


def test_an_hour_without_a_database_is_spooled_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sinks, "COMMIT_SECONDS", 0.0)  # each told second is committed, as in an hour that is waited for
    spool = Spool(tmp_path / "spool.db")
    sink = SpoolSink(spool, "j", pytest.fail)
    offsets, reported = itertools.count(0, 100), list[AnyEvent]()
    for number in range(3600):
        events = second(number, offsets)
        reported += events
        sink.append(events, START + number)
    sink.close(START + 3600)
    notes, kept = spool.notes(), spooled(spool)
    spool.close()
    assert (notes["dropped_samples"], sink.dropped, failures(kept)) == (0, 0, 120)
    assert figures(run_of(kept)) == figures(run_of(reported))
    assert notes["spooled_bytes"] < 512 * 1024**2 / 10
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    print(f"{len(reported):,} events of an hour: {notes['spooled_events']:,} rows, {size:,} bytes on the disk")


def test_a_spool_at_its_bound_drops_the_oldest_samples_counts_them_and_keeps_all_else(tmp_path: Path) -> None:
    chance = random.Random(1)  # figures that hardly compress
    spool, offsets, reported = (
        Spool(tmp_path / "spool.db", most_bytes=40_000),
        itertools.count(0, 100),
        list[AnyEvent](),
    )
    for number in range(60):
        events = second(number, offsets, lines=2)
        events += [
            StepReported(
                at=START + number,
                source=LOG,
                offset=next(offsets),
                node="n1",
                step=number * 100 + one,
                loss=chance.random(),
            )
            for one in range(1, 51)
        ]
        reported += events
        spool.commit("j", events, [], {LOG: str(number).encode()})
    notes, kept, marks = spool.notes(), spooled(spool), spool.marks()
    spool.close()
    steps = [one.step for one in kept if isinstance(one, StepReported)]
    every = [one.step for one in reported if isinstance(one, StepReported)]
    others = [one for one in reported if not isinstance(one, StepReported)]
    assert 0 < len(steps) < len(every)
    assert steps == every[-len(steps) :], "the oldest go first"
    assert [one for one in kept if not isinstance(one, StepReported)] == others, "nothing else goes"
    assert notes["dropped_samples"] == len(every) - len(steps)
    assert notes["spooled_bytes"] <= 40_000
    assert marks == {LOG: b"59"}, "what was dropped is not read again"


class CountChecked:
    """A spool's lock that compares the spool's count with the file whenever it is released."""

    def __init__(self, spool: Spool) -> None:
        self._spool, self._lock, self.released = spool, threading.Lock(), 0

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        total = self._spool._connection.execute("SELECT coalesce(sum(length(data)), 0) FROM batches").fetchone()[0]
        self.released += 1
        self._lock.release()
        assert self._spool._bytes == total


def test_another_thread_never_sees_a_count_that_does_not_fit_the_file(tmp_path: Path) -> None:
    spool, offsets = Spool(tmp_path / "spool.db", most_bytes=4_000), itertools.count(0, 100)
    spool._lock = lock = CountChecked(spool)  # type: ignore[assignment]
    for number in range(20):
        spool.commit("j", second(number * 10, offsets), [], {})
    spool.shipped(10)
    assert lock.released == 21
    spool._connection.close()


def test_with_a_full_disk_failures_stay_and_what_went_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(sinks, "MOST_HELD", 200)
    spool, warned = Spool(tmp_path / "spool.db"), list[str]()
    sink = SpoolSink(spool, "j", warned.append)
    pages = spool._connection.execute("PRAGMA page_count").fetchone()[0]
    spool._connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite says "database or disk is full"
    offsets, reported = itertools.count(0, 100), list[AnyEvent]()
    for number in range(3600):
        events = second(number, offsets, lines=1)
        reported += events
        sink.append(events, START + number)
    assert [words.partition(": ")[2] for words in warned] == [
        "database or disk is full; events are held in memory until there is room",
        "samples and repeated events are dropped now, the oldest first",
    ]
    spool._connection.execute("PRAGMA max_page_count = 1000000")
    sink.close(START + 3600)
    kept = spooled(spool)
    spool.close()
    assert failures(kept) == failures(reported) == 120
    steps = [one.step for one in kept if isinstance(one, StepReported)]
    assert (steps[0], [one for one in kept if isinstance(one, EventsFolded)][-1].last.at) == (0, START + 3599)
    assert sink.dropped > 0
    assert sum(one.count if isinstance(one, EventsFolded) else 1 for one in kept) + sink.dropped >= len(reported)


def test_samples_go_before_repeats_the_oldest_first_and_ends_of_each_kind_stay() -> None:
    steps: list[AnyEvent] = [StepReported(at=float(n), source=LOG, node="n1", step=n) for n in range(6)]
    hit = CacheHit(at=9.0, source=LOG, node="n1", module="MODULE_1+a")
    repeats: list[AnyEvent] = [EventsFolded(at=9.0, source=LOG, node="n1", last=hit, count=n) for n in (10, 20, 30)]
    failed: list[AnyEvent] = [CompileFailed(at=1.0, source=LOG, node="n1", module=f"MODULE_{n}+a") for n in range(3)]
    events = [*failed, *steps, *repeats]
    assert thinned(events, 20) == (events, 0)
    assert thinned(events, 10) == ([*failed, steps[0], *steps[3:], *repeats], 2)
    assert thinned(events, 7) == ([*failed, steps[0], steps[5], repeats[0], repeats[2]], 24)
    assert thinned(events, 0) == thinned(events, 7), "nothing else goes"


def test_what_a_fold_reports_is_what_may_go() -> None:
    fold, reported = Fold(), list[AnyEvent]()
    for number in range(100):
        for event in second(number, itertools.count(), lines=30):
            reported += fold.add(event, START + number)
        reported += fold.flush(START + number)
    kept, dropped = thinned(reported, 0)
    assert failures(kept) == failures(reported) == 4
    assert dropped > 0
