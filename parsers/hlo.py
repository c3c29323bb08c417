"""Reads an HLO module proto by walking its wire format: no protobuf, no TensorFlow, recursion only into tuple shapes.

`model.hlo_module.pb`, `model.hlo.pb`, `graph.hlo` and `wrapped_neff.hlo` are one serialized `xla.HloModuleProto`.
Field numbers are those of XLA's `hlo.proto`; results were compared with jaxlib's. Counted are: every instruction once,
also in bodies of loops (their trip counts are not known, which is said beside the number); floating-point operations
of `dot` only; bytes as operands plus result of each instruction that moves data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from neuron_top.escapes import visible

SHAPES_KEPT = 100_000
"""Shapes kept per computation; operands beyond them are left out of the estimates, and `exact` is then False."""
REPLICA_GROUPS, DEVICE_LIST = 49, 87
"""The fields of an instruction that hold its replica groups. XLA has written the second one since 2024, and reads it
only where the first is empty."""
_MOST_DEVICES = 1 << 24
"""More is no number of groups or devices."""
_MOST_ELEMENTS = 1 << 60
"""No machine holds more: dimensions whose product is larger are damaged, and would be no floating-point number."""
_TUPLE_DEPTH = 8
_LISTED = 512
DTYPES = {
    1: ("pred", 1), 2: ("s8", 1), 3: ("s16", 2), 4: ("s32", 4), 5: ("s64", 8), 6: ("u8", 1), 7: ("u16", 2),
    8: ("u32", 4), 9: ("u64", 8), 10: ("f16", 2), 11: ("f32", 4), 12: ("f64", 8), 13: ("tuple", 0), 14: ("opaque", 0),
    15: ("c64", 8), 16: ("bf16", 2), 17: ("token", 0), 18: ("c128", 16), 19: ("f8e5m2", 1), 20: ("f8e4m3fn", 1),
    21: ("s4", 0.5), 22: ("u4", 0.5), 23: ("f8e4m3b11fnuz", 1), 24: ("f8e5m2fnuz", 1), 25: ("f8e4m3fnuz", 1),
    28: ("f8e4m3", 1), 29: ("f8e3m4", 1), 32: ("f4e2m1fn", 0.5), 33: ("f8e8m0fnu", 1),
}  # fmt: skip
"""XLA's element types: number → (name, bytes an element)."""
COLLECTIVES = frozenset(
    {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "all-reduce-start",
     "all-gather-start", "collective-permute-start", "ragged-all-to-all", "collective-broadcast"}
)  # fmt: skip
_MOVES_NOTHING = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"})


class Shape(msgspec.Struct, frozen=True):
    """An array's element type and dimensions, or a tuple's parts."""

    dtype: str
    dims: tuple[int, ...] = ()
    parts: tuple[Shape, ...] = ()

    @property
    def bytes(self) -> int:
        """Size of all elements."""
        if self.parts:
            return sum(part.bytes for part in self.parts)
        return int(self.elements * _ITEM_BYTES.get(self.dtype, 0))

    @property
    def elements(self) -> int:
        """Product of the dimensions; 1 for a scalar."""
        product = 1
        for size in self.dims:
            product *= size
        return min(product, _MOST_ELEMENTS)

    def __str__(self) -> str:
        if self.dtype == "tuple":
            return f"({', '.join(map(str, self.parts[:16]))}{', …' if len(self.parts) > 16 else ''})"
        return f"{self.dtype}[{','.join(map(str, self.dims))}]"


class HloSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A graph in numbers."""

    name: str
    entry: str
    computations: int
    instructions: int
    opcodes: dict[str, int]
    """Most frequent first."""
    parameters: tuple[Shape, ...]
    results: tuple[Shape, ...]
    dtypes: dict[str, int]
    """Instructions by the element type of their result."""
    dot_flops: int
    """2 × elements of the result × contracted sizes, over all `dot`; convolutions are not counted."""
    moved_bytes: int
    """Operands and results of every instruction that moves data: an upper bound, before any fusion."""
    collectives: dict[str, int]
    group_sizes: tuple[int, ...]
    """Distinct sizes of replica groups."""
    world_size: int | None
    """Devices that take part in the widest collective; None without one."""
    custom_calls: dict[str, int]
    loops: int
    """`while` instructions: their bodies are counted once."""
    exact: bool
    """False when the graph was too large for every shape to be remembered."""


class Groups(NamedTuple):
    """Replica groups of one size."""

    number: int
    devices: int
    """In each of them."""


class MalformedHlo(ValueError):
    """The bytes are no HLO module."""


def read_hlo(data: bytes) -> HloSummary:
    """Read a serialized HloModuleProto, or an HloProto around one. Raises MalformedHlo."""
    view = memoryview(data)
    reader = _Module()
    try:
        reader.module(view)
        if not reader.computations:
            inner = next((value for number, value in fields(view) if number == 1 and not isinstance(value, int)), None)
            if inner is not None:
                reader = _Module()
                reader.module(inner)
        if not reader.computations:
            raise MalformedHlo("no computation in it")
        return reader.summary()
    except (IndexError, RecursionError) as problem:
        raise MalformedHlo(f"cut short: {problem}") from None


class _Module:
    def __init__(self) -> None:
        self.name = self.entry = ""
        self.computations = self.instructions = self.flops = self.moved = self.loops = 0
        self.opcodes: Counter[str] = Counter()
        self.dtypes: Counter[str] = Counter()
        self.custom_calls: Counter[str] = Counter()
        self.group_sizes: set[int] = set()
        self.world: int | None = None
        self.exact = True
        self.program: memoryview | None = None

    def module(self, data: memoryview) -> None:
        for number, value in fields(data):
            if isinstance(value, int):
                continue
            if number == 1:
                self.name = text_of(value)
            elif number == 2:
                self.entry = text_of(value)
            elif number == 3:
                self._computation(value)
            elif number == 4:
                self.program = value

    def _computation(self, data: memoryview) -> None:
        self.computations += 1
        shapes: dict[int, Shape] = {}
        for number, value in fields(data):
            if number == 2 and not isinstance(value, int):
                self._instruction(value, shapes)

    def _instruction(self, data: memoryview, shapes: dict[int, Shape]) -> None:
        opcode, target, identity = "", "", 0
        shape = Shape("")
        operands: list[int] = []
        contracted: list[int] = []
        groups, listed = list[Groups](), list[Groups]()
        for number, value in fields(data):
            if number == 36:
                integers(value, operands)
            elif isinstance(value, int):
                identity = value if number == 35 else identity
            elif number == 2:
                opcode = text_of(value)
            elif number == 3:
                shape = shape_of(value)
            elif number == 28:
                target = text_of(value)
            elif number == 30:
                contracted = [size for key, part in fields(value) if key == 1 for size in integers(part, [])]
            elif number == REPLICA_GROUPS:
                groups.append(group_of(value))
            elif number == DEVICE_LIST:
                listed += groups_of_list(value)
        self._count(opcode, target, shape, groups or listed)
        self._estimate(opcode, shape, [shapes.get(operand) for operand in operands[:4096]], contracted)
        if len(shapes) < SHAPES_KEPT:
            shapes[identity] = shape
        else:
            self.exact = False

    def _count(self, opcode: str, target: str, shape: Shape, groups: list[Groups]) -> None:
        self.instructions += 1
        if len(self.opcodes) < _LISTED or opcode in self.opcodes:
            self.opcodes[opcode] += 1
        if shape.dtype:
            self.dtypes[shape.dtype] += 1
        if opcode == "custom-call" and (len(self.custom_calls) < _LISTED or target in self.custom_calls):
            self.custom_calls[target] += 1
        if opcode == "while":
            self.loops += 1
        sizes = {group.devices for group in groups if group.devices}
        if sizes and len(self.group_sizes) < _LISTED:
            self.group_sizes |= sizes
            self.world = max(self.world or 0, sum(group.number * group.devices for group in groups))

    def _estimate(self, opcode: str, shape: Shape, operands: list[Shape | None], contracted: list[int]) -> None:
        if opcode not in _MOVES_NOTHING:
            self.moved += shape.bytes + sum(operand.bytes for operand in operands if operand is not None)
        left = operands[0] if operands else None
        if opcode == "dot" and left is not None:
            size = 1
            for axis in contracted[:32]:
                size *= left.dims[axis] if 0 <= axis < len(left.dims) else 1
            self.flops += 2 * shape.elements * min(size, _MOST_ELEMENTS)

    def summary(self) -> HloSummary:
        parameters, results = _program(self.program)
        return HloSummary(
            name=self.name,
            entry=self.entry,
            computations=self.computations,
            instructions=self.instructions,
            opcodes=dict(self.opcodes.most_common()),
            parameters=parameters,
            results=results,
            dtypes=dict(self.dtypes.most_common()),
            dot_flops=self.flops,
            moved_bytes=self.moved,
            collectives={name: count for name, count in self.opcodes.items() if name in COLLECTIVES},
            group_sizes=tuple(sorted(self.group_sizes)),
            world_size=self.world,
            custom_calls=dict(self.custom_calls.most_common()),
            loops=self.loops,
            exact=self.exact,
        )


_ITEM_BYTES = dict(DTYPES.values())


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(field number, varint or bytes) of a message; fixed-width fields are skipped.

    Raises MalformedHlo, or IndexError where a number is cut short.
    """
    position, end = 0, len(data)
    while position < end:
        key, position = _varint(data, position)
        wire = key & 7
        if wire == 0:
            value, position = _varint(data, position)
            yield key >> 3, value
        elif wire == 2:
            length, position = _varint(data, position)
            if length > end - position:
                raise MalformedHlo(f"a field of {length} bytes where {end - position} are left")
            yield key >> 3, data[position : position + length]
            position += length
        elif wire in (1, 5):
            position += 8 if wire == 1 else 4
            if position > end:
                raise MalformedHlo("a number is cut short")
        else:
            raise MalformedHlo(f"wire type {wire} does not occur in this format")


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    byte = data[position]
    if byte < 0x80:
        return byte, position + 1
    value = byte & 0x7F
    for step in range(1, 10):
        byte = data[position + step]
        value |= (byte & 0x7F) << (7 * step)
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, position + step + 1
    raise MalformedHlo("a number longer than ten bytes")


