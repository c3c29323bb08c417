"""A job that nobody records is found by its workers: its name, its logs, its end, and the next job after it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest

from neuron_top.events import JobFound, OutputGrew, ProcessExited, ProcessRole, ProcessSeen, StepReported
from neuron_top.ingest import found_logs
from neuron_top.ingest.assembly import machine_feed
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_ingestor import QUIET_SECONDS as QUIET_LOG_SECONDS
from neuron_top.process_stat import stat_of
from neuron_top.processes import proc
from neuron_top.run.log_activity import QUIET_SECONDS
from neuron_top.run.model import Run
from neuron_top.run.state import JobState
from neuron_top.services.status import status
from neuron_top.settings import Settings
from neuron_top.views.overview import Overview, overview
from neuron_top.views.verdict import verdict

FOLDER = "/var/tmp/neuron-compile-cache/neuronxcc-2.20.9961.0"
HIT = f"2026-01-31 08:05:09.000123:  77  [INFO]: Using a cached neff at {FOLDER}/MODULE_{{}}+f7f529f3/model.neff"
FAILURE = """\
Traceback (most recent call last):
  File "/srv/tea/train.py", line 6, in <module>
    steep(pot)
ValueError: no leaves in the pot"""
SCRIPT = """
import sys
print(sys.argv[1], flush=True)
sys.stdin.readline()
"""
SECONDS = 60.0


class Worker:
    """A job of one worker, with its log."""

    def __init__(self, log: Path, graph: str, failure: str = "", mode: Literal["ab", "wb"] = "ab") -> None:
        script = log.with_name(f"train_{graph}.py")
        script.write_text(SCRIPT)
        self.log = log
        with open(log, mode) as opened:
            self.process = subprocess.Popen(
                [sys.executable, str(script), "\n".join(filter(None, (HIT.format(graph), failure)))],
                stdin=subprocess.PIPE,
                stdout=opened,
                stderr=opened,
                env={**os.environ, "LOCAL_RANK": "0", "RANK": "0", "WORLD_SIZE": "1"},
            )

    def end(self) -> None:
        """As a job ends."""
        self.process.communicate(b"\n")


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that are seen: other tests run jobs on this machine, too."""
    seen: list[int] = []
    monkeypatch.setattr(proc, "process_ids", lambda: [pid for pid in seen if stat_of(pid)])
    return seen


@pytest.fixture
def begin(processes: list[int]) -> Iterator[Callable[..., Worker]]:
    """Begins a job that meets one graph."""
    begun: list[Worker] = []

    def worker(log: Path, graph: str, failure: str = "", mode: Literal["ab", "wb"] = "ab") -> Worker:
        begun.append(Worker(log, graph, failure, mode))
        processes.append(begun[-1].process.pid)
        return begun[-1]

    yield worker
    for each in begun:
        each.process.kill()
        each.process.communicate()


def until(feed: LiveFeed, wanted: Callable[[Overview], bool]) -> Overview:
    deadline = time.monotonic() + SECONDS
    while not wanted(view := feed.read(overview)):
        assert time.monotonic() < deadline, view.header
        time.sleep(0.05)
    return view


@pytest.mark.parametrize(
    ("second_log", "mode"),
    [("second.log", "ab"), ("first.log", "ab"), ("first.log", "wb")],
    ids=["a log of its own", "the same log", "the same log, emptied"],
)
def test_of_a_job_that_writes_into_a_file_the_log_is_read_and_the_next_job_begins_anew(
    tmp_path: Path, begin: Callable[..., Worker], second_log: str, mode: str
) -> None:
    first = begin(tmp_path / "first.log", "11112222333344445555", FAILURE)
    feed = machine_feed(Settings(state_dir=str(tmp_path / "state")))
    feed.start(lambda: None)
    try:
        view = until(feed, lambda view: view.compile.total == 1)
        assert view.header.name == "train_11112222333344445555.py"
        assert (view.header.workers, view.header.state) == (1, JobState.RUNNING)
        until(feed, lambda view: view.diagnosis is not None and view.diagnosis.failed)
        first.end()
        until(feed, lambda view: view.header.workers == 0)
        begin(tmp_path / second_log, "66667777888899990000", mode=mode)
        view = until(feed, lambda view: "6666" in view.header.name and view.compile.total > 0)
        time.sleep(2 * QUIET_LOG_SECONDS)  # what a log's reader held back would come now
        view = feed.read(overview)
        assert view.compile.total == 1, "the graph of the job before is not counted"
        assert view.diagnosis is None or not view.diagnosis.failed
        assert all("6666" in line.text for line in feed.log_tail(10))
    finally:
        feed.stop()


