"""Every real telemetry sample decoded, and what must hold of it: sums, merges, capacities, keys."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

import pytest

from neuron_top import events
from neuron_top.parsers import sysfs_values
from neuron_top.parsers.neuron_ls import read_devices
from neuron_top.parsers.neuron_monitor import MonitorRecord, record_in
from neuron_top.telemetry.banks import bank_levels
from neuron_top.telemetry.core_order import TRN2_ORDER, logical_order, visible_core
from neuron_top.telemetry.instances import DEVICES, GIB, generation, machine
from neuron_top.telemetry.monitor_events import MonitorReader, events_of
from tests.corpus import corpus

RECORDS = (
    "nm_inf1.xlarge_4runtimes_same_tag.json",
    "nm_inf2.xlarge_under_load.json",
    "nm_trn1.2xlarge_compiling_no_runtime.json",
    "nm_trn1.2xlarge_idle_first_record.json",
    "nm_trn1.2xlarge_torch_train_2023.jsonl",
    "nm_trn1n.32xlarge_32runtimes_first_period.json",
)
LISTINGS = (
    "neuron_ls_inf2.xlarge_tools2.28_busy.json",
    "neuron_ls_trn1.2xlarge_old_schema.json",
    "neuron_ls_trn1.2xlarge_tools2.31.json",
    "neuron_ls_trn2.48xlarge_one_device_container.json",
    "neuron_ls_trn2n.48xlarge_docs_devices_0_15.json",
)


def raw(name: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in corpus("telemetry", name).read_text().splitlines() if text.strip()]


def decoded(name: str) -> list[MonitorRecord]:
    return [record_in(value) for value in raw(name)]


@pytest.mark.parametrize("name", RECORDS)
def test_a_process_total_on_devices_is_the_sum_over_its_cores(name: str) -> None:
    for record in decoded(name):
        for runtime in record.runtimes or ():
            assert runtime.memory is not None
            assert runtime.device_memory == sum(sum(kinds.values()) for kinds in runtime.memory.values())
            assert runtime.host_memory == sum(runtime.host_kinds.values())


@pytest.mark.parametrize("name", RECORDS)
def test_merged_cores_keep_the_sum_of_all_processes_and_fit_their_banks(name: str) -> None:
    for record in decoded(name):
        reported = [event for event in events_of(record) if isinstance(event, events.CoresSampled)]
        assert len(reported) == 1
        sampled = reported[0].cores
        assert len(sampled) == (record.hardware.devices or 0) * (record.hardware.cores_per_device or 0)
        held = sum(core.memory or 0 for core in sampled)
        assert held == sum(runtime.device_memory or 0 for runtime in record.runtimes or ())
        for core in sampled:
            assert core.memory is None or core.memory == sum(core.kinds.values())
            assert core.capacity is not None
            assert core.utilization is None or 0 <= core.utilization <= 1
        assert all(level.headroom is None or level.headroom > 0 for level in bank_levels(sampled))


@pytest.mark.parametrize("name", RECORDS)
def test_every_sample_survives_the_store_and_any_chunking(name: str) -> None:
    data = corpus("telemetry", name).read_bytes()
    reader = MonitorReader()
    whole = [*reader.feed(data), *reader.flush()]
    assert reader.malformed == 0
    assert all(events.decode(events.encode(event)) == event for event in whole)
    pieces = MonitorReader()
    chunked = [event for at in range(0, len(data), 4093) for event in pieces.feed(data[at : at + 4093])]
    assert [*chunked, *pieces.flush()] == whole


def test_a_model_is_a_part_of_its_core_never_more() -> None:
    for name in RECORDS:
        for record in decoded(name):
            for runtime in record.runtimes or ():
                assert sum(model.memory or 0 for model in runtime.models) <= (runtime.device_memory or 0)


def test_the_first_period_of_32_processes_has_memory_and_keys_but_no_rates() -> None:
    (record,) = decoded("nm_trn1n.32xlarge_32runtimes_first_period.json")
    (sampled,) = [event for event in events_of(record) if isinstance(event, events.CoresSampled)]
    assert {core.utilization for core in sampled.cores} == {None}
    assert [len(core.models) for core in sampled.cores] == [20] * 32
    assert len({core.pid for core in sampled.cores}) == 32
    assert {core.bank for core in sampled.cores} == {0, 1}
    keys = {model for core in sampled.cores for model in core.models if model != "neff"}
    assert all(re.fullmatch(r"MODULE_[0-9]+\+c7db2df4", key) for key in keys)
    host = next(event for event in events_of(record) if isinstance(event, events.HostSampled))
    assert host.cpu == pytest.approx(0.2133)  # a group with a whole period keeps its rate


def test_names_cut_at_255_characters_still_lead_to_their_cache_entry() -> None:
    for record in decoded("nm_trn1.2xlarge_torch_train_2023.jsonl"):
        for runtime in record.runtimes or ():
            assert {model.key for model in runtime.models} == {
                "MODULE_13190871343506053659",
                "MODULE_8741580589776855152",
            }


def test_four_containers_with_one_tag_stay_four_processes_on_four_cores() -> None:
    (record,) = decoded("nm_inf1.xlarge_4runtimes_same_tag.json")
    reported = events_of(record)
    (sampled,) = [event for event in reported if isinstance(event, events.CoresSampled)]
    assert [core.pid for core in sampled.cores] == [20843, 21050, 21411, 21741]
    assert all(core.utilization and 0.02 < core.utilization < 0.05 for core in sampled.cores)
    (processes,) = [event for event in reported if isinstance(event, events.NeuronProcessesSampled)]
    assert {process.tag for process in processes.processes} == {"1"}
    assert {process.cpu for process in processes.processes} == {None}
    (level,) = bank_levels(sampled.cores)
    assert (level.capacity, level.cores) == (8 * GIB, (0, 1, 2, 3))


@pytest.mark.parametrize("name", ["nm_docs_fragments_2020-12_neuron-rtd.txt", "nm_docs_fragments_sdk2.32.txt"])
def test_documented_fragments_that_are_json_decode_into_their_groups(name: str) -> None:
    groups: dict[str, Any] = {}
    for block in corpus("telemetry", name).read_text().split("### ")[1:]:
        text = block.split("\n", 1)[1].strip().rstrip(",").replace("...\n", "").replace("[...]", "")
        text = re.sub(r",\s*([}\]])", r"\1", text)
        try:
            groups |= json.loads("{" + text + "}")
        except ValueError:
            continue
    top = ("instance_info", "instance_data", "neuron_hardware_info")
    report = {key: group for key, group in groups.items() if key not in top}
    record = record_in(
        {"neuron_runtime_data": [{"pid": 1, "report": report}]} | {key: groups[key] for key in top if key in groups}
    )
    runtime = (record.runtimes or ())[0]
    assert runtime.executions is not None
    assert runtime.executions.statuses["completed"] == 123
    assert runtime.cores[1].utilization == pytest.approx(0.4202)
    assert record.hardware.instance_type in ("inf1.xlarge", "trn2n.48xlarge")


@pytest.mark.parametrize("name", LISTINGS)
def test_every_listing_gives_devices_with_whole_addresses(name: str) -> None:
    data = corpus("telemetry", name).read_bytes()
    devices = read_devices(data)
    assert [device.index for device in devices] == [element["neuron_device"] for element in json.loads(data)]
    for device in devices:
        assert re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", device.bdf)
        assert device.memory in (32 * GIB, 96 * GIB)
        assert len(device.cores) in (0, device.core_count)


def test_the_instance_table_is_the_reference_table() -> None:
    for row in json.loads(corpus("telemetry", "ref_instances.json").read_text())["instances"]:
        kind = generation(instance_type=row["instance_type"], core_version=row["neuroncore"])
        assert kind is not None
        assert (kind.cores, kind.lnc, kind.memory) == (
            row["physical_cores_per_device"],
            row["lnc_default"],
            row["device_memory_gib"] * GIB,
        )
        assert kind.banks == (row["memory_banks_per_device"] or 1)
        if row["bank_gib"]:
            assert kind.bank_memory == row["bank_gib"] * GIB
        if "." in row["instance_type"]:
            assert DEVICES[row["instance_type"]] == row["devices"]
            host = machine(instance_type=row["instance_type"])
            assert len(host.cores) == row["logical_cores_total"][str(kind.lnc)]


def test_the_core_order_is_the_drivers() -> None:
    devices = json.loads(corpus("telemetry", "ref_trn2_core_order.json").read_text())["devices"]
    assert {index: list(order) for index, order in enumerate(TRN2_ORDER)} == {
        int(index): order for index, order in devices.items()
    }
    host = machine(instance_type="trn2.48xlarge", lnc=1)
    for index, order in devices.items():
        assert list(logical_order(int(index), host)) == order


def test_the_measured_trn2_container_agrees_with_the_order_for_its_first_cores() -> None:
    text = corpus("telemetry", "v3d_measured_trn2_2026-10_report.md.txt").read_text()
    rows = re.findall(
        r"^\| (\d) \| (\d) \| ([\d.]+) .*nc_v3\.(\d+) ([\d.]+), nc_v3\.(\d+) ([\d.]+)", text, re.MULTILINE
    )
    assert len(rows) == 4
    host = machine(instance_type="trn2.48xlarge", devices=1, cores_per_device=4, lnc=2)
    for visible, monitor, mean, first, one, second, two in rows:
        # A logical core's number follows its physical pair, and its share is their mean.
        assert (int(first), int(second)) == (2 * int(monitor), 2 * int(monitor) + 1)
        assert float(mean) == pytest.approx((float(one) + float(two)) / 2, abs=0.1)
        if int(visible) < 2:  # the publisher assumed the wrap-around of the last two (spec, section 4)
            assert visible_core(int(monitor), host) == int(visible)


def test_power_readings_are_shares_of_the_maximum_and_step_by_the_minute() -> None:
    lines = corpus("telemetry", "sysfs_inf2.xlarge_power_timeseries.txt").read_text().splitlines()
    readings = [reading for line in lines if (reading := sysfs_values.power(line))]
    assert len(readings) == 8
    assert {reading.at % 60 for reading in readings} == {0}
    assert all(reading.low <= reading.mean <= reading.high <= 1 for reading in readings)


def test_single_values_of_a_trn1_decode() -> None:
    rows = corpus("telemetry", "sysfs_single_values_trn1.txt").read_text().splitlines()
    values = dict(row.split("\t") for row in rows)
    assert sysfs_values.version(values["/sys/module/neuron/version"]) == (2, 26, 5, 0)
    power = next(value for path, value in values.items() if path.endswith("power/utilization"))
    assert sysfs_values.power(power) == sysfs_values.Power(at=1789180860.0, low=0.0, high=0.0, mean=0.0)


def test_a_square_wave_stays_what_was_measured() -> None:
    """Raw series are kept; smoothing over a step is the run's business."""
    text = corpus("telemetry", "series_trn1.2xlarge_llama31_lora_1hz_excerpt.csv").read_text()
    seen = {row["util_nc0"] for row in csv.DictReader(text.splitlines()) if row["util_nc0"]}
    for percent in sorted(seen)[:50]:
        use = {"period": 1.0, "neuroncores_in_use": {"0": {"neuroncore_utilization": float(percent)}}}
        record = record_in({"neuron_runtime_data": [{"pid": 1, "report": {"neuroncore_counters": use}}]})
        (sampled,) = [event for event in events_of(record) if isinstance(event, events.CoresSampled)]
        assert sampled.cores[0].utilization == pytest.approx(float(percent) / 100)
