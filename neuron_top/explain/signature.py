"""A graph as a comparison needs it: nodes with shapes and constants, inputs, outputs, and who takes part.

HLO modules and local graphs become the same kind of signature, so that one comparison serves both.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from neuron_top.cache.scan.contents import LocalGraph
from neuron_top.parsers.hlo_nodes import HloNode
from neuron_top.units import counted

_SHAPE = re.compile(r"([a-z][a-z0-9]{0,30})\[([0-9a-z_,]*)\]")
_COLLECTIVE = "c10d"
"""In the names of PyTorch's operators that communicate."""
_GROUP = re.compile(
    r"(?:\b\d{1,3}=(?P<size>\d{1,7}) )?\b\d{1,3}='(?:neurontop:(?P<ranks>\d+(?:,\d+)*):\d+|(?P<name>[^']*))'$"
)
"""The last arguments of a collective: the size of its group, which only some take, and its name; in names of our own
stand the distances of its ranks from the first."""
MATRIX_PRODUCTS = re.compile(
    r"(?:^|[._])(?:dot|convolution|conv\d?d?|(?:add|b|badd)?mm|matmul|linear|scaled_dot\w*)(?:$|[._])"
)
"""Operators of which every layer of a model has some, and an optimizer none."""

SAME_WEIGHTS = 0.6
"""Similarity of two updates of the same weights by optimizers that share nothing."""
_SAME_PROGRAM = 0.95
"""Direction of operator counts, from which on two graphs of one job are two forms of one."""
_SEVERAL, _NEARLY_ALL = 3, 0.9
_PIECE = 5
"""Operators from which on a graph can be recognized as a piece of another."""


class Array(msgspec.Struct, frozen=True):
    """An element type and dimensions; symbolic sizes stay words."""

    dtype: str
    dims: tuple[int | str, ...]

    @property
    def floating(self) -> bool:
        """Whether its elements are floating-point numbers."""
        return self.dtype.startswith(("f", "bf"))

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.dims))}]"


class SignatureNode(msgspec.Struct, frozen=True):
    """One operator: its name, the arrays it gives, and its constants as text."""

    name: str
    arrays: tuple[Array, ...]
    detail: str = ""
    collective: bool = False
    """Its detail says who takes part: it is no constant."""


class GraphSignature(msgspec.Struct, frozen=True, kw_only=True):
    """One graph."""

    kind: str
    """`hlo` or `fx`: only graphs of one kind can be compared."""
    nodes: tuple[SignatureNode, ...]
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    groups: tuple[str, ...] = ()
    """Distinct groups of workers that exchange tensors, `2 groups of 4 workers`."""
    direction: str = ""

    @property
    def names(self) -> Counter[str]:
        """How often each operator occurs."""
        return Counter(node.name for node in self.nodes)


def of_hlo(nodes: Sequence[HloNode]) -> GraphSignature:
    """The signature of an HLO module."""
    collectives = {node.groups for node in nodes if node.groups is not None}
    made = [
        (SignatureNode(node.opcode, arrays(node.shape), node.detail, node.groups is not None), node.inner)
        for node in nodes
    ]
    entry = [node for node, inner in made if not inner]
    return GraphSignature(
        kind="hlo",
        nodes=tuple(node for node, _ in made if node.name != "parameter"),
        inputs=tuple(array for node in entry if node.name == "parameter" for array in node.arrays),
        outputs=entry[-1].arrays if entry else (),
        groups=tuple(sorted(_groups_text(count, size) for count, size in collectives)),
    )


def of_local(graph: LocalGraph) -> GraphSignature:
    """The signature of a local graph; without nodes in the description, operators are known by their counts only."""
    if graph.nodes:
        nodes = tuple(
            SignatureNode(name, arrays(shapes), detail, _COLLECTIVE in name) for name, shapes, detail in graph.nodes
        )
    else:
        nodes = tuple(
            SignatureNode(name, ()) for name, count in graph.operator_counts.items() for _ in range(min(count, 5000))
        )
    groups = {_group_text(node.detail) for node in nodes if node.collective and node.detail}
    return GraphSignature(
        kind="fx",
        nodes=nodes,
        inputs=tuple(array for text in graph.inputs for array in arrays(text)),
        outputs=tuple(array for text in graph.outputs for array in arrays(text)),
        groups=tuple(sorted(groups)),
        direction=graph.direction or "",
    )


def _groups_text(count: int, size: int) -> str:
    workers = counted(size, "worker")
    return workers if count == 1 else f"{counted(count, 'group')} of {workers}"


def _group_text(arguments: str) -> str:
    """Who takes part in a collective of PyTorch's, of its arguments: by ranks, by the size, or by the group's name."""
    group = _GROUP.search(arguments)
    if group is None:
        return arguments
    if group["ranks"]:
        ranks = [int(rank) for rank in group["ranks"].split(",")]
        workers = counted(len(ranks), "worker")
        return workers if ranks == list(range(len(ranks))) else f"{workers} (ranks {group['ranks']} from the first)"
    return counted(int(group["size"]), "worker") if group["size"] else f"group {group['name']}"


def arrays(text: str) -> tuple[Array, ...]:
    """The arrays in a text of shapes: `f32[8,128]`, `(f32[8], s64[])`."""
    return tuple(
        Array(dtype, tuple(_size(size) for size in dims.split(",") if size)) for dtype, dims in _SHAPE.findall(text)
    )


def similarity(one: GraphSignature, other: GraphSignature) -> float:
    """How alike two graphs are, 0…1: half by the direction of their operator counts, half by shared inputs and nodes.

    The direction (a cosine) does not mind more layers; the shared part tells two that have the same operators apart.
    Two updates of the same weights are alike whatever their arithmetic: another optimizer shares no operator.
    """
    if one.kind != other.kind or (one.direction and other.direction and one.direction != other.direction):
        return 0.0
    alike = 0.5 * _cosine(one.names, other.names) + 0.5 * _shared(_parts(one), _parts(other))
    if same_weights(one, other):
        alike = max(alike, SAME_WEIGHTS)
    return max(alike, 0.5 * _contained(one, other))


def same_program(one: GraphSignature, other: GraphSignature) -> bool:
    """Whether both are nearly the same operators in the same proportions, whatever their shapes and constants."""
    return _cosine(one.names, other.names) >= _SAME_PROGRAM


def same_weights(one: GraphSignature, other: GraphSignature) -> bool:
    """Whether both update the same weights: neither multiplies matrices, and both take weights and gradients.

    As many arrays go into an optimizer's graph and don't come out as there are gradients; what takes hardly more
    than those (clipping, say) updates nothing.
    """
    update = next((signature for signature in (one, other) if is_update(signature)), None)
    if update is None or products(one.names) or products(other.names) or _shapes(one) != _shapes(other):
        return False
    gradients = len(update.inputs) - len(update.outputs)
    return min(len(one.inputs), len(other.inputs)) >= 1.5 * gradients


def is_update(signature: GraphSignature) -> bool:
    """Whether it is what an optimizer does: no matrix products, and gradients go in that do not come out."""
    floating = sum(one.floating for one in signature.inputs)
    return floating > 1 and len(signature.outputs) < len(signature.inputs) and not products(signature.names)


def is_continuation(one: GraphSignature, other: GraphSignature) -> bool:
    """Whether `one` works on what `other` takes or gives: nearly all its arrays are among those, of several shapes.

    A backward graph always does so with its forward graph, which says nothing.
    """
    if (one.direction, other.direction) == ("backward", "forward"):
        return False
    wanted = Counter(array for array in one.inputs if array.dims)
    there = Counter(array for array in (*other.inputs, *other.outputs) if array.dims)
    return len(wanted) >= _SEVERAL and sum((wanted & there).values()) >= _NEARLY_ALL * sum(wanted.values())


def _shapes(signature: GraphSignature) -> frozenset[tuple[int | str, ...]]:
    return frozenset(one.dims for one in signature.inputs if one.dims)


def _contained(one: GraphSignature, other: GraphSignature) -> float:
    """Share of the smaller graph's operators (with shapes and constants) in the larger, where that is nearly all."""
    small, large = sorted((Counter(signature.nodes) for signature in (one, other)), key=Counter.total)
    if small.total() < _PIECE:
        return 0.0
    share = (small & large).total() / small.total()
    return share if share >= _NEARLY_ALL else 0.0


def _parts(signature: GraphSignature) -> Counter[object]:
    return Counter([*signature.nodes, *signature.inputs, *signature.outputs])


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    product = sum(count * other[name] for name, count in one.items())
    lengths = math.sqrt(sum(count**2 for count in one.values()) * sum(count**2 for count in other.values()))
    return product / lengths if lengths else float(one == other)


def _shared(one: Counter[object], other: Counter[object]) -> float:
    whole = sum((one | other).values())
    return sum((one & other).values()) / whole if whole else 1.0


def products(names: Iterable[str]) -> int:
    """How many of these operators are matrix products or convolutions."""
    return sum(1 for name in names if MATRIX_PRODUCTS.search(name))


def _size(text: str) -> int | str:
    return int(text) if text.isdigit() else text
