"""The instructions of an HLO module, one by one: what a structural comparison of two graphs looks at.

Field numbers of `HloInstructionProto` and `LiteralProto` are those of XLA's `hlo.proto` and `xla_data.proto`.
"""

from __future__ import annotations

import struct

import msgspec

from neuron_top.parsers.hlo import (
    DEVICE_LIST,
    REPLICA_GROUPS,
    Groups,
    MalformedHlo,
    Shape,
    fields,
    group_of,
    groups_of_list,
    integers,
    shape_of,
    text_of,
)

NODES_KEPT = 200_000
_FLOATS = {8: "f", 9: "d"}
_INTEGERS = frozenset((4, 5, 6, 7))
_LONGEST_LITERAL = 16


class HloNode(msgspec.Struct, frozen=True):
    """One instruction: its opcode, the shape of its result, and what else makes it what it is."""

    opcode: str
    shape: str
    detail: str
    """Values of a small constant, the target of a custom call, sizes of replica groups; "" for the rest."""
    inner: bool = False
    """It belongs to a computation that the entry calls (what a reduction does, say): its parameters are no inputs."""
    groups: tuple[int, int] | None = None
    """Of a collective: how many replica groups, and how many devices are in the widest."""


def read_nodes(data: bytes) -> tuple[HloNode, ...]:
    """The instructions of all computations, in the order of the file. Raises MalformedHlo."""
    nodes: list[HloNode] = []
    try:
        _module(memoryview(data), nodes)
        if not nodes:  # an HloProto around the module
            for number, value in fields(memoryview(data)):
                if number == 1 and not isinstance(value, int):
                    _module(value, nodes)
    except (IndexError, struct.error) as problem:
        raise MalformedHlo(f"cut short: {problem}") from None
    return tuple(nodes)


def _module(data: memoryview, nodes: list[HloNode]) -> None:
    parts = [(number, value) for number, value in fields(data) if not isinstance(value, int)]
    entry = next((text_of(value) for number, value in parts if number == 2), "")
    computations = [value for number, value in parts if number == 3]
    names = [_name(one) for one in computations]
    for name, computation in zip(names, computations, strict=True):
        inner = entry in names and name != entry
        for number, value in fields(computation):
            if number == 2 and not isinstance(value, int) and len(nodes) < NODES_KEPT:
                nodes.append(_node(value, inner=inner))


def _name(computation: memoryview) -> str:
    named = (text_of(value) for number, value in fields(computation) if number == 1 and not isinstance(value, int))
    return next(named, "")


def _node(data: memoryview, *, inner: bool) -> HloNode:
    opcode = shape = detail = ""
    groups, listed = list[Groups](), list[Groups]()
    for number, value in fields(data):
        if isinstance(value, int):
            continue
        if number == 2:
            opcode = text_of(value)
        elif number == 3:
            shape = _shape_text(shape_of(value))
        elif number == 8:
            detail = _literal(value)
        elif number == 28:
            detail = text_of(value)
        elif number == REPLICA_GROUPS:
            groups.append(group_of(value))
        elif number == DEVICE_LIST:
            listed += groups_of_list(value)
    if groups := groups or listed:
        count, widest = sum(one.number for one in groups), max(one.devices for one in groups)
        return HloNode(opcode, shape, f"{count} groups of {widest}", inner, (count, widest))
    return HloNode(opcode, shape, detail, inner)


def _shape_text(shape: Shape) -> str:
    """All parts of a tuple: the results of a graph are compared one by one."""
    return f"({', '.join(map(_shape_text, shape.parts))})" if shape.dtype == "tuple" else str(shape)


def _literal(data: memoryview) -> str:
    """The values of a small literal; of larger ones the length only."""
    for number, value in fields(data):
        if isinstance(value, int):
            continue
        if number in _FLOATS:
            return _floats(value, _FLOATS[number])
        if number in _INTEGERS:
            return ", ".join(str(integer) for integer in integers(value, [])[:_LONGEST_LITERAL])
        if number in (10, 11, 13):
            return bytes(value[:64]).hex()
    return ""


def _floats(data: memoryview, form: str) -> str:
    size = struct.calcsize(form)
    if len(data) > size * _LONGEST_LITERAL or len(data) % size:
        return f"{len(data)} bytes of values"
    return ", ".join(f"{value:.9g}" for (value,) in struct.iter_unpack(f"<{form}", data))
