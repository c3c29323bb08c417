"""Telemetry of this machine, or of a saved file, as events; and the newest of each kind."""

from __future__ import annotations

import errno
import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import IO

import msgspec

from neuron_top import events
from neuron_top.errors import FileMalformed, NothingToShow, UsageError
from neuron_top.events import AnyEvent
from neuron_top.processes.log_input import STANDARD_INPUT, portions
from neuron_top.run.hardware_errors import HardwareErrors
from neuron_top.settings import Settings
from neuron_top.telemetry.banks import bank_levels
from neuron_top.telemetry.monitor_events import NAME
from neuron_top.telemetry.observer import DEFAULT_URL, OFF, ObserverAddress, ObserverSource, checked_url, is_url
from neuron_top.telemetry.source import TelemetrySource, drive

AUTO, MONITOR, NEURON_LS, SYSFS, OBSERVER = "auto", "monitor", "ls", "sysfs", "observer"
SOURCES = (AUTO, MONITOR, NEURON_LS, SYSFS, OBSERVER)
"""Sources of a machine; any other name is an address of Neuron Observer or a file."""
_LS_SHARE = 0.9
"""The part of somebody's patience that neuron-ls may take."""

_SAMPLES = (
    events.CoresSampled
    | events.HostSampled
    | events.ExecutionsCounted
    | events.NeuronProcessesSampled
    | events.DevicesFound
    | events.HardwareErrorsCounted
    | events.CoreCountersRead
)
TelemetryEvent = AnyEvent
"""The events of the telemetry sources."""


def is_sample(event: TelemetryEvent) -> bool:
    """Whether an event has measured values, or the devices."""
    return isinstance(event, _SAMPLES)


def changes_tables(event: TelemetryEvent) -> bool:
    """Whether an event brings new samples of the cores, or the devices."""
    return isinstance(event, events.CoresSampled | events.DevicesFound)


def source_remark(event: TelemetryEvent) -> str:
    """A remark for the person: why a source reports nothing, or where Observer was found; else empty."""
    if isinstance(event, events.SourceUnavailable):
        return f"{event.name}: {event.reason}"
    if isinstance(event, events.SourceAvailable) and event.source == OBSERVER:
        return f"{event.name}: {event.detail}"
    return ""


def malformed_reason(event: TelemetryEvent) -> str:
    """Why a line cannot be read; empty for other events."""
    return event.reason or "no record" if isinstance(event, events.LineMalformed) else ""


def is_of_machine(source: str) -> bool:
    """Whether a source is a live one and not a file."""
    return source in SOURCES or is_url(source)


class LatestTelemetry:
    """The newest event of each kind."""

    def __init__(self) -> None:
        self.devices: events.DevicesFound | None = None
        self.processes: events.NeuronProcessesSampled | None = None
        self.cores: events.CoresSampled | None = None
        self.host: events.HostSampled | None = None
        self.errors: dict[int, events.HardwareErrorsCounted] = {}
        """By device."""
        self._hardware_errors = HardwareErrors()
        self.executions: dict[tuple[int | None, str], events.ExecutionsCounted] = {}
        """By process and its tag."""
        self._counters: dict[tuple[int, int], events.CoreCountersRead] = {}
        self.unavailable: set[str] = set()
        """Names of the sources that report nothing."""

    def apply(self, event: AnyEvent) -> None:
        """Take one event into account."""
        match event:
            case events.DevicesFound():
                self.devices = event
            case events.NeuronProcessesSampled():
                self.processes, self.executions = event, {}
            case events.CoresSampled():
                self.cores = event
            case events.HostSampled():
                self.host = event
            case events.HardwareErrorsCounted():
                counts = self._hardware_errors.add(event)
                self.errors[event.device] = msgspec.structs.replace(event, counts=counts)
            case events.CoreCountersRead():
                self._counters[event.device, event.physical] = event
            case events.ExecutionsCounted():
                self.executions[event.pid, event.tag] = event
            case events.SourceUnavailable():
                self.unavailable.add(event.name)
            case _:
                pass

    @property
    def is_empty(self) -> bool:
        """Whether no device, core or host was sampled yet."""
        return not (self.devices or self.cores or self.host)

    def is_complete(self, source: str) -> bool:
        """Whether there is a sample of `source`: from the monitor, if it is installed, one with rates."""
        if source == NEURON_LS:
            return self.devices is not None
        if source not in (AUTO, MONITOR) or NAME in self.unavailable:
            return self.cores is not None
        has_rates = self.host is not None and self.host.cpu is not None
        return has_rates and self.cores is not None and self.cores.source == MONITOR

    def events(self) -> Iterator[AnyEvent]:
        """The newest events, in the order of the machine's own reports."""
        single = (self.devices, self.processes, self.cores)
        yield from (event for event in single if event is not None)
        yield from self.executions.values()
        if self.host is not None:
            yield self.host
        yield from self.errors.values()
        yield from self._counters.values()

    def headroom(self) -> dict[tuple[int | None, int], int | None]:
        """Bytes left in each memory bank, by device and bank; a bank may be shared by several cores."""
        cores = self.cores.cores if self.cores is not None else ()
        return {(level.device, level.bank): level.headroom for level in bank_levels(cores)}


