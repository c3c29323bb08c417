"""Pages of neuron-monitor's Prometheus exporter: levels come back, running totals are no counts of a period."""

from __future__ import annotations

import pytest

from neuron_top import events
from neuron_top.parsers.monitor_exporter import read_page
from neuron_top.telemetry.telemetry_file import TelemetryFile
from tests.corpus import corpus

NODE = 'instance_id="i-1",instance_type="trn1.2xlarge"'
PAGE = f"""# HELP python_info Python platform information
python_info{{major="3"}} 1.0
# TYPE neuroncore_utilization_ratio gauge
neuroncore_utilization_ratio{{{NODE},neuroncore="0",runtime_tag="train"}} 0.75
neuroncore_utilization_ratio{{{NODE},neuroncore="1",runtime_tag="train"}} 0.0 1767225600000
neuroncore_memory_usage_tensors{{{NODE},neuroncore="0",runtime_tag="train"}} 1.5e+09
neuroncore_memory_usage_constants{{{NODE},neuroncore="0",runtime_tag="train"}} 5e+08
neuron_runtime_memory_used_bytes{{{NODE},memory_location="host",runtime_tag="train"}} 1024.0
execution_latency_seconds{{{NODE},percentile="p50",runtime_tag="train"}} 0.002
execution_status_total{{{NODE},runtime_tag="train",status_type="completed"}} 91234.0
execution_errors_total{{{NODE},error_type="hardware",runtime_tag="eval"}} 3.0
hardware_ecc_events_total{{{NODE},event_type="mem_ecc_corrected",neuron_device_index="0"}} 4.0
system_memory_total_bytes{{{NODE}}} 3.2e+10
system_memory_used_bytes{{{NODE}}} 8e+09
system_vcpu_usage_ratio{{{NODE},usage_type="user"}} 0.25
neuron_hardware_info{{{NODE},neuron_device_count="1",neuroncore_per_device_count="2"}} 1.0
"""


def read(page: str) -> list[events.AnyEvent]:
    """The events of a saved page."""
    file = TelemetryFile("x")
    found = file.feed(page.encode()) + file.flush()
    assert (file.documents, file.malformed) == (1, 0)
    return found


def test_levels_of_a_page_become_samples_of_cores_processes_and_host() -> None:
    found = read(PAGE)
    (cores,) = [event.cores for event in found if isinstance(event, events.CoresSampled)]
    assert [(core.core, core.utilization, core.memory) for core in cores] == [(0, 0.75, 2_000_000_000), (1, 0.0, None)]
    assert cores[0].kinds == {"tensors": 1_500_000_000, "constants": 500_000_000}
    (processes,) = [event.processes for event in found if isinstance(event, events.NeuronProcessesSampled)]
    assert [(each.tag, each.pid, each.host_memory) for each in processes] == [
        ("train", None, 1024),
        ("eval", None, None),
    ]
    (host,) = [event for event in found if isinstance(event, events.HostSampled)]
    assert (host.cpu, host.memory_used, host.memory_total) == (0.25, 8_000_000_000, 32_000_000_000)
    assert [(e.device, e.counts) for e in found if isinstance(e, events.HardwareErrorsCounted)] == [
        (0, {"mem_ecc_corrected": 4})
    ]
    (devices,) = [event for event in found if isinstance(event, events.DevicesFound)]
    assert (devices.instance_type, len(devices.devices)) == ("trn1.2xlarge", 1)


def test_running_totals_are_not_taken_for_counts_of_a_period() -> None:
    (done,) = [event for event in read(PAGE) if isinstance(event, events.ExecutionsCounted)]
    assert (done.tag, done.statuses, done.errors, done.latency) == ("train", {}, {}, {"p50": 0.002})


@pytest.mark.parametrize("broken", ["neuroncore_utilization_ratio{neuroncore=", "neuroncore_utilization_ratio NaN x y"])
def test_a_broken_line_leaves_the_others_alone(broken: str) -> None:
    record = read_page(PAGE + broken + "\n")
    assert record is not None
    assert record.runtimes is not None
    assert record.runtimes[0].cores[0].utilization == 0.75


def test_pages_of_other_exporters_and_of_several_machines_are_not_read() -> None:
    assert read_page("system_memory_total_bytes 1.0\nnode_load1 2.0\n") is None
    assert read_page(PAGE + PAGE.replace("i-1", "i-2")) is None


def test_a_published_page_gives_its_machine_and_processes() -> None:
    found = read(corpus("telemetry", "prom_inf1.xlarge_exporter_excerpt.prom.txt").read_text())
    (devices,) = [event for event in found if isinstance(event, events.DevicesFound)]
    assert (devices.instance_type, [len(device.cores) for device in devices.devices]) == ("inf1.xlarge", [4])
    (processes,) = [event.processes for event in found if isinstance(event, events.NeuronProcessesSampled)]
    assert {process.tag for process in processes} >= {"31961", "32786"}
