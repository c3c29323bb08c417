"""Makes the same events of Neuron Observer's values as of neuron-monitor's: cores, executions, host, errors, devices.

Gauges are passed on as they are; running totals become the difference to the scrape before. A series without a core is
a total of the whole node and says nothing about a core. Whether utilization is reported in percent or as a share is not
documented: the answer's help text decides, or else its values (`_Scale`). Pure apart from the clock that is passed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from neuron_top.escapes import visible
from neuron_top.events import (
    AnyEvent,
    CoreCountersRead,
    CoreKind,
    CoreSample,
    CoresSampled,
    Device,
    DevicesFound,
    ExecutionsCounted,
    HardwareErrorsCounted,
    HostSampled,
)
from neuron_top.parsers import json_fields
from neuron_top.parsers import neuron_observer as names
from neuron_top.parsers.neuron_observer import ObserverSample, ObserverScrape
from neuron_top.telemetry.instances import Machine, machine

_INDEX = re.compile(r"[A-Za-z_]{0,20}([0-9]{1,5})")
_CORE_LABELS = ("neuroncore", "neuron_core_index", "neuroncore_index", "core_index", "core_id", "core")
_DEVICE_LABELS = ("neuron_device_index", "neurondevice", "neuron_device", "device_index", "device_id", "device")
_TAG_LABELS = ("runtime_tag", "process_tag")
_MOST_CORES = 4096
_BEST = ("avg", "", "max", "min", "sum")
"""Aggregates of one quantity, the preferred one first; a sum over time is not used, as it is not a level."""


class _Place(msgspec.Struct, frozen=True):
    """The labels of a series that matter: the core as it is numbered there, and its process."""

    device: int | None
    core: int | None
    owner: str = ""


class ObserverReader:
    """Scrapes → events. It remembers the running totals of the scrape before, and the scale of utilization."""

    def __init__(
        self, source: str = "observer", *, clock: Callable[[], float] | None = None, announce_devices: bool = True
    ) -> None:
        self.source, self._clock, self._announce = source, clock, announce_devices
        self._scale = _Scale()
        self._totals: dict[tuple[str, _Place], float] = {}
        self._last: float | None = None
        self._announced: DevicesFound | None = None

    def events(self, scrape: ObserverScrape) -> list[AnyEvent]:
        """The events of one scrape, the devices first when they are new."""
        at = self._clock() if self._clock else None
        series = _Series(scrape.samples)
        host = _machine_of(series)
        cores = _Cores(series, host, self._scale.of(scrape))
        found: list[AnyEvent] = [*self._devices(series, host, cores)]
        found += self._executions(series, at)
        found += _host(series)
        found += _ecc(series)
        found += cores.counters()
        if samples := cores.samples():  # last, so that a reader that waits for it then has the whole scrape
            found.append(CoresSampled(kind=CoreKind.NEURON, cores=tuple(samples)))
        self._last = at
        return [msgspec.structs.replace(event, at=at, source=self.source) for event in found]

    def _devices(self, series: _Series, host: Machine, cores: _Cores) -> Iterator[AnyEvent]:
        event = _devices_found(series, host, cores)
        if self._announce and event.devices and event != self._announced:
            self._announced = event
            yield event

    def _executions(self, series: _Series, at: float | None) -> Iterator[AnyEvent]:
        """Executions since the last scrape, by process if the series name one."""
        added: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
        totals: dict[tuple[str, _Place], float] = {}
        for base, name in (*names.STATUSES.items(), *names.ERRORS.items()):
            for place, value in series.per_core_or_node(base):
                totals[base, place] = value
                before = self._totals.get((base, place))
                # A total that has shrunk started again, with a new process.
                new = 0 if before is None else int(value - before if value >= before else value)
                statuses, errors = added.setdefault(place.owner, ({}, {}))
                tally = statuses if base in names.STATUSES else errors
                tally[name] = tally.get(name, 0) + max(0, min(new, json_fields.LARGEST_COUNT))
        first, self._totals = not self._totals, totals
        if first:
            return
        period = at - self._last if at is not None and self._last is not None else None
        for owner, (statuses, errors) in added.items():
            yield ExecutionsCounted(tag=owner, period=period, statuses=statuses, errors=errors)


class _Scale:
    """Decides between percent and share: by the help text, or by a value above 1; a source in percent stays so."""

    def __init__(self) -> None:
        self._percent = False

    def of(self, scrape: ObserverScrape) -> float:
        """The divisor for values of utilization."""
        if scrape.percent is not None:
            self._percent = scrape.percent
        elif any(sample.value > 1 for sample in scrape.samples if _is_level(sample)):
            self._percent = True
        return 100.0 if self._percent else 1.0


def _is_level(sample: ObserverSample) -> bool:
    return sample.name.base == "utilization" and sample.name.strategy != "sum"


class _Series:
    """The samples by base name and labels; of several aggregates of one series, the preferred one."""

    def __init__(self, samples: Iterable[ObserverSample]) -> None:
        self._found: dict[str, dict[_Place, tuple[int, float]]] = {}
        self.labels: dict[str, list[Mapping[str, str]]] = {}
        for sample in samples:
            labels = {name.replace(".", "_"): value for name, value in sample.labels.items()}
            base = sample.name.base
            if base in ("system_info", "device_info"):
                self.labels.setdefault(base, []).append(labels)
            strategy = sample.name.strategy
            rank = _BEST.index(strategy) if strategy in _BEST else len(_BEST)
            place = _place(labels)
            known = self._found.setdefault(base, {}).get(place)
            if known is None or rank < known[0]:
                self._found[base][place] = (rank, sample.value)

    def of(self, base: str) -> Iterator[tuple[_Place, float]]:
        """All series of a name."""
        for place, (_, value) in self._found.get(base, {}).items():
            yield place, value

    def of_cores(self, base: str) -> Iterator[tuple[_Place, float]]:
        """The series of a name that have a core."""
        return ((place, value) for place, value in self.of(base) if place.core is not None)

    def per_core_or_node(self, base: str) -> list[tuple[_Place, float]]:
        """The series of cores, or else the node's totals; both together would count everything twice."""
        return list(self.of_cores(base)) or list(self.of(base))

    def of_node(self, base: str) -> float | None:
        """The value of a name for the whole node."""
        found = [value for place, value in self.of(base) if place.core is None and place.device is None]
        return sum(found) if found else None


