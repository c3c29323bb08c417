"""neuron-monitor records written by us, group by group, so that each test says only what it is about."""

from __future__ import annotations

import json
from typing import Any

GIB = 1024**3
NAMES = ("constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors")


def counters(cores: dict[int, dict[str, Any]], period: float | None = 1.0) -> dict[str, Any]:
    """The group neuroncore_counters."""
    return {"period": period, "neuroncores_in_use": {str(core): use for core, use in cores.items()}, "error": ""}


def memory(cores: dict[int, dict[str, int]], models: list[Any] | None = None, **host: int) -> dict[str, Any]:
    """The group memory_used."""
    return {
        "period": 1.0,
        "neuron_runtime_used_bytes": {
            "host": sum(host.values()),
            "neuron_device": sum(sum(kinds.values()) for kinds in cores.values()),
            "usage_breakdown": {
                "host": host,
                "neuroncore_memory_usage": {str(core): kinds for core, kinds in cores.items()},
            },
        },
        "loaded_models": models or [],
        "error": "",
    }


def model(name: str, device: int, core: int, size: int = 100) -> dict[str, Any]:
    """One loaded model with one subgraph."""
    graph = {"memory_used_bytes": {"neuron_device": size}, "neuron_device_index": device, "neuroncore_index": core}
    return {"name": name, "uuid": "00", "model_id": 10001, "is_running": False, "subgraphs": {"sg00": graph}}


def runtime(pid: int, tag: str = "", error: str = "", **report: Any) -> dict[str, Any]:
    """One element of neuron_runtime_data."""
    return {"pid": pid, "neuron_runtime_tag": tag or str(pid), "error": error, "report": report}


def record(*runtimes: Any, instance_type: str = "trn1.2xlarge", hardware: Any = None, **system: Any) -> dict[str, Any]:
    """A whole record; the hardware is that of trn1.2xlarge unless told."""
    return {
        "neuron_runtime_data": list(runtimes),
        "system_data": system,
        "instance_info": {"instance_type": instance_type, "error": ""},
        "neuron_hardware_info": hardware
        or {
            "neuron_device_type": "trainium",
            "neuroncore_version": "v2",
            "neuron_device_count": 1,
            "neuron_device_memory_size": 32 * GIB,
            "neuroncore_per_device_count": 2,
            "logical_neuroncore_config": 1,
            "error": "",
        },
    }


TRN2 = {
    "neuron_device_type": "trainium2",
    "neuroncore_version": "v3d",
    "neuron_device_count": 16,
    "neuron_device_memory_size": 96 * GIB,
    "neuroncore_per_device_count": 4,
    "logical_neuroncore_config": 2,
    "error": "",
}


def line(value: Any) -> bytes:
    """The record as the tool prints it."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
