"""This node as its agent knows it: names, attributes, and the run that its feed adds up."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from neuron_top import __version__
from neuron_top.agent.keys import KeyIndex
from neuron_top.agent.now import node_now, waits_of
from neuron_top.agent.sink import SpoolSink
from neuron_top.events import ClockMeasured, NodeDescribed
from neuron_top.identity import Identity
from neuron_top.ingest.recording import measured_compiles
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import NodeKey, NodeNow, NodeRecord, WaitRecord
from neuron_top.store.records import CompileRecord
from neuron_top.telemetry import instance_metadata
from neuron_top.telemetry.node_attributes import Attributes, attributes

ATTRIBUTES_SECONDS = 60.0
OFFSET_STEP = 0.05
"""Seconds by which a clock must have moved to be told again."""


View = TypeVar("View")


class Readable(Protocol):
    """What adds up a node's events."""

    def read(self, view: Callable[[Run, float], View]) -> View:
        """`view(run, now)` while no event is applied."""


class Node:
    """What the shipper asks (see `shipper.Here`)."""

    def __init__(
        self, who: Identity, job: str, feed: Readable, sink: Callable[[], SpoolSink | None], settings: Settings
    ) -> None:
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
        if instance_metadata.on_ec2():  # beside: where nobody answers it takes a moment
            threading.Thread(target=self._ask, name="instance metadata", daemon=True).start()

    def _ask(self) -> None:
        self._metadata = instance_metadata.ask()
        self._looked = float("-inf")

    def describe(self) -> None:
        """Look at the node's attributes where that was long ago; a change is told."""
        if time.monotonic() - self._looked < ATTRIBUTES_SECONDS:
            return
        self._looked = time.monotonic()
        found = attributes(self._who, metadata=self._metadata)
        sink = self._sink()
        if found != self._attributes and sink is not None:
            self._attributes = found
            sink.tell(NodeDescribed(node=self.name, at=time.time(), source="agent", attributes=found))

    def record(self, offset: float | None) -> NodeRecord:
        """The node as it is described."""
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
        """What it does now."""
        sink = self._sink()
        told = {**notes, "dropped_events": sink.dropped if sink is not None else 0}
        return self._feed.read(lambda run, now: node_now(run, now, self.name, self.job, told, offset))

    def waits(self) -> list[WaitRecord]:
        """Who waits for whom."""
        return self._feed.read(lambda run, now: list(waits_of(run, now, self.name, self.job)))

    def compiles(self) -> list[CompileRecord]:
        """Compiles whose time was measured, of which `compiles_sent` was not told yet."""
        measured = self._feed.read(lambda run, _now: measured_compiles(run, self.name, self.job))
        return [one for one in measured if (one.module, one.finished) not in self._compiles_sent]

    def compiles_sent(self, records: list[CompileRecord]) -> None:
        """These arrived."""
        self._compiles_sent.update((one.module, one.finished) for one in records)

    def keys(self) -> list[NodeKey]:
        """What changed in its caches."""
        return self._index.changes(*self._feed.read(lambda run, now: (list(run.caches.roots), compiled_keys(run))))

    def keys_sent(self, rows: list[NodeKey]) -> None:
        """These arrived."""
        self._index.sent(rows)

    def clock_measured(self, offset: float) -> None:
        """Its clock is so far ahead of the database's: told where it moved."""
        sink = self._sink()
        if sink is not None and (self._offset is None or abs(offset - self._offset) > OFFSET_STEP):
            self._offset = offset
            sink.tell(ClockMeasured(node=self.name, at=time.time(), source="agent", offset_seconds=offset))


def compiled_keys(run: Run) -> frozenset[str]:
    """Keys that were compiled there, or are."""
    return frozenset(graph.module for graph in run.compiles.graphs.values() if graph.module and any(graph.attempts))
