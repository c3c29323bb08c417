"""No input makes a telemetry parser raise, and nothing that comes out can upset a terminal or the store."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top import events
from neuron_top.parsers import neuron_ls, sysfs_values
from neuron_top.telemetry.core_owners import container_of, program_name
from neuron_top.telemetry.monitor_events import MonitorReader
from neuron_top.telemetry.telemetry_file import TelemetryFile
from tests.telemetry.records import TRN2, counters, memory, model, record, runtime

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("\x1b[2J\x9b1m")
ANY = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
SPECIMEN = record(
    runtime(
        5,
        neuroncore_counters=counters(
            {0: {"neuroncore_utilization": 3, "v3d": {"nc_v3.0": {"neuroncore_utilization": 3}}}}
        ),
        memory_used=memory({0: {"tensors": 4}}, [model("MODULE_12345678+0a1b2c3d", 0, 0)], tensors=3),
        execution_stats={
            "period": 1,
            "execution_summary": {"completed": 3},
            "latency_stats": {"total_latency": {"p0": 1}},
        },
        neuron_runtime_vcpu_usage={"period": 1, "vcpu_usage": {"user": 1}},
    ),
    hardware=TRN2,
    memory_info={"memory_total_bytes": 3},
    vcpu_usage={"period": 1, "average_usage": {"user": 3}},
    neuron_hw_counters={"neuron_devices": [{"neuron_device_index": 0, "mem_ecc_corrected": 1}]},
) | {"neuron_k8s_info": {"neuroncores_k8s_info": {"0": {"pod_name": "p", "container_name": ["c"]}}}}


def paths(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(path for key, member in inside for path in paths(member, (*way, key)))]


def changed(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    """A copy with one place changed."""
    if not way:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = changed(value[way[0]], way[1:], new)
    return copy


def texts(value: Any) -> list[str]:
    """Every text in a document, names of members included."""
    if isinstance(value, dict):
        return [text for pair in value.items() for member in pair for text in texts(member)]
    if isinstance(value, list):
        return [text for member in value for text in texts(member)]
    return [value] if isinstance(value, str) else []


def harmless(found: list[events.AnyEvent]) -> None:
    for event in found:
        stored = events.encode(event)
        assert events.decode(stored) == event
        shown = "".join(texts(json.loads(stored)))
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)


@given(st.sampled_from(paths(SPECIMEN)), ANY)
@settings(max_examples=400, deadline=None)
def test_a_record_with_anything_anywhere_is_read_or_refused(way: tuple[Any, ...], new: Any) -> None:
    reader = MonitorReader()
    found = reader.feed(json.dumps(changed(SPECIMEN, way, new)).encode() + b"\n")
    assert reader.records + reader.malformed == 1
    harmless(found)


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    reader = MonitorReader()
    harmless([*reader.feed(data), *reader.flush()])
    file = TelemetryFile("x")
    harmless([*file.feed(data), *file.flush()])


@given(ANY)
@settings(max_examples=200, deadline=None)
def test_any_document_is_a_listing_or_a_value_error(value: Any) -> None:
    for text in (json.dumps(value), json.dumps([{"neuron_device": 0, "bdf": value, "neuron_processes": value}])):
        try:
            neuron_ls.read_devices(text)
        except ValueError:
            continue


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_small_texts_are_read_or_unknown(text: str) -> None:
    sysfs_values.whole(text), sysfs_values.power(text), sysfs_values.neighbors(text), sysfs_values.version(text)
    for shown in (sysfs_values.name(text), container_of(text), program_name(text.split("\0"))):
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)