class MachineTelemetry:
    """The sources of this machine, driven as one stream of events."""

    def __init__(
        self, settings: Settings, source: str, sysfs_root: str = "/sys", *, patience: float | None = None
    ) -> None:
        """`source` is one of SOURCES or an address of Neuron Observer. `patience`: seconds after which the events end.

        Raises UsageError for a folder that does not exist, or an invalid address.
        """
        if not Path(sysfs_root).is_dir():
            raise UsageError(f"--sysfs-root {sysfs_root}: no such folder")
        self._patience = patience
        self._sources = _sources(settings, source, sysfs_root, patience)

    def is_hopeless(self, unavailable: set[str]) -> bool:
        """Whether no source can report anything, if the sources with these names have said that they cannot."""
        quiet = [each for each in self._sources if isinstance(each, ObserverSource) and each.is_quiet]
        names = {each.name for each in self._sources} - {each.name for each in quiet}
        return names <= unavailable and not any(each.answers() for each in quiet)

    def events(self) -> Generator[AnyEvent, None, None]:
        """Events until all sources have ended, or patience has. Close it to stop the sources."""
        arrived: queue.SimpleQueue[AnyEvent | None] = queue.SimpleQueue()

        def run(source: TelemetrySource) -> None:
            try:
                drive(source, arrived.put)
            finally:
                arrived.put(None)

        threads = [threading.Thread(target=run, args=(source,), daemon=True) for source in self._sources]
        deadline = None if self._patience is None else time.monotonic() + self._patience
        running = len(threads)
        for thread in threads:
            thread.start()
        try:
            while running:
                event = arrived.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
                if event is None:
                    running -= 1
                else:
                    yield event
        except queue.Empty:
            pass
        finally:
            for source in self._sources:
                source.stop()
            for thread in threads:
                thread.join()


def _sources(settings: Settings, source: str, sysfs_root: str, patience: float | None) -> list[TelemetrySource]:
    from neuron_top.telemetry import sources
    from neuron_top.telemetry.devices import LIMIT_SECONDS, NeuronLsPoller
    from neuron_top.telemetry.monitor import MonitorSource
    from neuron_top.telemetry.source import Periodic
    from neuron_top.telemetry.sysfs import SysfsTree

    # Its end is waited for, so it ends a little earlier, and why it gave no answer is said.
    ls_seconds = LIMIT_SECONDS if patience is None else min(LIMIT_SECONDS, _LS_SHARE * patience)
    if source == MONITOR:
        return [MonitorSource(settings.sample_seconds)]
    if source == NEURON_LS:
        devices = NeuronLsPoller(seconds=ls_seconds)
        return [Periodic(devices.name, 60.0, devices, end=devices.stop)]
    if source == OBSERVER or is_url(source):
        set_url = settings.observer_url if settings.observer_url not in ("", OFF) else DEFAULT_URL
        address = ObserverAddress(checked_url(source if is_url(source) else set_url))
        return [ObserverSource(address, settings.sample_seconds)]
    if source == SYSFS:
        return [Periodic("sysfs", settings.sample_seconds, sources.SysfsPoller(SysfsTree(sysfs_root)))]
    return sources.telemetry_sources(settings, sysfs_root, ls_seconds=ls_seconds)


class SavedTelemetry:
    """Saved telemetry in a file or on standard input: records of neuron-monitor, a page of its exporter, a listing of
    neuron-ls, or metrics of Neuron Observer."""

    def __init__(self, name: str, notify: Callable[[str], None], standard_input: IO[bytes] | None = None) -> None:
        """`name` is a path, or `-` for `standard_input`. `notify` takes remarks for the person."""
        from neuron_top.telemetry.telemetry_file import TelemetryFile

        self._name, self._notify, self._standard_input = name, notify, standard_input
        self._reader = TelemetryFile(f"monitor:{name}")
        self.title = "standard input" if name == STANDARD_INPUT else name

    @property
    def malformed(self) -> int:
        """Lines that could not be read so far."""
        return self._reader.malformed

    def events(self) -> Iterator[AnyEvent]:
        """The events of the whole file. Raises NothingToShow, UsageError."""
        if self._name != STANDARD_INPUT and not os.path.lexists(self._name):
            raise NothingToShow(f"{self._name}: {os.strerror(errno.ENOENT)}")
        for data in portions(self._name, self._notify, self._standard_input):
            yield from self._reader.feed(data)
        yield from self._reader.flush()

    def check(self) -> None:
        """Call after the last event: raises FileMalformed if nothing in the file was telemetry."""
        if self._reader.documents == 0:
            raise FileMalformed(
                self.title,
                "records of neuron-monitor or its Prometheus exporter, a listing of neuron-ls or metrics of Neuron "
                "Observer",
            )
