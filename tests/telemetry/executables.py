"""Stand-ins for the SDK's tools: real executables in a folder of the test's."""

from __future__ import annotations

import sys
from pathlib import Path


def executable(folder: Path, name: str, body: str) -> str:
    """A Python program of that name; gives its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable} -I\nimport json, os, sys, time\n{body}\n")
    path.chmod(0o755)
    return str(path)


def monitor(folder: Path, body: str) -> str:
    """A neuron-monitor. `say(n)` prints a record of n bytes of tensors; `config` is what it was started with."""
    return executable(
        folder,
        "neuron-monitor",
        f"""
assert sys.argv[1] == "-c"
config = json.load(open(sys.argv[2]))
def say(size, period=1.0):
    used = {{"period": period, "neuron_runtime_used_bytes":
            {{"usage_breakdown": {{"neuroncore_memory_usage": {{"0": {{"tensors": size}}}}}}}}}}
    busy = {{"period": period, "neuroncores_in_use": {{"0": {{"neuroncore_utilization": 50}}}}}}
    runtime = {{"pid": os.getpid(), "report": {{"memory_used": used, "neuroncore_counters": busy}}}}
    system = {{"vcpu_usage": {{"period": period, "average_usage": {{"user": 10}}}}}}
    hardware = {{"neuron_device_count": 1, "neuroncore_per_device_count": 2, "neuroncore_version": "v2"}}
    print(json.dumps({{"neuron_runtime_data": [runtime], "system_data": system, "neuron_hardware_info": hardware}}),
          flush=True)
{body}
""",
    )
