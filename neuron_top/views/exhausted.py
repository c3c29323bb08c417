"""Device memory that ran out, a row per core: what filled it, which programs are largest, and what to do about it.

The runtime prints a table of the whole bank for each failed allocation. What is full is the bank, so its row is what
filled it; where there is none, the row of the core, else of the device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from neuron_top.events import DeviceMemoryExhausted, MemoryRow, MemoryScope
from neuron_top.run.exhausted import CoreExhaustion, Exhaustions
from neuron_top.units import bytes_text, counted

PROGRAMS_SHOWN = 10
_MANY_PROGRAMS = 8
"""From this many programs on one core on, their number is mentioned."""
_LARGE = 0.2
"""From this share of the memory on, a category is mentioned; the largest always is."""
_ADVICE = {
    "tensors": "weights, caches and inputs; spread the weights over more cores (tensor parallelism), or a smaller "
    "batch, sequence or KV cache, or a smaller data type",
    "constants": "values compiled into the programs; pass them as inputs, or load fewer programs",
    "model_code": "the code of the loaded programs; load fewer of them, or smaller ones",
    "model_shared_scratchpad": "intermediate values, shared by the programs; a smaller batch or sequence, or a larger "
    "page (`NEURON_SCRATCHPAD_PAGE_SIZE=1024` and `NEURON_CC_FLAGS=--hbm-scratchpad-page-size=1024`)",
    "nonshared_scratchpad": "intermediate values that do not fit the shared scratchpad; a larger page "
    "(`NEURON_SCRATCHPAD_PAGE_SIZE=1024` and `NEURON_CC_FLAGS=--hbm-scratchpad-page-size=1024`)",
    "dma_rings": "descriptors of data movements, which each loaded program brings; load fewer programs (buckets), or "
    "smaller ones",
    "collectives": "buffers of collectives, some for each loaded program; load fewer programs, or smaller groups",
    "profiler": "buffers of the profiler; switch it off (`NEURON_RT_INSPECT_ENABLE=0`)",
}


class ExhaustedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded program: the most that it takes of one core's bank, and on how many of the cores that failed."""

    name: str
    total: int
    cores: int


class ExhaustedCore(msgspec.Struct, frozen=True, kw_only=True):
    """The failures of one core. Bytes; `kinds` of its bank, the largest first."""

    node: str
    """"" where all failures are of one node."""
    device: int | None
    core: int | None
    count: int
    first: float | None
    requested: int | None
    usage: str
    in_use: int | None
    kinds: dict[str, int]
    programs: int

    @property
    def place(self) -> str:
        """Where, for people."""
        parts = [self.node] if self.node else []
        parts += [f"device {self.device}"] if self.device is not None else []
        parts += [f"core {self.core}"] if self.core is not None else []
        return " ".join(parts) or "a device that was not named"


class ExhaustedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """All failures of a run."""

    failures: int
    summary: str
    cores: tuple[ExhaustedCore, ...]
    """By node, device and core."""
    kinds: dict[str, int]
    """What filled the fullest core's bank, the largest first."""
    programs: tuple[ExhaustedProgram, ...]
    """The largest, the largest first."""
    advice: tuple[str, ...]
    """What to do, what matters most first; commands between backticks."""


def exhausted_memory(found: Exhaustions) -> ExhaustedMemory | None:
    """The failures of a run; None where no allocation failed."""
    if not found.count:
        return None
    failed = list(found)
    several = len({one.last.node for one in failed}) > 1
    rows = [_core(one, one.last.node if several else "") for one in failed]
    cores = tuple(sorted(rows, key=lambda core: (core.node, _order(core.device), _order(core.core))))
    fullest = max(cores, key=lambda core: (core.in_use or 0, core.requested or 0))
    return ExhaustedMemory(
        failures=found.count,
        summary=_summary(found.count, cores),
        cores=cores,
        kinds=fullest.kinds,
        programs=_largest(failed),
        advice=tuple(_advice(fullest)),
    )


def programs_of(event: DeviceMemoryExhausted) -> dict[str, int]:
    """What each loaded program takes: the sum of its rows under every core of the bank."""
    found: dict[str, int] = {}
    for row in event.rows:
        if row.scope is MemoryScope.NEFF:
            name = program_name(row.name) or f"NEFF {row.index}"
            found[name] = found.get(name, 0) + _total(row)
    return found


