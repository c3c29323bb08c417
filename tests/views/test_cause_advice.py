"""The advice of a cause: a sentence for each code, a code for each sentence, remarks around it."""

from __future__ import annotations

import string

import pytest

from neuron_top.diagnose.advice import (
    ADAPTER_FAILED,
    DISK_FAILED,
    ERROR_LINE,
    FAILED_WITHOUT_MESSAGE,
    LAST_LINE,
    NCCL_WARNED,
    SOURCE_REFUSED,
    TORN_TRACEBACK,
    CauseAdvice,
    Remark,
)
from neuron_top.diagnose.recognizers import CASCADES, DEATHS, ROWS, ReasonGiven
from neuron_top.events.diagnosis import CauseClass
from neuron_top.ingest.advised import diagnose
from neuron_top.views import cause_advice
from neuron_top.views.cause_advice import advice_text

ALL_ROWS = (*ROWS, *DEATHS, *CASCADES)
STANDS_FOR_ROWS = {
    ADAPTER_FAILED,
    ERROR_LINE,
    FAILED_WITHOUT_MESSAGE,
    LAST_LINE,
    NCCL_WARNED,
    TORN_TRACEBACK,
    SOURCE_REFUSED,
    DISK_FAILED,
}


def test_every_code_has_a_sentence_and_every_sentence_a_code() -> None:
    assert set(cause_advice.OF_ROWS) == {row.name for row in ALL_ROWS} | STANDS_FOR_ROWS
    assert set(cause_advice.OF_CLASSES) == set(CauseClass)
    assert set(cause_advice.REMARKS) == set(Remark)
    tables = (cause_advice.OF_ROWS, cause_advice.OF_CLASSES, cause_advice.REMARKS)
    assert all(text for table in tables for text in table.values())


def test_only_rows_that_state_no_reason_say_so_by_themselves() -> None:
    without_reason = {row.name for row in ALL_ROWS if row.reason is ReasonGiven.MISSING} | STANDS_FOR_ROWS
    assert without_reason >= cause_advice.SAY_NOT_STATED


def test_a_remark_keeps_the_advice() -> None:
    for text in cause_advice.REMARKS.values():
        assert "advice" in {name for _, name, _, _ in string.Formatter().parse(text)}


def test_a_missing_reason_is_reported_once() -> None:
    for row in sorted(cause_advice.SAY_NOT_STATED):
        said = CauseAdvice(CauseClass.COMPILE_ERROR, row, frozenset({Remark.NOT_STATED}))
        assert advice_text(said) == cause_advice.OF_ROWS[row]


@pytest.mark.parametrize(
    "line",
    [
        "torch._inductor.exc.InductorError: RuntimeError: no such operator",
        "triton.compiler.errors.CompilationError: at 41:17:",
        "LoweringException: AssertionError: sizes differ",
    ],
)
def test_what_pytorchs_own_compiler_refuses_is_no_matter_of_neurons(line: str) -> None:
    (cause,) = diagnose(f"Traceback (most recent call last):\n  File 'tea.py'\n{line}\n".encode(), "log:x").causes
    assert cause.cause_class is CauseClass.COMPILE_ERROR
    assert "PyTorch's compiler" in cause.advice
    assert "NEURON" not in cause.advice


def test_remarks_stand_around_the_advice_in_their_order() -> None:
    every = CauseAdvice(CauseClass.CACHED_FAILURE, "compiler code", frozenset(Remark), 3)
    text = advice_text(every)
    order = (
        "The log does not state the reason; this is the nearest line. ",
        "The job ended with exit code 3. ",
        cause_advice.OF_CLASSES[CauseClass.CACHED_FAILURE],
        cause_advice.OF_ROWS["compiler code"],
        "; the runtime itself recommends",
    )
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert text.startswith(order[0])