@pytest.mark.parametrize("begins_later", [False, True])
def test_of_a_very_large_log_only_the_last_part_is_read(
    tmp_path: Path, begin: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch, begins_later: bool
) -> None:
    monkeypatch.setattr(found_logs, "LARGE_BYTES", 100_000)
    monkeypatch.setattr(found_logs, "END_BYTES", 1000)
    log = tmp_path / "train.log"
    log.write_text(f"{HIT.format('11112222333344445555')}\n" + "a line of a worker that prints a lot\n" * 3000)
    feed = machine_feed(Settings(state_dir=str(tmp_path / "state")))
    if not begins_later:
        begin(log, "66667777888899990000")
    feed.start(lambda: None)
    try:
        if begins_later:
            feed.settle(0.5)
            begin(log, "66667777888899990000")
        view = until(feed, lambda view: view.compile.total > 0)
        assert view.compile.total == 1
        assert feed.log_tail(1)[0].text == HIT.format("66667777888899990000")
    finally:
        feed.stop()


def test_the_status_of_such_a_job_has_its_log_and_how_busy_it_is(tmp_path: Path, begin: Callable[..., Worker]) -> None:
    worker = begin(tmp_path / "train.log", "11112222333344445555")
    deadline = time.monotonic() + SECONDS
    while not worker.log.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    view = status(Settings(state_dir=str(tmp_path / "state")))
    assert (view.header.name, view.compile.total) == ("train_11112222333344445555.py", 1)
    (core,) = view.cores
    assert core.utilization is not None
    assert not core.stale


def found(run: Run) -> None:
    run.apply(JobFound(command=("python", "-u", "train.py"), seen=1000.0))
    for rank in range(2):
        run.apply(ProcessSeen(pid=rank + 1, role=ProcessRole.WORKER, rank=rank, started=990.0, seen=1000.0))


def test_a_job_whose_workers_have_all_ended_is_over_and_took_as_long_as_they_ran() -> None:
    run = Run()
    found(run)
    run.apply(ProcessExited(pid=1, seen=1030.0))
    assert run.state(1100.0) is JobState.RUNNING
    run.apply(ProcessExited(pid=2, seen=1050.0))
    assert run.state(1050.0 + QUIET_SECONDS - 1) is JobState.RUNNING, "a launcher may start others"
    view = overview(run, 1100.0)
    assert (view.header.state, view.header.elapsed, view.header.workers) == (JobState.CUT_OFF, 60.0, 0)
    one = verdict(view)
    assert "its processes have ended, nothing states how" in one.reason
    assert "neurontop run" in one.next_step


def test_a_log_that_goes_on_after_the_workers_is_that_of_another_job() -> None:
    run = Run()
    run.apply(OutputGrew(path="train.log", end=100, at=900.0, seen=900.0, began=900.0))
    found(run)
    run.apply(ProcessSeen(pid=1, role=ProcessRole.WORKER, rank=0, world_size=2, seen=1000.0))
    for pid in (1, 2):
        run.apply(ProcessExited(pid=pid, seen=1030.0))
    assert run.state(1050.0) is JobState.CUT_OFF
    run.apply(StepReported(source="log:train.log", step=7, loss=2.5, at=1060.0, seen=1060.0))
    run.apply(OutputGrew(path="train.log", end=200, at=1060.0, seen=1060.0))
    header = overview(run, 1062.0).header
    assert (header.state, header.elapsed, header.world_size) == (JobState.TRAINING, 162.0, None)


def test_workers_that_a_launcher_starts_again_go_on_with_the_job() -> None:
    run = Run()
    found(run)
    for pid in (1, 2):
        run.apply(ProcessExited(pid=pid, seen=1050.0))
    run.apply(ProcessSeen(pid=3, role=ProcessRole.WORKER, rank=0, started=1080.0, seen=1081.0))
    assert run.state(1100.0) is JobState.RUNNING
    assert overview(run, 1100.0).header.elapsed == 110.0


def test_where_they_wrote_a_log_its_last_lines_are_what_to_look_at() -> None:
    run = Run()
    found(run)
    run.apply(OutputGrew(path="/tmp/train.log", end=99, lines=3, seen=1040.0, source="log:/tmp/train.log"))
    for pid in (1, 2):
        run.apply(ProcessExited(pid=pid, seen=1050.0))
    one = verdict(overview(run, 1100.0))
    assert "see its last lines" in one.next_step
    assert one.age == 50.0, "since the workers ended, though the log was silent before"
    assert overview(run, 1100.0).header.elapsed == 60.0


def test_the_status_does_not_wait_for_a_very_large_log_and_says_how_to_read_it(
    tmp_path: Path, begin: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_top.services.status.LARGE_BYTES", 10)
    log = tmp_path / "train.log"
    log.write_text("more than ten bytes\n")
    begin(log, "66667777888899990000")
    said: list[str] = []
    view = status(Settings(state_dir=str(tmp_path / "state")), notify=said.append)
    assert (view.header.workers, view.compile.total) == (1, 0)
    assert len(said) == 1
    assert f"`neurontop status {log}` reads it" in said[0]
