"""The table of families: adding one is adding a row.

`marks` are byte strings of which each line of the family holds at least one; a line without any mark is not looked
at, unless a family is in the middle of something. Marks are short and shared where words are (`ompil` stands in
`Compiler`, `Compilation`, `compiling`, `recompiled`). The order is the order in which a record is offered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from neuron_top.parsers.base import Family
from neuron_top.parsers.compiler import Compiler
from neuron_top.parsers.hub import Hub
from neuron_top.parsers.parallel_compile import ParallelCompile
from neuron_top.parsers.wrapper import Wrapper


class Row(NamedTuple):
    """One family: how to make its reader, and the bytes that give its lines away."""

    make: Callable[[], Family]
    marks: tuple[bytes, ...]


FAMILIES = (
    Row(ParallelCompile, (b"remaining items", b"dynamic schedul", b"num of tasks", b"graph list", b"Total graphs",
                          b"trial run", b"encountered error", b"got exception", b"grab hlos")),
    Row(Wrapper, (b".000", b"ompil", b"neff", b"MODULE_", b"neuronxcc-")),
    Row(Hub, ()),
    Row(Compiler, (b" finished after ", b"exitcode=", b"Exit time region", b"Z ERROR ", b"Z WARNING ", b"[NCC_", b"[F1", b"exit status")),
)  # fmt: skip

_MONTHS = tuple(
    f"-{m}-".encode() for m in ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
)

MARKS = _MONTHS + tuple(dict.fromkeys(mark for row in FAMILIES for mark in row.marks))
