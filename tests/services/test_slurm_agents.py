"""Slurm's srun, where it does not do what it was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.errors import NothingToShow
from neuron_top.services import slurm_agents


def test_what_srun_says_is_passed_on_whatever_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    srun = tmp_path / "srun"
    srun.write_bytes(b"#!/bin/sh\nprintf 'srun: error: n\\377ud: not responding\\n' >&2\nexit 1\n")
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(NothingToShow, match="ended with 1: srun: error: n\N{REPLACEMENT CHARACTER}ud: not responding"):
        slurm_agents.report_once("4711", "postgresql://db/fleet")


def test_no_node_is_given_the_name_of_the_one_that_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """srun passes its environment on: the caches of all nodes were reported as those of one."""
    srun = tmp_path / "srun"
    srun.write_text(f"#!/bin/sh\nenv > {tmp_path / 'environment'}\n")
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("NEURONTOP_NODE", "login-1")
    slurm_agents.report_once("4711", "postgresql://db/fleet")
    passed = (tmp_path / "environment").read_text().splitlines()
    assert "NEURONTOP_JOB=4711" in passed
    assert not [line for line in passed if line.startswith("NEURONTOP_NODE=")]