def integers(value: int | memoryview, into: list[int]) -> list[int]:
    """Add the integers of a repeated field, packed or single, to `into`; of a packed one at most SHAPES_KEPT in all."""
    if isinstance(value, int):
        into.append(value)
        return into
    position = 0
    while position < len(value) and len(into) < SHAPES_KEPT:
        number, position = _varint(value, position)
        into.append(number)
    return into


def number_of(message: memoryview, wanted: int) -> int:
    """A field that holds one number; a message without it means zero."""
    return next((value for number, value in fields(message) if number == wanted and isinstance(value, int)), 0)


def group_of(data: memoryview) -> Groups:
    """Read a ReplicaGroup, which lists its devices."""
    return Groups(1, sum(len(integers(value, [])) for number, value in fields(data) if number == 1))


def groups_of_list(data: memoryview) -> Iterator[Groups]:
    """Read a CollectiveDeviceListProto: groups one by one, or a rule that generates them."""
    for number, value in fields(data):
        if isinstance(value, int):
            continue
        if number == 1:
            yield group_of(value)
        elif number == 2:
            yield Groups(*(min(number_of(value, field), _MOST_DEVICES) for field in (1, 2)))


def shape_of(data: memoryview, depth: int = 0) -> Shape:
    """Read a ShapeProto; parts of tuples more than eight levels deep are left out."""
    kind = 0
    dims: list[int] = []
    parts: list[Shape] = []
    for number, value in fields(data):
        if number == 2 and isinstance(value, int):
            kind = value
        elif number == 3:
            integers(value, dims)
        elif number == 4 and not isinstance(value, int) and depth < _TUPLE_DEPTH and len(parts) < SHAPES_KEPT:
            parts.append(shape_of(value, depth + 1))
    name = DTYPES[kind][0] if kind in DTYPES else f"type{kind}"
    return Shape(name, tuple(min(size, 1 << 48) for size in dims[:64]), tuple(parts))


def _program(data: memoryview | None) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Parameters and results of the entry; a tuple result is given part by part."""
    parameters: list[Shape] = []
    results: tuple[Shape, ...] = ()
    for number, value in fields(data) if data is not None else ():
        if isinstance(value, int):
            continue
        if number == 1:
            parameters.append(shape_of(value))
        elif number == 2:
            shape = shape_of(value)
            results = shape.parts if shape.dtype == "tuple" else (shape,)
    return tuple(parameters), results


def text_of(value: memoryview) -> str:
    """A string field, at most 4 KiB of it, safe to show."""
    return visible(bytes(value[:4096]).decode("utf-8", "replace"))
