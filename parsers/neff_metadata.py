"""What the small JSON members of a NEFF report: target, sub-graphs, inputs and outputs, memory, arithmetic.

Only the fields asked for are decoded; a malformed member is reported as a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.escapes import visible
from neuron_top.parsers import json_fields

_T = TypeVar("_T")
_PAGE = 64 * 1024**2
"""The runtime's scratch page: scratch space is rounded up to it."""


class Tensor(msgspec.Struct, frozen=True, kw_only=True):
    """An input or output of a sub-graph."""

    name: str
    size: int


class _Variable(msgspec.Struct):
    type: str = ""
    size: int = 0
    backing_variable_off: int = 0


class _Definition(msgspec.Struct):
    var: dict[str, _Variable] = {}


class _KelfGraph(msgspec.Struct):
    definition: str = ""


class _Kelf(msgspec.Struct):
    graphs: list[_KelfGraph] = []
    target: str | None = None


class _HloStats(msgspec.Struct):
    hlo_mac_count: float | None = None


_kelf = msgspec.json.Decoder(_Kelf, strict=False)  # made once, in one thread: see `cache/scan/index.py`
_definition = msgspec.json.Decoder(_Definition, strict=False)
_hlo_stats = msgspec.json.Decoder(_HloStats, strict=False)


class JsonMembers:
    """What the JSON members report."""

    def __init__(
        self, documents: Mapping[str, bytes], members: Iterable[str], problem: Callable[[str], None], *, complete: bool
    ) -> None:
        """`documents` are the wanted members; `complete` is False when `members` are not all names of the archive."""
        self._problem, self._complete = problem, complete
        self.target: str | None = None
        self.subgraphs = 0
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.constants: int | None = None
        self.scratch: int | None = None
        self.macs: int | None = None
        names = {name.removeprefix("./") for name in members}
        for name, body in documents.items():
            if name.startswith("kelf"):
                self._kelf(name, body, names)
            elif name.endswith("/def.json"):
                self._definition(name, body)
            elif name == "hlo_stats.json":
                stats = self._decoded(name, body, _hlo_stats)
                self.macs = json_fields.whole(stats.hlo_mac_count, 1 << 63) if stats else None

    def _decoded(self, name: str, body: bytes, decoder: msgspec.json.Decoder[_T]) -> _T | None:
        try:
            return decoder.decode(body)
        except (*MALFORMED, OverflowError) as problem:
            self._problem(visible(f"{name}: {str(problem)[:200]}"))
            return None

    def _kelf(self, name: str, body: bytes, names: set[str]) -> None:
        kelf = self._decoded(name, body, _kelf)
        if kelf is None:
            return
        self.target = None if kelf.target is None else visible(kelf.target)
        for graph in kelf.graphs:
            if self._complete and graph.definition not in names:
                self._problem(visible(f"{name} names {graph.definition[:200]}, which is not in the archive"))

    def _definition(self, name: str, body: bytes) -> None:
        self.subgraphs += 1
        definition = self._decoded(name, body, _definition)
        if definition is None:
            return
        constants = scratch = buffers = 0
        for key, variable in definition.var.items():
            size, offset = _bytes(variable.size), _bytes(variable.backing_variable_off)
            if variable.type == "input":
                self.inputs.append(Tensor(name=visible(key), size=size))
            elif variable.type == "output":
                self.outputs.append(Tensor(name=visible(key), size=size))
            elif variable.type == "file":
                constants += size
            elif variable.type == "virtual":
                scratch = max(scratch, offset + size)
            elif variable.type == "tmp-buf":
                buffers += size
        self.constants = (self.constants or 0) + constants
        self.scratch = (self.scratch or 0) + -(-scratch // _PAGE) * _PAGE + buffers


def is_wanted(name: str) -> bool:
    """Whether this member is one that is read."""
    base = name.removeprefix("./")
    return (base.startswith("kelf") and "/" not in base) or base.endswith("/def.json") or base == "hlo_stats.json"


def _bytes(value: int) -> int:
    """A number of bytes; 0 for one that cannot be."""
    return json_fields.whole(value, json_fields.LARGEST_BYTES) or 0
