"""Each log of our own: verdict, cause, class and end."""

from __future__ import annotations

import pytest

from neuron_top.ingest.advised import diagnose
from tests.diagnose.cases import CASES, Case
from tests.diagnose.eighth_cases import EIGHTH_CASES
from tests.diagnose.fifth_cases import FIFTH_CASES
from tests.diagnose.fourth_cases import FOURTH_CASES
from tests.diagnose.later_cases import LATER_CASES
from tests.diagnose.ninth_cases import NINTH_CASES
from tests.diagnose.seventh_cases import SEVENTH_CASES
from tests.diagnose.sixth_cases import SIXTH_CASES
from tests.diagnose.tenth_cases import TENTH_CASES
from tests.diagnose.third_cases import THIRD_CASES


@pytest.mark.parametrize(
    "case",
    [
        *CASES,
        *LATER_CASES,
        *THIRD_CASES,
        *FOURTH_CASES,
        *FIFTH_CASES,
        *SIXTH_CASES,
        *SEVENTH_CASES,
        *EIGHTH_CASES,
        *NINTH_CASES,
        *TENTH_CASES,
    ],
    ids=lambda case: case.name,
)
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
