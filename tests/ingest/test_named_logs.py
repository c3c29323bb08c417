"""Logs that a person names: read as they are before a state is printed, given up when nobody waits; their clocks."""

from __future__ import annotations

import itertools
import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from neuron_top.events import AnyEvent, OutputGrew, StepReported
from neuron_top.ingest.assembly import paths_feed
from neuron_top.ingest.followed_logs import WAITING_SECONDS, LogFiles
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_ingestor import LogIngestor
from neuron_top.parsers import timestamps
from neuron_top.processes.tail import CHUNK_BYTES
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.views.overview import Overview, overview

FORMS = [
    "{} - INFO - step {} of 100: loss 2.5",
    "[{}] step {} of 100: loss 2.5",
    "INFO {} step {} of 100: loss 2.5",
    "[rank0]:[{}][INFO] step {} of 100: loss 2.5",
    "[NeMo I {} trainer:3] step {} of 100: loss 2.5",
]


def log(path: Path, began: float, form: str = FORMS[0], *, seconds: int = 60) -> Path:
    """A job's own log: a step a minute, twenty of them; the file changed when its last line was written."""
    moments = [began + seconds * step for step in range(20)]
    stamps = [datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S,000") for moment in moments]
    path.write_text("".join(form.format(stamp, step) + "\n" for step, stamp in enumerate(stamps)))
    os.utime(path, (moments[-1], moments[-1]))
    return path


def overview_of(path: Path, state: Path) -> Overview:
    feed = paths_feed(Settings(state_dir=str(state)), [str(path)])
    feed.start(lambda: None)
    try:
        feed.settle(60.0)
        return feed.read(overview)
    finally:
        feed.stop()


@pytest.mark.parametrize("form", FORMS)
def test_a_log_without_any_line_of_neurons_lasted_as_long_as_its_loggers_clock_says(form: str, tmp_path: Path) -> None:
    seen = overview_of(log(tmp_path / "train.log", time.time() - 90 * 86_400, form), tmp_path / "state")
    assert (seen.header.elapsed, seen.training.step) == (19 * 60.0, 19)


@pytest.mark.parametrize("hours", [-8, 0, 2, 5.5])
def test_a_log_that_is_written_now_by_a_clock_of_another_zone_began_minutes_ago(hours: float, tmp_path: Path) -> None:
    now = time.time()
    path = log(tmp_path / "train.log", now - 19 * 60 + hours * 3600)
    os.utime(path, (now, now))
    seen = overview_of(path, tmp_path / "state")
    assert seen.header.elapsed is not None
    assert 19 * 60 - 1 <= seen.header.elapsed < 25 * 60


@pytest.mark.parametrize(
    ("ago", "lasted"), [(90 * 86_400, 19 * 60.0), (19 * 60 + 7, None), (19 * 60 + 8 * 3600 + 1, None)]
)
def test_in_a_pipe_stamps_are_times_where_the_first_is_of_long_ago(
    ago: float, lasted: float | None, tmp_path: Path
) -> None:
    """Of the last two, one is the beginning of a log that is written now, one that of a logger of another zone."""
    now = time.time()
    text = log(tmp_path / "train.log", now - ago).read_bytes()
    if lasted is None:
        text = text.splitlines(keepends=True)[-1]
    events = LogIngestor("-", LogBuffer()).take(0, text)
    steps = [event for event in events if isinstance(event, StepReported)]
    if lasted is None:
        assert [event.at for event in steps] == [None]
    else:
        assert steps[0].at is not None
        assert steps[-1].at is not None
        assert steps[-1].at - steps[0].at == lasted


@pytest.mark.parametrize(
    "line",
    ["step 1 loss 2.5, best was that of 2026-01-01 10:01:00", "model trained 2026-01-01 10:01:00 step 1 loss: 2.5"],
)
def test_a_time_in_a_sentence_is_no_clock(line: str) -> None:
    assert timestamps.leading(line) is None


def test_all_of_a_long_log_is_read_before_its_state_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {step} of 60000: loss 2.5\n" for step in range(60_001)))
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(path)])
    feed.start(lambda: None)
    feed.settle(0.0)
    feed.stop()
    assert feed.read(overview).training.step == 60_000


