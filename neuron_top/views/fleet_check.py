"""Will every node find every graph? Node × graph, from what each node's agent last told of its caches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from neuron_top.cache.model.states import BROKEN, FAILURES, HITS, LOCKED, State
from neuron_top.store.fleet_records import NodeKey, NodeRecord

KEY_ATTRIBUTES = ("compiler", "compiler_flags", "driver", "libneuronxla", "lnc", "runtime", "torch", "torch_neuronx")
"""Attributes of a node that change keys or what can be loaded, beside variables of the compiler."""
KEY_VARIABLES = ("NEURON_", "XLA_")


class Found(StrEnum):
    """What a node has of a graph."""

    HAVE = "have"
    MISSING = "missing"
    FAILED = "failed"
    LOCKED = "locked"
    OTHER_COMPILER = "other compiler"
    UNREADABLE = "unreadable"


ADVICE = {
    Found.MISSING: "fetch it there (neurontop cache pull), or compile it before the run (neurontop compile)",
    Found.FAILED: "compile it again (neurontop cache retry): every rank would be served the failure",
    Found.LOCKED: "wait for its compile, or remove the lock of a dead one (neurontop cache unlock)",
    Found.OTHER_COMPILER: "install the same compiler on all nodes: this node would compile it by itself",
    Found.UNREADABLE: "look at it there (neurontop cache verify): it would be compiled again, or fail",
}
_ORDER = (Found.HAVE, Found.LOCKED, Found.FAILED, Found.UNREADABLE, Found.MISSING)
"""Where a node has several roots, the best of them counts."""


class NodeFinds(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the matrix: graphs by what the node has of them; those that it has are only counted."""

    node: str
    have: int
    lacks: dict[Found, tuple[str, ...]]
    seen: float | None
    """When its agent last told of its caches; None: never."""


class Skew(msgspec.Struct, frozen=True, kw_only=True):
    """An attribute that changes keys and differs among the nodes: value → nodes."""

    attribute: str
    values: dict[str, tuple[str, ...]]


class FleetCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. `graphs` counts those that were asked for."""

    graphs: int
    nodes: tuple[NodeFinds, ...]
    """The node that lacks most first."""
    skew: tuple[Skew, ...]

    @property
    def is_known(self) -> bool:
        """Whether any node told of its caches, and there is something to ask for."""
        return bool(self.graphs) and any(node.seen is not None for node in self.nodes)

    @property
    def is_complete(self) -> bool:
        """Whether every node has every graph."""
        return self.is_known and not any(node.lacks for node in self.nodes)


def fleet_check(nodes: Sequence[NodeRecord], keys: Iterable[NodeKey], graphs: Collection[str]) -> FleetCheck:
    """Look up `graphs` (module keys; empty: every graph that some node has) on these nodes."""
    told: dict[str, list[NodeKey]] = {node.node: [] for node in nodes}
    for row in keys:
        if row.node in told:
            told[row.node].append(row)
    wanted = tuple(graphs) or tuple(
        sorted({row.key for rows in told.values() for row in rows if _found(row) is Found.HAVE})
    )
    usual = _usual_compilers(row for rows in told.values() for row in rows)
    checked = [_finds(name, rows, wanted, usual) for name, rows in told.items()]
    checked.sort(key=lambda each: (each.have, each.node))
    return FleetCheck(graphs=len(wanted), nodes=tuple(checked), skew=tuple(_skew(nodes)))


def _finds(node: str, rows: Sequence[NodeKey], wanted: Sequence[str], usual: Mapping[str, str]) -> NodeFinds:
    by_key: dict[str, list[NodeKey]] = {}
    for row in rows:
        by_key.setdefault(row.key, []).append(row)
    lacks: dict[Found, list[str]] = {}
    for key in wanted:
        found = _best(by_key.get(key, ()), usual.get(key, ""))
        if found is not Found.HAVE:
            lacks.setdefault(found, []).append(key)
    return NodeFinds(
        node=node,
        have=len(wanted) - sum(map(len, lacks.values())),
        lacks={found: tuple(keys) for found, keys in lacks.items()},
        seen=max((row.seen for row in rows), default=None),
    )


def _best(rows: Iterable[NodeKey], usual: str) -> Found:
    """Of the entries of one key: those of the compiler that most nodes have it from count first."""
    same = [_found(row) for row in rows if row.compiler == usual]
    best = min(same, key=_ORDER.index, default=Found.MISSING)
    if best is not Found.HAVE and any(_found(row) is Found.HAVE for row in rows if row.compiler != usual):
        return Found.OTHER_COMPILER
    return best


def _found(row: NodeKey) -> Found:
    try:
        state = State(row.state)
    except ValueError:
        return Found.MISSING  # it was evicted
    if state in HITS:
        return Found.HAVE
    if state in FAILURES:
        return Found.FAILED
    if state in LOCKED:
        return Found.LOCKED
    return Found.UNREADABLE if state in BROKEN | {State.UNKNOWN, State.PARTIAL} else Found.MISSING


def _usual_compilers(rows: Iterable[NodeKey]) -> dict[str, str]:
    """Key → the compiler's folder in which most nodes have it."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        if _found(row) is Found.HAVE:
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
