"""What is told to be spare: memory within the container's limit, cores that were idle for a while."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from neuron_top.compile.spare_resources import IdleCores, available_bytes


class Core(NamedTuple):
    idle: float
    iowait: float


class Machine:
    """Four cores, of which this process may use the last three."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.times = 100.0, [Core(0.0, 0.0)] * 4
        monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {1, 2, 3})
        monkeypatch.setattr(psutil, "cpu_times", lambda percpu: self.times)
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def pass_seconds(self, seconds: float, *idle: float) -> None:
        """Time goes by, of which each core was idle so many seconds."""
        self.now += seconds
        self.times = [Core(core.idle + more, core.iowait) for core, more in zip(self.times, idle, strict=True)]


def test_idle_cores_are_counted_among_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    idle = IdleCores()
    machine.pass_seconds(0.5, 0.5, 0.5, 0.25, 0.0)
    assert idle.cores == 3
    assert idle.lately() == pytest.approx(1.5)
    machine.pass_seconds(1.0, 1.0, 0.0, 0.0, 0.0)
    assert idle.lately() == 0.0


def test_a_core_that_waits_for_a_disk_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    idle = IdleCores()
    machine.pass_seconds(1.0, 0.0, 0.0, 0.0, 0.0)
    machine.times[2] = Core(0.0, 1.0)
    assert idle.lately() == pytest.approx(1.0)


def test_a_look_too_soon_or_too_late_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    idle = IdleCores()
    machine.pass_seconds(0.01, 0.01, 0.02, 0.02, 0.02)
    assert idle.lately() == 0.0
    machine.pass_seconds(0.49, 0.49, 0.48, 0.48, 0.48)
    assert idle.lately() == pytest.approx(3.0), "since the last look that said something"
    machine.pass_seconds(60.0, 60.0, 60.0, 60.0, 60.0)
    assert idle.lately() == 0.0
    machine.pass_seconds(1.0, 1.0, 1.0, 1.0, 1.0)
    assert idle.lately() == pytest.approx(3.0)


def test_memory_is_what_the_containers_limit_leaves(tmp_path: Path) -> None:
    machine = available_bytes(tmp_path)
    assert machine > 0
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("3000\n")
    assert available_bytes(tmp_path) == 2000
    (tmp_path / "memory.current").write_text("6000\n")
    assert available_bytes(tmp_path) == 0
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes(tmp_path) > 6000
