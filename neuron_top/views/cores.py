"""The cores screen: a row per core, grouped by device, one core's page with its history, and out-of-memory tables."""

from __future__ import annotations

import msgspec

from neuron_top.events import CoreKind, NeuronProcess
from neuron_top.run.cores import Core
from neuron_top.run.history import Point
from neuron_top.run.model import Run
from neuron_top.telemetry.core_order import visible_core
from neuron_top.telemetry.instances import machine
from neuron_top.units import counted, latency_text
from neuron_top.views.core_rows import CoreRow, capacity_of, core_row, core_rows, total
from neuron_top.views.device_map import DeviceMap, device_map
from neuron_top.views.exhausted import ExhaustedMemory, exhausted_memory
from neuron_top.views.gaps import with_gaps
from neuron_top.views.overview import HostCard, host_card

HISTORY_POINTS = 600
_UNRELIABLE = "generic"
"""Errors that are left out: older neuron-monitors count tens of thousands while hundreds of executions succeed."""


class DeviceGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The cores of one device (local workers: of one host). Bytes; None unknown."""

    node: str
    kind: CoreKind
    device: int | None
    name: str
    """`device 3`, or the node for local workers."""
    memory: int | None
    capacity: int | None
    utilization: float | None
    """Mean of its cores' latest samples."""
    stale: bool
    """None of its cores has reported lately."""
    errors: dict[str, int]
    """Hardware error counts."""
    rows: tuple[CoreRow, ...]


class CoreTable(msgspec.Struct, frozen=True, kw_only=True):
    """All cores, grouped."""

    now: float
    over: bool
    """Whether the job has ended: no core will report any more."""
    instance_type: str
    lnc: int | None
    host: HostCard
    groups: tuple[DeviceGroup, ...]
    processes: tuple[NeuronProcess, ...]
    execution_statuses: dict[str, int]
    execution_errors: dict[str, int]
    latency: dict[str, float]
    """Percentiles of the newest period with executions, seconds; empty if nothing was executed lately."""
    absent: tuple[str, ...]
    """Why sources of telemetry say nothing: `<name>: <reason>`."""
    exhausted: ExhaustedMemory | None
    """Allocations that failed: what filled the memory is drawn as the same bars."""
    links: dict[int, tuple[int, ...]]
    """Device → devices that it is linked to."""

    def devices(self, metric: str) -> DeviceMap:
        """The cores by device, by a metric."""
        rows = [row for group in self.groups for row in group.rows]
        errors = {(group.node, group.device): sum(group.errors.values()) for group in self.groups}
        return device_map(rows, self.now, metric, links=self.links, errors=errors)


class CorePage(msgspec.Struct, frozen=True, kw_only=True):
    """One core with its history; buckets carry mean and peak."""

    row: CoreRow
    utilization: tuple[Point, ...]
    memory: tuple[Point, ...]
    step: float
    """Seconds per bucket of the long history."""
    recent_utilization: tuple[tuple[float, float | None], ...]
    """(time, value) as sampled, the last minutes; unknown where samples are missing."""
    recent_memory: tuple[tuple[float, float | None], ...]
    over: bool = False
    """The job has ended: what stands here is its last sample."""
    visible: int | None = None
    """Its number in NEURON_RT_VISIBLE_CORES and in neuron-ls where that is known to be another one (Trainium2)."""


def core_table(run: Run, now: float) -> CoreTable:
    """The cores screen."""
    groups: dict[tuple[str, str, int], list[CoreRow]] = {}
    for row in core_rows(run, now):
        groups.setdefault((row.node, row.kind, -1 if row.device is None else row.device), []).append(row)
    cores = run.cores
    return CoreTable(
        now=now,
        over=run.over(now),
        instance_type=cores.instance_type,
        lnc=cores.lnc,
        host=host_card(run, now),
        groups=tuple(_group(run, rows) for _key, rows in sorted(groups.items())),
        processes=cores.processes or (),
        execution_statuses=dict(cores.statuses),
        execution_errors=dict(cores.execution_errors),
        latency=cores.recent_latency(run.training.step_seconds),
        absent=tuple(f"{source.name}: {source.text}" for source in cores.sources.values() if not source.available),
        exhausted=exhausted_memory(cores.exhausted),
        links={index: device.connected_to for index, device in cores.devices.items()},
    )


def machine_words(view: CoreTable) -> tuple[str, ...]:
    """What kind of machine it is and what it executes, each as a few words; only what is known."""
    errors = sum(count for name, count in view.execution_errors.items() if name != _UNRELIABLE)
    runs = sum(view.execution_statuses.values())
    latency = [f"{name} {latency_text(view.latency[name])}" for name in ("p50", "p99") if name in view.latency]
    words = (
        view.instance_type,
        counted(errors, "execution error") if errors else "",
        f"latency {' '.join(latency)}" if latency else "",
        counted(runs, "execution") if runs else "",
    )
    return tuple(filter(None, words))


def core_page(run: Run, now: float, key: str, since: float | None = None) -> CorePage | None:
    """One core's page; None when there is no such core. `since`: how far back the long history reaches."""
    core = run.cores.cores.get(key)
    if core is None:
        return None
    return CorePage(
        row=core_row(run, core, now),
        utilization=core.utilization.points(since, HISTORY_POINTS),
        memory=core.memory.points(since, HISTORY_POINTS),
        step=core.utilization.step,
        recent_utilization=with_gaps(core.recent_utilization.samples()),
        recent_memory=with_gaps(core.recent_memory.samples()),
        over=run.over(now),
        visible=_visible_number(run, core),
    )


def visible_words(page: CorePage) -> str:
    """`core 2 in NEURON_RT_VISIBLE_CORES and neuron-ls`; "" where these have the same number for it."""
    return "" if page.visible is None else f"core {page.visible} in NEURON_RT_VISIBLE_CORES and neuron-ls"


def _visible_number(run: Run, core: Core) -> int | None:
    if core.kind is not CoreKind.NEURON:
        return None
    number = visible_core(core.index, machine(instance_type=run.cores.instance_type, lnc=run.cores.lnc))
    return number if number != core.index else None


def _group(run: Run, rows: list[CoreRow]) -> DeviceGroup:
    first = rows[0]
    device = run.cores.devices.get(first.device) if first.device is not None else None
    capacity = device.memory if device is not None and device.memory is not None else capacity_of(rows)
    known = [row.utilization for row in rows if row.utilization is not None]
    return DeviceGroup(
        node=first.node,
        kind=first.kind,
        device=first.device,
        name=f"device {first.device}" if first.device is not None else first.node or "this host",
        memory=total(row.memory for row in rows),
        capacity=capacity,
        utilization=sum(known) / len(known) if known else None,
        stale=all(row.stale for row in rows),
        errors=run.cores.hardware_errors.get((first.node, first.device), {}) if first.device is not None else {},
        rows=tuple(rows),
    )
