"""Sources of ingest: the side channel, a full disk, a log folder that grows."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from neuron_top.errors import NothingToShow
from neuron_top.events import (
    AnyEvent,
    CompileEnded,
    CompileFailed,
    CompilerProgress,
    CoresSampled,
    GraphDescribed,
    LineMalformed,
    SourceAvailable,
    SourceUnavailable,
    StepReported,
    encode,
)
from neuron_top.ingest.assembly import is_cache_root, paths_feed
from neuron_top.ingest.followed_logs import LogFiles
from neuron_top.ingest.jobs_feed import JobsFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_ingestor import LAST_LINE_SECONDS, QUIET_SECONDS, LogIngestor
from neuron_top.ingest.recorder import OutputFile
from neuron_top.ingest.recordings import OUTPUT_NAME
from neuron_top.ingest.side_channel_source import SideChannel
from neuron_top.ingest.standard_input import StandardInput
from neuron_top.ingest.telemetry_log import TelemetryLog
from neuron_top.run.graph import Precision
from neuron_top.run.model import Run
from neuron_top.run.state import JobState
from neuron_top.settings import Settings
from neuron_top.views.overview import overview
from tests.parsers.logs import FOLDER, M1, M2, g3
from tests.telemetry.records import counters, line, record, runtime


class Heard:
    """Collects events; `wait_for` blocks until so many have come."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self._more = threading.Condition()

    def __call__(self, event: AnyEvent) -> None:
        with self._more:
            self.events.append(event)
            self._more.notify_all()

    def wait_for(self, count: int) -> list[AnyEvent]:
        with self._more:
            assert self._more.wait_for(lambda: len(self.events) >= count, timeout=240)
            return self.events

    def wait_for_one(self, kind: type[AnyEvent]) -> None:
        with self._more:
            found = self._more.wait_for(lambda: any(isinstance(event, kind) for event in self.events), timeout=240)
            assert found, self.events


def test_telemetry_that_begins_anew_does_not_go_on_with_the_line_that_was_cut(tmp_path: Path) -> None:
    heard, path = Heard(), tmp_path / "monitor.jsonl"
    whole = line(record(runtime(7, neuroncore_counters=counters({0: {"neuroncore_utilization": 25.0}}))))
    path.write_bytes(whole + whole[:90])
    source = TelemetryLog(path)
    thread = threading.Thread(target=source.start, args=(heard,))
    thread.start()
    heard.wait_for_one(CoresSampled)
    path.write_bytes(whole)
    heard.wait_for_one(LineMalformed)
    source.stop()
    thread.join()
    assert [type(event) for event in heard.events].count(CoresSampled) == 2


def test_telemetry_that_was_there_already_is_as_old_as_its_file(tmp_path: Path) -> None:
    heard, path = Heard(), tmp_path / "monitor.jsonl"
    whole = line(record(runtime(7, neuroncore_counters=counters({0: {"neuroncore_utilization": 25.0}}))))
    path.write_bytes(whole)
    os.utime(path, (1000.0, 1000.0))
    source = TelemetryLog(path)
    thread = threading.Thread(target=source.start, args=(heard,))
    thread.start()
    heard.wait_for_one(CoresSampled)
    before = len(heard.events)
    with path.open("ab") as file:
        file.write(whole)
    heard.wait_for(before + 1)
    source.stop()
    thread.join()
    assert [event.at for event in heard.events if isinstance(event, CoresSampled)] == [1000.0, None]


def test_the_side_channel_reads_every_process_also_those_that_come_later(tmp_path: Path) -> None:
    heard, source = Heard(), SideChannel(tmp_path)
    ended = CompileEnded(module="MODULE_1+a", seconds=2.0, ok=True)
    (tmp_path / "11.jsonl").write_bytes(encode(ended) + b"\n")
    thread = threading.Thread(target=source.start, args=(heard,))
    thread.start()
    heard.wait_for(1)
    (tmp_path / "12.jsonl").write_bytes(encode(GraphDescribed(module="MODULE_1+a")) + b'\nnot json\n{"type')
    heard.wait_for(3)
    with (tmp_path / "12.jsonl").open("ab") as file:
        file.write(b'": "GraphDescribed", "module": "MODULE_2+a"}\n')
    events = heard.wait_for(4)
    source.stop()
    thread.join(60)
    assert [type(event) for event in events] == [CompileEnded, GraphDescribed, LineMalformed, GraphDescribed]
    assert [event.source for event in events] == ["worker:11", "worker:12", "worker:12", "worker:12"]


