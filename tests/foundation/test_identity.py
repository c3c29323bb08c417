"""Names of nodes and jobs: the first source that has one wins, and says so; machines of one name are told apart."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.identity import identity, instance_id, machine_id

NITRO = "i-0123456789abcdef0"


def machine(root: Path, *, asset: str = "", image: str = "a" * 32, boot: str = "boot-1") -> Path:
    for name, text in (
        ("sys/devices/virtual/dmi/id/board_asset_tag", asset),
        ("etc/machine-id", image),
        ("proc/sys/kernel/random/boot_id", boot),
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return root


@pytest.mark.parametrize(
    ("environ", "asset", "value", "origin"),
    [
        ({"NEURONTOP_NODE": "a", "SLURMD_NODENAME": "b", "NODE_NAME": "c"}, NITRO, "a", "environment NEURONTOP_NODE"),
        ({"SLURMD_NODENAME": "b", "NODE_NAME": "c"}, NITRO, "b", "environment SLURMD_NODENAME"),
        ({"NODE_NAME": "c"}, NITRO, "c", "environment NODE_NAME"),
        ({}, NITRO, NITRO, "EC2 instance id"),
        ({"NEURONTOP_NODE": " "}, "Not Specified", socket.gethostname(), "host name"),
        ({"NEURONTOP_NODE": "a\x1b[2J"}, "", socket.gethostname(), "host name"),
    ],
)
def test_the_node_is_named_by_the_first_that_reports(
    tmp_path: Path, environ: dict[str, str], asset: str, value: str, origin: str
) -> None:
    node = identity(environ, machine(tmp_path, asset=asset)).node
    assert (node.value, node.origin) == (value, origin)


@pytest.mark.parametrize(
    ("environ", "value", "origin"),
    [
        ({"NEURONTOP_JOB": "mine", "SLURM_JOB_ID": "7"}, "mine", "environment NEURONTOP_JOB"),
        ({"SLURM_JOB_ID": "7", "TORCHELASTIC_RUN_ID": "t"}, "7", "environment SLURM_JOB_ID"),
        ({"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "2"}, "7", "environment SLURM_JOB_ID, step 2"),
        ({"TORCHELASTIC_RUN_ID": "t"}, "t", "environment TORCHELASTIC_RUN_ID"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_NAME": "bert"}, "bert", "environment JOB_NAME (Kubernetes)"),
        ({"JOB_NAME": "of-jenkins"}, "on-n1", "own"),
        ({"TORCHELASTIC_RUN_ID": "none"}, "on-n1", "own"),
    ],
)
def test_the_job_is_named_by_the_first_that_reports(environ: dict[str, str], value: str, origin: str) -> None:
    job = identity({**environ, "NEURONTOP_NODE": "n1"}).job
    assert job.value == value
    assert job.origin.startswith(origin)


def test_two_machines_of_one_image_are_two_and_two_containers_of_one_machine_are_one(tmp_path: Path) -> None:
    first = machine_id(machine(tmp_path / "a", boot="boot-1"))
    assert first != machine_id(machine(tmp_path / "b", boot="boot-2"))
    assert first == machine_id(machine(tmp_path / "c", image="", boot="boot-1"))


def test_a_machine_that_reports_nothing_still_has_names(tmp_path: Path) -> None:
    assert instance_id(tmp_path) == ""
    assert identity({}, tmp_path).machine == ""


def test_config_shows_the_names_with_their_origins() -> None:
    environ = os.environ | {"SLURMD_NODENAME": "n3", "SLURM_JOB_ID": "4711"}
    command = [sys.executable, "-m", "neuron_top", "config", "--json"]
    reported = json.loads(subprocess.run(command, env=environ, capture_output=True, check=True, timeout=120).stdout)
    assert reported["node"] == {"value": "n3", "origin": "environment SLURMD_NODENAME"}
    assert reported["job"] == {"value": "4711", "origin": "environment SLURM_JOB_ID"}
