"""Warm start: first step with every graph in our cache ÷ first step with Inductor's own FX-graph cache warm."""

from __future__ import annotations

import sys

from tests.bench.figures import Figure, own_folders, timed

FIRST_STEP = """
import sys, time
import torch
from torch import nn
layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
model = torch.compile(nn.Sequential(layer, nn.Linear(128, 128)), backend=sys.argv[1])
given = torch.ones(4, 32, 128)
began = time.perf_counter()
model(given).sum().backward()
print(time.perf_counter() - began)
"""


def measure(repeats: int = 5) -> list[Figure]:
    """Fill both caches once, then start turn by turn."""
    seconds: dict[str, list[float]] = {"neurontop": [], "inductor": []}
    with own_folders() as (folder, environ):
        (folder / "first_step.py").write_text(FIRST_STEP)
        environments = {name: {**environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / name)} for name in seconds}
        for turn in range(repeats + 1):
            for backend, found in seconds.items():
                _, output = timed([sys.executable, "first_step.py", backend], environments[backend], folder)
                if turn:
                    found.append(float(output.split()[-1]))
    return [Figure("warm start", "Inductor's warm cache", seconds["neurontop"], seconds["inductor"], 1.1)]


if __name__ == "__main__":
    for figure in measure():
        print(figure.line())
