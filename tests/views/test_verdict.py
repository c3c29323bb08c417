"""The verdict: one job in one line, whatever became of it."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.events.diagnosis import Cause, CauseClass, Confidence, Diagnosis, JobEnd
from neuron_top.events.levels import LogLevel
from neuron_top.run.alerts.alert import AlertKind
from neuron_top.run.log_activity import ENDED_WELL_SECONDS, SILENT_SECONDS
from neuron_top.run.model import Run
from neuron_top.views.diagnosis import sentence_part
from neuron_top.views.overview import overview
from neuron_top.views.verdict import (
    Freshness,
    Verdict,
    VerdictState,
    alerts_besides_failure,
    freshness_text,
    progress_text,
    title_text,
    verdict,
    verdict_lines,
)
from tests.tui.feeds import START, StillFeed, job, samples, steps

NOW = 1_700_000_000.0
LOG = "log:/jobs/train.log"


def run_of(*events: ev.AnyEvent, log: bool = True, seen: float = NOW) -> Run:
    run = Run()
    grew = [ev.OutputGrew(path="/jobs/train.log", end=9, lines=1, source=LOG)] if log else []
    for event in (*events, *grew):
        run.apply(msgspec.structs.replace(event, seen=event.seen if event.seen is not None else seen))
    return run


def at(run: Run, now: float, **options: bool) -> Verdict:
    return verdict(overview(run, now), **options)


def step(number: int, at: float, loss: float | None = 2.5) -> ev.StepReported:
    return ev.StepReported(step=number, total_steps=200, loss=loss, at=at, step_seconds=3.0, source=LOG)


def ended(how: JobEnd, *causes: Cause) -> ev.JobDiagnosed:
    return ev.JobDiagnosed(diagnosis=Diagnosis(failed=bool(causes), job_ended=how, causes=causes), source=LOG)


CAUSE = Cause(CauseClass.RUNTIME_OOM, 12, 99, LOG, "failed to allocate", 3, (0,), Confidence.HIGH, "shrink it", ())


def test_training_reports_progress_and_remaining_time() -> None:
    one = at(run_of(*(step(number, NOW + number) for number in range(1, 41))), NOW + 41)
    assert (one.state, one.progress, one.freshness) == (VerdictState.TRAINING, 0.2, Freshness.LIVE)
    assert one.left is not None
    assert one.left.low == one.left.high == 160 * 3.0
    assert progress_text(one) == "20 % · ETA 8 m 00 s"
    assert "step 40 of 200" in one.reason
    assert title_text(one) == "● 20 % train.log – neurontop"
    assert freshness_text(at(run_of(step(1, NOW)), NOW + 12)) == "live, 12 s ago"
    late = at(run_of(step(1, NOW)), NOW + 90)
    assert (late.freshness, freshness_text(late)) == (Freshness.LATE, "last heard 1 m ago")


def test_a_job_that_printed_no_step_and_named_no_graph_has_not_printed_nothing() -> None:
    feed = StillFeed(job(), now=START + 9)
    assert feed.read(overview_reason) == "4 workers, nothing printed yet"
    feed.push(ev.OutputGrew(path="/jobs/train.log", end=40, lines=1, seen=START + 8, source="log:/jobs/train.log"))
    assert feed.read(overview_reason) == "4 workers, no graph and no step yet"


def overview_reason(run: Run, now: float) -> str:
    return verdict(overview(run, now)).reason


def test_compiling_waiting_and_serving_are_distinguished() -> None:
    began = ev.CompileBegan(module="MODULE_1+a", pid=1, rank=0, at=NOW, source=LOG)
    waits = ev.LockWaited(module="MODULE_1+a", pid=2, rank=1, at=NOW, source=LOG)
    compiling = at(run_of(began, waits), NOW + 30)
    assert compiling.state is VerdictState.COMPILING
    assert "1 graph under way" in compiling.reason
    assert "1 worker waiting" in compiling.reason
    assert "under way for 30 s" in compiling.reason
    asked = ev.CachePathAnnounced(path="/c", generation=ev.LogGeneration.G1, at=NOW, source=LOG)
    dots = ev.CompilerProgress(dots=3, source=LOG)
    assert "1 graph under way for at most 30 s" in at(run_of(asked, dots), NOW + 30).reason, "it was asked for then"
    waiting = at(run_of(waits), NOW + 30)
    assert waiting.state is VerdictState.WAITING
    assert "MODULE_1+a" in waiting.reason
    assert "held by" in waiting.reason
    serving = ev.StepReported(throughput=120.0, throughput_unit="tokens/s", at=NOW, source=LOG)
    assert at(run_of(serving), NOW + 1).state is VerdictState.SERVING


@pytest.mark.parametrize("closed", [False, True])
def test_a_log_that_reports_a_good_end_is_completed_and_not_live(closed: bool) -> None:
    run = run_of(step(200, NOW), ended(JobEnd.FINISHED))
    if closed:
        run.apply(ev.OutputGrew(path="/jobs/train.log", end=9, lines=1, closed=True, seen=NOW, source=LOG))
    else:
        assert at(run, NOW + 1).state is VerdictState.TRAINING
    one = at(run, NOW + ENDED_WELL_SECONDS + 1)
    assert (one.state, one.freshness, one.left) == (VerdictState.COMPLETED, Freshness.ENDED, None)
    assert freshness_text(one).startswith("ended ")
    assert title_text(one) == "✓ completed train.log – neurontop"


def test_a_failed_job_says_the_cause_and_shows_nothing_at_work() -> None:
    began = ev.CompileBegan(module="MODULE_1+a", pid=1, rank=0, at=NOW, source=LOG)
    view = overview(run_of(began, ended(JobEnd.FAILED, CAUSE)), NOW + 600)
    one = verdict(view)
    assert (one.state, one.severity, one.freshness) == (VerdictState.FAILED, "error", Freshness.ENDED)
    assert one.reason.startswith("device memory ran out: failed to allocate")
    assert one.next_step == "shrink it"
    assert "job failed" not in one.alert, "it is told once"
    assert (view.compile.running, view.compile.waiting, view.compile.interrupted) == ((), (), 1)


def test_a_log_that_just_stops_is_cut_off_and_says_what_it_did() -> None:
    one = at(run_of(step(3, NOW)), NOW + SILENT_SECONDS + 5)
    assert one.state is VerdictState.CUT_OFF
    assert "no end seen; it was training" in one.reason
    assert one.next_step


def test_a_followed_log_in_a_long_compile_is_not_cut_off() -> None:
    began = ev.CompileBegan(module="MODULE_1+a", pid=1, rank=0, at=NOW, source=LOG)
    assert at(run_of(began), NOW + 2 * SILENT_SECONDS).state is VerdictState.COMPILING


def test_errors_that_nothing_explains_are_an_alert() -> None:
    error = ev.LineMarked(level=LogLevel.ERROR, text="something odd", at=NOW, source=LOG)
    one = at(run_of(step(3, NOW), error, error), NOW + 1)
    assert one.alert == "error lines that nothing explains: 2 in the log, the last: something odd"


def test_where_no_job_is_known_cores_at_work_are_told() -> None:
    def reason(utilization: float | None, until: float = NOW + 1) -> str:
        core = ev.CoreSample(core=0, utilization=utilization)
        return at(run_of(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=(core,), at=NOW), log=False), until).reason

    assert reason(0.254) == "1 core seen, up to 25 % busy, no job known"
    assert reason(0.0) == reason(None) == reason(0.254, NOW + 600) == "1 core seen, no job"


def test_a_machine_with_nothing_or_old_telemetry_is_idle() -> None:
    nothing = at(Run(), NOW)
    assert (nothing.state, nothing.age, freshness_text(nothing)) == (VerdictState.IDLE, None, "live")
    looked = at(run_of(ev.SourceUnavailable(name="sysfs", reason="no device", at=NOW), log=False), NOW + 150)
    assert (looked.state, freshness_text(looked)) == (VerdictState.IDLE, "live"), "nothing is there to be heard of"
    sample = ev.CoresSampled(
        kind=ev.CoreKind.NEURON, cores=(ev.CoreSample(core=0, utilization=0.5),), at=NOW - 86_400 * 40, seen=NOW
    )
    old = at(run_of(sample, log=False), NOW)
    assert (old.state, old.freshness) == (VerdictState.IDLE, Freshness.ENDED)
    assert freshness_text(old) == "ended 40 d ago"


def test_a_job_of_a_fleet_that_sent_nothing_is_not_said_to_have_an_empty_log() -> None:
    run = Run()
    run.job.listed_name = "llama-70b"
    seen = at(run, NOW)
    assert (seen.state, seen.name) == (VerdictState.IDLE, "llama-70b")
    assert seen.reason == "none of its agents has sent anything yet"
    assert "neurontop fleet nodes" in seen.next_step


def test_a_recording_that_is_played_is_a_replay() -> None:
    assert freshness_text(at(run_of(step(1, NOW)), NOW, replayed=True)) == "replay"


def test_as_text_the_state_comes_first() -> None:
    lines = verdict_lines(at(run_of(ended(JobEnd.FAILED, CAUSE)), NOW + 60))
    assert lines[0].startswith("FAILED train.log · device memory ran out")
    assert lines[1] == "next: shrink it"


def test_memory_of_cores_that_no_longer_report_is_not_told_as_that_of_now() -> None:
    feed = StillFeed([*job(), *samples(4, 60), *steps(60)], now=START + 60)
    assert "HBM at most" in verdict(feed.read(overview)).reason
    assert "HBM" not in verdict(feed.read(lambda run, now: overview(run, now + 30))).reason


@pytest.mark.parametrize("message", [CAUSE.text, "another graph's own failure"])
def test_the_alert_of_the_compile_that_failed_the_job_is_reported_once_and_of_another_one_too(message: str) -> None:
    failed = ev.CompileFailed(module="MODULE_1+a", message=message, pid=1, rank=0, at=NOW + 9, source=LOG)
    view = overview(run_of(failed, ended(JobEnd.FAILED, CAUSE)), NOW + 600)
    assert {alert.kind for alert in view.alerts} >= {AlertKind.JOB_FAILED, AlertKind.COMPILE_FAILED}
    told = [alert.kind for alert in view.alerts if alert not in alerts_besides_failure(view)]
    assert told == [AlertKind.JOB_FAILED, AlertKind.COMPILE_FAILED][: 2 if message == CAUSE.text else 1]


@pytest.mark.parametrize("line", ["no room left:", "no room left: ,", "no room left"])
def test_a_line_of_a_log_ends_without_its_colon_inside_a_sentence(line: str) -> None:
    assert sentence_part(line) == "no room left"


def test_a_log_that_is_still_read_has_not_ended_where_the_reader_is() -> None:
    def grew(end: int) -> ev.OutputGrew:
        return ev.OutputGrew(path="/jobs/train.log", end=end, lines=9, written=NOW, size=4 << 20, source=LOG)

    began = NOW - 9 * SILENT_SECONDS  # the job has run for long, and goes on
    run = run_of(grew(0), log=False)
    assert at(run, NOW).reason == "reading its log: 0 % of 4.0 MiB"
    for event in (*(step(number, began + number) for number in range(1, 9)), grew(1 << 20)):
        run.apply(msgspec.structs.replace(event, seen=NOW))
    one = at(run, NOW)
    assert (one.state, one.freshness) == (VerdictState.TRAINING, Freshness.LIVE)
    assert one.reason.startswith("reading its log: 25 % of 4.0 MiB · step 8 of 200")
    assert (one.progress, one.left) == (None, None), "they are of another time"
    assert overview(run, NOW).header.elapsed == pytest.approx(7.0)
    assert at(run, NOW + 60).state is VerdictState.CUT_OFF, "nobody reads on"
    run.apply(msgspec.structs.replace(grew(4 << 20), seen=NOW + 1))
    assert at(run, NOW + 1).state is VerdictState.CUT_OFF


def test_the_end_that_a_log_states_in_its_middle_is_not_that_of_its_job() -> None:
    written = NOW - 9 * SILENT_SECONDS
    for how, cause, state in (
        (JobEnd.FAILED, (CAUSE,), VerdictState.FAILED),
        (JobEnd.FINISHED, (), VerdictState.COMPLETED),
    ):
        grew = ev.OutputGrew(path="/jobs/train.log", end=10, lines=9, written=written, size=20, source=LOG)
        run = run_of(grew, step(8, written - 60), ended(how, *cause), log=False)
        assert at(run, NOW).state is VerdictState.TRAINING
        run.apply(msgspec.structs.replace(grew, end=20, seen=NOW))
        assert at(run, NOW).state is state
