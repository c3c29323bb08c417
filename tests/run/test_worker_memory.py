"""A worker's account of its memory and a sample from outside are of different moments: parts and whole still agree."""

from __future__ import annotations

from neuron_top.events import CoreKind, CoreSample, CoresSampled, WorkerMemoryReported
from neuron_top.run.cores import Core
from neuron_top.run.model import Run

PARAMETERS = 40


def sampled(run: Run, time: float, memory: int, pid: int = 7) -> None:
    core = CoreSample(core=0, pid=pid, memory=memory, utilization=0.5)
    run.apply(CoresSampled(kind=CoreKind.LOCAL, cores=(core,), period=1.0, at=time))


def said(run: Run, time: float, rest: int) -> None:
    run.apply(WorkerMemoryReported(pid=7, kinds={"parameters": PARAMETERS, "rest": rest}, at=time))


def core_of(run: Run) -> Core:
    (core,) = run.cores.cores.values()
    return core


def test_the_parts_add_up_to_the_sample_whichever_came_last() -> None:
    run = Run()
    sampled(run, 1.0, 100)
    said(run, 1.5, rest=90)  # it has grown since the sample
    assert core_of(run).kinds == {"parameters": PARAMETERS, "rest": 60}
    sampled(run, 2.0, 150)
    assert core_of(run).kinds == {"parameters": PARAMETERS, "rest": 110}


def test_what_is_known_of_a_worker_that_freed_memory_stays_until_it_says_otherwise() -> None:
    run = Run()
    sampled(run, 1.0, 100)
    said(run, 1.5, rest=60)
    sampled(run, 2.0, 30)
    assert core_of(run).kinds == {"parameters": PARAMETERS, "rest": 0}


def test_the_parts_of_a_worker_are_not_those_of_the_next() -> None:
    run = Run()
    sampled(run, 1.0, 100)
    said(run, 1.5, rest=60)
    sampled(run, 2.0, 30, pid=8)
    assert core_of(run).kinds == {}
    run.apply(WorkerMemoryReported(pid=8, kinds={"parameters": 10, "rest": 20}, at=2.5))
    sampled(run, 3.0, 30, pid=8)
    assert core_of(run).kinds == {"parameters": 10, "rest": 20}


def test_a_core_that_nobody_holds_any_more_has_no_parts() -> None:
    run = Run()
    for time, core in (
        (1.0, CoreSample(core=0, pid=7, memory=100, kinds={"tensors": 90, "constants": 10})),
        (2.0, CoreSample(core=0, memory=0)),
    ):
        run.apply(CoresSampled(kind=CoreKind.NEURON, cores=(core,), period=1.0, at=time))
    assert core_of(run).kinds == {}
    assert core_of(run).kind_peaks == {"tensors": 90, "constants": 10}
