"""The diagnosis of a log while it is watched: told when it changes, stored with a recording, the same in a replay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from neuron_top.events import AnyEvent, JobDiagnosed, Rotation
from neuron_top.events.diagnosis import CauseClass, Diagnosis, JobEnd
from neuron_top.ingest.advised import diagnose
from neuron_top.ingest.assembly import paths_feed
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_diagnosis import COUNT_SECONDS
from neuron_top.ingest.log_ingestor import LAST_LINE_SECONDS, QUIET_SECONDS, LogIngestor
from neuron_top.ingest.recordings import OUTPUT_NAME, find_recording, load_run
from neuron_top.ingest.replay import ReplayFeed
from neuron_top.ingest.standard_input import StandardInput
from neuron_top.run.model import Run
from neuron_top.run.state import JobState
from neuron_top.services.status import status
from neuron_top.settings import Settings
from neuron_top.store.location import StoreLocation
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.graphs import graph_table
from neuron_top.views.overview import Overview, overview
from neuron_top.views.report_context import error_lines
from neuron_top.views.summary import summary
from tests.corpus import CORPUS
from tests.diagnose.cases import CASES, Case

OLD = 1_700_000_000.0
CRASH = b'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no such layer\n'
REPEATED = b"2026-03-04T10:00:00Z [ERROR] [NCC_EVRF031] the sort is not supported\n"
STEPS = b"".join(b"{'loss': 2.0, 'epoch': 0.%d}\n" % step for step in range(9))


class Log:
    """A log's ingestor with a clock that the test moves."""

    def __init__(self, written: float | None = None, now: float = OLD + 3600) -> None:
        self.now = 0.0
        self.ingestor = LogIngestor(
            "/jobs/a.log", LogBuffer(), clock=lambda: self.now, now=lambda: now, written=written
        )
        self.end = 0
        self.reported: list[Diagnosis] = []

    def takes(self, data: bytes, after: float = 0.0) -> None:
        self.now += after
        self._keep(self.ingestor.take(self.end, data))
        self.end += len(data)

    def pauses(self, seconds: float) -> None:
        self.now += seconds
        self._keep(self.ingestor.quiet())

    def _keep(self, events: list[AnyEvent]) -> None:
        self.reported += [event.diagnosis for event in events if isinstance(event, JobDiagnosed)]


def test_a_failure_is_reported_within_a_second_of_a_growing_log_and_at_once_where_it_pauses() -> None:
    growing, pausing = Log(), Log()
    for log in (growing, pausing):
        log.takes(b"begin\n")
        log.takes(CRASH, after=0.1)
        assert [reported.failed for reported in log.reported] == [False]
    growing.takes(b"more\n", after=1.0)
    pausing.pauses(QUIET_SECONDS)
    for log in (growing, pausing):
        assert [reported.failed for reported in log.reported] == [False, True]
        assert log.reported[-1].causes[0].text == "ValueError: no such layer"
        assert log.reported[-1].causes[0].line == 4
        assert log.reported[-1].job_ended is JobEnd.FAILED


def test_what_is_overcome_is_reported_to_be_so() -> None:
    log = Log()
    log.takes(REPEATED)
    assert log.reported[-1].failed
    log.takes(STEPS, after=1.0)
    assert (log.reported[-1].failed, log.reported[-1].recovered) == (False, True)


def test_a_message_that_repeats_for_an_hour_makes_few_events_and_its_count_is_right_in_the_end() -> None:
    log = Log()
    for _ in range(3600):
        log.takes(REPEATED, after=1.0)
    assert len(log.reported) <= 2 + 3600 / COUNT_SECONDS
    log._keep(log.ingestor.flush())
    assert log.reported[-1].causes[0].count == 3600


