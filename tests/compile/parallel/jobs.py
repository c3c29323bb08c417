"""Small real jobs for the pre-compile, and a cache of collected graphs that tests copy."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from tests.inductor_folder import inductor_folder
from tests.warm_python import warm_python

NEURONTOP = (sys.executable, "-m", "neuron_top")
THREE_GRAPHS = """
import torch

def made(width):
    return lambda x: (x * width).sin().sum(-1)

for width in (2, 3, 4):
    torch._dynamo.reset()
    step = torch.compile(made(width), backend="neurontop", dynamic=False)
    print("graph", width, step(torch.ones(8, 16 * width)).sum().item())
    if width == 3 and CRASHES:
        raise SystemExit("the script gave up at its third step")
"""
TIMEOUT = 800.0
"""Seconds; a busy machine takes ten times as long as a quiet one."""


def script(folder: Path, *, crashes: bool = False) -> Path:
    """A job with three graphs; a crashing one ends after its second."""
    path = folder / f"job_{crashes}.py"
    path.write_text(f"CRASHES = {crashes}\n{THREE_GRAPHS}")
    return path


def environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment of its own: cache, Inductor's scratch, state."""
    own = {
        "NEURON_COMPILE_CACHE_URL": str(folder / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(folder / "inductor")),
        "NEURONTOP_STATE_DIR": str(folder / "state"),
        "NEURONTOP_CONFIG": os.devnull,
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEURON", "TORCHINDUCTOR"))}
    return {**kept, **own, **more}


def compile_command(
    arguments: Sequence[str | Path], environ: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """`neurontop compile …` to its end."""
    return subprocess.run(
        [*warm_python(), "-m", "neuron_top", "compile", *map(str, arguments)],
        env=dict(environ),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def interrupted(
    arguments: Sequence[str | Path], environ: Mapping[str, str], folder: Path, mark: str, number: signal.Signals
) -> tuple[int, list[psutil.Process]]:
    """`neurontop compile …`, signaled when `mark` (a pattern) is found in its output.

    Gives its exit status, and the processes it had then.
    """
    with (folder / "output").open("w+b") as output:
        process = subprocess.Popen(
            [*NEURONTOP, "compile", *map(str, arguments)],
            env=dict(environ),
            cwd=folder,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        seen = folder / "output"
        until(lambda: process.poll() is not None or re.search(mark, seen.read_text(errors="replace")) is not None)
        assert process.poll() is None, seen.read_text(errors="replace")[-5000:]
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        return process.wait(TIMEOUT), family


def until(condition, seconds: float = TIMEOUT) -> None:
    """Wait for a condition of another process."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def gone(processes: Sequence[psutil.Process]) -> bool:
    """Whether none of them runs any more."""
    return not [process for process in processes if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def files(folder: Path, name: str) -> list[Path]:
    """Files of this name (a pattern) in the cache of `folder`."""
    return sorted((folder / "cache").glob(f"*/MODULE_*/{name}"))


def copied(collected: Path, folder: Path) -> dict[str, str]:
    """A copy of the collected cache in `folder`, and the environment that uses it."""
    shutil.copytree(collected / "cache", folder / "cache")
    return environment(folder)
