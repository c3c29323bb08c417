"""Ctrl-C on `neurontop run` at every stage of a job: nothing runs on, no lock and no half-made file stays."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from tests.compile.parallel import jobs
from tests.inductor_folder import programs

pytestmark = [pytest.mark.torch, pytest.mark.e2e, pytest.mark.timeout(900)]
WORKER = r"""
import time, torch
step = torch.compile(lambda x: torch.softmax((x * 3).sin() @ x.T, -1).cumsum(0), backend="neurontop")
print("first step begins", flush=True)
for number in range(1_000_000):
    step(torch.ones(24, 16))
    print(f"step {number}\n", end="", flush=True)  # one write: lines of two workers don't mix
    time.sleep(0.01)
"""
LAUNCHER = """
import os, subprocess, sys
start = lambda rank: subprocess.Popen(
    [sys.executable, sys.argv[1]], env={**os.environ, "RANK": str(rank)}, start_new_session=True
)
for worker in [start(rank) for rank in range(2)]:
    worker.wait()
"""


def is_tracing(folder: Path, output: str) -> bool:
    """A worker has called the model and no graph has come to the cache yet."""
    return "first step begins" in output and not is_compiling(folder, output)


def is_compiling(folder: Path, output: str) -> bool:
    """A worker holds the graph's lock: its compile begins at this moment."""
    return bool(jobs.files(folder, "*.lock"))


def is_waiting_for_the_other(folder: Path, output: str) -> bool:
    """A worker's compile has come to its kernels; the other one, started with it, waits."""
    return is_compiling(folder, output) and bool(programs(folder / "inductor"))


def is_training(folder: Path, output: str) -> bool:
    """Both workers take steps."""
    return output.count("step 3\n") == 2


@pytest.mark.parametrize("stage", [is_tracing, is_compiling, is_waiting_for_the_other, is_training])
def test_ctrl_c_leaves_no_process_no_lock_and_nothing_half_made(
    stage: Callable[[Path, str], bool], tmp_path: Path
) -> None:
    worker, launcher, seen = tmp_path / "worker.py", tmp_path / "launcher.py", tmp_path / "seen"
    worker.write_text(WORKER)
    launcher.write_text(LAUNCHER)
    command = ["run", "--plain", "--", sys.executable, str(launcher), str(worker)]
    with seen.open("wb") as output:
        program = subprocess.Popen(
            [*jobs.NEURONTOP, *command],
            env=jobs.environment(tmp_path, OMP_NUM_THREADS="1"),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        family: list[psutil.Process] = []
        try:
            jobs.until(lambda: program.poll() is not None or stage(tmp_path, seen.read_text()))
            assert program.poll() is None, seen.read_text()[-5000:]
            family = psutil.Process(program.pid).children(recursive=True)
            program.send_signal(signal.SIGINT)
            assert program.wait(jobs.TIMEOUT) == 130, seen.read_text()
        finally:
            for _ in range(3):  # the third ends a job that nothing else ends
                program.send_signal(signal.SIGINT)
    assert len(family) >= 3
    jobs.until(lambda: jobs.gone(family))
    assert jobs.files(tmp_path, "*.lock*") == []
    assert jobs.files(tmp_path, "*.tmp") == []
    assert jobs.files(tmp_path, "model.log") == []
