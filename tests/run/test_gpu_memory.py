"""A worker on a GPU: its core shows the memory of that, never a mixture with the host's."""

from __future__ import annotations

from neuron_top.cli.plain import overview_text, summary_text
from neuron_top.events import CoreKind, CoreSample, CoresSampled, GpuMemory, WorkerMemoryReported
from neuron_top.run.cores import Core
from neuron_top.run.model import Run
from neuron_top.views.core_rows import CoreRow, core_rows
from neuron_top.views.overview import overview
from neuron_top.views.summary import summary

HOST_BYTES = 2_000_000


def sampled(run: Run, time: float, pid: int = 7) -> None:
    """What is seen of a worker from outside: the host's memory."""
    core = CoreSample(core=0, pid=pid, memory=HOST_BYTES, peak=HOST_BYTES, utilization=0.5)
    run.apply(CoresSampled(kind=CoreKind.LOCAL, cores=(core,), period=1.0, at=time))


def said(run: Run, time: float, memory: int | None, pid: int = 7) -> None:
    """What a worker says of itself."""
    gpu = None
    if memory is not None:
        kinds = {"parameters": memory - 30, "rest": 30}
        gpu = GpuMemory(name="G", index=1, memory=memory, peak=memory + 1, capacity=1000, beside=50, kinds=kinds)
    run.apply(WorkerMemoryReported(pid=pid, kinds={"rest": HOST_BYTES}, gpu=gpu, at=time))


def only(run: Run, time: float) -> CoreRow:
    (row,) = core_rows(run, time)
    return row


def core_of(run: Run) -> Core:
    (core,) = run.cores.cores.values()
    return core


def test_a_worker_on_a_gpu_shows_the_gpus_memory() -> None:
    run = Run()
    sampled(run, 1.0)
    said(run, 1.5, memory=None)
    assert (only(run, 2.0).memory, only(run, 2.0).gpu) == (HOST_BYTES, "")
    said(run, 2.5, memory=100)
    sampled(run, 3.0)
    row = only(run, 3.0)
    assert (row.memory, row.peak, row.capacity, row.beside) == (100, 101, 1000, 50)
    assert row.headroom == 1 - (100 + 50) / 1000
    assert row.kinds == {"parameters": 70, "rest": 30}
    assert row.gpu == "GPU 1 (G)"


def test_peak_and_history_on_a_gpu_have_nothing_of_the_host() -> None:
    run = Run()
    sampled(run, 1.0)
    said(run, 1.5, memory=100)
    sampled(run, 2.0)
    sampled(run, 3.0)
    core = core_of(run)
    assert core.peak == 101
    assert max(memory for _, memory in core.recent_memory.samples()) == 100
    assert core.kind_peaks == {"parameters": 70, "rest": 30}


def test_the_memory_of_the_next_worker_is_unknown_until_it_says_so() -> None:
    run = Run()
    sampled(run, 1.0)
    said(run, 1.5, memory=100)
    sampled(run, 2.0)
    sampled(run, 3.0, pid=8)
    said(run, 3.5, memory=None, pid=8)
    sampled(run, 4.0, pid=8)
    row = only(run, 4.0)
    assert (row.memory, row.kinds, row.beside, row.peak) == (None, {}, 0, 101)
    said(run, 4.5, memory=60, pid=8)
    sampled(run, 5.0, pid=8)
    assert (only(run, 5.0).memory, only(run, 5.0).peak) == (60, 101)


def test_plain_text_says_on_which_gpu_memory_is() -> None:
    run = Run()
    sampled(run, 1.0)
    assert "GPU" not in summary_text(summary(run, 2.0), "") + overview_text(overview(run, 2.0))
    said(run, 1.5, memory=100)
    sampled(run, 2.0)
    assert "100 B of 1.0 KiB on GPU 1 (G), peak 101 B" in overview_text(overview(run, 2.0))
    assert "peak memory  of the GPU, core 0: 101 B" in summary_text(summary(run, 2.0), "")
