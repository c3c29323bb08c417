"""Attributes of a node, some thirty plain values, from which the differences of slow nodes are computed.

What cannot be known is left out. Takes a few milliseconds, plus the time of the metadata service if that is asked.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path

from neuron_top import __version__
from neuron_top.cache import filesystem, roots
from neuron_top.identity import Identity, instance_id
from neuron_top.parsers.secrets import is_secret_name, without_secrets
from neuron_top.plain_files import nearest_folder
from neuron_top.store.fleet_records import KEY_VARIABLES
from neuron_top.telemetry import versions
from neuron_top.telemetry.doctor_facts import host_memory, system_packages, text_of
from neuron_top.telemetry.sysfs import SysfsTree

Attributes = dict[str, str | int | float]

_PACKAGES = ("torch", "torch_neuronx", "torch_xla", "libneuronxla", "neuronx_distributed", "transformers", "jax")
_SYSTEM_PACKAGES = {"aws-neuronx-tools": "tools", "aws-neuronx-collectives": "collectives"}
_VARIABLES = {
    "NEURON_CC_FLAGS": "compiler_flags",
    "NEURON_RT_VISIBLE_CORES": "visible_cores",
    "NEURON_LOGICAL_NC_CONFIG": "lnc_asked_for",
    "FI_PROVIDER": "fabric_provider",
}
_OF_A_RANK = re.compile(
    r"NEURON_(RT_VISIBLE_CORES|RT_NUM_CORES|PJRT_PROCESS_INDEX|RT_LOG_\w+|CC_FLAGS|\w*(TOKEN|SECRET|PASSWORD)\w*)"
)
"""Variables that differ among ranks, change nothing, are reported under another name, or may be secret: every viewer of
the fleet reads the others, without what looks like a secret in them."""
_LONGEST_VALUE = 300
_RUNTIME = re.compile(r"libnrt\.so\.(\d+(?:\.\d+)+)")
_SHARE = 20
"""Free space is reported in steps of a twentieth of the disk, as otherwise every write would be a change."""


def attributes(
    who: Identity, environ: Mapping[str, str] = os.environ, root: Path = Path("/"), *, metadata: Mapping[str, str]
) -> Attributes:
    """The attributes of this node, now. `metadata`: the result of `instance_metadata.ask`."""
    found: dict[str, str | int | float | None] = {
        "node_origin": who.node.origin,
        "host": platform.node(),
        "machine": who.machine,
        "instance_id": metadata.get("instance_id") or instance_id(root),
        "zone": metadata.get("zone"),
        "ami": metadata.get("ami"),
        "system": platform.system(),
        "kernel": platform.release(),
        "distribution": _distribution(root),
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
        "memory": host_memory(),
        "hugepages": _number(root / "proc/sys/vm/nr_hugepages"),
        "fabric_adapters": _count(root / "sys/class/infiniband"),
        "booted": _booted(root),
        "python": platform.python_version(),
        "neurontop": __version__,
        "runtime": _runtime(root),
        **_devices(root, metadata),
        **_installed(environ, root),
        **_cache(environ),
        **{name: without_secrets(environ.get(variable, "")) for variable, name in _VARIABLES.items()},
        **_key_variables(environ),
    }
    return {name: value for name, value in found.items() if value not in (None, "")}


def _key_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that may change keys, as this process has them: an agent that is started in the job has the job's."""
    return {
        name: without_secrets(value)[:_LONGEST_VALUE]
        for name, value in sorted(environ.items())
        if name.startswith(KEY_VARIABLES) and not _OF_A_RANK.fullmatch(name) and not is_secret_name(name)
    }


def _devices(root: Path, metadata: Mapping[str, str]) -> dict[str, str | int | None]:
    tree = SysfsTree(root / "sys")
    machine, found, driver = tree.machine(), tree.found(), tree.driver()
    kinds = sorted({device.kind for device in found.devices if device.kind})
    memories = sorted({device.memory for device in found.devices if device.memory})
    return {
        "instance_type": machine.instance_type or metadata.get("instance_type"),
        "driver": ".".join(map(str, driver)) if driver else None,
        "devices": len(found.devices) or None,
        "device_kind": ",".join(kinds),
        "device_memory": memories[0] if memories else None,
        "cores": sum(device.core_count or 0 for device in found.devices) or None,
        "lnc": found.lnc,
        "ultraserver_node": tree.ultraserver_node(),
    }


def _installed(environ: Mapping[str, str], root: Path) -> dict[str, str | None]:
    packages = versions.package_versions((), environ)
    system = system_packages(text_of(root / "var/lib/dpkg/status"))
    return {
        "compiler": packages.get("neuronx_cc"),
        **{name: packages.get(name) for name in _PACKAGES},
        **{name: system.get(package) for package, name in _SYSTEM_PACKAGES.items()},
    }


def _cache(environ: Mapping[str, str]) -> dict[str, str | int | None]:
    cache = roots.root_in_force(environ)
    if cache.remote:
        return {"cache_root": cache.path, "cache_filesystem": "remote"}
    disk = filesystem.describe(str(nearest_folder(Path(cache.path))))
    step = max(1, (disk.total or 0) // _SHARE)
    return {
        "cache_root": cache.path,
        "cache_filesystem": disk.kind,
        "cache_shared": int(disk.shared),
        "cache_disk": disk.total,
        "cache_free": disk.free // step * step if disk.free is not None else None,
    }


def _runtime(root: Path) -> str:
    """The runtime library's version, from its file name, as package managers differ."""
    names = (path.name for path in (root / "opt/aws/neuron/lib").glob("libnrt.so.*"))
    found = [match[1] for match in map(_RUNTIME.fullmatch, names) if match]
    return max(found, key=lambda text: [int(part) for part in text.split(".")], default="")


def _distribution(root: Path) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]{1,100})', text_of(root / "etc/os-release"), re.MULTILINE)
    return match[1] if match else ""


def _booted(root: Path) -> int | None:
    match = re.search(r"^btime (\d{1,18})$", text_of(root / "proc/stat"), re.MULTILINE)
    return int(match[1]) if match else None


def _number(path: Path) -> int | None:
    text = text_of(path).strip()
    return int(text) if text.isdecimal() else None


def _count(folder: Path) -> int | None:
    try:
        return sum(1 for _ in folder.iterdir())
    except OSError:
        return None
