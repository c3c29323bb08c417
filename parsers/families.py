"""The table of families: adding one is adding a row.

`keywords` are byte strings of which each line of the family holds at least one; a line without any is not looked
at, unless a family is in the middle of something. Keywords are short, and one may serve several words (`ompil` is in
`Compiler`, `Compilation`, `compiling`, `recompiled`). Records are offered to the families in the order of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import ahocorasick_rs

from neuron_top.parsers.base import DOTS, PLAIN, RUNTIME, WRAPPER, XLA, Family, RecordShape
from neuron_top.parsers.compiler import CompilerLines, Dots
from neuron_top.parsers.hf_hub import HfHub
from neuron_top.parsers.metrics_report import MetricsReport
from neuron_top.parsers.parallel_compile import ParallelCompileLines
from neuron_top.parsers.problems import Problems
from neuron_top.parsers.recompiles import RecompileLines
from neuron_top.parsers.runtime import RuntimeLines
from neuron_top.parsers.torch_neuron import TorchNeuronLines
from neuron_top.parsers.training import Training
from neuron_top.parsers.wrapper import WrapperLines


class FamilyRow(NamedTuple):
    """One family: how to make its parser, byte strings that its lines hold, the shapes of records that it reads."""

    make: Callable[[], Family]
    keywords: tuple[bytes, ...]
    shapes: tuple[RecordShape, ...] = (PLAIN,)
    counted: bool = True
    """False for families that add nothing to the published counts and claim no line that another would count."""


_MONTHS = (
    b"-Jan-", b"-Feb-", b"-Mar-", b"-Apr-", b"-May-", b"-Jun-", b"-Jul-", b"-Aug-", b"-Sep-", b"-Oct-", b"-Nov-",
    b"-Dec-",
)  # fmt: skip

_STAMPS = tuple(b":%02d.000" % second for second in range(60))
"""How the wrapper's timestamps end: with seconds, and milliseconds padded with zeros; `.000` alone is in many numbers.
A terminal may wrap a timestamp that follows a progress bar: `it/s]20` and `s/it]20` mark the line where it begins."""

_JSON_LEVELS = tuple(
    b":" + blank + quote + level
    for level in (b"error", b"warn", b"fatal", b"panic", b"dpanic", b"critical")
    for blank in (b"", b" ")
    for quote in (b'"', b'\\"')
)
"""How the level stands in an object of a structured logger, also in that of a container's log."""

