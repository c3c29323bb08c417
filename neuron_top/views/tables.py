"""A run as plain tables, a row per thing, for notebooks. Seconds, bytes, shares 0…1; times since the epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TypedDict

import msgspec

from neuron_top.events import AnyEvent, CoresSampled, StepReported
from neuron_top.run.graph import Graph, GraphState, Precision, WorkerGraph
from neuron_top.run.model import Run
from neuron_top.views.graphs import GraphRow, graph_table
from neuron_top.views.waits import waited_seconds


class LookupKind(StrEnum):
    """What a worker's lookup of a graph came to."""

    HIT = "hit"
    MISS = "miss"
    CACHED_FAILURE = "cached failure"
    EXTRACTED = "extracted"


class LookupCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often one worker's lookups of one graph came to one result; the counts add up to those of the screens."""

    graph: str
    module: str | None
    node: str
    rank: int | None
    pid: int | None
    result: LookupKind
    count: int
    after_wait: int
    """Of these hits, the ones that came after waiting for another's compile."""
    time: float | None
    """Moment of the newest, where a log reported it."""


class CompileRow(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the compiler."""

    graph: str
    module: str | None
    node: str
    rank: int | None
    pid: int | None
    start: float | None
    end: float | None
    seconds: float | None
    """An upper bound where `precision` is `bracketed`."""
    precision: Precision
    outcome: str
    """"" while it runs, then `done`, `failed`, `interrupted`."""
    exit_status: int | None
    code: str | None
    """The compiler's own code of the failure, as NCC_EVRF001."""
    message: str
    peak_rss: int | None
    """Most memory of the compiler's process, bytes."""
    artifact: int | None
    """Bytes of what it made."""


class WaitRow(msgspec.Struct, frozen=True, kw_only=True):
    """One wait of one worker for another's lock of a graph."""

    graph: str
    module: str | None
    node: str
    rank: int | None
    pid: int | None
    start: float | None
    end: float | None
    """None while it goes on."""
    seconds: float | None


class SampleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One sample of one core."""

    time: float | None
    node: str
    source: str
    core: int
    device: int | None
    rank: int | None
    pid: int | None
    utilization: float | None
    """Share of the time since the sample before, 0…1."""
    memory: int | None
    """Bytes in use."""
    capacity: int | None
    """Bytes that there are."""
    power: float | None
    """Share of the device's maximum power, 0…1."""
    flops: float | None
    """Floating-point operations a second."""


class MemoryKindRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of memory took on one core in one sample."""

    time: float | None
    node: str
    core: int
    device: int | None
    rank: int | None
    pid: int | None
    kind: str
    """`tensors`, `model_code`, `constants`, `scratchpad`, `runtime`, … as the source names it."""
    bytes: int


class StepRow(msgspec.Struct, frozen=True, kw_only=True):
    """One report of a training step, as the program printed it."""

    time: float | None
    node: str
    rank: int | None
    step: int | None
    total_steps: int | None
    epoch: float | None
    loss: float | None
    learning_rate: float | None
    throughput: float | None
    throughput_unit: str
    seconds: float | None
    """Duration of the step."""
    extracting: bool
    """Printed while graphs are extracted: nothing was computed, the numbers mean nothing."""


class EventTables:
    """Collects every sample and every step, of which a run keeps only sums. `add` it each event that the run
    applies."""

    def __init__(self) -> None:
        self.samples: list[SampleRow] = []
        self.memory_kinds: list[MemoryKindRow] = []
        self.steps: list[StepRow] = []

    def add(self, event: AnyEvent, *, extracting: bool) -> None:
        """Take one event, with its time as the run places it."""
        if isinstance(event, CoresSampled):
            self._sample(event)
        elif isinstance(event, StepReported):
            self.steps.append(
                StepRow(
                    time=event.time,
                    node=event.node,
                    rank=event.rank,
                    step=event.step,
                    total_steps=event.total_steps,
                    epoch=event.epoch,
                    loss=event.loss,
                    learning_rate=event.learning_rate,
                    throughput=event.throughput,
                    throughput_unit=event.throughput_unit,
                    seconds=event.step_seconds,
                    extracting=extracting,
                )
            )

    def _sample(self, event: CoresSampled) -> None:
        for core in event.cores:
            self.samples.append(
                SampleRow(
                    time=event.time,
                    node=event.node,
                    source=event.kind,
                    core=core.core,
                    device=core.device,
                    rank=core.rank,
                    pid=core.pid,
                    utilization=core.utilization,
                    memory=core.memory,
                    capacity=core.capacity,
                    power=core.power,
                    flops=core.flops,
                )
            )
            self.memory_kinds.extend(
                MemoryKindRow(
                    time=event.time,
                    node=event.node,
                    core=core.core,
                    device=core.device,
                    rank=core.rank,
                    pid=core.pid,
                    kind=kind,
                    bytes=size,
                )
                for kind, size in core.kinds.items()
            )


def graph_rows(run: Run, now: float) -> list[GraphRow]:
    """A row per graph, in the order in which the run first met them."""
    return list(graph_table(run, now).rows)


def lookup_counts(run: Run) -> list[LookupCount]:
    """Results of lookups by graph and worker; those that never happened have no row."""
    return [
        LookupCount(
            **_who(run, graph, worker),
            result=kind,
            count=count,
            after_wait=worker.hits_after_wait if kind is LookupKind.HIT else 0,
            time=time,
        )
        for graph, worker in _workers(run)
        for kind, count, time in _results(worker)
        if count
    ]


def _results(worker: WorkerGraph) -> Iterator[tuple[LookupKind, int, float | None]]:
    newest: Callable[[GraphState], float | None] = lambda state: worker.since if worker.state is state else None  # noqa: E731
    starts = [attempt.start for attempt in worker.attempts if attempt.start is not None]
    yield LookupKind.HIT, worker.hits, newest(GraphState.HIT)
    yield LookupKind.MISS, len(worker.attempts), max(starts, default=None)
    yield LookupKind.CACHED_FAILURE, worker.failures_met, newest(GraphState.CACHED_FAILURE)
    yield LookupKind.EXTRACTED, worker.extractions, newest(GraphState.EXTRACTED)


def compile_rows(run: Run) -> list[CompileRow]:
    """A row per call of the compiler, graph by graph."""
    rows = []
    for graph, worker in _workers(run):
        for attempt in worker.attempts:
            duration = attempt.duration
            rows.append(
                CompileRow(
                    **_who(run, graph, worker),
                    start=attempt.start,
                    end=attempt.end,
                    seconds=duration.seconds,
                    precision=duration.precision,
                    outcome=attempt.outcome or "",
                    exit_status=attempt.exit_status,
                    code=attempt.code,
                    message=attempt.message,
                    peak_rss=attempt.peak_rss_bytes,
                    artifact=attempt.artifact_bytes,
                )
            )
    return rows


def wait_rows(run: Run, now: float) -> list[WaitRow]:
    """A row per wait for a lock. `seconds` of one that goes on is up to `now`."""
    until = run.effective_now(now)
    return [
        WaitRow(**_who(run, graph, worker), start=wait.start, end=wait.end, seconds=waited_seconds(wait, until))
        for graph, worker in _workers(run)
        for wait in worker.waits
    ]


class _Who(TypedDict):
    graph: str
    module: str | None
    node: str
    rank: int | None
    pid: int | None


def _who(run: Run, graph: Graph, worker: WorkerGraph) -> _Who:
    return _Who(graph=graph.key, module=graph.module, node=worker.node, rank=run.rank_of(worker), pid=worker.pid)


def _workers(run: Run) -> Iterator[tuple[Graph, WorkerGraph]]:
    for graph in run.compiles.graphs.values():
        for worker in graph.workers.values():
            yield graph, worker
