"""How often we look at what others do: at once where it matters, and seldom where nothing moves."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from neuron_top.events import OutputGrew, Rotation, SourceRotated
from neuron_top.ingest.followed_logs import SUCCESSOR_SECONDS, LogFiles
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.wakeup import Wakeup
from neuron_top.ingest.worker_finder import WorkerFinder
from neuron_top.processes import proc
from neuron_top.telemetry.workers import WorkerSampler

SLEEP = (sys.executable, "-c", "input()")


def process(**variables: str) -> subprocess.Popen[bytes]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("NEURONTOP")}
    return subprocess.Popen(SLEEP, stdin=subprocess.PIPE, env=environ | variables)


def end(started: subprocess.Popen[bytes]) -> None:
    started.communicate()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Processes whose environment is read."""
    pids: list[int] = []
    read = proc.environment_of

    def environment_of(pid: int, *, with_any: Sequence[str] = ()) -> dict[str, str] | None:
        pids.append(pid)
        return read(pid, with_any=with_any)

    monkeypatch.setattr(proc, "environment_of", environment_of)
    return pids


def test_a_worker_is_found_at_the_next_look_and_others_are_not_asked_again(asked: list[int]) -> None:
    now = 100.0
    finder = WorkerFinder(clock=lambda: now)
    finder.look()
    now += 10.0
    finder.look()  # those that were young are asked a last time
    asked.clear()
    worker, other = process(LOCAL_RANK="0"), process()
    now += 1.0
    while worker.pid not in finder.look():  # between fork and exec it shows our environment
        time.sleep(0.01)
    assert finder.jobs >= 1
    assert {worker.pid, other.pid} <= set(asked)
    assert os.getpid() not in asked
    now += 4.0
    finder.look()
    asked.clear()
    now += 1.0
    assert worker.pid in finder.look()
    assert not {worker.pid, other.pid} & set(asked)
    now += 40.0
    finder.look()
    assert {worker.pid, other.pid} <= set(asked)  # its number may be another's by now
    end(worker)
    now += 1.0
    assert worker.pid not in finder.look()
    end(other)


def test_an_environment_is_taken_apart_only_where_it_reports_something() -> None:
    child = process(LOCAL_RANK="3")
    try:
        while "LOCAL_RANK" not in (proc.environment_of(child.pid) or {}):
            time.sleep(0.01)
        assert (proc.environment_of(child.pid, with_any=("NO_SUCH", "LOCAL_RANK")) or {})["LOCAL_RANK"] == "3"
        assert proc.environment_of(child.pid, with_any=("NO_SUCH",)) == {}
    finally:
        end(child)


def test_without_a_job_the_tree_of_processes_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> list[int]:
        raise AssertionError("all processes were listed")

    monkeypatch.setattr(proc, "process_ids", never)
    assert WorkerSampler(list, placed_only=True).look() == []


class Steps:
    """A clock of the test's, in place of the module's."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_notifications_are_given_up_while_a_file_grows_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Steps()
    monkeypatch.setattr("neuron_top.ingest.wakeup.time", clock)
    log = tmp_path / "job.log"
    with Wakeup() as wakeup:
        wakeup.watch(log)
        watched = wakeup._observer.emitters
        assert len(watched) == 1
        for _ in range(10):
            wakeup._event.set()
            wakeup.wait()
        assert not watched
        clock.now += 31.0
        wakeup.wait()
        assert len(wakeup._observer.emitters) == 1
        wakeup.wait(0.01)  # what came meanwhile
        with log.open("w") as file:
            file.write("one line\n")
        assert wakeup._event.wait(60)


class Stepping(Wakeup):
    """Takes the next step instead of waiting, and ends after the last."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        super().__init__()
        self.waits: list[float | None] = []
        self._steps = list(steps)

    def wait(self, at_most: float | None = None) -> None:
        self.waits.append(at_most)
        if self._steps:
            self._steps.pop(0)()
        else:
            self.stop()


def test_a_log_that_was_deleted_and_made_again_is_not_waited_for_as_an_idle_one(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("before\n")

    def made_again() -> None:
        log.unlink()
        log.write_text("after\n")

    source, heard = LogFiles(lambda: [log], LogBuffer()), list[object]()
    source._wakeup = waking = Stepping(made_again, lambda: None)
    source.start(heard.append)
    assert waking.waits[:2] == [None, SUCCESSOR_SECONDS]
    assert [event.how for event in heard if isinstance(event, SourceRotated)] == [Rotation.ROTATED]


def test_a_log_that_grows_fast_is_read_to_its_last_line(tmp_path: Path) -> None:
    log, lines = tmp_path / "job.log", 300
    log.touch()
    source, ends = LogFiles(lambda: [log], LogBuffer()), list[int]()
    grown = threading.Event()

    def heard(event: object) -> None:
        if isinstance(event, OutputGrew):
            ends.append(event.end)
            grown.set()

    thread = threading.Thread(target=source.start, args=(heard,))
    thread.start()
    with log.open("ab", buffering=0) as file:
        for number in range(lines):
            file.write(b"line %d\n" % number)
            time.sleep(0.002)
    while ends[-1:] != [log.stat().st_size]:
        assert grown.wait(60)
        grown.clear()
    source.stop()
    thread.join()


def test_complaints_of_the_library_that_watches_files_are_not_printed() -> None:
    program = """
import logging
import neuron_top.ingest.wakeup
logging.getLogger("watchdog.observers.inotify").error("called when the thread is inactive")
"""
    answer = subprocess.run((sys.executable, "-c", program), capture_output=True, check=True, timeout=60)
    assert answer.stderr == b""