def test_the_side_channel_reads_on_while_its_folder_cannot_be_looked_at(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link, file = tmp_path / "link", tmp_path / "real" / "11.jsonl"
    link.symlink_to("real")
    line = encode(GraphDescribed(module="MODULE_1+a")) + b"\n"
    file.write_bytes(line)
    heard, source = Heard(), SideChannel(link)
    thread = threading.Thread(target=source.start, args=(heard,), daemon=True)
    thread.start()
    heard.wait_for(1)
    link.unlink()
    link.symlink_to("x" * 256)  # a name that no disk takes
    for count in (2, 3):  # the folder was looked at between the two
        with file.open("ab") as more:
            more.write(line)
        heard.wait_for(count)
    source.stop()
    thread.join(60)


def test_a_full_disk_stops_the_recording_with_one_warning_and_offsets_go_on(tmp_path: Path) -> None:
    warnings: list[str] = []
    output = OutputFile(tmp_path, warnings.append)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2, before[1]))  # as a disk that takes two bytes more
    try:
        assert [output.append(b"12345"), output.append(b"678"), output.append(b"9")] == [0, 5, 8]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    output.close()
    assert len(warnings) == 1
    assert "File too large" in warnings[0]
    assert (tmp_path / OUTPUT_NAME).read_bytes() == b"12"


def test_a_folder_of_logs_gives_its_logs_also_later_ones(tmp_path: Path) -> None:
    (tmp_path / "attempt_0" / "0").mkdir(parents=True)
    (tmp_path / "attempt_0" / "0" / "stdout.log").write_text("from rank 0\n")
    (tmp_path / "notes.bin").write_bytes(b"\0")
    feed = paths_feed(Settings(), [str(tmp_path)])
    rang = threading.Event()
    feed.start(rang.set)
    while not feed.log_tail(5):
        assert rang.wait(60)
        rang.clear()
    (tmp_path / "attempt_0" / "1").mkdir()
    (tmp_path / "attempt_0" / "1" / "stdout.log").write_text("from rank 1\n")
    while len(feed.log_tail(5)) < 2:
        assert rang.wait(60)
        rang.clear()
    feed.stop()
    assert {line.text for line in feed.log_tail(5)} == {"from rank 0", "from rank 1"}


@pytest.mark.parametrize("named", ["b.log", "logs"])
def test_a_path_that_cannot_be_looked_at_for_a_while_ends_no_other_log(tmp_path: Path, named: str) -> None:
    (tmp_path / "real" / "logs").mkdir(parents=True)
    for place in ("real/b.log", "real/logs/c.log"):
        (tmp_path / place).write_text("of another log\n")
    log, link = tmp_path / "a.log", tmp_path / named
    log.write_text("first\n")
    link.symlink_to(tmp_path / "real" / named)
    feed, rang = paths_feed(Settings(), [str(log), str(link)]), threading.Event()

    def wait_for(text: str, log: Path) -> None:
        while text not in [line.text for line in feed.log_tail(5, f"log:{log}")]:
            assert rang.wait(60)
            rang.clear()

    feed.start(rang.set)
    try:
        wait_for("of another log", link / "c.log" if named == "logs" else link)
        link.unlink()
        link.symlink_to("x" * 256)  # longer than a name may be: as a stale handle, an error that is no missing file
        for text in ("second", "third"):  # all paths were looked at between the two
            with log.open("a") as file:
                file.write(f"{text}\n")
            wait_for(text, log)
    finally:
        feed.stop()
    assert isinstance(feed, JobsFeed)
    assert [job.name for job in feed.jobs] == ["a.log", "c.log" if named == "logs" else "b.log"]


def test_a_cache_root_is_distinguished_from_a_folder_of_logs(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "cache" / "neuronxcc-2.1" / "MODULE_1+a").mkdir(parents=True)
    assert is_cache_root(tmp_path / "cache")
    assert not is_cache_root(tmp_path / "logs")
    assert not is_cache_root(tmp_path / "nowhere")


def test_a_folder_of_entries_is_a_cache_root_unless_a_job_writes_its_logs_there(tmp_path: Path) -> None:
    (tmp_path / "MODULE_123+0123abcd").mkdir()
    (tmp_path / "MODULE_123+0123abcd" / "model.log").write_text("the compiler's\n")
    assert is_cache_root(tmp_path)
    (tmp_path / "train.log").write_text("the job's\n")
    assert not is_cache_root(tmp_path)


@pytest.mark.parametrize("name", ["capture.json", "monitor.txt", "monitor.jsonl"])
def test_a_capture_is_known_by_what_is_in_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(
        b"\n" + line(record(runtime(7, neuroncore_counters=counters({0: {"neuroncore_utilization": 50}}))))
    )
    (tmp_path / "log.txt").write_text('{"level": "info"}\n')
    feed = paths_feed(Settings(), [str(path), str(tmp_path / "log.txt")])
    rang = threading.Event()
    feed.start(rang.set)
    while not (feed.read(lambda run, now: run.cores.cores) and feed.log_tail(5)):
        assert rang.wait(60)
        rang.clear()
    feed.stop()
    assert [line.text for line in feed.log_tail(5)] == ['{"level": "info"}']


