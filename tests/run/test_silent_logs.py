"""A job that is known from its log alone: what goes on counts up to the last line once the log is silent for long."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from neuron_top import events as ev
from neuron_top.cli.plain import progress_line
from neuron_top.ingest.assembly import paths_feed
from neuron_top.run.log_activity import SILENT_SECONDS
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.views.graphs import graph_table
from neuron_top.views.overview import overview
from neuron_top.views.verdict import freshness_text, verdict

LONG_AGO = 1_700_000_000.0
NOW = LONG_AGO + 100 * 86_400
LOG = "log:/old/train.log"


def step(at: float, seen: float) -> ev.AnyEvent:
    return ev.StepReported(step=7, loss=2.0, at=at, seen=seen, source=LOG)


def old_log(copied: float = LONG_AGO + 60) -> Run:
    run = Run()
    run.apply(step(LONG_AGO, NOW))
    run.apply(ev.OutputGrew(path="/old/train.log", end=99, lines=3, written=copied, at=LONG_AGO + 60, seen=NOW))
    return run


def test_an_old_log_counts_up_to_its_last_line_and_says_for_how_long_it_is_silent() -> None:
    view = overview(old_log(), NOW + 5)
    assert view.header.state_text == "cut off (was training)"
    assert (view.header.elapsed, view.header.last_line) == (60.0, LONG_AGO + 60)
    assert view.header.silent == NOW + 5 - (LONG_AGO + 60)
    assert view.header.over
    assert view.compile.over


def test_when_a_log_without_a_clock_began_is_unknown_where_it_was_there_before_us() -> None:
    run = Run()
    run.apply(ev.StepReported(step=7, loss=2.0, seen=NOW, source=LOG))
    assert run.seconds_since_start(NOW + 5) == 5.0
    run.apply(ev.OutputGrew(path="/old/train.log", end=99, lines=3, written=NOW - 30, seen=NOW))
    assert overview(run, NOW + 5).header.elapsed is None
    assert run.effective_now(NOW + 5) == NOW + 5


def test_lines_that_were_there_before_anybody_looked_are_no_sign_of_life() -> None:
    run = Run()
    run.apply(ev.OutputGrew(path="/old/train.log", end=0, written=NOW - 480, seen=NOW, source=LOG))
    run.apply(ev.StepReported(step=7, loss=2.0, seen=NOW, source=LOG))
    run.apply(ev.OutputGrew(path="/old/train.log", end=99, lines=3, written=NOW - 480, seen=NOW, source=LOG))
    assert freshness_text(verdict(overview(run, NOW + 5))) == "last heard 8 m ago"
    run.apply(ev.OutputGrew(path="/old/train.log", end=120, lines=4, seen=NOW + 6, source=LOG))
    assert freshness_text(verdict(overview(run, NOW + 7))) == "live"


def test_a_copy_of_an_old_log_is_as_old_as_its_lines() -> None:
    header = overview(old_log(copied=NOW), NOW + 5).header
    assert (header.elapsed, header.last_line) == (60.0, LONG_AGO + 60)
    assert header.silent is not None


def test_a_compile_that_an_old_log_breaks_off_in_is_not_counted_on() -> None:
    run = old_log()
    run.apply(ev.CompileBegan(module="MODULE_1+a", at=LONG_AGO + 50, seen=NOW))
    row = graph_table(run, NOW).rows[0]
    assert (row.state, row.elapsed) == ("interrupted", 10.0)


def test_a_log_that_grew_under_our_eyes_goes_on_until_it_is_silent_for_long() -> None:
    run = old_log()
    run.apply(ev.OutputGrew(path="/old/train.log", end=120, lines=4, seen=NOW))
    assert run.silent(NOW + SILENT_SECONDS) is None
    assert run.effective_now(NOW + 10) == NOW + 10
    assert run.silent(NOW + SILENT_SECONDS + 1) == SILENT_SECONDS + 1
    assert run.effective_now(NOW + SILENT_SECONDS + 1) == NOW


def test_a_pipe_that_was_closed_is_silent_at_once() -> None:
    run = Run()
    run.apply(ev.OutputGrew(path="-", end=10, lines=1, seen=NOW))
    run.apply(ev.OutputGrew(path="-", end=10, lines=1, seen=NOW, closed=True))
    assert run.silent(NOW + 1) == 1.0


def test_a_job_of_our_own_or_one_with_processes_is_never_called_silent() -> None:
    ours, seen = old_log(), old_log()
    ours.apply(ev.RunStarted(run="r", name="job", command=("train.py",), at=LONG_AGO))
    seen.apply(ev.ProcessSeen(pid=4711, role="worker", seen=NOW))
    for run in (ours, seen):
        assert run.silent(NOW) is None
        assert run.effective_now(NOW) == NOW


def test_a_file_that_is_followed_is_as_old_as_its_last_line_and_new_when_it_grows(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("2024-01-02 03:04:05 first\n2024-01-02 03:05:05 last\n")
    feed = paths_feed(Settings(), [str(log)])
    feed.start(lambda: None)
    try:
        feed.settle(30.0)
        header = feed.read(overview).header
        assert header.silent is not None
        assert header.silent > 86_400
        assert header.elapsed is None or header.elapsed <= 60.0
        with log.open("a") as out:
            out.write("a new line\n")
        for _ in range(3000):
            if feed.read(overview).header.silent is None:
                break
            feed.settle(0.1)
        assert feed.read(overview).header.silent is None
    finally:
        feed.stop()


def test_lines_after_the_clock_was_set_back_do_not_begin_the_job_before_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    clocks = [*range(0, 1000, 10), *range(-2600, -1600, 10)]  # an hour back, after a thousand seconds
    lines = (datetime.fromtimestamp(LONG_AGO + clock, UTC).isoformat(sep=" ") for clock in clocks)
    path.write_text("".join(f"{line} step {step} loss 2.5\n" for step, line in enumerate(lines)))
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(path)])
    feed.start(lambda: None)
    feed.settle(0.0)
    feed.stop()
    assert feed.read(lambda run, now: run.started) == LONG_AGO
    assert feed.read(overview).header.elapsed == 990.0  # it took longer, which is not known; a report says "at least"


def test_a_progress_line_says_that_a_log_is_still_read() -> None:
    run = Run()
    run.apply(ev.OutputGrew(path="/old/train.log", end=0, size=400, written=LONG_AGO, seen=NOW, source=LOG))
    assert progress_line(overview(run, NOW)) == "reading its log: 0 % of 400 B"
    run.apply(step(LONG_AGO, NOW))
    run.apply(ev.OutputGrew(path="/old/train.log", end=100, size=400, written=LONG_AGO, seen=NOW, source=LOG))
    assert "training · reading its log: 25 % of 400 B · step 7" in progress_line(overview(run, NOW))
