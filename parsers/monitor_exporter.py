"""Turns a page of `neuron-monitor-prometheus.py` back into the record of neuron-monitor, as far as that is possible.

Levels come back as they were. Counts do not: the exporter adds up what the monitor reports for each period, so a page
does not show its last period, and counts are left out. A process has its tag there, but no process id; some versions
keep the last values of a process that has ended. Names: the telemetry spec, section 10.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import json_fields, neuron_monitor
from neuron_top.parsers.neuron_monitor import MonitorRecord

_KNOWN = late_pattern(
    r"neuroncore_(?:utilization_ratio|memory_usage_\w{1,40})|neuron_runtime_(?:memory_used_bytes|vcpu_usage_ratio)"
    r"|neuron_hardware_info|instance_info|system_(?:memory|swap)_(?:total|used)_bytes|system_vcpu_usage_ratio"
    r"|hardware_ecc_events(?:_total)?|execution_latency_seconds|execution_(?:errors|status)_total"
)
_OWN = late_pattern(r"neuroncore_|neuron_runtime_|neuron_hardware_info")
"""Other exporters have a `system_memory_used_bytes`, too; one of these makes a page neuron-monitor's."""
_LONGEST_LINE = 8192
_MOST_LINES = 100_000
_MEMORY = "neuroncore_memory_usage_"


class _Sample(msgspec.Struct, frozen=True):
    name: str
    labels: dict[str, str]
    value: float


def read_page(text: str) -> MonitorRecord | None:
    """The record; None for another exporter's page, or where it holds the values of several machines."""
    lines = [line for line in text.splitlines()[:_MOST_LINES] if len(line) <= _LONGEST_LINE and _KNOWN.match(line)]
    if not any(_OWN.match(line) for line in lines):
        return None
    samples = list(_samples(lines))
    machines = {name for sample in samples if (name := sample.labels.get("instance_id"))}
    if not samples or len(machines) > 1:
        return None
    return neuron_monitor.record_in(_document(samples))


def _samples(lines: list[str]) -> Iterator[_Sample]:
    from prometheus_client.parser import text_string_to_metric_families

    for line in lines:  # one by one: a bad line makes the library refuse all of them
        try:
            found = [sample for family in text_string_to_metric_families(line + "\n") for sample in family.samples]
        except ValueError:
            continue
        for sample in found:
            value = json_fields.number(sample.value)
            if value is not None and _KNOWN.fullmatch(sample.name):
                yield _Sample(sample.name, sample.labels, value)


def _document(samples: list[_Sample]) -> dict[str, object]:
    """The samples in the shape of a record."""
    runtimes: dict[str, _Runtime] = {}
    memory: dict[str, object] = {}
    cpu: dict[str, object] = {}
    devices: dict[str, dict[str, object]] = {}
    hardware: dict[str, str] = {}
    instance: dict[str, str] = {}
    for sample in samples:
        name, labels, value = sample.name, sample.labels, sample.value
        if labels.get("instance_type"):
            instance = {"instance_type": labels["instance_type"]}
        if name.startswith(("neuroncore_", "neuron_runtime_", "execution_")):
            tag = labels.get("runtime_tag", "")
            runtimes.setdefault(tag, _Runtime(tag)).take(sample)
        elif name == "neuron_hardware_info":
            hardware = labels
        elif name == "system_vcpu_usage_ratio":
            cpu[labels.get("usage_type", "")] = value * 100
        elif name.startswith("hardware_ecc_events"):
            index = labels.get("neuron_device_index", "")
            devices.setdefault(index, {"neuron_device_index": index})[labels.get("event_type", "")] = value
        elif name.startswith("system_"):
            memory[name.replace("system_memory_", "memory_").replace("system_swap_", "swap_")] = value
    return {
        "neuron_runtime_data": [runtime.document() for runtime in runtimes.values()],
        "system_data": {
            "memory_info": memory,
            "vcpu_usage": {"average_usage": cpu} if cpu else {},
            "neuron_hw_counters": {"neuron_devices": list(devices.values())},
        },
        "instance_info": instance,
        "neuron_hardware_info": hardware,
    }


class _Runtime:
    """What a page says of one process."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.cores: dict[str, dict[str, object]] = {}
        self.kinds: dict[str, dict[str, object]] = {}
        self.used: dict[str, object] = {}
        self.cpu: dict[str, object] = {}
        self.latency: dict[str, object] = {}

    def take(self, sample: _Sample) -> None:
        """Keep one value."""
        labels, value = sample.labels, sample.value
        core = labels.get("neuroncore", "")
        if sample.name == "neuroncore_utilization_ratio":
            self.cores[core] = {"neuroncore_utilization": value * 100}
        elif sample.name.startswith(_MEMORY):
            self.kinds.setdefault(core, {})[sample.name.removeprefix(_MEMORY)] = value
        elif sample.name == "neuron_runtime_memory_used_bytes":
            self.used[labels.get("memory_location", "")] = value
        elif sample.name == "neuron_runtime_vcpu_usage_ratio":
            self.cpu[labels.get("usage_type", "")] = value * 100
        elif sample.name == "execution_latency_seconds":
            self.latency[labels.get("percentile", "")] = value

    def document(self) -> dict[str, object]:
        """The element of a record."""
        used = {**self.used, "usage_breakdown": {"neuroncore_memory_usage": self.kinds} if self.kinds else {}}
        return {
            "neuron_runtime_tag": self.tag,
            "report": {
                "neuroncore_counters": {"neuroncores_in_use": self.cores},
                "memory_used": {"neuron_runtime_used_bytes": used},
                "neuron_runtime_vcpu_usage": {"vcpu_usage": self.cpu} if self.cpu else {},
                "execution_stats": {"latency_stats": {"total_latency": self.latency}} if self.latency else {},
            },
        }
