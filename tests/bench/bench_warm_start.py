"""Warm start: first step with every graph in our cache ÷ first step with PyTorch's own caches warm, by two peers."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tests.bench.figures import PEERS, Figure, own_folders, report, timed

OURS = "neurontop"
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
    """Fill all caches once, then start turn by turn."""
    starters: Mapping[str, Mapping[str, str]] = {OURS: {}, **PEERS}
    seconds: dict[str, list[float]] = {name: [] for name in starters}
    cpu: dict[str, list[float]] = {name: [] for name in starters}
    with own_folders() as (folder, environ):
        (folder / "first_step.py").write_text(FIRST_STEP)
        for turn in range(repeats + 1):
            for place, (name, more) in enumerate(starters.items()):
                own = {**environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / f"inductor-{place}"), **more}
                backend = OURS if name == OURS else "inductor"
                done = timed([sys.executable, "first_step.py", backend], own, folder)
                if turn:
                    wall, used = map(float, done.output.split()[-2:])
                    seconds[name].append(wall)
                    cpu[name].append(used)
    return [
        Figure("warm start, first step", f"{peer}, warm", seconds[OURS], seconds[peer], 1.1, cpu[OURS], cpu[peer])
        for peer in PEERS
    ]


if __name__ == "__main__":
    sys.exit(report(measure()))