FAMILIES = (
    FamilyRow(
        TorchNeuronLines,
        (b"[Neuron] [", b" occurred on Neuron", b"error message=", b"neff cache key=", b"Lock acquisition timed",
         b"Lock contention", b"Persistent cache ", b"Cache hit key=", b"IR to NEFF", b"IR compilation complete",
         b"for cache key ", b"Compiled HLO ",
         b"compilation_time_seconds"),
    ),
    FamilyRow(
        WrapperLines,
        (*_STAMPS, b"/s]20", b"/it]20", b"ompil", b"neff", b"MODULE_", b"neuronxcc-", b"_neuroncc-", b"||:", b"INFO]:",
         b"WARNING]:", b"WARN]:", b"ERROR]:", b"DEBUG]:", b"CRITICAL]:", b"FATAL]:", b"TRACE]:"),
        (WRAPPER, PLAIN),
    ),
    FamilyRow(
        ParallelCompileLines,
        (b"remaining items", b"dynamic schedul", b"num of tasks", b"graph list", b"tasks (num_hlos", b"assigned tasks",
         b"others tasks", b"failed compilation:", b"Total graphs", b"trial run",
         b"encountered error", b"got exception", b"grab hlos", b"exited with error", b"tasks compiled",
         b"task compiled",
         b"Total success", b"Total failed", b"ompilation summary", b"Running cmd", b'"compilation_', b'.pb":'),
        (WRAPPER, PLAIN),
    ),
    FamilyRow(HfHub, (b"recompiled",)),
    FamilyRow(
        Dots,
        (b"\n.", b": .", b":.", b") .", b"        .", b" ..", b"\t..", b"]..", b"|..", b">..", b"m..", b"G..", b'"..',
         b" .\r", b"\t.\r", b"\r.", b" .\x1b", b"m.\x1b", b"m.\\u001b", b'".\\n', b'"."'),
        (DOTS,),
        counted=False,
    ),
    FamilyRow(
        RuntimeLines,
        (*_MONTHS, b"TDRV:", b"NMGR:", b"NRT:", b"Failed to alloc", b"NEURON_HW_ERR=", b"neuron:mc_alloc", b" HBM",
         b"\\_NC", b"\\_NEFF", b" Overall ", b"Per NEFF", b"Usage Total", b"KMGR:", b"[ENC:", b"[HAL:", b"[NEFF:",
         b" ENC:", b" HAL:", b" NEFF:",
         b"No more pages", b"ore(s) not available", b" ms) on Neuron Device", b"collectives status",
         b"in an abort state", b"Uncorrectable ", b"scatter/gather", b"operator code", b"Neuron Driver version",
         b"Failure: NRT_", b"physical core for", b"execute model: ", b"NRT Execution error"),
        (RUNTIME, PLAIN),
    ),
    FamilyRow(
        CompilerLines,
        (b" finished after ", b"exitcode=", b"Exit time region", b"Z ERROR ", b"Z WARNING ", b"Z CRITICAL ",
         b"AM ERROR ", b"PM ERROR ", b"AM WARNING ", b"PM WARNING ", b"AM CRITICAL ", b"PM CRITICAL ",
         b"[neuron-cc]", b"[NCC_", b"[F1", b"exit status", b"Compiler version ", b"command returned"),
    ),
    FamilyRow(
        Training,
        (b"{'", b"loss", b"Loss", b"it/s", b"s/it", b"hroughput", b"***** Running ", b"initializing ", b"HLO",
         b"Finished ", b"Done ", b"Generated ", b"%|", b"LOSS", b"KV cache size", b"tracing time",
         b"heckpoint", b"CHECKPOINT", b"ckpt"),
        counted=False,
    ),
    FamilyRow(RecompileLines, (b"[__recompiles]",), counted=False),
    FamilyRow(MetricsReport, (b"Metric: ", b"Counter: "), counted=False),
    FamilyRow(
        Problems,
        (b"Traceback", b"ERROR", b"WARN", b"Warning: ", b"rror: ", b"xception: ", b"CRITICAL", b"FATAL", b" E ", b" W ",
         b" F ", b"torch/distributed", b".go:", b"level=e", b"level=f", b"level=p", b"level=w", b'level="e',
         b'level="f', b'level="w', *_JSON_LEVELS, b"(exitcode", b"Root Cause", b"died with", b"Failures:", b"FAILED"),
        (PLAIN, WRAPPER, XLA),
        counted=False,
    ),
)  # fmt: skip

COUNTED = tuple(row for row in FAMILIES if row.counted)
KEYWORDS = tuple(dict.fromkeys(keyword for row in FAMILIES for keyword in row.keywords))
COUNTED_KEYWORDS = tuple(dict.fromkeys(keyword for row in COUNTED for keyword in row.keywords))

_OWNERS: dict[str, int] = {}
for _number, _row in enumerate(FAMILIES):
    for _keyword in _row.keywords:
        _OWNERS[_keyword.decode()] = _OWNERS.get(_keyword.decode(), 0) | 1 << _number
_BITS = list(_OWNERS.values())
_ALWAYS = sum(1 << number for number, row in enumerate(FAMILIES) if "\n" in row.keywords[0].decode())
_WORDS = ahocorasick_rs.AhoCorasick(list(_OWNERS), implementation=ahocorasick_rs.Implementation.DFA)
"""Finds all keywords in a text, overlapping ones too: a keyword of one family may be part of another family's."""


def search(keywords: tuple[bytes, ...]) -> ahocorasick_rs.BytesAhoCorasick:
    """A search for keywords in raw bytes. Its table of states takes some hundred kilobytes; it is 2.5 times as fast."""
    return ahocorasick_rs.BytesAhoCorasick(
        keywords,
        matchkind=ahocorasick_rs.MatchKind.LeftmostFirst,
        implementation=ahocorasick_rs.Implementation.DFA,
    )


def bit(row: FamilyRow) -> int:
    """The bit that stands for a family in what `families_in` returns."""
    return 1 << FAMILIES.index(row)


def families_in(text: str) -> int:
    """The families whose keywords a line holds, a bit each.

    That of dots is always set: their keyword begins with the line end before the line; a record's shape shows them.
    """
    found = _ALWAYS
    for number, _, _ in _WORDS.find_matches_as_indexes(text, overlapping=True):
        found |= _BITS[number]
    return found