def _place(labels: Mapping[str, str]) -> _Place:
    owner = next((labels[name] for name in _TAG_LABELS if labels.get(name)), "")
    return _Place(_index(labels, _DEVICE_LABELS), _index(labels, _CORE_LABELS), visible(owner[:255]))


def _index(labels: Mapping[str, str], which: Iterable[str]) -> int | None:
    text = next((labels[name] for name in which if labels.get(name)), "")
    match = _INDEX.fullmatch(text)
    return int(match[1]) if match else None


def _machine_of(series: _Series) -> Machine:
    info: dict[str, str] = {}
    for labels in (*series.labels.get("system_info", ()), *series.labels.get("device_info", ())):
        for name, value in labels.items():
            info.setdefault(name, value)
    devices = _whole(series.of_node("neuron_device_count"), 4096)
    logical = _whole(series.of_node("logical_neuroncore_count"), 65536)
    per_device = json_fields.whole(info.get("logical_neuroncore_per_device_count"), 4096)
    if per_device is None and devices and logical:
        per_device = logical // devices
    return machine(
        instance_type=json_fields.text(info.get("instance_type", "")),
        device_kind=json_fields.text(info.get("device_name", "")),
        devices=devices or len(series.labels.get("device_info", ())) or None,
        cores_per_device=per_device or None,
        lnc=json_fields.whole(info.get("logical_neuroncore_config"), 64) or None,
    )


