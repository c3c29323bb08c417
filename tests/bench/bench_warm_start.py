"""Warm start, from `torch.compile()` to the end of the first step: every graph in our cache ÷ PyTorch's caches warm.

PyTorch imports Inductor within `torch.compile()`, we import it with the first graph: a first step alone would leave out
what only one of the two has done before. It is printed beside the ratio all the same.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping

from tests.bench.figures import PEERS, Figure, own_folders, report, timed

OURS, TRACED = "neurontop", "neurontop, every graph traced"
STARTERS: Mapping[str, Mapping[str, str]] = {OURS: {}, TRACED: {"NEURONTOP_SKIP_TRACE": "0"}, **PEERS}
START = """
import os, sys, time
import torch
from torch import nn
layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
module, given = nn.Sequential(layer, nn.Linear(128, 128)), torch.ones(4, 32, 128)
began, used = time.perf_counter(), sum(os.times()[:4])
model = torch.compile(module, backend=sys.argv[1])
named = time.perf_counter()
model(given).sum().backward()
ended = time.perf_counter()
print(ended - began, sum(os.times()[:4]) - used, ended - named)
"""


def measure(repeats: int = 5) -> list[Figure]:
    """Fill all caches, then start turn by turn."""
    wall: dict[str, list[float]] = {name: [] for name in STARTERS}
    cpu: dict[str, list[float]] = {name: [] for name in STARTERS}
    steps: dict[str, list[float]] = {name: [] for name in STARTERS}
    with own_folders() as (folder, environ):
        (folder / "start.py").write_text(START)
        for turn in range(-2, repeats):  # a second start may keep what the first one's compile did not
            for place, (name, more) in enumerate(STARTERS.items()):
                own = {**environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / f"inductor-{place}"), **more}
                backend = OURS if name in (OURS, TRACED) else "inductor"
                done = timed([sys.executable, "start.py", backend], own, folder)
                if turn >= 0:
                    for kept, value in zip((wall, cpu, steps), map(float, done.output.split()[-3:]), strict=True):
                        kept[name].append(value)
    print("first step alone:", " · ".join(f"{name} {statistics.median(steps[name]):.3g} s" for name in STARTERS))
    return [
        Figure(
            f"warm start, torch.compile() and first step{', every graph traced' if ours == TRACED else ''}",
            f"{peer}, warm",
            wall[ours],
            wall[peer],
            1.0 if ours == OURS else 1.1,
            cpu[ours],
            cpu[peer],
        )
        for ours in (OURS, TRACED)
        for peer in PEERS
    ]


if __name__ == "__main__":
    sys.exit(report(measure()))
