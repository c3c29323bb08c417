"""The table of families: adding one is adding a row.

`marks` are byte strings of which each line of the family holds at least one; a line without any mark is not looked
at, unless a family is in the middle of something. Marks are short and shared where words are (`ompil` stands in
`Compiler`, `Compilation`, `compiling`, `recompiled`). The order is the order in which a record is offered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from neuron_top.parsers.base import DOTS, Family
from neuron_top.parsers.compiler import Compiler
from neuron_top.parsers.dots import Dots
from neuron_top.parsers.hub import Hub
from neuron_top.parsers.metrics_report import MetricsReport
from neuron_top.parsers.parallel_compile import ParallelCompile
from neuron_top.parsers.problems import Problems
from neuron_top.parsers.runtime import Runtime
from neuron_top.parsers.training import Training
from neuron_top.parsers.wrapper import Wrapper


class Row(NamedTuple):
    """One family: how to make its reader, the bytes that give its lines away, the shapes of record it reads."""

    make: Callable[[], Family]
    marks: tuple[bytes, ...]
    shapes: tuple[str, ...] = ("",)


_MONTHS = (
    b"-Jan-", b"-Feb-", b"-Mar-", b"-Apr-", b"-May-", b"-Jun-", b"-Jul-", b"-Aug-", b"-Sep-", b"-Oct-", b"-Nov-",
    b"-Dec-",
)  # fmt: skip

FAMILIES = (
    Row(Wrapper, (b".000", b"ompil", b"neff", b"MODULE_", b"neuronxcc-"), ("wrapper", "")),
    Row(
        ParallelCompile,
        (b"remaining items", b"dynamic schedul", b"num of tasks", b"graph list", b"Total graphs", b"trial run",
         b"encountered error", b"got exception", b"grab hlos"),
        ("wrapper", ""),
    ),
    Row(Hub, (b"recompiled",)),
    Row(Dots, (b"\n.", b": .", b":.", b") .", b"        ."), (DOTS,)),
    Row(
        Runtime,
        (*_MONTHS, b"TDRV:", b"NMGR:", b"NRT:", b"Failed to alloc", b"NEURON_HW_ERR=", b"neuron:mc_alloc", b" HBM ",
         b"\\_NC ", b"\\_NEFF ", b" Overall ", b"Per NEFF", b"Usage Total"),
        ("runtime", ""),
    ),
    Row(
        Compiler,
        (b" finished after ", b"exitcode=", b"Exit time region", b"Z ERROR ", b"Z WARNING ", b"[neuron-cc]", b"[NCC_",
         b"[F1", b"exit status"),
    ),
    Row(
        Training,
        (b"{'", b"loss", b"Loss", b"it/s", b"s/it", b"hroughput", b"***** Running ", b"initializing ", b"HLO",
         b"Finished building", b"KV cache size", b"tracing time"),
    ),
    Row(MetricsReport, (b"Metric: ", b"Counter: ")),
    Row(
        Problems,
        (b"Traceback", b"ERROR", b"WARN", b"Warning: ", b"rror: ", b"xception: ", b"CRITICAL", b"FATAL", b" E ", b" W ",
         b" F ", b"torch/distributed", b"(exitcode", b"Root Cause", b"died with"),
        ("", "wrapper", "xla"),
    ),
)  # fmt: skip

MARKS = tuple(dict.fromkeys(mark for row in FAMILIES for mark in row.marks))