class _Cores:
    """Series of cores by the instance-wide number of their logical core.

    They may be numbered within their device (then two devices have a core 0) and by physical cores (then a device has
    more of them than logical ones); both show in the numbers themselves.
    """

    def __init__(self, series: _Series, host: Machine, scale: float) -> None:
        self._series, self._host, self._scale = series, host, scale
        bases = ("utilization", "mem_usage_total_device", "effective_flops", *names.DEVICE_MEMORY)
        places = {(p.device, p.core) for base in bases for p, _ in series.of_cores(base) if p.core is not None}
        numbers = {core for _, core in places}
        self._local = len({device for device, core in places if core == min(numbers, default=0)}) > 1
        wide = host.devices or len({device for device, _ in places})
        logical = (host.cores_per_device or 0) * (1 if self._local else wide)
        self._physical = bool(logical and host.lnc > 1 and max(numbers, default=0) >= logical)
        self._found: dict[int, dict[str, list[tuple[_Place, float]]]] = {}
        for base in bases:
            for place, value in series.of_cores(base):
                core = self._logical(place)
                if core in self._found or len(self._found) < _MOST_CORES:
                    self._found.setdefault(core, {}).setdefault(base, []).append((place, value))

    @property
    def numbers(self) -> list[int]:
        """The logical cores that are reported."""
        return sorted(self._found)

    def device(self, core: int) -> int | None:
        """The device of a logical core: as the series say, else by its number."""
        said = (place.device for readings in self._found.get(core, {}).values() for place, _ in readings)
        return next((device for device in said if device is not None), self._host.device(core))

    def samples(self) -> list[CoreSample]:
        """One sample per core."""
        powers = {place.device: value / 100 for place, value in self._series.of("power_avg")}
        return [self._sample(core, powers) for core in self.numbers]

    def counters(self) -> Iterator[CoreCountersRead]:
        """Running totals of physical cores, where the series say which those are."""
        if not self._physical and self._host.lnc > 1:
            return
        found: dict[tuple[int, int], dict[str, int]] = {}
        for base in names.COUNTERS:
            for place, value in self._series.of_cores(base):
                device = place.device if place.device is not None else self._host.device(self._logical(place))
                count = _whole(value)
                if device is not None and place.core is not None and count:
                    per_device = (self._host.cores_per_device or 1) * self._host.lnc
                    physical = place.core if self._local else place.core % per_device
                    found.setdefault((device, physical), {})[base] = count
        for (device, physical), counts in found.items():
            yield CoreCountersRead(device=device, physical=physical, counts=counts, live=True)

    def _logical(self, place: _Place) -> int:
        core = place.core or 0
        if self._physical:
            core //= self._host.lnc
        if self._local and place.device is not None:
            core += place.device * (self._host.cores_per_device or 1)
        return core

    def _sample(self, core: int, powers: Mapping[int | None, float]) -> CoreSample:
        readings = self._found[core]
        device = self.device(core)
        kinds = {}
        for base, kind in names.DEVICE_MEMORY.items():
            if base in readings:
                kinds[kind] = sum(_bytes(value) for _, value in readings[base])
        total = (
            sum(_bytes(value) for _, value in readings["mem_usage_total_device"])
            if "mem_usage_total_device" in readings
            else None
        )
        shares: dict[int, float] = {}
        for place, value in readings.get("utilization", ()):
            if place.core is not None and value >= 0:
                shares[place.core] = max(shares.get(place.core, 0.0), min(1.0, value / self._scale))
        flops = [value for _, value in readings.get("effective_flops", ()) if value >= 0]
        power = powers.get(device) if device is not None else None
        return CoreSample(
            core=core,
            utilization=sum(shares.values()) / len(shares) if shares else None,
            memory=total if total is not None else sum(kinds.values()) if kinds else None,
            capacity=self._host.bank_memory,
            kinds={kind: size for kind, size in kinds.items() if size},
            flops=sum(flops) if flops else None,
            device=device,
            bank=self._host.bank(core),
            power=power if power is not None and 0 <= power <= 1 else None,
            physical=shares if self._physical else {},
        )


def _devices_found(series: _Series, host: Machine, cores: _Cores) -> DevicesFound:
    by_device: dict[int, list[int]] = {}
    for core in cores.numbers:
        device = cores.device(core)
        if device is not None:
            by_device.setdefault(device, []).append(core)
    links = {_index(labels, _DEVICE_LABELS): labels for labels in series.labels.get("device_info", ())}
    indexes = sorted(
        {*by_device, *(index for index in links if index is not None), *range(min(host.devices or 0, 4096))}
    )
    per_device = host.cores_per_device or 0
    return DevicesFound(
        instance_type=host.instance_type,
        lnc=host.lnc if host.generation else None,
        devices=tuple(
            Device(
                index=index,
                core_count=host.cores_per_device,
                memory=host.device_memory,
                cores=tuple(by_device.get(index) or range(index * per_device, (index + 1) * per_device)),
                kind=host.generation.device_name if host.generation else "",
                connected_to=_neighbors(links.get(index, {})),
            )
            for index in indexes
        ),
    )


def _neighbors(labels: Mapping[str, str]) -> tuple[int, ...]:
    parts = re.split(r"[,;\s]+", labels.get("connected_devices", "")[:500].strip("[] "))
    found = (json_fields.whole(part, 65535) for part in parts if part)
    return tuple(index for index in found if index is not None)


def _host(series: _Series) -> Iterator[HostSampled]:
    sizes = {base: _whole(series.of_node(base), json_fields.LARGEST_BYTES) for base in names.HOST}
    idle = [value for _, value in series.of("vcpu_idle_percent") if 0 <= value <= 100]
    if sizes["memory_total_bytes"] is None and not idle:
        return
    yield HostSampled(
        cpu=1 - sum(idle) / len(idle) / 100 if idle else None,
        memory_used=sizes["memory_used_bytes"],
        memory_total=sizes["memory_total_bytes"],
        swap_used=sizes["swap_used_bytes"],
        swap_total=sizes["swap_total_bytes"],
    )


def _ecc(series: _Series) -> Iterator[HardwareErrorsCounted]:
    counts: dict[int, dict[str, int]] = {}
    for base in names.ECC:
        for place, value in series.of(base):
            count = _whole(value)
            if place.device is not None and count is not None:
                counts.setdefault(place.device, {})[base] = count
    for device, counted in sorted(counts.items()):
        yield HardwareErrorsCounted(device=device, counts=counted)


def _bytes(value: float) -> int:
    return int(max(0.0, min(value, float(json_fields.LARGEST_BYTES))))


def _whole(value: float | None, largest: int = json_fields.LARGEST_COUNT) -> int | None:
    return None if value is None else json_fields.whole(round(value), largest)
