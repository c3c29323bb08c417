"""Facts about the nodes and their caches besides the job's events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from neuron_top.events import CoreKind
from neuron_top.run.graph import FOLDED
from neuron_top.run.model import Run
from neuron_top.store.fleet_records import Attribute, NodeKey, NodeRecord
from neuron_top.views.blame.records import RankCost
from neuron_top.views.fleet_check import differing_attributes


class NodeFacts(msgspec.Struct, kw_only=True):
    """One node of the job."""

    node: str
    run: Run
    """The run of the node's own events."""
    attributes: Mapping[str, Attribute] = {}
    clock_known: bool = False
    gone: bool = False
    """Whether its agent was stopped, or fell silent while others go on."""

    @property
    def cores(self) -> int | None:
        """Its accelerator cores; None where nobody reported it."""
        reported = self.attributes.get("cores")
        if isinstance(reported, int) and reported > 0:
            return reported
        return sum(core.kind is CoreKind.NEURON for core in self.run.cores.cores.values()) or None

    @property
    def ranks(self) -> int | None:
        """How many of the job's ranks ran on the node; the number of processes if no line names a rank."""
        workers = [worker for graph in self.run.compiles.graphs.values() for worker in graph.workers.values()]
        ranks = {rank for worker in workers if (rank := self.run.rank_of(worker)) is not None}
        ranks |= {process.rank for process in self.run.job.processes.values() if process.rank is not None}
        processes = {worker.key for worker in workers if not worker.key.endswith(("/", f"/{FOLDED}"))}
        return len(ranks) or len(processes) or None

    @property
    def cores_per_rank(self) -> float | None:
        """Accelerator cores that are idle while one rank waits or compiles."""
        cores, ranks = self.cores, self.ranks
        return cores / ranks if cores is not None and ranks is not None else None


class FleetFacts:
    """All nodes of a job, and what their agents reported of their caches."""

    def __init__(self, nodes: Sequence[NodeFacts], keys: Iterable[NodeKey]) -> None:
        self.nodes = {node.node: node for node in nodes}
        self.keys: dict[str, list[NodeKey]] = {}
        self.programs: dict[str, NodeKey] = {}
        """Key → a row that describes its graph, where an agent read it."""
        for row in keys:
            self.keys.setdefault(row.key, []).append(row)
            if row.program:
                self.programs.setdefault(row.key, row)
        self._idle = {node.node: node.cores_per_rank for node in nodes}

    def cost(self, seconds: Iterable[tuple[str, float | None]]) -> RankCost:
        """What these waits or compiles cost; each is (node, seconds of one rank)."""
        reported = list(seconds)
        known = [(node, value) for node, value in reported if value is not None]
        idle = [(self._idle.get(node), value) for node, value in known]
        core_seconds = [value * cores for cores, value in idle if cores is not None]
        return RankCost(
            seconds=sum(value for _, value in known),
            core_hours=sum(core_seconds) / 3600.0 if core_seconds or not known else None,
            without_cores=tuple(sorted({node for node, _ in known if self._idle.get(node) is None})),
            undated=len(reported) - len(known),
        )

    def differences(self, one: str, other: str) -> list[str]:
        """Attributes that change keys and differ between two nodes, in words."""
        first, second = self.nodes[one].attributes, self.nodes[other].attributes
        return [
            f"{name} is {_word(first.get(name))} on {one}, {_word(second.get(name))} on {other}"
            for name in differing_attributes(first, second)
        ]


def facts_of(
    runs: Mapping[str, Run], records: Iterable[NodeRecord], keys: Iterable[NodeKey], gone: Iterable[str]
) -> FleetFacts:
    """The facts of a job: a run for each node, and what the fleet's database knows of them."""
    described, lost = {record.node: record for record in records}, frozenset(gone)
    nodes = []
    for name, run in runs.items():
        record, reported = described.get(name), run.nodes.nodes.get(name)
        attributes: Mapping[str, Attribute] = (
            reported.attributes if reported is not None and reported.attributes else {}
        )
        offset = reported.clock_offset if reported is not None else None
        if record is not None:
            attributes = attributes or record.attributes
            offset = offset if offset is not None else record.clock_offset
        ended = reported is not None and reported.finished
        nodes.append(
            NodeFacts(
                node=name,
                run=run,
                attributes=attributes,
                clock_known=offset is not None,
                gone=name in lost or ended,
            )
        )
    return FleetFacts(nodes, keys)


def _word(value: Attribute) -> str:
    return "not set" if value is None else str(value)
