"""Checks whether every node will find every graph, by what each node's agent last reported about its caches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from neuron_top.cache.model.states import BROKEN, FAILURES, HITS, LOCKED, State
from neuron_top.run.estimate import Estimator
from neuron_top.store.fleet_records import KEY_VARIABLES, NodeKey, NodeRecord

KEY_ATTRIBUTES = ("compiler", "compiler_flags", "driver", "libneuronxla", "lnc", "runtime", "torch", "torch_neuronx")
"""Attributes of a node that change keys or what can be loaded, besides variables of the compiler."""


class Availability(StrEnum):
    """What a node has of a graph."""

    HAVE = "have"
    MISSING = "missing"
    FAILED = "failed"
    LOCKED = "locked"
    OTHER_COMPILER = "other compiler"
    UNREADABLE = "unreadable"


ADVICE = {
    Availability.MISSING: "fetch it there (neurontop cache pull), or compile it before the run (neurontop compile)",
    Availability.FAILED: "compile it again (neurontop cache retry): every rank would be served the failure",
    Availability.LOCKED: "wait for its compile, or remove the lock of a dead one (neurontop cache unlock)",
    Availability.OTHER_COMPILER: "install the same compiler on all nodes: this node would compile it by itself",
    Availability.UNREADABLE: "look at it there (neurontop cache verify): it would be compiled again, or fail",
}
_ORDER = (Availability.HAVE, Availability.LOCKED, Availability.FAILED, Availability.UNREADABLE, Availability.MISSING)
"""Where a node has several roots, the best of them counts."""


class NodeFinds(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the matrix: graphs by what the node has of them; those that it has are only counted."""

    node: str
    have: int
    lacks: dict[Availability, tuple[str, ...]]
    seen: float | None
    """When its agent last reported its caches; None: never."""


class Skew(msgspec.Struct, frozen=True, kw_only=True):
    """An attribute that changes keys and differs among the nodes: value → nodes."""

    attribute: str
    values: dict[str, tuple[str, ...]]


class CheckCost(msgspec.Struct, frozen=True, kw_only=True):
    """What it costs to launch without doing anything about it: all nodes wait for the one that compiles longest."""

    seconds: float | None
    """That its missing compiles are expected to take, from the history of compiles; None where nothing is known."""
    node: str
    """The one that is waited for."""
    node_hours: float | None
    core_hours: float | None
    """Of the nodes whose cores are known; None where those of none are."""
    unknown_graphs: tuple[str, ...]
    """Missing graphs that no past compile reports anything of: they come on top."""
    without_cores: tuple[str, ...]


class FleetCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. `graphs` counts those that were asked for."""

    graphs: int
    nodes: tuple[NodeFinds, ...]
    """The node that lacks most first."""
    skew: tuple[Skew, ...]
    cost: CheckCost | None
    """None where every node has every graph."""

    @property
    def is_known(self) -> bool:
        """Whether any node reported its caches, and there is something to ask for."""
        return bool(self.graphs) and any(node.seen is not None for node in self.nodes)

    @property
    def is_complete(self) -> bool:
        """Whether every node has every graph."""
        return self.is_known and not any(node.lacks for node in self.nodes)


def fleet_check(
    nodes: Sequence[NodeRecord],
    keys: Iterable[NodeKey],
    graphs: Collection[str],
    past: Estimator | None = None,
) -> FleetCheck:
    """Look up `graphs` (module keys; empty: every graph that some node has) on these nodes. `past`: compile times."""
    reported: dict[str, list[NodeKey]] = {node.node: [] for node in nodes}
    for row in keys:
        if row.node in reported:
            reported[row.node].append(row)
    wanted = tuple(graphs) or tuple(
        sorted({row.key for rows in reported.values() for row in rows if _availability(row) is Availability.HAVE})
    )
    usual = _usual_compilers(row for rows in reported.values() for row in rows)
    checked = [_finds(name, rows, wanted, usual) for name, rows in reported.items()]
    checked.sort(key=lambda each: (each.have, each.node))
    cost = _cost(nodes, checked, past or Estimator())
    return FleetCheck(graphs=len(wanted), nodes=tuple(checked), skew=tuple(_skew(nodes)), cost=cost)


_COMPILED_AGAIN = (Availability.MISSING, Availability.FAILED, Availability.OTHER_COMPILER, Availability.UNREADABLE)
"""States in which a node would compile a graph at launch; a locked graph is being compiled already."""


def _cost(nodes: Sequence[NodeRecord], checked: Sequence[NodeFinds], past: Estimator) -> CheckCost | None:
    lacking = {row.node: [key for kind in _COMPILED_AGAIN for key in row.lacks.get(kind, ())] for row in checked}
    missing = sorted({key for keys in lacking.values() for key in keys})
    if not missing:
        return None
    expected = {key: (span.low + span.high) / 2 for key in missing if (span := past.total(key)) is not None}
    sums = {node: sum(expected.get(key, 0.0) for key in keys) for node, keys in lacking.items()}
    slowest = max(sums, key=sums.__getitem__)
    seconds = sums[slowest] if expected else None
    cores = {
        node.node: reported
        for node in nodes
        if isinstance(reported := node.attributes.get("cores"), int) and reported > 0
    }
    hours = seconds / 3600.0 if seconds is not None else None
    return CheckCost(
        seconds=seconds,
        node=slowest if expected else "",
        node_hours=len(nodes) * hours if hours is not None else None,
        core_hours=sum(cores.values()) * hours if hours is not None and cores else None,
        unknown_graphs=tuple(key for key in missing if key not in expected),
        without_cores=tuple(sorted(node.node for node in nodes if node.node not in cores)),
    )


def _finds(node: str, rows: Sequence[NodeKey], wanted: Sequence[str], usual: Mapping[str, str]) -> NodeFinds:
    by_key: dict[str, list[NodeKey]] = {}
    for row in rows:
        by_key.setdefault(row.key, []).append(row)
    lacks: dict[Availability, list[str]] = {}
    for key in wanted:
        found = _best(by_key.get(key, ()), usual.get(key, ""))
        if found is not Availability.HAVE:
            lacks.setdefault(found, []).append(key)
    return NodeFinds(
        node=node,
        have=len(wanted) - sum(map(len, lacks.values())),
        lacks={found: tuple(keys) for found, keys in lacks.items()},
        seen=max((row.seen for row in rows), default=None),
    )


def _best(rows: Iterable[NodeKey], usual: str) -> Availability:
    """The best entry of one key; entries of the compiler from which most nodes have the key come first. Where no node
    has it (`usual` is empty), entries of any compiler count."""
    same = [_availability(row) for row in rows if row.compiler == usual or not usual]
    best = min(same, key=_ORDER.index, default=Availability.MISSING)
    if best is not Availability.HAVE and any(
        _availability(row) is Availability.HAVE for row in rows if row.compiler != usual
    ):
        return Availability.OTHER_COMPILER
    return best


def _availability(row: NodeKey) -> Availability:
    try:
        state = State(row.state)
    except ValueError:
        return Availability.MISSING  # it was evicted
    if state in HITS:
        return Availability.HAVE
    if state in FAILURES:
        return Availability.FAILED
    if state in LOCKED:
        return Availability.LOCKED
    return Availability.UNREADABLE if state in BROKEN | {State.UNKNOWN, State.PARTIAL} else Availability.MISSING


def _usual_compilers(rows: Iterable[NodeKey]) -> dict[str, str]:
    """Key → the compiler's folder in which most nodes have it."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        if _availability(row) is Availability.HAVE:
            counts.setdefault(row.key, Counter())[row.compiler] += 1
    return {key: max(sorted(count), key=count.__getitem__) for key, count in counts.items()}


def changes_keys(attribute: str) -> bool:
    """Whether an attribute of a node changes keys, or what can be loaded."""
    return attribute in KEY_ATTRIBUTES or attribute.startswith(KEY_VARIABLES)


def differing_attributes(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    """Attributes that change keys and are not the same on two nodes."""
    return sorted(name for name in {*one, *other} if changes_keys(name) and one.get(name) != other.get(name))


def _skew(nodes: Sequence[NodeRecord]) -> Iterable[Skew]:
    names = sorted({name for node in nodes for name in node.attributes})
    for name in filter(changes_keys, names):
        values: dict[str, list[str]] = {}
        for node in nodes:
            value = node.attributes.get(name)
            values.setdefault("none" if value is None else str(value), []).append(node.node)
        if len(values) > 1:
            yield Skew(attribute=name, values={value: tuple(held) for value, held in sorted(values.items())})