def test_a_count_that_was_not_reported_yet_is_reported_in_a_pause() -> None:
    log = Log()
    log.takes(REPEATED)
    log.takes(REPEATED, after=2.0)
    log.pauses(QUIET_SECONDS)
    assert not log.ingestor.settled
    log.pauses(COUNT_SECONDS)
    assert log.ingestor.settled
    assert [reported.causes[0].count for reported in log.reported] == [1, 2]


def test_an_answer_that_stays_the_same_is_reported_once() -> None:
    log = Log()
    for _ in range(50):
        log.takes(b"INFO: a line without a failure\n", after=2.0)
        log.pauses(QUIET_SECONDS)
    assert log.reported == [Diagnosis()]


def test_the_unfinished_last_line_of_an_old_file_counts_at_once() -> None:
    log = Log(written=OLD)
    log.takes(CRASH.rstrip(b"\n"))
    log._keep(log.ingestor.caught_up())
    assert log.reported[-1].causes[0].text == "ValueError: no such layer"


def test_an_unfinished_line_that_nobody_ends_counts_after_a_while_and_its_end_belongs_to_it() -> None:
    log = Log()
    log.takes(b"loading\n" + CRASH.rstrip(b"\n"))
    log.pauses(QUIET_SECONDS)
    assert not log.reported[-1].failed
    assert not log.ingestor.settled
    log.pauses(LAST_LINE_SECONDS)
    assert log.reported[-1].failed
    assert log.ingestor.settled
    log.takes(b" 7\n" + REPEATED, after=1.0)
    assert [cause.line for cause in log.reported[-1].causes] == [5, 4]
    assert log.reported[-1].causes[0].offset == len(b"loading\n" + CRASH) + 2


def test_dots_of_a_compiler_are_waited_for_without_end() -> None:
    log = Log()
    log.takes(b"INFO: compile begins\n......")
    log.pauses(QUIET_SECONDS)
    assert log.ingestor.settled
    log.pauses(3600.0)
    log.takes(b"..\nCompiler status PASS\n")
    assert all(not reported.failed for reported in log.reported)


