"""A run over many nodes: what one node reports says nothing of another, and costs no more where there are more."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from neuron_top.events import (
    AnyEvent,
    CachePathAnnounced,
    CompileBegan,
    CompilerPassed,
    CompileStarted,
    EventsFolded,
    LockWaited,
    LogGeneration,
    ProcessExited,
    ProcessRole,
    ProcessSeen,
    RunFinished,
)
from neuron_top.run.graph import AttemptOutcome, GraphState
from neuron_top.run.job import GONE_KEPT
from neuron_top.run.model import Run

A = "MODULE_1111111111111111+aaaaaaaa"


def busy(nodes: int) -> Run:
    """Each node has a process that is gone, one that compiles, one that waits for it, and an unanswered lookup."""
    run = Run()
    for number in range(nodes):
        node = f"n{number}"
        run.apply(ProcessSeen(pid=7, node=node, at=1.0, role=ProcessRole.WORKER))
        run.apply(ProcessExited(pid=7, node=node, at=2.0))
        run.apply(ProcessSeen(pid=8, node=node, at=2.0, role=ProcessRole.WORKER))
        run.apply(CompileBegan(module=A, pid=8, node=node, at=3.0))
        run.apply(LockWaited(module=A, pid=9, node=node, at=4.0))
        run.apply(CachePathAnnounced(path="/cache", pid=10, node=node, at=4.0, generation=LogGeneration.G1))
    return run


def instructions(run: Run, event: AnyEvent) -> int:
    """How many of Python's own instructions it takes to apply an event: as many on every machine."""
    count = 0

    def trace(frame: FrameType, what: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += what == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run.apply(event)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "event",
    [
        ProcessExited(pid=8, node="n1", at=9.0),
        ProcessExited(pid=9, node="n1", at=9.0),
        CompilerPassed(node="n1", at=9.0),
        LockWaited(module=A, pid=11, node="n1", at=9.0),
        ProcessSeen(pid=12, node="n1", at=9.0, role=ProcessRole.COMPILER, module=A),
        EventsFolded(count=5, node="n1", at=9.0, last=LockWaited(module=A, node="n1", at=9.0)),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_costs_as_much_in_a_run_of_four_hundred_nodes_as_of_four(event: AnyEvent) -> None:
    few, many = instructions(busy(4), event), instructions(busy(400), event)
    assert few > 50
    assert many <= few * 1.2


def test_what_a_node_reports_ends_nothing_on_another() -> None:
    run = Run()
    for node in ("n1", "n2"):
        run.apply(CompileStarted(module=A, pid=8, node=node, at=1.0))
        run.apply(LockWaited(module=A, pid=9, node=node, at=1.0))
    run.apply(CompilerPassed(node="n1", at=5.0))
    run.apply(ProcessExited(pid=9, node="n1", at=6.0))
    workers = run.compiles.graphs[A].workers
    assert [workers[f"{node}/8"].attempts[0].outcome for node in ("n1", "n2")] == [AttemptOutcome.DONE, None]
    assert [workers[f"{node}/9"].state for node in ("n1", "n2")] == [GraphState.INTERRUPTED, GraphState.WAITING]
    assert run.compiles.compiling == 1


def test_a_compiler_of_another_node_is_a_compile_of_its_own() -> None:
    run = Run()
    run.apply(CompileStarted(module=A, pid=8, node="n1", at=1.0))
    run.apply(ProcessSeen(pid=20, node="n2", at=2.0, role=ProcessRole.COMPILER, module=A))
    run.apply(ProcessSeen(pid=21, node="n1", at=2.0, role=ProcessRole.COMPILER, module=A))
    assert run.compiles.compiling == 2
    assert run.compiles.totals.misses == 2


def test_the_end_of_a_run_interrupts_what_goes_on_on_every_node() -> None:
    run = busy(3)
    run.apply(RunFinished(run="r", exit_code=1, at=9.0))
    assert run.compiles.compiling == 0
    assert not run.compiles.totals.waits()
    assert {worker.state for worker in run.compiles.graphs[A].workers.values()} == {GraphState.INTERRUPTED}


def test_of_processes_that_ended_the_newest_are_kept_and_a_number_used_again_is_a_new_one() -> None:
    run = Run()
    for pid in range(GONE_KEPT + 2):
        run.apply(ProcessSeen(pid=pid, node="n1", at=1.0))
        run.apply(ProcessExited(pid=pid, node="n1", at=2.0))
        run.apply(ProcessExited(pid=pid, node="n1", at=2.0))
    assert next(iter(run.job.processes)) == "n1/2"
    run.apply(ProcessSeen(pid=2, node="n1", at=3.0))
    run.apply(ProcessSeen(pid=-1, node="n1", at=3.0))
    run.apply(ProcessExited(pid=-1, node="n1", at=4.0))
    assert [process.pid for process in run.job.alive] == [2]
    assert len(run.job.processes) == GONE_KEPT + 1
