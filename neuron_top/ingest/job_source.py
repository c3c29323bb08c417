"""A job of many nodes as a source: reads from the fleet's database what its agents ship, woken by LISTEN/NOTIFY."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

from neuron_top.errors import NeuronTopError, NothingToShow
from neuron_top.events import (
    AnyEvent,
    ClockMeasured,
    CoreKind,
    CoreSample,
    CoresSampled,
    SourceAvailable,
    SourceUnavailable,
)
from neuron_top.run.model import Run
from neuron_top.store.fleet_records import Cursor, NodeNow
from neuron_top.store.job_merge import JobMerge
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.records import rows_named
from neuron_top.telemetry.source import Emit
from neuron_top.views.fleet import worst_nodes

LOOK_SECONDS = 5.0
MOST_NODES_WITH_CORES = 64
"""If a job has more nodes, only the worst are shown with their cores; the fleet's screen opens those of any node."""
WORST_NODES = 16
_KEPT_NODES = 32
"""A node that was among the worst stays until there are more than this: cores shall not come and go all the time."""
_ONLY_THE_WORST = (
    "of {:,} nodes only the {} worst are shown: slow ones, then those with the least busy or the fullest core; "
    "screen 7 opens the cores of any node"
)
_LONGEST_PAUSE = 30.0
_RESTS = 4.0
"""Rest after reading a job's events, as a multiple of the time that this took: a thousand nodes wake us all the time,
and shall not keep the database busy."""
_LONGEST_REST = 0.5
_PORTION = 256
"""Events that are published at once: waiting for the run's lock for each of them costs more than applying them."""


class JobSource:
    """One job, from its beginning on."""

    def __init__(
        self, store: FleetStore, job: str, publish_all: Callable[[Sequence[AnyEvent]], None] | None = None
    ) -> None:
        """`publish_all` takes many events at once; without it they are emitted one by one."""
        self.name = f"job {job}"
        self._publish_all = publish_all
        self._store, self._job = store, job
        self._merge, self._cursor = merge_of(store, job), Cursor()
        self._stopped = threading.Event()
        self._looked = float("-inf")
        self._worst: list[str] = []
        """Nodes whose cores are shown if not all are; the last ones were among the worst most recently."""
        self._sampled: dict[str, float] = {}
        self._is_reached = False

    def start(self, emit: Emit) -> None:
        """Emit what is stored and what arrives, until stopped; retries while the database cannot be reached."""
        pause = 0.0
        while not self._stopped.is_set():
            try:
                for woken in self._store.listen(self._stopped):
                    if woken in (None, self._job):
                        began = time.monotonic()
                        self._read(emit)
                        self._stopped.wait(min(_LONGEST_REST, _RESTS * (time.monotonic() - began)))
                    if pause or not self._is_reached:
                        emit(SourceAvailable(name=self.name, detail=self._store.place))
                    self._is_reached, pause = True, 0.0
            except NeuronTopError as problem:
                pause = min(_LONGEST_PAUSE, max(1.0, 2 * pause))
                emit(SourceUnavailable(name=self.name, reason=str(problem)))
                self._stopped.wait(pause)
        self._store.close()

    def stop(self) -> None:
        """End."""
        self._stopped.set()

    def _read(self, emit: Emit) -> None:
        for page in stored(self._store, self._job, self._cursor, self._merge):
            for first in range(0, len(page), _PORTION):
                self._publish(page[first : first + _PORTION], emit)
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._looked = time.monotonic()
            self._look(emit)

    def _publish(self, portion: Sequence[AnyEvent], emit: Emit) -> None:
        if self._publish_all is not None:
            self._publish_all(portion)
        else:
            for event in portion:
                emit(event)

    def _look(self, emit: Emit) -> None:
        """Emit the clock offset of every node, and the newest samples of those that are shown."""
        nodes = self._store.nodes(self._job)
        for node in nodes:
            if node.clock_offset is not None:
                emit(ClockMeasured(node=node.node, at=node.seen, source="agent", offset_seconds=node.clock_offset))
        devices = {node.node for node in nodes if node.attributes.get("devices")}
        few = len(nodes) <= MOST_NODES_WITH_CORES
        shown = self._store.now(self._job, cores=True) if few else self._of_worst(len(nodes), emit)
        for now in shown:
            if now.at > self._sampled.get(now.node, 0.0) and now.cores:
                self._sampled[now.node] = now.at
                emit(samples_of(now, CoreKind.NEURON if now.node in devices else CoreKind.LOCAL))

    def _of_worst(self, count: int, emit: Emit) -> list[NodeNow]:
        """The cores of the nodes that are worst now, or were a moment ago."""
        if not self._worst:
            emit(SourceUnavailable(name="other cores", reason=_ONLY_THE_WORST.format(count, WORST_NODES)))
        worst = worst_nodes(self._store.now(self._job), WORST_NODES)
        self._worst = [*(node for node in self._worst if node not in worst), *worst][-_KEPT_NODES:]
        found = (self._store.node_now(node, self._job) for node in self._worst)
        return [one for one in found if one is not None]