def test_a_log_in_json_lines_is_no_capture(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"level": "info", "message": "step 3 of 9: loss 2.5"}\n')
    feed = paths_feed(Settings(), [str(path)])
    feed.start(lambda: None)
    feed.settle(0.0)
    feed.stop()
    assert feed.read(overview).training.step == 3


def test_why_there_is_no_telemetry_in_a_capture_is_reported(tmp_path: Path) -> None:
    heard, path = Heard(), tmp_path / "monitor.jsonl"
    source = TelemetryLog(path)
    thread = threading.Thread(target=source.start, args=(heard,))
    thread.start()
    heard.wait_for(1)
    path.write_text("step 3 of 9: loss 2.5\n")
    heard.wait_for(2)
    path.write_bytes(line(record(runtime(7, neuroncore_counters=counters({0: {"neuroncore_utilization": 25.0}})))))
    heard.wait_for_one(SourceAvailable)
    source.stop()
    thread.join()
    missing, wrong = (event for event in heard.events if isinstance(event, SourceUnavailable))
    assert missing.reason == f"no such file yet, it is read as soon as it is there: {path}"
    assert wrong.reason == f"no record of neuron-monitor in it so far: {path}"
    assert {event.name for event in heard.events if isinstance(event, SourceAvailable)} == {f"telemetry:{path}"}


@pytest.mark.parametrize("name", ["train.log", "monitor.jsonl"])
def test_a_path_without_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(NothingToShow):
        paths_feed(Settings(), [str(tmp_path / "nowhere" / name)])


@pytest.mark.parametrize("size", [64, 1000, 70_000, 1 << 20])
def test_the_lines_of_the_buffer_do_not_depend_on_the_portions_a_log_came_in(size: int) -> None:
    data = b"first\n\na\rb\n" + b"x" * 150_000 + b" done\nlast\nunfinished"
    buffer = LogBuffer()
    ingestor = LogIngestor("train.log", buffer)
    for at in range(0, len(data), size):
        ingestor.take(500 + at, data[at : at + size])
    tail = buffer.tail(9)
    assert [line.text[:5] for line in tail] == ["first", "", "b", "xxxxx", "last", "unfin"]
    assert [line.end for line in tail] == [506, 507, 511, 150_517, 150_522, 150_532]
    assert buffer.ends() == {"log:train.log": 500 + len(data)}


def _bar(step: int) -> bytes:
    return f"\r {step // 10:>2}%|{'█' * 10:<40}| {step}/1000 [00:{step % 60:02d}<10:00,  1.00s/it]".encode()


def test_the_steps_of_a_bar_are_reported_while_it_overwrites_its_line() -> None:
    now, offset, steps = 100.0, 0, list[tuple[int | None, float, int | None]]()
    buffer = LogBuffer()
    ingestor = LogIngestor("train.log", buffer, clock=lambda: now)
    for data in (b"begin\n", *map(_bar, range(200))):
        events = ingestor.take(offset, data)
        offset, now = offset + len(data), now + 1.0
        steps += [(event.step, now, event.offset) for event in events if isinstance(event, StepReported)]
    assert steps == [(step, 103.0 + step, len(b"begin\n")) for step in range(199)]  # the newest may not be whole
    events = ingestor.take(offset, _bar(200) + b"\nend\n")
    assert [event.step for event in events if isinstance(event, StepReported)] == [199, 200]
    tail = buffer.tail(9)
    assert [line.text[-32:] for line in tail] == ["begin", " 200/1000 [00:20<10:00,  1.00s/it]"[-32:], "end"]
    assert [line.offset for line in tail[:2]] == [0, len(b"begin\n")]
    assert tail[2].offset == tail[1].end == offset + len(_bar(200)) + 1


