"""Cores as rows: what each does now, its memory, and whether its values are old."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

import msgspec

from neuron_top.events import MEMORY_KINDS, WORKER_KINDS, CoreKind
from neuron_top.run.cores import Core
from neuron_top.run.model import Run
from neuron_top.units import counted, whole_seconds_text
from neuron_top.views.memory_place import gpu_text

STALE_PERIODS = 5.0
_KINDS = (*WORKER_KINDS, *(kind for kind in MEMORY_KINDS if kind not in WORKER_KINDS))


class CoreRow(msgspec.Struct, frozen=True, kw_only=True):
    """One core now. Rows keep their order: by node, kind and core number."""

    key: str
    core: int
    kind: CoreKind
    """`neuron`, or `local` where a worker process stands for a core."""
    node: str
    device: int | None
    gpu: str
    """The GPU that a local worker computes on; `memory` is then that of the GPU. "" where it has none."""
    bank: int | None
    rank: int | None
    pid: int | None
    process: str
    container: str
    utilization: float | None
    """The latest sample, 0…1 (a local worker with several threads may exceed 1)."""
    smoothed: float | None
    """Mean over max(one training step, 30 s)."""
    memory: int | None
    capacity: int | None
    peak: int | None
    headroom: float | None
    """Free share of its bank, 0…1."""
    beside: int
    """Bytes that other cores hold in the same bank."""
    kinds: dict[str, int]
    """Memory by kind; kinds that cannot be determined are absent, and the sum may be below `memory`."""
    models: tuple[str, ...]
    flops: float | None
    power: float | None
    sampled: float | None
    stale: bool
    """Not sampled for longer than it should be: the values are old."""
    ended: bool
    """It is stale because it was a worker of a job that has ended."""
    trend: tuple[float, ...]
    """The last utilization samples, oldest first."""


def capacity_of(rows: Iterable[CoreRow]) -> int | None:
    """Bytes of these cores' memory, with a bank that several of them share counted once; None if one is unknown."""
    banks = {(row.node, row.device, row.key if row.bank is None else row.bank): row.capacity for row in rows}
    return total(banks.values())


def total(values: Iterable[int | None]) -> int | None:
    """The sum; None where any part is unknown: a sum of some of the parts would look like the total."""
    known = 0
    for value in values:
        if value is None:
            return None
        known += value
    return known


def core_rows(run: Run, now: float, trend: int = 60) -> tuple[CoreRow, ...]:
    """A row per core; `trend`: samples of its sparkline."""
    return tuple(core_row(run, core, now, trend) for core in run.cores.in_order())


def core_row(run: Run, core: Core, now: float, trend: int = 60) -> CoreRow:
    """One core now. The same object is returned until the core changes: screens ask far more often than a core
    reports."""
    rank = run.rank_of_core(core)
    stale = is_stale(core.sampled, run.cores.period, now)
    ended = stale and core.kind is CoreKind.LOCAL and run.job.finished is not None
    asked = core.version, rank, stale, ended, run.training.step_seconds, trend
    known = _known.get(core)
    if known is None or known[0] != asked:
        known = _known[core] = asked, _row(run, core, rank, trend, stale=stale, ended=ended)
    return known[1]


_known: WeakKeyDictionary[Core, tuple[tuple[object, ...], CoreRow]] = WeakKeyDictionary()


def _row(run: Run, core: Core, rank: int | None, trend: int, *, stale: bool, ended: bool) -> CoreRow:
    sample = core.sample
    return CoreRow(
        key=core.key,
        core=core.index,
        kind=core.kind,
        node=core.node,
        device=sample.device,
        gpu=gpu_text(core),
        bank=sample.bank,
        rank=rank,
        pid=sample.pid,
        process=sample.process,
        container=sample.container,
        utilization=sample.utilization,
        smoothed=core.smoothed(run.training.step_seconds),
        memory=sample.memory,
        capacity=sample.capacity,
        peak=core.peak,
        headroom=core.headroom,
        beside=core.beside,
        kinds=core.kinds,
        models=sample.models,
        flops=sample.flops,
        power=sample.power,
        sampled=core.sampled,
        stale=stale,
        ended=ended,
        trend=core.recent_utilization.values(trend),
    )


def cores_text(cores: Sequence[CoreRow]) -> str:
    """`4 cores`; `2 workers` where processes stand for cores."""
    is_local = bool(cores) and all(core.kind == CoreKind.LOCAL for core in cores)
    return counted(len(cores), "worker" if is_local else "core")


def silence_text(cores: Sequence[CoreRow], now: float) -> str:
    """How long those that no longer report have been silent: `no data for 44 s`; "" while all report or have ended."""
    stale = [core.sampled for core in cores if core.stale and not core.ended]
    if not stale:
        return ""
    newest = max((time for time in stale if time is not None), default=None)
    return f"no data for {whole_seconds_text(now - newest)}" if newest is not None else "no data yet"


def is_stale(sampled: float | None, period: float | None, now: float) -> bool:
    """Whether a core was silent for longer than five periods, and for at least 10 s."""
    return sampled is None or now - sampled > max(10.0, STALE_PERIODS * (period or 1.0))


def legend_kinds(cores: Sequence[CoreRow]) -> list[str]:
    """The kinds of memory that any core reports, in their fixed order."""
    return ordered_kinds(kind for core in cores for kind in core.kinds)


def ordered_kinds(kinds: Iterable[str]) -> list[str]:
    """These kinds of memory, each once, in their fixed order; those that we do not know behind them."""
    found = set(kinds)
    return [kind for kind in _KINDS if kind in found] + sorted(found.difference(_KINDS))
