"""Each log of our own: verdict, cause, class and end."""

from __future__ import annotations

import pytest

from neuron_top.ingest.advised import diagnose
from tests.diagnose.cases import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_cause_of_a_log_is_named(case: Case) -> None:
    diagnosis = diagnose(case.log, "log:x")
    cause = diagnosis.cause
    said = ("" if cause is None else cause.cause_class.value, 0 if cause is None else cause.line)
    assert said == (case.cause_class, case.line), diagnosis.causes
    assert diagnosis.failed == bool(case.cause_class)
    if case.ended:
        assert diagnosis.job_ended == case.ended
    if case.recovered:
        assert diagnosis.recovered