def test_dots_of_a_compiler_show_that_it_compiles_before_a_line_says_so() -> None:
    now, offset, run = 1772582400.0, 0, Run()  # 2026-03-04
    ingestor = LogIngestor("train.log", LogBuffer(), clock=lambda: now, now=lambda: now)

    def printed(data: bytes) -> None:
        nonlocal now, offset
        events = ingestor.take(offset, data)
        offset, now = offset + len(data), now + 2 * QUIET_SECONDS
        for event in (*events, *ingestor.quiet()):
            run.apply(msgspec.structs.replace(event, seen=now))
        assert ingestor.settled

    printed(g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff", "00:00:00.000000").encode())
    assert run.state(now) is JobState.RUNNING
    for number in range(1, 11):
        printed(b".")
        assert (run.state(now), run.compiles.counts.dots) == (JobState.COMPILING, number)
        now += 20.0
    end = g3(f"Compilation Successfully Completed for model.{M2}.hlo_module.pb", "00:03:24.000500")
    printed(b"\nCompiler status PASS\n" + end.encode())
    assert run.compiles.counts.dots == 10
    duration = run.compiles.graphs[M2].duration
    assert (duration.precision, duration.low) == (Precision.BRACKETED, 180.0)
    assert duration.seconds is not None
    assert 200.0 < duration.seconds < 205.0


def test_dots_behind_words_are_not_a_compilers() -> None:
    now = 100.0
    ingestor = LogIngestor("train.log", LogBuffer(), clock=lambda: now)
    ingestor.take(0, b"begin\nDownloading")
    now += LAST_LINE_SECONDS
    ingestor.quiet()
    ingestor.take(17, b"...")
    now += QUIET_SECONDS
    assert not any(isinstance(event, CompilerProgress) for event in ingestor.quiet())


def test_an_unfinished_line_is_shown_and_offsets_count_from_where_reading_began() -> None:
    buffer = LogBuffer()
    ingestor = LogIngestor("train.log", buffer)
    line = (
        b"2025-03-01 10:00:00.000123:  4242  [INFO]: Using a cached neff at "
        b"/c/neuronxcc-2.21.1+a/MODULE_1+abcdef01/model.neff"
    )
    events = ingestor.take(1000, b"before\n" + line + b"\n....")
    assert [line.text for line in buffer.tail(1)] == ["...."]
    assert next(event.offset for event in events if event.offset is not None) == 1007


FAILURE = (
    b"2026-03-04 10:00:00.000001:  41  [ERROR]: Failed compilation with "
    b"['neuronx-cc', '/tmp/model.MODULE_11112222333344445555+0a1b2c3d.hlo_module.pb']:\n"
    b"[ERROR] [NCC_EXXX001] too many teapots\n"
)


def test_what_the_end_of_a_log_reports_comes_after_a_moment_of_quiet_and_not_before() -> None:
    now = 100.0
    ingestor = LogIngestor("train.log", LogBuffer(), clock=lambda: now)
    begun = ingestor.take(0, FAILURE)
    assert not any(isinstance(event, CompileFailed) for event in begun)
    assert not ingestor.settled
    now += QUIET_SECONDS / 2
    assert ingestor.quiet() == []
    now += QUIET_SECONDS
    (failure,) = ingestor.quiet()
    assert isinstance(failure, CompileFailed)
    assert failure.offset == 0
    assert (ingestor.settled, ingestor.quiet()) == (True, [])
    assert not any(isinstance(event, CompileFailed) for event in ingestor.flush())


def test_a_followed_log_reports_a_failure_at_its_end_while_it_is_still_followed(tmp_path: Path) -> None:
    path, heard = tmp_path / "train.log", Heard()
    path.write_bytes(FAILURE)
    source = LogFiles(lambda: [path], LogBuffer())
    thread = threading.Thread(target=source.start, args=(heard,))
    thread.start()
    try:
        heard.wait_for_one(CompileFailed)
    finally:
        source.stop()
        thread.join(60)


def test_a_pipe_that_stays_open_reports_a_failure_at_its_end() -> None:
    reading, writing = os.pipe()
    heard, source = Heard(), StandardInput(LogBuffer(), reading)
    thread = threading.Thread(target=source.start, args=(heard,))
    thread.start()
    try:
        os.write(writing, FAILURE)
        heard.wait_for_one(CompileFailed)
    finally:
        source.stop()
        thread.join(60)
        os.close(writing)
        os.close(reading)


def test_a_screen_line_never_carries_an_escape_sequence() -> None:
    buffer = LogBuffer()
    buffer.add("log:x", 0, b"\x1b]0;owned\x07\x1b[31mred\x1b[0m 10%\r 20%\r\n")
    (line,) = buffer.tail(5)
    assert "\x1b" not in line.text
    assert line.text.strip() == "20%"


WITHOUT_SPACE = """
import os, resource, sys
from neuron_top.ingest.jobs_feed import JobsFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.standard_input import StandardInput
buffer = LogBuffer()
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
StandardInput(buffer, kept=True).start(lambda event: print(type(event).__name__, getattr(event, "name", "")))
print(len(buffer.tail(9000)), buffer.ends(), buffer.copies)
"""


def test_a_disk_too_small_for_the_copy_of_a_pipe_ends_the_copy_with_a_word_and_not_the_reading() -> None:
    lines = "".join(f"a line that is read, number {number}\n" for number in range(20_000))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SPACE], input=lines, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    reported = done.stdout.splitlines()
    assert reported.count("SourceUnavailable copy of standard input") == 1, done.stdout
    assert reported[-1] == "5000 {} {}"
