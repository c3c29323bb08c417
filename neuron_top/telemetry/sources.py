"""Chooses the telemetry sources of a live view, and which of them replaces another one that is silent.

neuron-monitor has utilization; the driver's sysfs has more about memory (eleven categories, peaks, power). So there is
one stream of core samples: the monitor's, overlaid with sysfs and with the owners' names; while the monitor is silent,
Neuron Observer's, overlaid in the same way; while both are silent, sysfs alone. neuron-ls announces the devices if it
is installed, else another source.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from neuron_top.events import AnyEvent, CoreSample, CoresSampled, SourceAvailable, SourceUnavailable
from neuron_top.settings import Settings
from neuron_top.telemetry import tools
from neuron_top.telemetry.core_owners import CoreOwners
from neuron_top.telemetry.devices import LIMIT_SECONDS, NeuronLsPoller
from neuron_top.telemetry.monitor import MonitorSource
from neuron_top.telemetry.observer import ObserverSource, address_of
from neuron_top.telemetry.source import Periodic, TelemetrySource
from neuron_top.telemetry.sysfs import SysfsTree, overlaid

_DEVICES_EVERY = 60.0
"""Seconds between two runs of neuron-ls; rare, as until SDK 2.28 it failed when run beside another tool."""
_COUNTERS_EVERY = 30
"""Polls between two readings of ECC and status counters: some 3,000 files on a large machine, which change slowly."""


def telemetry_sources(
    settings: Settings, sysfs_root: Path | str = "/sys", *, ls_seconds: float = LIMIT_SECONDS
) -> list[TelemetrySource]:
    """Every source of device telemetry for this machine, present or not: an absent one reports that when it is started.

    `ls_seconds`: how long neuron-ls may take.

    Raises UsageError for an address of Neuron Observer that is none.
    """
    has_ls = tools.find("neuron-ls") is not None
    tree, refine = SysfsTree(sysfs_root), SampleEnricher(SysfsTree(sysfs_root), CoreOwners())
    monitor = MonitorSource(settings.sample_seconds, refine=refine, announce_devices=not has_ls)
    sources: list[TelemetrySource] = [monitor]
    observer: ObserverSource | None = None
    if address := address_of(settings.observer_url):
        observer = ObserverSource(
            address,
            settings.sample_seconds,
            refine=refine,
            announce_devices=not has_ls,
            silent=lambda: monitor.delivering,
        )
        sources.append(observer)

    def others_deliver() -> bool:
        return monitor.delivering or (observer is not None and observer.delivering)

    look = SysfsPoller(
        tree, announce_devices=not has_ls, silent=others_deliver, lnc=lambda: refine.lnc, clock=time.time
    )
    sources.append(Periodic("sysfs", max(1.0, settings.sample_seconds), look))
    if has_ls:
        devices = NeuronLsPoller(seconds=ls_seconds)
        sources.append(Periodic(devices.name, _DEVICES_EVERY, devices, end=devices.stop))
    return sources


class SampleEnricher:
    """The monitor's core samples with the driver's memory and the owners' names."""

    def __init__(self, tree: SysfsTree, owners: CoreOwners) -> None:
        self._tree, self._owners = tree, owners
        self.lnc: int | None = None
        """Physical cores per logical core, by the last samples: hosts need not have the usual number."""

    def __call__(self, event: AnyEvent) -> AnyEvent:
        """The event; a core sample is refined."""
        if not isinstance(event, CoresSampled):
            return event
        cores = event.cores
        if (lnc := _physical_per_logical(cores, self._tree)) is not None:
            self.lnc = self._tree.lnc = lnc
            cores = overlaid(cores, self._tree.sample().cores)
        return msgspec.structs.replace(event, cores=tuple(map(self._owners.named, cores)))


def _physical_per_logical(cores: Iterable[CoreSample], tree: SysfsTree) -> int | None:
    """How many of the driver's cores each of these cores has; None if these are not the cores of its devices.

    The latter is so in a container, which sees some of the devices and numbers them again.
    """
    logical = Counter(core.device for core in cores if core.device is not None)
    devices = tree.devices()
    counts = {(len(device.cores), logical[device.index]) for device in devices}
    if len(devices) != len(logical) or len(counts) != 1:
        return None
    physical, shown = counts.pop()
    return physical // shown if physical and shown and physical % shown == 0 else None


class SysfsPoller:
    """`look()` for a `Periodic` source: core samples while `silent()` is false, counters now and then."""

    name = "sysfs"

    def __init__(
        self,
        tree: SysfsTree,
        *,
        announce_devices: bool = True,
        silent: Callable[[], bool] = lambda: False,
        lnc: Callable[[], int | None] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`lnc`: physical cores per logical core, if known."""
        self._tree, self._silent, self._lnc, self._clock = tree, silent, lnc, clock
        self._announce = announce_devices
        self._present: bool | None = None
        self._looks = 0

    def __call__(self) -> list[AnyEvent]:
        """Poll once."""
        if not self._present or self._looks % _COUNTERS_EVERY == 0:
            self._tree.forget()
        self._tree.lnc = self._lnc() or self._tree.lnc
        present = bool(self._tree.devices())
        events = self._turn(present) if present != self._present else []
        self._present = present
        if present:
            events += self._samples()
        self._looks += 1
        at = self._clock()
        return [msgspec.structs.replace(event, at=at, source="sysfs") for event in events]

    def _turn(self, present: bool) -> list[AnyEvent]:
        if not present:
            return [
                SourceUnavailable(
                    name=self.name,
                    reason=f"no device below {self._tree.base}: the neuron driver is not loaded; on a Neuron instance "
                    "install aws-neuronx-dkms and run `sudo modprobe neuron`",
                )
            ]
        driver = self._tree.driver()
        detail = f"driver {'.'.join(map(str, driver))}" if driver else "driver of unknown version"
        events: list[AnyEvent] = [SourceAvailable(name=self.name, detail=detail)]
        return [*events, self._tree.found()] if self._announce else events

    def _samples(self) -> list[AnyEvent]:
        events: list[AnyEvent] = [] if self._silent() else [self._tree.sample()]
        if self._looks % _COUNTERS_EVERY == 0:
            events += self._tree.errors()
            events += (counters for counters in self._tree.counters() if counters.counts)
        return events
