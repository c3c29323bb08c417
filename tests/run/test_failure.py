"""Whether a job has failed, as its logs, its exit code and our clock report."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.events.diagnosis import CauseClass, Confidence, Diagnosis, JobEnd
from neuron_top.run.alerts.alert import AlertKind
from neuron_top.run.alerts.raised import raised
from neuron_top.run.log_activity import QUIET_SECONDS, SILENT_SECONDS
from neuron_top.run.model import Run
from neuron_top.run.state import JobState
from neuron_top.views.alerts import alerts
from neuron_top.views.diagnosis import headline
from neuron_top.views.overview import overview
from neuron_top.views.report import report
from neuron_top.views.summary import summary
from tests.tui.feeds import diagnosed

NOW = 1_790_000_000.0
LOG = "log:/jobs/train.log"


def growing(*, failed: bool = True, end: JobEnd = JobEnd.FAILED, seen: float = NOW) -> Run:
    """A log that last grew at `seen`."""
    run = Run()
    reported = diagnosed(failed=failed).diagnosis
    run.apply(ev.StepReported(step=7, loss=2.0, at=NOW - 60, seen=NOW - 60, source=LOG))
    run.apply(ev.OutputGrew(path="/jobs/train.log", end=99, lines=3, seen=seen, source=LOG))
    run.apply(
        ev.JobDiagnosed(
            diagnosis=Diagnosis(
                failed=reported.failed, recovered=reported.recovered, job_ended=end, causes=reported.causes
            ),
            source=LOG,
            seen=seen,
        )
    )
    return run


def kinds(run: Run, now: float) -> list[AlertKind]:
    return [alert.kind for alert in raised(run, now)]


def test_a_log_that_says_how_the_job_ended_has_failed_once_nothing_more_comes() -> None:
    run = growing()
    assert (run.state(NOW + 1), kinds(run, NOW + 1)) == (JobState.TRAINING, [])
    assert (run.state(NOW + QUIET_SECONDS), kinds(run, NOW + QUIET_SECONDS)) == (
        JobState.FAILED,
        [AlertKind.JOB_FAILED],
    )


@pytest.mark.parametrize(
    ("failed", "end", "state"),
    [
        (True, JobEnd.UNKNOWN, JobState.FAILED),
        (False, JobEnd.FINISHED, JobState.FINISHED),
        (False, JobEnd.UNKNOWN, JobState.CUT_OFF),
    ],
)
def test_once_the_agents_of_all_nodes_have_stopped_the_logs_decide_at_once(
    failed: bool, end: JobEnd, state: JobState
) -> None:
    run = growing(failed=failed, end=end)
    for node in ("n1", "n2"):
        run.apply(ev.NodeDescribed(node=node, at=NOW - 60))
    run.apply(ev.ProcessSeen(node="n1", pid=7, at=NOW - 60))
    run.apply(ev.AgentStopped(node="n1", at=NOW))
    assert run.state(NOW + 1) is JobState.TRAINING
    run.apply(ev.AgentStopped(node="n2", at=NOW))
    assert run.state(NOW + 1) is state
    run.apply(ev.NodeDescribed(node="n2", at=NOW + 2))  # started again
    assert run.state(NOW + 3) is JobState.TRAINING


def test_a_failure_behind_which_the_log_pauses_is_an_alert_and_the_state_waits_for_silence() -> None:
    run = growing(end=JobEnd.UNKNOWN)
    assert (run.state(NOW + 60), kinds(run, NOW + 60)) == (JobState.TRAINING, [AlertKind.JOB_FAILED])
    assert run.state(NOW + SILENT_SECONDS + 1) is JobState.FAILED


def test_a_pipe_that_was_closed_behind_a_failure_has_failed_at_once() -> None:
    run = growing(end=JobEnd.UNKNOWN)
    run.apply(ev.OutputGrew(path="-", end=9, lines=1, seen=NOW, closed=True))
    assert run.state(NOW) is JobState.FAILED


def test_a_log_that_goes_on_behind_its_failure_clears_the_alert() -> None:
    run = growing()
    run.apply(ev.JobDiagnosed(diagnosis=Diagnosis(), source=LOG, seen=NOW + 20))
    assert (run.state(NOW + 60), kinds(run, NOW + 60)) == (JobState.TRAINING, [])


def test_a_failed_log_is_failed_everywhere_and_counts_up_to_its_last_line() -> None:
    run = growing()
    later = NOW + 290 * 86_400
    head, closing, written = overview(run, later).header, summary(run, later), report(run, later)
    assert (head.state, head.state_text, head.active, head.over) == (JobState.FAILED, "failed", False, True)
    assert head.elapsed == closing.wall_seconds == 60.0
    assert (closing.state_text, closing.errors, written.state) == ("failed", 4, "failed")
    assert written.end is not None
    assert written.start is not None
    assert written.end - written.start == 60.0
    assert written.diagnosis == closing.diagnosis == overview(run, later).diagnosis == run.job.diagnosis


def test_a_job_of_our_own_fails_by_its_exit_code_not_by_what_its_log_says() -> None:
    run = growing()
    run.apply(ev.RunStarted(run="r", name="job", command=("train.py",), at=NOW - 90, seen=NOW - 90))
    assert run.state(NOW + 60) is JobState.TRAINING
    assert kinds(run, NOW + 1) == []
    assert kinds(run, NOW + 60) == [AlertKind.JOB_FAILED]
    run.apply(ev.RunFinished(run="r", exit_code=1, at=NOW + 61))
    assert run.state(NOW + 62) is JobState.FAILED
    assert kinds(run, NOW + 62) == [AlertKind.JOB_FAILED]


def test_what_a_person_stopped_raises_no_alert() -> None:
    run = growing()
    run.apply(ev.RunFinished(run="r", exit_code=-2, interrupted_by="SIGINT", at=NOW + 61))
    assert kinds(run, NOW + 62) == []


def test_what_a_person_stopped_has_the_signal_as_its_cause_unless_its_log_states_one() -> None:
    ended = ev.RunFinished(run="r", exit_code=-2, interrupted_by="SIGINT", at=NOW + 61)
    (stated, *_) = diagnosed(failed=True).diagnosis.causes
    guessed = msgspec.structs.replace(stated, cause_class=CauseClass.SCRIPT_ERROR, advice="search", stated=False)
    for cause, signal in ((guessed, "SIGINT"), (stated, msgspec.UNSET)):
        told = ev.JobDiagnosed(diagnosis=Diagnosis(failed=True, causes=(cause,)), source="log:a")
        for events in ((told, ended), (ended, told)):
            run = Run()
            for event in events:
                run.apply(event)
            assert run.job.diagnosis is not None
            assert (run.job.diagnosis.failed, run.job.diagnosis.interrupted_by) == (True, signal)
            assert (run.job.diagnosis.causes == (cause,)) is (cause is stated)


def test_the_alert_says_the_cause_and_the_next_step_and_comes_first() -> None:
    run = growing()
    run.apply(ev.CompileFailed(module="MODULE_1+a", message="broken", at=NOW - 60, pid=1))
    found = alerts(run, NOW + 60)
    assert [alert.kind for alert in found] == [AlertKind.JOB_FAILED, AlertKind.COMPILE_FAILED]
    assert "the compiler rejected a graph: [NCC_EVRF031]" in found[0].evidence
    assert "(line 1,203)" in found[0].evidence
    assert found[0].next_step.startswith("Change the model")


def test_a_failure_without_a_cause_is_known_by_its_exit_status() -> None:
    run = Run()
    run.apply(ev.JobDiagnosed(diagnosis=Diagnosis(failed=True, job_ended=JobEnd.FAILED), source=LOG, seen=NOW))
    run.apply(ev.RunFinished(run="r", exit_code=3, at=NOW))
    (alert,) = alerts(run, NOW)
    assert alert.evidence == "exit status 3"


def test_of_several_logs_of_a_job_one_that_failed_is_enough() -> None:
    run = growing(failed=False, end=JobEnd.FINISHED)
    other = diagnosed(source="log:/jobs/rank1.log")
    run.apply(other)
    assert run.job.diagnosis is not None
    assert run.job.diagnosis.failed
    assert run.job.diagnosis.causes[0].source == "log:/jobs/rank1.log"


@pytest.mark.parametrize(
    ("over", "confidence", "begins"),
    [
        (True, Confidence.LOW, "failed: "),
        (True, Confidence.HIGH, "failed: "),
        (False, Confidence.HIGH, "so far failed: "),
        (False, Confidence.LOW, None),
    ],
)
def test_the_headline_of_a_job_that_goes_on_reports_only_what_is_nearly_certain(
    over: bool, confidence: Confidence, begins: str | None
) -> None:
    reported = diagnosed().diagnosis
    cause = msgspec.structs.replace(reported.causes[0], confidence=confidence)
    found = headline(msgspec.structs.replace(reported, causes=(cause,)), over=over)
    assert (found is None) == (begins is None)
    assert found is None or found.text.startswith(begins or "")


def test_nothing_went_wrong_is_no_headline() -> None:
    assert headline(Diagnosis(job_ended=JobEnd.FINISHED), over=True) is None
    assert headline(None, over=True) is None


@pytest.mark.parametrize(("code", "said"), [(3, "exit status 3"), (-11, "signal 11")])
def test_the_alert_of_a_job_that_says_nothing_names_its_signal_or_its_exit_status(code: int, said: str) -> None:
    run = Run()
    run.apply(ev.RunStarted(run="r", command=("train",), source="job", at=NOW))
    run.apply(ev.RunFinished(run="r", exit_code=code, at=NOW + 1))
    assert [alert.evidence for alert in alerts(run, NOW + 2)] == [said]
