"""The agent's view of its node: names, attributes, the run that its feed adds up, and its current activity."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, TypeVar

import msgspec

from neuron_top import __version__
from neuron_top.agent.keys import KeyIndex
from neuron_top.agent.sink import SpoolSink
from neuron_top.events import ClockMeasured, NodeDescribed
from neuron_top.identity import Identity
from neuron_top.ingest.recording import measured_compiles
from neuron_top.parsers.json_fields import MOST_ITEMS
from neuron_top.run.graph import Wait
from neuron_top.run.history import median
from neuron_top.run.model import Run
from neuron_top.run.node_findings import holder_host
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import AgentCount, NodeKey, NodeNow, NodeRecord, Spread, WaitRecord
from neuron_top.store.records import CompileRecord
from neuron_top.telemetry import instance_metadata
from neuron_top.telemetry.node_attributes import Attributes, attributes
from neuron_top.views.core_metrics import CORE_METRICS
from neuron_top.views.core_rows import CoreRow, core_rows
from neuron_top.views.fleet import WORST_IS_HIGH
from neuron_top.views.rank_steps import heartbeat_rows

ATTRIBUTES_SECONDS = 60.0
OFFSET_STEP = 0.05
"""Seconds by which a clock must have moved for it to be reported again."""


View = TypeVar("View")


class Readable(Protocol):
    """Anything that adds up a node's events."""

    def read(self, view: Callable[[Run, float], View]) -> View:
        """Return `view(run, now)`, during which no event is applied."""


class Node:
    """Answers the shipper's requests about this node (see `shipper.Here`)."""

    def __init__(self, who: Identity, job: str, feed: Readable, sink: SpoolSink, settings: Settings) -> None:
        self.name, self.job = who.node.value, job
        self.address = ""
        """Where the agent serves metrics; "" nowhere."""
        self._who, self._feed, self._sink = who, feed, sink
        self._cluster = os.environ.get("SLURM_CLUSTER_NAME") or os.environ.get("NEURONTOP_CLUSTER", "")
        self._index = KeyIndex(self.name, settings.state_path)
        self._metadata: dict[str, str] = {}
        self._attributes: Attributes = {}
        self._looked = float("-inf")
        self._offset: float | None = None
        self._compiles_sent: set[tuple[str, float]] = set()
        if instance_metadata.on_ec2():  # in a thread: without an answer it takes a moment
            threading.Thread(target=self._ask, name="instance metadata", daemon=True).start()

    def _ask(self) -> None:
        self._metadata = instance_metadata.ask()
        self._looked = float("-inf")

    def describe(self) -> None:
        """Read the node's attributes again if that was long ago; a change is reported."""
        if time.monotonic() - self._looked < ATTRIBUTES_SECONDS:
            return
        self._looked = time.monotonic()
        found = attributes(self._who, metadata=self._metadata)
        if found != self._attributes:
            self._attributes = found
            self._sink.emit(NodeDescribed(node=self.name, at=time.time(), source="agent", attributes=found))

    def record(self) -> NodeRecord:
        """The description of the node."""
        self.describe()
        return NodeRecord(
            node=self.name,
            cluster=self._cluster,
            job=self.job,
            machine_id=self._who.machine,
            attributes=dict(self._attributes),
            address=self.address,
            version=__version__,
        )

    def now(self, notes: Mapping[str, int], offset: float | None) -> NodeNow:
        """The node's current activity."""
        all_notes = {**notes, AgentCount.DROPPED_EVENTS: self._sink.dropped}
        found = self._feed.read(lambda run, now: node_now(run, now, self.name, self.job, all_notes, offset))
        return msgspec.structs.replace(found, address=self.address, version=__version__)

    def waits(self) -> list[WaitRecord]:
        """The waits of its ranks for other ranks' compiles."""
        return self._feed.read(lambda run, now: list(waits_of(run, now, self.name, self.job)))

    def compiles(self) -> list[CompileRecord]:
        """Measured compiles that were not sent yet (see `compiles_sent`)."""
        measured = self._feed.read(lambda run, _now: measured_compiles(run, self.name, self.job))
        return [one for one in measured if (one.module, one.finished) not in self._compiles_sent]

    def compiles_sent(self, records: list[CompileRecord]) -> None:
        """Note that these arrived."""
        self._compiles_sent.update((one.module, one.finished) for one in records)

    def keys_known(self, rows: list[NodeKey]) -> None:
        """Take over the rows that the database has from an earlier agent of this node."""
        self._index.known(rows)

    def keys(self) -> list[NodeKey]:
        """The changes in its caches."""
        return self._index.changes(*self._feed.read(lambda run, now: (list(run.caches.roots), compiled_keys(run))))

    def keys_sent(self, rows: list[NodeKey]) -> None:
        """Note that these arrived."""
        self._index.sent(rows)

    def forget_sent(self) -> None:
        """Note that the database may have lost what arrived there."""
        self._index.forget_sent()
        self._compiles_sent.clear()

    def clock_measured(self, offset: float) -> None:
        """Note how far the node's clock is ahead of the database's; sent if it moved."""
        if self._offset is None or abs(offset - self._offset) > OFFSET_STEP:
            self._offset = offset
            self._sink.emit(ClockMeasured(node=self.name, at=time.time(), source="agent", offset_seconds=offset))


