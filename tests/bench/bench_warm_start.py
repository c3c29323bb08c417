"""Warm start: first step with every graph in our cache ÷ first step with Inductor's own FX-graph cache warm."""

from __future__ import annotations

import sys

from tests.bench.figures import Figure, own_folders, report, timed

FIRST_STEP = """
import os, sys, time
import torch
from torch import nn
layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
model = torch.compile(nn.Sequential(layer, nn.Linear(128, 128)), backend=sys.argv[1])
given = torch.ones(4, 32, 128)
began, used = time.perf_counter(), sum(os.times()[:4])
model(given).sum().backward()
print(time.perf_counter() - began, sum(os.times()[:4]) - used)
"""


def measure(repeats: int = 5) -> list[Figure]:
    """Fill both caches once, then start turn by turn."""
    seconds: dict[str, list[float]] = {"neurontop": [], "inductor": []}
    cpu: dict[str, list[float]] = {"neurontop": [], "inductor": []}
    with own_folders() as (folder, environ):
        (folder / "first_step.py").write_text(FIRST_STEP)
        environments = {name: {**environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / name)} for name in seconds}
        for turn in range(repeats + 1):
            for backend, found in seconds.items():
                done = timed([sys.executable, "first_step.py", backend], environments[backend], folder)
                if turn:
                    wall, used = map(float, done.output.split()[-2:])
                    found.append(wall)
                    cpu[backend].append(used)
    return [Figure("warm start", "Inductor's warm cache", *seconds.values(), 1.1, *cpu.values())]


if __name__ == "__main__":
    sys.exit(report(measure()))
