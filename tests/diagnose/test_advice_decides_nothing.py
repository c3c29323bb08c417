"""Advice stands in the row that recognizes a failure; whatever it says, the same failures are found and ordered."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top.cache.model import failures
from neuron_top.cache.model.failures import FailureClass, read_failure
from neuron_top.diagnose import diagnoser, messages, ranking, recognizers
from neuron_top.diagnose.diagnoser import diagnose
from neuron_top.events.diagnosis import Diagnosis
from tests.diagnose.cases import CASES
from tests.diagnose.later_cases import LATER_CASES

OTHER_WORDS = "quite another sentence"


def diagnoses() -> list[Diagnosis]:
    return [diagnose(case.log, "log:x") for case in (*CASES, *LATER_CASES)]


def without_advice(found: list[Diagnosis]) -> list[Diagnosis]:
    return [
        msgspec.structs.replace(one, causes=tuple(msgspec.structs.replace(cause, advice="") for cause in one.causes))
        for one in found
    ]


def test_with_every_advice_changed_the_diagnosis_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    before = diagnoses()
    rows = tuple(row._replace(advice=OTHER_WORDS if row.advice else "") for row in recognizers._ALL)
    monkeypatch.setattr(recognizers, "_ALL", rows)
    for cause_class in recognizers.ADVICE:
        monkeypatch.setitem(recognizers.ADVICE, cause_class, OTHER_WORDS)
    monkeypatch.setattr(ranking, "_NOT_STATED", "")
    monkeypatch.setattr(messages, "_NO_REASON", OTHER_WORDS)
    monkeypatch.setattr(diagnoser, "_SCRATCHPAD_STEP", "")
    after = diagnoses()
    assert without_advice(after) == without_advice(before)
    said = {cause.advice for one in after for cause in one.causes}
    assert said <= {OTHER_WORDS, f"{OTHER_WORDS}. {OTHER_WORDS}"}, "a sentence that stands nowhere in the tables"


@pytest.mark.parametrize("text", ["[F137] killed", "No space left on device", "[NCC_EBVF030] too many instructions"])
def test_with_every_advice_changed_a_cached_failure_is_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = f"Failed compilation with ['neuronx-cc', 'compile']: {text}"
    before = read_failure(log)
    for cause in FailureClass:
        monkeypatch.setitem(failures.ADVICE, cause, OTHER_WORDS)
    after = read_failure(log)
    assert before is not None
    assert after == before
    assert after is not None
    assert (after.kind, after.advice) == (before.kind, OTHER_WORDS)