def compiled_keys(run: Run) -> frozenset[str]:
    """Keys that were compiled on the node, or are being compiled."""
    return frozenset(graph.module for graph in run.compiles.graphs.values() if graph.module and any(graph.attempts))


def node_now(run: Run, now: float, node: str, job: str, notes: dict[str, int], offset: float | None) -> NodeNow:
    """The newest samples, added up over the node's cores, and the state of its part of the job."""
    rows = [row for row in core_rows(run, now) if not row.stale]
    cores = {metric.name: [metric.value(row) for row in rows] for metric in CORE_METRICS}
    known = {name: values for name, values in cores.items() if any(value is not None for value in values)}
    waits = [now - wait.start for _, _, wait in run.compiles.totals.waits() if wait.start is not None]
    counts = run.queue.counts
    return NodeNow(
        node=node,
        at=now,
        job=job,
        phase=run.state(now),
        step=run.training.step,
        step_seconds=run.training.step_seconds,
        graphs_left=counts.remaining if counts is not None else None,
        worst_wait=max(waits, default=None),
        clock_offset=offset,
        metrics={name: _spread(rows, values, max if name in WORST_IS_HIGH else min) for name, values in known.items()},
        cores={name: _by_number(rows, values) for name, values in known.items()},
        steps=heartbeat_rows(run),
        notes=notes,
    )


def waits_of(run: Run, now: float, node: str, job: str) -> Iterator[WaitRecord]:
    """A row for each graph that processes here waited or wait for, with its lock's holder if the cache knows it."""
    for graph in run.compiles.graphs.values():
        waiting = [(worker, wait) for worker in graph.workers.values() for wait in worker.waits if wait.start]
        if not waiting or graph.module is None:
            continue
        entry = run.caches.entry(graph.module)
        yield WaitRecord(
            job=job,
            key=graph.module,
            holder_node=holder_host(entry.lock_holder or "") if entry is not None else "",
            waiter_node=node,
            ranks=len({worker.key for worker, _ in waiting}),
            seconds=sum(max(0.0, _end(wait, now) - (wait.start or 0.0)) for _, wait in waiting),
            first=min(wait.start or 0.0 for _, wait in waiting),
            last=max(_end(wait, now) for _, wait in waiting),
        )


def _end(wait: Wait, now: float) -> float:
    return wait.end if wait.end is not None else now


def _by_number(rows: list[CoreRow], values: list[float | None]) -> list[float | None]:
    """The values, each at the number of its core; as they are if a number is beyond those of cores."""
    numbers = [row.core for row in rows]
    if max(numbers) >= MOST_ITEMS:
        return values
    numbered = dict(zip(numbers, values, strict=True))
    return [numbered.get(number) for number in range(max(numbers) + 1)]


def _spread(rows: list[CoreRow], values: list[float | None], worst: Callable[[list[float]], float]) -> Spread:
    known = [(value, row.core) for row, value in zip(rows, values, strict=True) if value is not None]
    numbers = [value for value, _ in known]
    worst_core = next(core for value, core in known if value == worst(numbers))
    return Spread(low=min(numbers), median=median(numbers), high=max(numbers), worst_core=worst_core)
