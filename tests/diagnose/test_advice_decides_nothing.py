"""Diagnosing yields codes; sentences are for people: whatever they say, the same failures are found and ordered."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top.diagnose.advice import CodedDiagnosis
from neuron_top.diagnose.diagnoser import Diagnoser
from neuron_top.diagnose.recognizers import CASCADES, DEATHS, ROWS
from neuron_top.events import JobDiagnosed, OutputGrew
from neuron_top.events.diagnosis import CauseClass, Diagnosis
from neuron_top.ingest.advised import AdvisedDiagnoser
from neuron_top.ingest.log_diagnosis import LogDiagnosis
from neuron_top.run.alerts.raised import raised
from neuron_top.run.model import Run
from neuron_top.run.severity import Severity
from neuron_top.run.state import JobState
from neuron_top.views import cause_advice
from tests.diagnose.cases import CASES, Case
from tests.views.sentences import OTHER_WORDS, change_sentences

EXIT_CODES = (None, 0, 3, -9)


def in_codes(case: Case) -> list[CodedDiagnosis]:
    """The diagnoses of a log with each of the exit codes: reading it is most of the work, and the same for all."""
    diagnoser = Diagnoser("log:x")
    diagnoser.feed(case.log)
    diagnoser.flush()
    return [diagnoser.diagnosis(exit_code) for exit_code in EXIT_CODES]


def diagnoses() -> list[Diagnosis]:
    found = []
    for case in CASES:
        diagnoser = AdvisedDiagnoser("log:x")
        diagnoser.feed(case.log)
        diagnoser.flush()
        found += [diagnoser.diagnosis(exit_code) for exit_code in EXIT_CODES]
    return found


def without_advice(one: Diagnosis) -> Diagnosis:
    causes = tuple(msgspec.structs.replace(cause, advice="") for cause in one.causes)
    wait = msgspec.structs.replace(one.last_wait, advice="") if one.last_wait else msgspec.UNSET
    return msgspec.structs.replace(one, causes=causes, last_wait=wait)


def reports(case: Case) -> list[Diagnosis]:
    """What is sent of a log while it grows: only an answer that is another one than before."""
    now = 0.0
    log, sent = LogDiagnosis("log:x", lambda: now), []
    lines = case.log.splitlines(keepends=True)
    for start in range(0, len(lines), 3):
        now += 2.0
        sent += log.take(b"".join(lines[start : start + 3]))
    sent += log.end(b"")
    return [without_advice(event.diagnosis) for event in sent if isinstance(event, JobDiagnosed)]


def outcome(one: Diagnosis) -> tuple[JobState, list[tuple[str, Severity]]]:
    """How a run stands whose log has ended so, and what it is reported for."""
    run = Run()
    run.apply(JobDiagnosed(diagnosis=one, source="log:x", at=1.0))
    run.apply(OutputGrew(path="x", end=9, closed=True, source="log:x", at=1.0))
    return run.state(1e9), [(alert.key, alert.severity) for alert in raised(run, 1e9)]


def test_what_is_found_has_no_words_but_those_of_the_log() -> None:
    for case in CASES:
        for found in in_codes(case):
            assert [cause.advice for cause in found.diagnosis.causes] == [""] * len(found.advice)


def test_with_every_sentence_changed_the_diagnosis_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    before, sent = diagnoses(), [reports(case) for case in CASES]
    outcomes = [outcome(one) for one in before]
    rows = len(ROWS) + len(DEATHS) + len(CASCADES)
    assert change_sentences(monkeypatch, cause_advice) >= rows + len(CauseClass)
    after = diagnoses()
    assert {cause.advice for one in after for cause in one.causes} == {OTHER_WORDS}, "a sentence that views has not"
    assert OTHER_WORDS not in {cause.advice for one in before for cause in one.causes}
    assert list(map(without_advice, after)) == list(map(without_advice, before))
    assert [reports(case) for case in CASES] == sent
    assert [outcome(one) for one in after] == outcomes
    assert {JobState.FAILED, JobState.FINISHED} <= {state for state, _ in outcomes}
    assert any(reported for _, reported in outcomes)