def test_how_far_a_long_log_was_read_is_known_until_all_of_it_was(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {step} of 60000: loss 2.5\n" for step in range(60_001)))
    source, run, shares = LogFiles(lambda: [path], LogBuffer()), Run(), []

    def take(event: AnyEvent) -> None:
        run.apply(msgspec.structs.replace(event, seen=time.time()))
        if (unread := run.silence.unread(time.time())) is not None:
            shares.append(unread.read / unread.size)
        elif isinstance(event, OutputGrew):
            source.stop()

    source.start(take)
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert 0.1 < shares[-1] < 1
    assert run.training.step == 60_000
    assert run.silence.unread(time.time()) is None


def test_a_log_that_waits_until_others_are_read_is_reported_again_and_again(tmp_path: Path) -> None:
    paths = [tmp_path / "a.log", tmp_path / "b.log"]
    for path in paths:
        path.write_text("".join(f"step {step} of 60000: loss 2.5\n" for step in range(60_001)))
    clock, ends = itertools.count(0.0, 2 * WAITING_SECONDS), list[int]()
    source = LogFiles(lambda: paths, LogBuffer(), clock=lambda: next(clock))

    def take(event: AnyEvent) -> None:
        if isinstance(event, OutputGrew) and event.path == str(paths[1]):
            ends.append(event.end)
            if event.end == event.size:
                source.stop()

    source.start(take)
    chunks = -(-paths[0].stat().st_size // CHUNK_BYTES)
    assert ends.count(0) >= chunks  # after each part of the first log, else it is "no line yet" after ten seconds
    assert 0 not in ends[ends.count(0) :]


def test_a_log_that_is_still_read_is_given_up_when_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {step} of 200000: loss 2.5\n" for step in range(200_000)))
    source = LogFiles(lambda: [path], LogBuffer())
    events: list[AnyEvent] = []

    def stop_at_the_first(event: AnyEvent) -> None:
        events.append(event)
        if isinstance(event, StepReported):
            source.stop()

    source.start(stop_at_the_first)
    steps = [event.step for event in events if isinstance(event, StepReported)]
    assert source.is_behind
    assert 0 < len(steps) < 100_000


def test_a_path_that_becomes_a_folder_is_no_longer_missing(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(folder)])
    feed.start(lambda: None)
    while not feed.read(overview).sources:
        time.sleep(0.05)
    (folder / "0").mkdir(parents=True)
    (folder / "0" / "stdout.log").write_text("step 1 of 2: loss 2.5\n")
    while feed.read(overview).training.step is None:
        time.sleep(0.05)
    feed.stop()
    assert [source.available for source in feed.read(overview).sources] == [True]


def test_a_file_in_the_place_of_a_folder_is_read(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.mkdir()
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(path)])
    feed.start(lambda: None)
    feed.settle(0.0)
    path.rmdir()
    path.write_text("step 1 of 2: loss 2.5\n")
    until = time.monotonic() + 30.0
    while feed.read(overview).training.step is None and time.monotonic() < until:
        time.sleep(0.05)
    feed.stop()
    seen = feed.read(overview)
    assert (seen.training.step, [source.available for source in seen.sources]) == (1, [True])


def test_logs_of_a_folder_that_are_too_many_to_be_read_are_counted_aloud(tmp_path: Path) -> None:
    logs = [tmp_path / f"rank{rank:04}.log" for rank in range(502)]
    for path in logs:
        path.write_text("step 1 of 2: loss 2.5\n")
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(tmp_path)])
    feed.start(lambda: None)
    feed.settle(0.0)
    reported = feed.read(overview).sources
    assert [(source.name, source.available) for source in reported] == [(f"log:{logs[500]}", False)]
    assert reported[0].text == f"2 logs are not read, beside 500: {logs[500]}, …; name the ones to read"
    for path in logs[500:]:
        path.unlink()
    while not all(source.available for source in feed.read(overview).sources):
        time.sleep(0.05)
    feed.stop()


def test_what_came_since_the_last_look_is_read_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("step 1 of 2: loss 2.5\n")
    source = LogFiles(lambda: [path], LogBuffer())
    events: list[AnyEvent] = []
    reading = threading.Thread(target=source.start, args=(events.append,))
    reading.start()
    while source.is_behind:
        time.sleep(0.01)
    with path.open("a") as file:
        file.write("step 2 of 2: loss 2.5\n")
    source.stop()
    reading.join()
    assert [event.step for event in events if isinstance(event, StepReported)] == [1, 2]


def test_a_line_without_a_stamp_that_comes_now_is_of_now_whatever_stands_before_it(tmp_path: Path) -> None:
    path = log(tmp_path / "train.log", time.time() - 86_400)
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(path)])
    feed.start(lambda: None)
    try:
        feed.settle(60.0)
        for step in (20, 21):
            with path.open("a") as file:
                file.write(f"step {step} of 100: loss 2.5\n")
            until = time.monotonic() + 60
            while feed.read(overview).training.step != step and time.monotonic() < until:
                time.sleep(0.02)
            time.sleep(0.3)  # until the log was said to have grown
        seen = feed.read(overview)
    finally:
        feed.stop()
    assert seen.training.step == 21
    assert seen.training.since_last is not None
    assert seen.training.since_last < 60


def test_lines_without_a_clock_that_were_there_give_no_step_time_and_those_that_come_now_do(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {step} of 100: loss 2.5\n" for step in range(20)))
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(path)])
    feed.start(lambda: None)
    try:
        feed.settle(60.0)
        assert feed.read(overview).training.step_seconds is None
        for step in range(20, 24):
            with path.open("a") as file:
                file.write(f"step {step} of 100: loss 2.5\n")
            until = time.monotonic() + 60
            while feed.read(overview).training.step != step and time.monotonic() < until:
                time.sleep(0.02)
            time.sleep(0.15)
        seen = feed.read(overview).training.step_seconds
    finally:
        feed.stop()
    assert seen is not None
    assert 0.1 < seen < 60


def test_a_log_that_is_not_there_or_empty_is_reported_as_awaited_until_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(path)])

    def told() -> list[tuple[bool, str]]:
        sources = feed.read(overview).sources
        return [(source.available, source.text) for source in sources if source.name == f"log:{path}"]

    def until(is_there: bool) -> str:
        end = time.monotonic() + 60
        while not (found := [text for available, text in told() if available is is_there]):
            assert time.monotonic() < end, told()
            time.sleep(0.05)
        return found[0]

    feed.start(lambda: None)
    try:
        assert "no such file yet" in until(False)
        path.touch()
        until_said = time.monotonic() + 60
        while "the file is empty" not in until(False):
            assert time.monotonic() < until_said, told()
            time.sleep(0.05)
        log(path, time.time() - 19 * 60)
        until(True)
    finally:
        feed.stop()
