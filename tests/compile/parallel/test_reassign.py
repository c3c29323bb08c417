"""What follows a task that did not end well, and what memory a task asks for."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult, Fault
from neuron_top.compile.parallel.executor import EntryTask
from neuron_top.compile.parallel.history import MARGIN, MemoryHistory, Peak
from neuron_top.compile.parallel.reassign import FIRST_MEMORY, MOST_ATTEMPTS, next_attempt

GIB = 1024**3
TASK = EntryTask(graph=CollectedGraph(path=Path("/c/v/MODULE_1/model.hlo_module.pb"), module="MODULE_1"), memory=GIB)


def failed(fault: Fault, *, node: str = "n2", peak: int | None = None) -> CompileResult:
    return CompileResult(ok=False, seconds=1.0, message="so it was", fault=fault, node=node, peak_rss_bytes=peak)


def test_a_compile_that_was_killed_for_memory_asks_for_more():
    again = next_attempt(TASK, failed(Fault.MEMORY, peak=3 * GIB))
    assert again is not None
    assert (again.memory, again.attempt, again.avoid) == (6 * GIB, 2, frozenset())
    blind = next_attempt(msgspec.structs.replace(TASK, memory=None), failed(Fault.MEMORY))
    assert blind is not None
    assert blind.memory == FIRST_MEMORY


def test_a_node_that_cannot_compile_is_avoided_and_a_lost_task_is_submitted_as_it_was():
    elsewhere = next_attempt(TASK, failed(Fault.NODE))
    assert elsewhere is not None
    assert elsewhere.avoid == {"n2"}
    assert next_attempt(TASK, failed(Fault.LOST)) == msgspec.structs.replace(TASK, attempt=2)


@pytest.mark.parametrize("fault", [Fault.GRAPH, Fault.CACHE])
def test_what_ends_the_same_everywhere_is_not_submitted_again(fault):
    assert next_attempt(TASK, failed(fault)) is None
    assert next_attempt(TASK, CompileResult(ok=True, seconds=1.0)) is None


@pytest.mark.parametrize("fault", list(Fault))
def test_a_task_that_goes_on_failing_is_given_up(fault):
    task, attempts = TASK, 1
    while (again := next_attempt(task, failed(fault, node=f"n{attempts}"))) is not None:
        task, attempts = again, attempts + 1
    assert attempts <= MOST_ATTEMPTS


def test_without_a_finished_compile_the_sites_default_holds():
    assert MemoryHistory().request(100) is None


def test_memory_follows_compiles_of_similar_size_and_grows_past_the_largest():
    history = MemoryHistory([Peak(100, GIB), Peak(1000, 8 * GIB)])
    assert history.request(90) == round(MARGIN * GIB)
    assert history.request(900) == round(MARGIN * 8 * GIB)
    assert history.request(2000) == round(MARGIN * 16 * GIB)
    assert history.request(None) == round(MARGIN * 8 * GIB)


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 2**40)), min_size=1),
    st.integers(0, 10**7),
    st.integers(0, 10**7),
)
def test_more_operators_never_ask_for_less(peaks, one, other):
    history = MemoryHistory(Peak(*peak) for peak in peaks)
    fewer, more = (history.request(count) for count in sorted((one, other)))
    assert fewer is not None
    assert more is not None
    assert fewer <= more
