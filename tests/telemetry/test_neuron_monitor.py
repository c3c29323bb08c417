"""neuron-monitor's records → events: merging, periods, old and new schemas, models, broken lines."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any, TypeVar

import pytest

from neuron_top import events
from neuron_top.parsers.neuron_monitor import module_key, read_record
from neuron_top.telemetry.monitor_events import MonitorReader
from neuron_top.telemetry.telemetry_file import TelemetryFile
from tests.telemetry.records import GIB, NAMES, TRN2, counters, line, memory, model, record, runtime

Kind = TypeVar("Kind")


def read(*records: Any, **options: Any) -> list[events.AnyEvent]:
    reader = MonitorReader(**options)
    return [*reader.feed(b"".join(map(line, records))), *reader.flush()]


def only(kind: type[Kind], found: list[events.AnyEvent]) -> Kind:
    matching = [event for event in found if isinstance(event, kind)]
    assert len(matching) == 1, found
    return matching[0]


def cores(*runtimes: Any, **options: Any) -> dict[int, events.CoreSample]:
    return {core.core: core for core in only(events.CoresSampled, read(record(*runtimes, **options))).cores}


def test_processes_merge_by_maximum_of_utilization_and_sum_of_memory() -> None:
    one = runtime(
        11,
        neuroncore_counters=counters({0: {"neuroncore_utilization": 70, "flops": 5}, 1: {"neuroncore_utilization": 0}}),
        memory_used=memory({0: {"tensors": 1000}, 1: {"tensors": 0}}),
    )
    two = runtime(
        12,
        neuroncore_counters=counters({0: {"neuroncore_utilization": 0}, 1: {"neuroncore_utilization": 20}}),
        memory_used=memory({0: {"tensors": 10, "constants": 1}, 1: {"tensors": 100_000}}),
    )
    found = cores(one, two)
    assert (found[0].utilization, found[1].utilization) == (0.7, 0.2)
    assert (found[0].memory, found[1].memory) == (1011, 100_000)
    assert found[0].kinds == {"tensors": 1010, "constants": 1}
    assert (found[0].pid, found[0].pids) == (11, (11, 12))
    assert (found[1].pid, found[1].pids) == (12, (12,))


def test_rates_of_a_first_record_are_unknown_but_its_memory_counts() -> None:
    early = runtime(
        1,
        neuroncore_counters=counters({0: {"neuroncore_utilization": 50, "flops": 9}}, period=0.008),
        memory_used=memory({0: {"tensors": 7}}),
    )
    core = cores(early)[0]
    assert (core.utilization, core.flops, core.memory) == (None, None, 7)


def test_a_period_counts_as_partial_against_the_period_that_was_asked_for() -> None:
    use = runtime(1, neuroncore_counters=counters({0: {"neuroncore_utilization": 50}}, period=2.0))
    assert only(events.CoresSampled, read(record(use), requested=5.0)).cores[0].utilization is None
    assert only(events.CoresSampled, read(record(use), requested=2.0)).cores[0].utilization == 0.5


def test_tallies_stay_counts_of_their_period_and_are_reported_per_process() -> None:
    stats = {
        "period": 1.0,
        "error_summary": {"numerical": 2},
        "execution_summary": {"completed": 60, "timed_out": 1},
        "latency_stats": {"total_latency": {"p99": 0.2, "p0": 0.1}, "device_latency": None},
    }
    done = [event for event in read(record(runtime(5, execution_stats=stats))) if hasattr(event, "statuses")]
    assert len(done) == 1
    assert isinstance(done[0], events.ExecutionsCounted)
    assert done[0].statuses == {"completed": 60, "timed_out": 1}
    assert done[0].errors == {"numerical": 2}
    assert list(done[0].latency.items()) == [("p0", 0.1), ("p99", 0.2)]


@pytest.mark.parametrize(("name", "value"), [("flops", 1e12), ("effective_flops", 2e12)])
def test_both_names_of_the_flop_rate_are_read(name: str, value: float) -> None:
    use = runtime(1, neuroncore_counters=counters({0: {"neuroncore_utilization": 1, name: value}}))
    assert cores(use)[0].flops == value


def test_physical_cores_behind_a_logical_one_are_kept_under_their_own_numbers() -> None:
    nested = {"nc_v3.4": {"neuroncore_utilization": 95.0}, "nc_v3.5": {"neuroncore_utilization": 61.6}}
    use = runtime(1, neuroncore_counters=counters({2: {"neuroncore_utilization": 78.3, "v3d": nested}}))
    core = cores(use, hardware=TRN2, instance_type="trn2.48xlarge")[2]
    assert core.physical == {4: 0.95, 5: pytest.approx(0.616)}
    assert core.utilization == pytest.approx(sum(core.physical.values()) / 2)
    assert (core.device, core.bank, core.capacity) == (0, 2, 24 * GIB)


def test_every_core_of_the_machine_is_listed_and_unknown_is_not_zero() -> None:
    found = cores(instance_type="trn2.48xlarge", hardware=TRN2)
    assert len(found) == 64
    assert {core.memory for core in found.values()} == {None}
    assert {core.utilization for core in found.values()} == {None}
    assert {(core.device, core.bank) for core in found.values()} == {(d, b) for d in range(16) for b in range(4)}


def test_a_job_that_compiles_has_no_process_with_a_runtime() -> None:
    assert only(events.NeuronProcessesSampled, read(record())).processes == ()


def test_a_section_that_was_not_due_gives_no_event() -> None:
    found = read({"system_data": {"memory_info": {"memory_total_bytes": 5, "memory_used_bytes": 4}}})
    assert [type(event) for event in found] == [events.HostSampled]


@pytest.mark.parametrize("section", ["neuron_runtime_data", "system_data", "instance_info", "neuron_hardware_info"])
def test_a_null_section_is_read_as_absent(section: str) -> None:
    use = runtime(3, neuroncore_counters=counters({0: {"neuroncore_utilization": 10}}))
    found = read(record(use, memory_info={"memory_total_bytes": 5}) | {section: None})
    assert not any(isinstance(event, events.LineMalformed) for event in found)


@pytest.mark.parametrize("group", ["neuroncore_counters", "memory_used", "execution_stats"])
def test_a_null_group_leaves_the_other_groups_alone(group: str) -> None:
    report: dict[str, Any] = {
        "neuroncore_counters": counters({0: {"neuroncore_utilization": 10}}),
        "memory_used": memory({0: {"tensors": 8}}),
        "execution_stats": {"period": 1, "execution_summary": {"completed": 1}},
    }
    found = read(record(runtime(3, **(report | {group: None}))))
    sample = only(events.CoresSampled, found).cores[0]
    assert sample.utilization == (None if group == "neuroncore_counters" else 0.1)
    assert sample.memory == (None if group == "memory_used" else 8)
    assert any(isinstance(event, events.ExecutionsCounted) for event in found) == (group != "execution_stats")


def test_a_report_whose_element_carries_an_error_is_not_used_but_reported() -> None:
    broken = runtime(4, error="runtime gone", memory_used=memory({0: {"tensors": 8}}))
    found = read(record(broken))
    assert only(events.CoresSampled, found).cores[0].memory is None
    assert only(events.NeuronProcessesSampled, found).processes[0].error == "runtime gone"


def test_a_group_of_the_system_that_the_monitor_cannot_read_is_reported_until_it_can() -> None:
    host = {"memory_info": {"period": 5.0, "error": "open /proc/meminfo: denied"}, "vcpu_usage": {"period": 5.0}}
    broken, other = {"system_data": host}, {"system_data": {"vcpu_usage": {"period": 5.0, "error": ""}}}
    mended = {"system_data": host | {"memory_info": {"period": 5.0, "memory_total_bytes": 8, "error": ""}}}
    kinds = (events.SourceUnavailable, events.SourceAvailable)
    found = [event for event in read(broken, broken, other, mended, mended) if isinstance(event, kinds)]
    assert [(type(event), event.name) for event in found] == [(kind, "neuron-monitor memory_info") for kind in kinds]
    assert isinstance(found[0], events.SourceUnavailable)
    assert found[0].reason == "open /proc/meminfo: denied"


def test_the_zeros_beside_an_unreadable_proc_entry_are_unknown() -> None:
    group = {
        "period": 5.0,
        "vcpu_usage": {"user": 0, "system": 0},
        "error": "open /proc/4/stat: no such file or directory",
    }
    process = only(events.NeuronProcessesSampled, read(record(runtime(4, neuron_runtime_vcpu_usage=group))))
    assert process.processes[0].cpu is None
    assert "no such file" in process.processes[0].error


def test_the_schema_of_2020_says_the_same_under_other_names() -> None:
    old = {
        "neuron_runtime_data": [
            {
                "neuron_runtime_index": 0,
                "error": "",
                "report": {
                    "neuroncore_counters": counters({0: {"neuroncore_utilization": 40, "loaded_models": ["net:sg1"]}}),
                    "inference_stats": {"period": 1.0, "inference_summary": {"completed": 9}},
                    "memory_used": {
                        "period": 1.0,
                        "neuron_runtime_used_bytes": {"host": 1, "neuron_device": 2},
                        "loaded_models": [
                            {
                                "name": "net",
                                "memory_used_bytes": {"host": 1, "neuron_device": 2},
                                "subgraphs": {"sg1": {"neuroncore_index": 0, "neuron_device_index": 0}},
                            }
                        ],
                    },
                    "hw_counters": {
                        "period": 1.0,
                        "neuron_devices": [{"neuron_device_index": 0, "mem_ecc_corrected": 3}],
                    },
                },
            }
        ],
        "system_data": {"memory_info": {"memory_total_bytes": 10}},
        "instance_data": {"instance_type": "inf1.xlarge"},
    }
    found = read(old)
    core = only(events.CoresSampled, found).cores[0]
    assert (core.utilization, core.memory, core.capacity) == (0.4, None, 8 * GIB)
    assert set(core.models) == {"net", "net:sg1"}
    assert only(events.ExecutionsCounted, found).statuses == {"completed": 9}
    assert only(events.HardwareErrorsCounted, found).counts == {"mem_ecc_corrected": 3}
    process = only(events.NeuronProcessesSampled, found).processes[0]
    assert (process.pid, process.tag, process.device_memory) == (None, "runtime 0", 2)
    assert process.models[0].memory == 2


def test_a_models_core_is_its_devices_first_core_plus_its_own_number() -> None:
    placed = runtime(9, memory_used=memory({}, [model("/c/model.MODULE_77777777+0a1b2c3d.neff", 3, 1)]))
    found = read(record(placed, instance_type="trn2.48xlarge", hardware=TRN2))
    sample = {core.core: core for core in only(events.CoresSampled, found).cores}
    assert sample[13].models == ("MODULE_77777777+0a1b2c3d",)
    assert only(events.NeuronProcessesSampled, found).processes[0].models[0].cores == (13,)


KEY = "MODULE_15885530732822698094+c7db2df4"
OLD = "/var/tmp/neuron-compile-cache/USER_neuroncc-2.3/MODULE_13190871343506053659/MODULE_1_SyncTensorsGraph.387_1319"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (f"/tmp/neuroncc_compile_workdir/u/model.{KEY}.neff", KEY),
        (f"/tmp/nxd_model/token_generation_model/_tp0_bk4/model.{KEY}.neff", KEY),
        (f"/var/tmp/neuron-compile-cache/neuronxcc-2.1/{KEY}/model.neff", KEY),
        (f"{OLD}.neff", "MODULE_13190871343506053659"),
        (f"{OLD}{'x' * 255}"[:255], "MODULE_13190871343506053659"),
        (f"/{'d' * (254 - len(KEY) + 3)}{KEY}"[:255], "MODULE_15885530732822698094"),
        (f"/{'d' * (254 - len(KEY))}{KEY}", KEY),
        ("neff", ""),
        ("file.neff", ""),
        ("", ""),
    ],
)
def test_the_cache_key_is_found_in_every_form_of_a_models_path(name: str, key: str) -> None:
    assert module_key(name) == key


def test_the_pods_that_the_kubernetes_companion_names_become_containers() -> None:
    pods = {"neuroncores_k8s_info": {"1": {"pod_name": "p", "namespace": "n", "container_name": ["c"]}}}
    found = read(record() | {"neuron_k8s_info": pods})
    assert [core.container for core in only(events.CoresSampled, found).cores] == ["", "n/p/c"]


def test_host_figures_are_shares_and_bytes() -> None:
    usage = {"user": 20, "nice": 1, "system": 3, "idle": 70, "io_wait": 6, "irq": 0, "soft_irq": 1}
    info = {"memory_total_bytes": 100, "memory_used_bytes": 40, "swap_total_bytes": 8, "swap_used_bytes": 0}
    host = only(events.HostSampled, read(record(memory_info=info, vcpu_usage={"period": 1.0, "average_usage": usage})))
    assert host.cpu == pytest.approx(0.25)
    assert (host.memory_used, host.memory_total, host.swap_used, host.swap_total) == (40, 100, 0, 8)


def test_devices_are_announced_once_and_again_when_they_change() -> None:
    found = [
        event for event in read(record(), record(), record(hardware=TRN2)) if isinstance(event, events.DevicesFound)
    ]
    assert [len(event.devices) for event in found] == [1, 16]
    assert found[1].devices[3].cores == (12, 13, 14, 15)


def test_a_broken_line_is_reported_and_the_next_one_read() -> None:
    reader = MonitorReader()
    found = reader.feed(b'{"neuron_runtime_data": [}\n\x1b[31mnonsense\n' + line(record()))
    broken = [event for event in found if isinstance(event, events.LineMalformed)]
    assert len(broken) == reader.malformed == 2
    assert "\x1b" not in broken[1].text
    assert reader.records == 1


@pytest.mark.parametrize("value", [-1, -0.5, 1e300])
def test_what_cannot_have_been_measured_is_unknown(value: float) -> None:
    stats = {"period": value, "latency_stats": {"total_latency": {"p50": value, "p99": 0.25}}}
    busy = counters({0: {"neuroncore_utilization": 25.0, "effective_flops": value, "flops": 5e9}})
    found = read(record(runtime(7, neuroncore_counters=busy, execution_stats=stats)))
    counted = only(events.ExecutionsCounted, found)
    assert (counted.period, counted.latency) == (None, {"p99": 0.25})
    assert only(events.CoresSampled, found).cores[0].flops == 5e9


@pytest.mark.parametrize(
    ("between", "broken"),
    [("", 0), ('{"neuron_runtime_data": [{"pid": 7, "neuron_run', 1)],
    ids=["no line end", "a record that was cut"],
)
def test_a_record_behind_another_one_on_its_line_is_read(between: str, broken: int) -> None:
    file = TelemetryFile("x")
    first, second = json.dumps(BUSY), json.dumps(BUSIER)
    assert utilizations(file, f"{first}\n{first}{between}{second}\n") == [0.25, 0.25, 0.75]
    assert (file.documents, file.malformed) == (3, broken)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        "null",
        "[]",
        "{}",
        "3",
        '"neuron_runtime_data"',
        '{"neuron_runtime_data": 1e999}',
    ],
)
def test_odd_documents_are_malformed_or_empty_but_never_an_exception(text: str) -> None:
    MonitorReader().feed(text.encode() + b"\n")


def test_an_endless_line_is_reported_once_and_not_kept() -> None:
    reader = MonitorReader()
    found: list[events.AnyEvent] = []
    for _ in range(40):
        found += reader.feed(b"x" * 2**20)
    found += reader.feed(b"\n" + line(record()))
    assert sum(isinstance(event, events.LineMalformed) for event in found) == 1
    assert reader.records == 1


def test_any_chunking_gives_the_same_events() -> None:
    use = runtime(3, neuroncore_counters=counters({0: {"neuroncore_utilization": 10}}))
    data = line(record(use)) + b"broken\n" + line(record())
    whole = MonitorReader().feed(data)
    for size in (1, 7, 64):
        reader = MonitorReader()
        pieces = [event for at in range(0, len(data), size) for event in reader.feed(data[at : at + size])]
        assert pieces == whole


def test_samples_carry_the_clock_that_was_handed_in() -> None:
    assert {event.at for event in read(record(), clock=lambda: 12.5)} == {12.5}
    assert {event.at for event in read(record())} == {None}


def test_a_whole_record_survives_json_with_blanks() -> None:
    assert read_record(json.dumps(record(), indent=4)).hardware.devices == 1


@pytest.mark.parametrize("unit", [b"[],", b'{"a":1},', b"0,", b'"",'])
def test_a_dense_document_does_not_become_a_mountain_in_memory(unit: bytes) -> None:
    data = b'{"neuron_runtime_data":[' + unit * (7 * 2**20 // len(unit)) + b"0]}\n"
    tracemalloc.start()
    try:
        found = MonitorReader().feed(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [type(event) for event in found] == [events.LineMalformed]
    assert peak < 64 * 2**20


def test_the_largest_machine_we_know_of_stays_within_the_bounds() -> None:
    shares = {core: {"neuroncore_utilization": 12.345678, "flops": 123456789012} for core in range(128)}
    sizes = {core: dict.fromkeys(NAMES, 123_456_789) for core in range(128)}
    models = [model(f"/tmp/neuroncc_compile_workdir/{'u' * 36}/model.{KEY}.neff", 0, 0) for _ in range(20)]
    processes = [
        runtime(pid, neuroncore_counters=counters(shares), memory_used=memory(sizes, models)) for pid in range(1, 129)
    ]
    hardware = TRN2 | {"neuroncore_per_device_count": 8, "logical_neuroncore_config": 1}
    sampled = only(events.CoresSampled, read(record(*processes, instance_type="trn2.48xlarge", hardware=hardware)))
    assert [core.memory for core in sampled.cores] == [128 * 5 * 123_456_789] * 128


BUSY = record(runtime(7, neuroncore_counters=counters({0: {"neuroncore_utilization": 25.0}})))
BUSIER = record(runtime(7, neuroncore_counters=counters({0: {"neuroncore_utilization": 75.0}})))


def utilizations(file: TelemetryFile, text: str, portion: int = 1 << 20) -> list[float | None]:
    """What a file says of core 0, sample by sample."""
    data = text.encode()
    found = [event for start in range(0, len(data), portion) for event in file.feed(data[start : start + portion])]
    found += file.flush()
    return [event.cores[0].utilization for event in found if isinstance(event, events.CoresSampled)]


@pytest.mark.parametrize(
    "before",
    [
        "Mar 04 05:06:07 node-1 neuron-monitor[4711]: ",
        "2026-03-04T05:06:07.123456789Z stdout F ",
        "monitor-1  | ",
    ],
)
def test_a_record_is_read_behind_the_prefix_of_what_kept_it(before: str) -> None:
    file = TelemetryFile("x")
    text = "".join(f"{before}{json.dumps(each)}\n" for each in (BUSY, BUSIER))
    assert utilizations(file, text) == [0.25, 0.75]
    assert (file.documents, file.malformed) == (2, 0)


def test_a_record_is_read_inside_the_json_of_a_log_shipper() -> None:
    file = TelemetryFile("x")
    text = "".join(
        json.dumps({"log": json.dumps(each) + "\n", "stream": "stdout", "time": "2026-03-04T05:06:07Z"}) + "\n"
        for each in (BUSY, BUSIER)
    )
    assert utilizations(file, text) == [0.25, 0.75]


@pytest.mark.parametrize("portion", [1 << 20, 97])
def test_pretty_printed_records_are_read_one_by_one(portion: int) -> None:
    file = TelemetryFile("x")
    text = "$ neuron-monitor | jq .\n" + "".join(json.dumps(each, indent=2) + "\n" for each in (BUSY, BUSIER))
    assert utilizations(file, text, portion) == [0.25, 0.75]
    assert (file.documents, file.malformed) == (2, 0)


def test_a_pretty_printed_record_is_given_before_the_next_one_comes() -> None:
    file = TelemetryFile("x")
    assert any(isinstance(each, events.CoresSampled) for each in file.feed(json.dumps(BUSY, indent=4).encode() + b"\n"))


def test_records_that_were_collected_in_an_array_are_read() -> None:
    file = TelemetryFile("x")
    assert utilizations(file, json.dumps([BUSY, BUSIER], indent=2)) == [0.25, 0.75]
    assert file.documents == 2


def test_figures_that_are_written_as_text_are_figures() -> None:
    text = json.dumps(BUSY).replace("25.0", '"25.0"').replace('"period": 1.0', '"period": "1.0"')
    assert utilizations(TelemetryFile("x"), text + "\n") == [0.25]
    assert utilizations(TelemetryFile("x"), text.replace('"25.0"', '"n/a"') + "\n") == [None]
