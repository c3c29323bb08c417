"""Cold start of ranks that share their graphs: through our cache ÷ plain Inductor, each with all its caches empty.

Each start is a fresh set of processes that trains the same small transformer for two steps; wall time from start to
the end of the last rank. A second start, with the caches that the first one left, gives the warm figure of the same
job, whole processes this time (bench_warm_start measures the first step alone).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.bench.figures import Figure, cpu_of_children, own_folders, report

RANKS = 4
RANK = """
import sys, torch
from torch import nn
torch.manual_seed(0)
layers = [nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.0, activation=a) for a in ("relu", "gelu")]
model = torch.compile(nn.Sequential(*layers, nn.Linear(64, 10)), backend=sys.argv[1])
for _ in range(2):
    model(torch.randn(2, 16, 64)).square().sum().backward()
"""


def start(backend: str, environ: Mapping[str, str], folder: Path) -> tuple[float, float]:
    """Wall and processor seconds that all ranks need, started together."""
    began, used = time.perf_counter(), cpu_of_children()
    with (folder / "output").open("w+b") as output:
        command = [sys.executable, "-c", RANK, backend]
        environ = {**environ, "OMP_NUM_THREADS": "1"}
        ranks = [subprocess.Popen(command, env=environ, stdout=output, stderr=output) for _ in range(RANKS)]
        statuses = [rank.wait() for rank in ranks]
        if any(statuses):
            output.seek(0)
            sys.exit(f"a rank with backend {backend} failed:\n{output.read().decode()[-3000:]}")
    return time.perf_counter() - began, cpu_of_children() - used


def measure(repeats: int = 3) -> list[Figure]:
    """Turn by turn, so that a change in the machine's load meets both."""
    wall: dict[tuple[str, str], list[float]] = {}
    cpu: dict[tuple[str, str], list[float]] = {}
    for _ in range(repeats):
        for backend in ("inductor", "neurontop"):
            with own_folders() as (folder, environ):
                for state in ("cold", "warm"):
                    seconds, used = start(backend, environ, folder)
                    wall.setdefault((state, backend), []).append(seconds)
                    cpu.setdefault((state, backend), []).append(used)
    return [
        Figure(
            f"{state} start, {RANKS} ranks",
            "Inductor",
            wall[state, "neurontop"],
            wall[state, "inductor"],
            bound,
            cpu[state, "neurontop"],
            cpu[state, "inductor"],
        )
        for state, bound in (("cold", 0.6), ("warm", 1.1))
    ]


if __name__ == "__main__":
    sys.exit(report(measure()))