def merge_of(store: FleetStore, job: str) -> JobMerge:
    """A `JobMerge` of a job's nodes by the database's clock."""
    return JobMerge(
        job, lambda: {node.node: node.clock_offset for node in store.nodes() if node.clock_offset is not None}
    )


def stored(store: FleetStore, job: str, cursor: Cursor, merge: JobMerge) -> Iterator[list[AnyEvent]]:
    """The merged events after `cursor`, which moves on, a page at a time.

    Use all of a page before the next one is read: if that fails, nothing that the cursor has passed is lost.
    """
    while news := store.news(job, cursor):
        yield [event for batch in news for event in merge.merged(batch.node, batch.spool, batch.events)]


def merged_run(store: FleetStore, job: str, history_seconds: float, into: Run | None = None) -> Run:
    """The run of a job over all its nodes, up to now. `into`: a new run that takes the events.

    Raises NothingToShow, StoreUnusable.
    """
    run, name = Run(history_seconds) if into is None else into, find_job(store, job)
    for page in stored(store, name, Cursor(), merge_of(store, name)):
        for event in page:
            run.apply(event)
    return run


class NodeRuns:
    """A run for each node of a job, of that node's events alone, by the database's clock."""

    def __init__(self, store: FleetStore, job: str, history_seconds: float) -> None:
        self.job = job
        self.runs: dict[str, Run] = {}
        self._store, self._history_seconds = store, history_seconds
        self._merges: dict[str, JobMerge] = {}
        self._cursor = Cursor()

    def read(self) -> dict[str, Run]:
        """Read what has come since the last time; returns the runs as they are now. Raises StoreUnusable."""
        while news := self._store.news(self.job, self._cursor):
            for batch in news:
                run = self.runs.setdefault(batch.node, Run(self._history_seconds))
                merge = self._merges.setdefault(batch.node, merge_of(self._store, self.job))
                for event in merge.merged(batch.node, batch.spool, batch.events):
                    run.apply(event)
        return self.runs


def find_job(store: FleetStore, job: str) -> str:
    """The id of the one job that `job` stands for (see `rows_named`). Raises NothingToShow."""
    found = [row.run for row in rows_named(store.jobs(named=job), job, lambda row: (row.run, row.name))]
    if len(found) > 1:
        raise NothingToShow(f"{store.place}: {len(found)} jobs begin with {job!r}: {', '.join(found[:5])}")
    if not found:
        raise NothingToShow(f"{store.place}: no job {job!r}; `neurontop fleet jobs` lists them")
    return found[0]


def samples_of(now: NodeNow, kind: CoreKind) -> CoresSampled:
    """The newest samples of a node's cores, from its heartbeat; a number of which nothing is known is no core."""
    known = {index for values in now.cores.values() for index, value in enumerate(values) if value is not None}
    return CoresSampled(
        node=now.node,
        at=now.at,
        source="agent",
        kind=kind,
        period=LOOK_SECONDS,
        cores=tuple(_core(now, index) for index in sorted(known)),
    )


def _core(now: NodeNow, index: int) -> CoreSample:
    def value(name: str) -> float | None:
        values = now.cores.get(name, [])
        return values[index] if index < len(values) else None

    return CoreSample(
        core=index,
        utilization=value("utilization"),
        memory=_whole(value("memory")),
        capacity=_whole(value("capacity")),
        peak=_whole(value("peak")),
        power=value("power"),
        flops=value("flops"),
    )


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None else None
