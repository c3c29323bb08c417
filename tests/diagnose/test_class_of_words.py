"""The class of a failure that no row knows, by what its words are about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.diagnose.advice import TORN_TRACEBACK
from neuron_top.diagnose.class_of_words import class_of
from neuron_top.diagnose.recognizers import ROWS, Weight
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.events.diagnosis import CauseClass, Confidence

UNKNOWN = CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.MESSAGE, "", Confidence.LOW)
SAID = (
    ("interrupted", "The brewing was cancelled by the user"),
    ("runtime_oom", "TeaError: not enough GPU memory for 7 cups"),
    ("runtime_oom", "pot.cpp:7: 'tea_memory_allocation_error': no room for a stream"),
    ("host_oom", "brewer: insufficient virtual memory for the index"),
    ("collective", "kettle: all_gather of 7 cups timed out"),
    ("compile_error", "Brewer: compilation of graph 7 failed"),
    ("compile_error", "failed to legalize operation 'tea.pour'"),
    ("compile_error", "tea/mlir/lib/Pour.cpp:7: kettle::Lid is not shut"),
    ("missing_dependency", "pour: could not find a kettle installation"),
    ("missing_dependency", "Library libtea.so.7 is missing"),
    ("runtime_init", "No v7 device found"),
    ("runtime_init", "unable to open device 3"),
    ("runtime_exec", 'DriverError(CUDA_ERROR_TEA, "unknown error")'),
    ("network", "The server closed the line, and the connection was reset"),
    ("network", "java.net.UnknownHostException: tea.example"),
    ("tool_error", "Disk quota of the group is used up"),
    ("bad_usage", "the lid is shut. Use --open to lift it"),
    ("bad_usage", "unknown option '--kettle'"),
    ("script_error", "the kettle has no lid"),
)


@pytest.mark.parametrize(("cause_class", "text"), SAID)
def test_an_unknown_failure_has_the_class_that_its_words_are_about(cause_class: str, text: str) -> None:
    assert class_of(UNKNOWN, text) == cause_class


@given(st.sampled_from([text for _, text in SAID]), st.sampled_from(["ValueError", "KeyError", "tea.TypeError"]))
def test_a_mistake_of_the_program_stays_its_own(text: str, raised: str) -> None:
    assert class_of(UNKNOWN, f"{raised}: {text}") is CauseClass.SCRIPT_ERROR


@pytest.mark.parametrize(
    "verdict",
    [
        UNKNOWN._replace(cause_class=CauseClass.NETWORK),
        UNKNOWN._replace(row=ROWS[0]),
        UNKNOWN._replace(exit_code=1),
        UNKNOWN._replace(advice=TORN_TRACEBACK),
    ],
    ids=["known class", "known row", "known by its exit code", "a line of a traceback that is cut off"],
)
def test_what_is_known_otherwise_keeps_its_class(verdict: CauseVerdict) -> None:
    assert class_of(verdict, "unknown option '--kettle'") is verdict.cause_class
