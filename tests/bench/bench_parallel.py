"""Parallel pre-compile of 12 distinct graphs: two workers ÷ one after the other."""

from __future__ import annotations

import shutil
import sys

from tests.bench.figures import Figure, own_folders, report, timed

GRAPHS = """
import torch
for width in range(12):
    torch._dynamo.reset()
    def step(x, y, width=width):
        for turn in range(3 + width % 3):
            x = torch.nn.functional.layer_norm((x @ y).relu() * (width + 1.5), (16 * (width + 2),))
            x = torch.softmax(x + turn, -1).cumsum(-1)
        return x.sum(-1)
    size = 16 * (width + 2)
    torch.compile(step, backend="neurontop", dynamic=False)(torch.ones(8, size), torch.ones(size, size))
"""
COMPILE = (sys.executable, "-m", "neuron_top", "compile")


def measure(repeats: int = 3) -> list[Figure]:
    """Collect once, then compile copies of the collected cache, turn by turn."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    cpu: dict[int, list[float]] = {1: [], 2: []}
    with own_folders() as (folder, environ):
        (folder / "graphs.py").write_text(GRAPHS)
        timed([*COMPILE, "--collect-only", "--", sys.executable, "graphs.py"], environ, folder)
        shutil.move(folder / "cache", folder / "collected")
        for _ in range(repeats):
            for jobs, found in seconds.items():
                with own_folders() as (fresh, own):
                    shutil.copytree(folder / "collected", fresh / "cache")
                    done = timed([*COMPILE, "-j", str(jobs), "--compile-only"], own, fresh)
                    found.append(done.seconds)
                    cpu[jobs].append(done.cpu_seconds)
    name = "parallel pre-compile, 12 graphs, -j 2"
    return [Figure(name, "one after the other", seconds[2], seconds[1], 0.6, cpu[2], cpu[1])]


if __name__ == "__main__":
    sys.exit(report(measure()))
