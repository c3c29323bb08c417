"""A watched root reports what changes, whatever becomes of the notifications."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from watchdog.observers.api import EventEmitter

from neuron_top.cache.locks import lock_owner
from neuron_top.cache.scan import scanner
from neuron_top.cache.scan import watch as watch_module
from neuron_top.cache.scan.watch import REFRESH_SECONDS, CacheWatch
from neuron_top.events import CacheScanned, EntryChanged, Event, SourceUnavailable
from tests.builders import HLO_NAME, neff, small_hlo, write_entry

PATIENCE = 20.0


@contextmanager
def watched(root: Path, state: Path, *, notifications: bool) -> Iterator[queue.Queue[Event]]:
    """Events of a running watch."""
    events: queue.Queue[Event] = queue.Queue()
    watch = CacheWatch(str(root), state, notifications=notifications)
    watch.start(events.put)
    try:
        yield events
    finally:
        watch.stop()
        assert not any(thread.name.startswith("cache-watch") for thread in threading.enumerate())


def until_state(events: queue.Queue[Event], state: str | None) -> EntryChanged:
    """The next change into `state`."""
    while True:
        event = events.get(timeout=PATIENCE)
        if isinstance(event, EntryChanged) and event.state == state:
            return event


@pytest.mark.parametrize("notifications", [True, False], ids=["notified", "all notifications lost"])
def test_a_compile_is_followed_from_graph_to_hit(tmp_path: Path, notifications: bool) -> None:
    root = tmp_path / "root"
    write_entry(root, {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}, graph="1" * 20)
    with watched(root, tmp_path / "state", notifications=notifications) as events:
        while not isinstance(events.get(timeout=PATIENCE), CacheScanned):
            pass
        folder = write_entry(root, {HLO_NAME: small_hlo()})
        assert until_state(events, "extracted").module == folder.name
        (folder / f"{HLO_NAME}.lock").write_bytes(b"")
        until_state(events, "locked-unknown")
        (folder / "model.neff").write_bytes(neff())
        (folder / "model.done").write_bytes(b"")
        (folder / f"{HLO_NAME}.lock").unlink()
        assert until_state(events, "hit").root == str(root.resolve())
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        assert until_state(events, None).module == folder.name


def test_notifications_that_begin_only_in_part_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "WATCHED_ENTRIES", 0)
    root = tmp_path / "root"
    for number in range(8):
        write_entry(root, {HLO_NAME: small_hlo()}, compiler=f"neuronxcc-2.{number}.0+abc")
    watch = CacheWatch(str(root), tmp_path / "state")
    watch.snapshot = scanner.scan(str(root))
    (root / "neuronxcc-2.3.0+abc").rename(
        tmp_path / "moved"
    )  # so that one of the nine watches fails, in any place of their order
    watch._observe()
    assert watch._observer is None
    assert not [thread for thread in threading.enumerate() if isinstance(thread, EventEmitter)]


def test_a_lock_is_reported_with_its_holder_and_again_when_the_holder_has_ended(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    program = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    holder = subprocess.Popen(program, stdin=subprocess.PIPE)
    started = lock_owner.process_start(holder.pid)
    owner = msgspec.structs.replace(lock_owner.current(), pid=holder.pid, started=started)
    with watched(root, tmp_path / "state", notifications=True) as events:
        folder = write_entry(root, {HLO_NAME: small_hlo()})
        (folder / f"{HLO_NAME}.lock").write_bytes(msgspec.json.encode(owner))
        reported = until_lock(events, "alive")
        assert reported.lock_holder == f"pid {holder.pid} on {owner.host}"
        assert f"process {holder.pid}, lives" in (reported.lock_proof or "")
        holder.communicate()
        reported = until_lock(events, "dead")
        assert f"process {holder.pid}, has ended" in (reported.lock_proof or "")


def until_lock(events: queue.Queue[Event], verdict: str) -> EntryChanged:
    """The next change whose lock is judged so."""
    while True:
        event = events.get(timeout=PATIENCE)
        if isinstance(event, EntryChanged) and event.lock == verdict:
            return event


def test_a_root_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    root = tmp_path / "later"
    with watched(root, tmp_path / "state", notifications=True) as events:
        assert isinstance(events.get(timeout=PATIENCE), SourceUnavailable)
        write_entry(root, {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""})
        while not isinstance(event := events.get(timeout=PATIENCE), CacheScanned):
            pass
        assert event.states == {"hit": 1}


def test_a_root_that_cannot_be_looked_for_is_reported_and_does_not_end_the_watch(tmp_path: Path) -> None:
    with watched(tmp_path / ("n" * 300), tmp_path / "state", notifications=False) as events:
        event = events.get(timeout=PATIENCE)
        assert isinstance(event, SourceUnavailable)
        assert "file name too long" in event.reason


def test_a_time_that_is_still_to_come_does_not_make_an_entry_just_written(tmp_path: Path) -> None:
    """Those are looked at ten times a second."""
    write_entry(tmp_path, {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}, age=-3600.0)
    watch = CacheWatch(str(tmp_path), tmp_path / "state")
    watch.snapshot = scanner.scan(str(tmp_path))
    assert len(watch.snapshot.entries) == 1
    assert watch._open() == set()


def test_what_appears_right_after_the_first_look_is_not_left_to_the_slow_refresh(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with watched(root, tmp_path / "state", notifications=True) as events:
        while not isinstance(events.get(timeout=PATIENCE), CacheScanned):
            pass
        began = time.monotonic()  # the kernel does not watch yet: that begins after the first look
        write_entry(root, {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""})
        until_state(events, "hit")
        assert time.monotonic() - began < REFRESH_SECONDS - 1
