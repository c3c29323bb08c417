"""The operators of one graph, counted from the HLO module or the local graph in its cache entry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from neuron_top.cache.scan.contents import LocalGraph
from neuron_top.parsers.hlo_nodes import HloNode

SHAPES_SHOWN = 3


class OperatorRow(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of operator. `shapes`: the commonest shapes of its result."""

    name: str
    count: int
    shapes: tuple[str, ...] = ()


class Operators(msgspec.Struct, frozen=True, kw_only=True):
    """All of one graph, the commonest first. `place`: the cache entry that was read, `root/compiler/module`."""

    place: str
    rows: tuple[OperatorRow, ...]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Operators altogether."""
        return sum(row.count for row in self.rows)


def operators(graph: Sequence[HloNode] | LocalGraph, place: str = "") -> Operators:
    """Count the operators of a graph. Parameters are inputs, not operators."""
    if isinstance(graph, LocalGraph):
        pairs = [(name, shape) for name, shape, _detail in graph.nodes]
        counts = Counter(graph.operator_counts) or Counter(name for name, _shape in pairs)
        return Operators(place=place, rows=_rows(counts, pairs), inputs=graph.inputs, outputs=graph.outputs)
    pairs = [(node.opcode, node.shape) for node in graph if node.opcode != "parameter"]
    inputs = tuple(node.shape for node in graph if node.opcode == "parameter" and not node.inner)
    return Operators(place=place, rows=_rows(Counter(name for name, _shape in pairs), pairs), inputs=inputs)


def _rows(counts: Counter[str], pairs: Sequence[tuple[str, str]]) -> tuple[OperatorRow, ...]:
    shapes: dict[str, Counter[str]] = defaultdict(Counter)
    for name, shape in pairs:
        shapes[name][shape] += 1
    return tuple(
        OperatorRow(name=name, count=count, shapes=tuple(shape for shape, _ in shapes[name].most_common(SHAPES_SHOWN)))
        for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )
