"""Who this node is and which job it works for: names with their origin, from the environment and a few small files.

Nothing here asks a network: Nitro instances report their id in a file, and `telemetry/instance_metadata.py` asks the
metadata service where an agent has the time for it.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

import msgspec

NODE_VARIABLES = ("NEURONTOP_NODE", "SLURMD_NODENAME", "NODE_NAME")
"""What names the node, the first that is set; NODE_NAME is the Kubernetes downward API's."""
_INSTANCE_ID = re.compile(r"i-[0-9a-f]{8,32}")
LONGEST_NAME = 200
"""Characters of the name of a node or job."""
_LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})


class Named(msgspec.Struct, frozen=True):
    """A name and where it comes from."""

    value: str
    origin: str
    is_last_resort: bool = False
    """Nothing that is sure to be unique gave a name."""
    is_own: bool = False
    """Nobody gave a name: it is one that we made."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A node and its job, as every row of theirs is labeled. `machine` tells two machines of one name apart."""

    node: Named
    job: Named
    machine: str
    step: str = ""
    """The step of a Slurm job that this process belongs to."""


def identity(environ: Mapping[str, str] = os.environ, root: Path = Path("/"), instance: str = "") -> Identity:
    """Of this process. `instance`: the EC2 instance id where the metadata service names it. Reads three small files."""
    node = node_name(environ, root, instance)
    return Identity(
        node=node,
        job=job_name(environ, node.value),
        machine=machine_id(root),
        step=usable(environ.get("SLURM_STEP_ID", "")) if usable(environ.get("SLURM_JOB_ID", "")) else "",
    )


def node_name(environ: Mapping[str, str] = os.environ, root: Path = Path("/"), instance: str = "") -> Named:
    """What this machine is called: Slurm nodes on one host share its host name, so that comes last."""
    for variable in NODE_VARIABLES:
        if value := usable(environ.get(variable, "")):
            return Named(value, f"environment {variable}")
    if instance := instance or instance_id(root):
        return Named(instance, "EC2 instance id")
    return Named(socket.gethostname(), "host name", is_last_resort=True)


def job_name(environ: Mapping[str, str] = os.environ, node: str = "") -> Named:
    """What the job is called that this process belongs to; one of our own outside of any."""
    if value := usable(environ.get("NEURONTOP_JOB", "")):
        return Named(value, "environment NEURONTOP_JOB")
    if value := usable(environ.get("SLURM_JOB_ID", "")):
        step = usable(environ.get("SLURM_STEP_ID", ""))
        return Named(value, f"environment SLURM_JOB_ID{f', step {step}' if step else ''}")
    # torchrun calls a run without a name `none`.
    if (value := usable(environ.get("TORCHELASTIC_RUN_ID", ""))) and value != "none":
        return Named(value, "environment TORCHELASTIC_RUN_ID")
    if environ.get("KUBERNETES_SERVICE_HOST") and (value := usable(environ.get("JOB_NAME", ""))):
        return Named(value, "environment JOB_NAME (Kubernetes)")
    return Named(f"on-{node or node_name(environ).value}", "own: NEURONTOP_JOB or --job gives another", is_own=True)


def instance_id(root: Path = Path("/")) -> str:
    """The EC2 instance id as the firmware of a Nitro instance reports it; "" elsewhere."""
    text = _first_line(root / "sys/devices/virtual/dmi/id/board_asset_tag")
    return text if _INSTANCE_ID.fullmatch(text) else ""


def machine_id(root: Path = Path("/")) -> str:
    """What distinguishes this machine from every other of the same name: its boot id, which containers see, too.

    A cloned image brings the id in /etc/machine-id along, and a container has one of its own or none.
    """
    return _first_line(root / "proc/sys/kernel/random/boot_id") or _first_line(root / "etc/machine-id")


def lasting_machine_id(root: Path = Path("/")) -> str:
    """What this machine keeps through boots: the EC2 instance id, else the id in /etc/machine-id; "" without either."""
    return instance_id(root) or _first_line(root / "etc/machine-id")


def is_loopback(host: str) -> bool:
    """Whether a host name or address means the machine itself."""
    import ipaddress  # a millisecond of each start, for those who serve

    if host in _LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def usable(value: str) -> str:
    """The name without blanks around it; "" for one that no row can be labeled with."""
    name = value.strip()
    return name if name.isprintable() and len(name) <= LONGEST_NAME else ""


def _first_line(path: Path) -> str:
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            return file.readline(256).strip()
    except OSError:
        return ""