def test_another_file_under_the_name_begins_with_nothing_wrong() -> None:
    log = Log()
    log.takes(CRASH)
    log._keep(log.ingestor.on_rotation(Rotation.TRUNCATED))
    assert [reported.failed for reported in log.reported][-2:] == [True, False]
    log.end = 0
    log.takes(REPEATED, after=2.0)
    assert (log.reported[-1].causes[0].line, log.reported[-1].causes[0].offset) == (1, 0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_watched_log_is_diagnosed_as_a_read_one(case: Case) -> None:
    log = Log()
    for start in range(0, len(case.log), 97):
        log.takes(case.log[start : start + 97], after=0.3)
    log._keep(log.ingestor.flush())
    assert log.reported[-1] == diagnose(case.log, "log:/jobs/a.log")


def overview_of(feed: LiveFeed | ReplayFeed) -> Overview:
    return feed.read(overview)


@contextmanager
def followed(log: Path) -> Iterator[tuple[LiveFeed, threading.Event]]:
    changed = threading.Event()
    feed = paths_feed(Settings(), [str(log)])
    feed.start(changed.set)
    try:
        yield feed, changed
    finally:
        feed.stop()


def until_failed(feed: LiveFeed, changed: threading.Event) -> Overview:
    for _ in range(240):
        view = overview_of(feed)
        if view.header.state is JobState.FAILED:
            return view
        changed.wait(1.0)
        changed.clear()
    raise AssertionError(overview_of(feed).header)


def test_an_old_log_that_ended_in_failure_is_shown_as_failed_with_its_cause_and_an_alert(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"2023-11-14 22:13:20 step 1\n" + CRASH)
    os.utime(log, (OLD, OLD))
    with followed(log) as (feed, changed):
        view = until_failed(feed, changed)
    assert view.header.state_text == "failed"
    assert view.diagnosis is not None
    assert view.diagnosis.causes[0].cause_class is CauseClass.SCRIPT_ERROR
    assert [alert.title for alert in view.alerts][:1] == ["job failed"]


def test_a_failed_log_that_comes_through_a_pipe_has_failed_when_the_pipe_is_closed() -> None:
    ours, theirs = os.pipe()
    feed = LiveFeed([StandardInput(buffer := LogBuffer(), ours)], buffer=buffer)
    feed.start(lambda: None)
    os.write(theirs, CRASH.rstrip(b"\n"))
    os.close(theirs)
    feed.settle(240.0)
    feed.stop()
    os.close(ours)
    view = overview_of(feed)
    assert (view.header.state, view.alerts[0].title) == (JobState.FAILED, "job failed")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, str]:
    """A job that printed a reason, then a line that means nothing, and ended with exit status 3."""
    state = tmp_path_factory.mktemp("state")
    code = f"import sys; print({CRASH.decode()!r}, 'bye', flush=True); sys.exit(3)"
    command = [sys.executable, "-m", "neuron_top", "run", "--plain", "--", sys.executable, "-c", code]
    environ = os.environ | {"NEURONTOP_STATE_DIR": str(state)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 3, done.stderr
    return Settings(state_dir=str(state)), done.stderr


def test_a_recorded_job_reports_the_reason_at_its_end_and_in_its_replay(recorded: tuple[Settings, str]) -> None:
    settings, shown = recorded
    assert "failed: the program raised an error: ValueError: no such layer (line 3" in shown
    with SqliteStore(settings.state_path / "neurontop.db", read_only=True) as store:
        found = find_recording(store, "last").id
        run = load_run(store, found)
        reported = [event.diagnosis for event in store.replay(found) if isinstance(event, JobDiagnosed)]
    assert run.job.diagnosis == reported[-1]
    assert reported[-1].job_ended is JobEnd.FAILED
    replay = ReplayFeed(StoreLocation(settings.state_path / "neurontop.db"), "last")
    replay.show(replay.clock.end)
    replay.clock.seek(replay.clock.end)
    view = overview_of(replay)
    replay.stop()
    assert (view.header.state, view.header.exit_code) == (JobState.FAILED, 3)
    assert view.diagnosis == reported[-1]
    assert view.alerts[0].title == "job failed"


def test_what_a_recording_has_reported_is_not_read_again(recorded: tuple[Settings, str]) -> None:
    settings, _ = recorded
    output = next((settings.state_path / "runs").glob(f"*/{OUTPUT_NAME}"))
    kept = output.rename(output.with_suffix(".away"))
    try:
        view = status(settings, "last")
    finally:
        kept.rename(output)
    assert view.diagnosis is not None
    assert view.diagnosis.causes[0].text == "ValueError: no such layer"


def test_the_exit_code_of_a_job_that_printed_nothing_is_its_diagnosis(tmp_path: Path) -> None:
    environ = os.environ | {"NEURONTOP_STATE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "neuron_top", "run", "--plain", "--", "false"]
    subprocess.run(command, env=environ, capture_output=True, timeout=240, check=False)
    with SqliteStore(tmp_path / "neurontop.db", read_only=True) as store:
        run = load_run(store, find_recording(store, "last").id)
    assert run.job.diagnosis == Diagnosis(failed=True, job_ended=JobEnd.FAILED)


def test_what_finds_causes_is_imported_with_the_first_bytes_of_a_log() -> None:
    code = (
        "import sys, neuron_top.ingest.standard_input, neuron_top.ingest.recording, neuron_top.tui.app\n"
        "from neuron_top.ingest.log_buffer import LogBuffer\n"
        "from neuron_top.ingest.log_ingestor import LogIngestor\n"
        "log = LogIngestor('a', LogBuffer())\n"
        "names = ('neuron_top.diagnose.diagnoser', 'neuron_top.diagnose.recognizers')\n"
        "print([name in sys.modules for name in names])\n"
        "log.take(0, b'x\\n')\n"
        "print([name in sys.modules for name in names])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert done.stdout.split("\n")[:2] == ["[False, False]", "[True, True]"], done.stderr


LOGS = sorted((CORPUS / "logs").glob("*.log")) if CORPUS.is_dir() else []


@pytest.mark.parametrize("path", LOGS or [None], ids=lambda path: path.stem if path is not None else "none")
def test_a_real_log_that_ended_in_failure_is_failed_with_an_alert_and_no_other_is(path: Path | None) -> None:
    if path is None:
        pytest.skip("no labeled logs on this machine")
    label = json.loads(path.with_suffix(".diagnosis.json").read_text())
    ingestor, run, now = LogIngestor(str(path), LogBuffer(), written=OLD), Run(), OLD + 290 * 86_400
    data = path.read_bytes()
    for start in range(0, len(data), 1 << 16):
        apply_all(run, ingestor.take(start, data[start : start + (1 << 16)]), now)
    apply_all(run, ingestor.caught_up(), now)
    view = overview(run, now)
    assert (view.header.state is JobState.FAILED) == label["failed"]
    assert ("job-failed" in [alert.kind for alert in view.alerts]) == label["failed"]
    assert summary(run, now).state_text == view.header.state_text
    if label["failed"]:
        assert view.diagnosis is not None
        assert view.diagnosis == diagnose(data, f"log:{path}")
        assert summary(run, now).errors > 0


def apply_all(run: Run, events: list[AnyEvent], now: float) -> None:
    for event in events:
        run.apply(msgspec.structs.replace(event, seen=now))


def test_an_old_log_that_is_piped_through_ends_with_its_last_line() -> None:
    began = b"2023-11-14 22:13:20.000123:  767  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: neuronx-cc compile"
    called = began + b" --target=trn1 /w/model.MODULE_11111111111111111111+0a1b2c3d.hlo_module.pb --output /w/m.neff\n"
    last = b"2023-11-14 22:14:20.000123:  768  INFO ||NEURON_CACHE||: Compile cache path: /c\n"
    ingestor, run, now = LogIngestor("-", LogBuffer()), Run(), OLD + 290 * 86_400
    apply_all(run, ingestor.take(0, called + last), now)
    assert run.compiles.compiling == 1
    for moment in (now, now + 5):  # while it comes, and behind its end
        view = overview(run, moment)
        assert view.header.elapsed == pytest.approx(60.0)
        assert view.compile.seconds == pytest.approx(60.0)
        assert graph_table(run, moment).rows[0].elapsed == pytest.approx(60.0)
        apply_all(run, ingestor.closed(), now)
    assert overview(run, now + 5).header.state_text == "cut off (was compiling)"


def test_a_pipe_whose_clock_has_another_zone_goes_on_now() -> None:
    run, now = Run(), OLD + 7200.0
    line = b"2023-11-14 22:13:20.000123:  768  INFO ||NEURON_CACHE||: Compile cache path: /c\n"
    apply_all(run, LogIngestor("-", LogBuffer()).take(0, line), now)
    assert not run.silence.is_behind
    assert run.effective_now(now + 9) == now + 9


def test_copies_that_ray_folds_and_dumps_for_support_are_no_further_errors() -> None:
    said = b"2026-03-04 10:00:00 ERROR worker 3: could not open the shard"
    dump = b"2026-Mar-04 10:00:01.000001  41:41  ERROR  NRT:nrt_infodump  version %d\n"
    lines = [said + b"\n", said + b"\x1b[32m [repeated 7x across cluster]\x1b[0m\n", *(dump % n for n in range(40))]
    run = Run()
    apply_all(run, LogIngestor("a.log", LogBuffer()).take(0, b"".join(lines)), OLD)
    assert {mark.text for mark in run.job.marks if mark.level == "error"} == {"worker 3: could not open the shard"}
    assert [(line.text, line.count) for line in error_lines(run)] == [("worker 3: could not open the shard", 2)]