def program_name(path: str) -> str:
    """The parts of a NEFF's path that distinguish programs: the folders named by the framework, and the module.

    `/tmp/nxd_model/context_encoding_model/_tp0_bk48/model.MODULE_12ab+34cd.neff` →
    `context_encoding_model/_tp0_bk48/MODULE_12ab+34cd`.
    """
    parts = [part for part in path.split("/") if part]
    if not parts:
        return ""
    last = parts[-1].removesuffix(".neff").removeprefix("model.")
    return "/".join([*parts[-3:-1], last])


def _core(one: CoreExhaustion, node: str) -> ExhaustedCore:
    event = one.last
    row = _full(event)
    kinds = row.kinds if row is not None else {}
    return ExhaustedCore(
        node=node,
        device=event.device,
        core=event.core,
        count=one.count,
        first=one.first,
        requested=event.requested,
        usage=event.usage,
        in_use=_total(row) if row is not None else None,
        kinds={kind: kinds[kind] for kind in sorted(kinds, key=lambda kind: (-kinds[kind], kind)) if kinds[kind]},
        programs=len(programs_of(event)),
    )


def _full(event: DeviceMemoryExhausted) -> MemoryRow | None:
    """The row that shows what is full: the bank's, else that of the core that asked, else the device's."""
    rows = [row for row in event.rows if row.scope is not MemoryScope.NEFF]
    ranked = (
        next((row for row in rows if row.scope is MemoryScope.BANK), None),
        next((row for row in rows if row.scope is MemoryScope.CORE and row.index == event.core), None),
        *rows,
    )
    return next((row for row in ranked if row is not None), None)


def _total(row: MemoryRow) -> int:
    return row.total if row.total is not None else sum(row.kinds.values())


def _largest(failed: Iterable[CoreExhaustion]) -> tuple[ExhaustedProgram, ...]:
    most: dict[str, int] = {}
    cores: dict[str, int] = {}
    for one in failed:
        for name, total in programs_of(one.last).items():
            most[name] = max(most.get(name, 0), total)
            cores[name] = cores.get(name, 0) + 1
    largest = sorted(most, key=lambda name: (-most[name], name))[:PROGRAMS_SHOWN]
    return tuple(ExhaustedProgram(name=name, total=most[name], cores=cores[name]) for name in largest)


def _summary(failures: int, cores: tuple[ExhaustedCore, ...]) -> str:
    devices = {(core.node, core.device) for core in cores if core.device is not None}
    where = counted(len(cores), "core") if any(core.core is not None for core in cores) else ""
    where += f" of {counted(len(devices), 'device')}" if where and devices else ""
    words = f"{counted(failures, 'allocation')} failed" + (f" on {where}" if where else "")
    used = [core.in_use for core in cores if core.in_use is not None]
    words += f"; up to {bytes_text(max(used))} were in use" if used else ""
    asked = {(core.requested, core.usage) for core in cores}
    if len(asked) == 1:
        ((requested, usage),) = asked
        words += f"; {_asked(requested, usage)}"
    return words + "."


def _asked(requested: int | None, usage: str) -> str:
    return f"{bytes_text(requested)} were asked for" + (f" ({usage})" if usage else "")


def _advice(core: ExhaustedCore) -> list[str]:
    """What follows from what filled the fullest core's memory."""
    found = [
        f"{kind.replace('_', ' ')}, {bytes_text(size)}: {_ADVICE[kind]}"
        for number, (kind, size) in enumerate(core.kinds.items())
        if kind in _ADVICE and (number == 0 or size >= _LARGE * (core.in_use or sum(core.kinds.values())))
    ]
    if core.programs >= _MANY_PROGRAMS:
        each = _per_program(core.kinds)
        found.insert(
            min(1, len(found)),
            f"{core.programs} programs are loaded at once, and their code, constants, rings and collectives take "
            f"{bytes_text(each)}: load fewer buckets, or in several processes",
        )
    return found or ["fewer or smaller programs per core (buckets, batch, sequence), or the weights over more cores"]


def _per_program(kinds: Mapping[str, int]) -> int:
    return sum(kinds.get(kind, 0) for kind in ("model_code", "dma_rings", "collectives", "constants"))


def _order(index: int | None) -> int:
    return -1 if index is None else index
