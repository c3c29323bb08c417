"""Parallel pre-compile of 12 distinct graphs: two workers ÷ one after the other."""

from __future__ import annotations

import shutil
import sys

from tests.bench.figures import Figure, own_folders, report, timed

GRAPHS = """
import sys, torch
count, device = int(sys.argv[1]), sys.argv[2]
for width in range(count):
    torch._dynamo.reset()
    def step(x, y, width=width):
        for turn in range(3 + width % 3):
            x = torch.nn.functional.layer_norm((x @ y).relu() * (width + 1.5), (16 * (width + 2),))
            x = torch.softmax(x + turn, -1).cumsum(-1)
        return x.sum(-1)
    size = 16 * (width + 2)
    given = torch.ones(8, size, device=device), torch.ones(size, size, device=device)
    torch.compile(step, backend="neurontop", dynamic=False)(*given)
"""
COMPILE = (sys.executable, "-m", "neuron_top", "compile")


def measure(repeats: int = 3, *, graphs: int = 12, jobs: int = 2, device: str = "cpu") -> list[Figure]:
    """Collect once, then compile copies of the collected cache, turn by turn."""
    seconds: dict[int, list[float]] = {1: [], jobs: []}
    cpu: dict[int, list[float]] = {1: [], jobs: []}
    with own_folders() as (folder, environ):
        (folder / "graphs.py").write_text(GRAPHS)
        collect = [*COMPILE, "--collect-only", "--", sys.executable, "graphs.py", str(graphs), device]
        timed(collect, environ, folder)
        shutil.move(folder / "cache", folder / "collected")
        for _ in range(repeats):
            for beside, found in seconds.items():
                with own_folders() as (fresh, own):
                    shutil.copytree(folder / "collected", fresh / "cache")
                    done = timed([*COMPILE, "-j", str(beside), "--compile-only"], own, fresh)
                    found.append(done.seconds)
                    cpu[beside].append(done.cpu_seconds)
    name = f"parallel pre-compile, {graphs} graphs, -j {jobs}{'' if device == 'cpu' else ', on a GPU'}"
    return [Figure(name, "one after the other", seconds[jobs], seconds[1], 0.6, cpu[jobs], cpu[1])]


if __name__ == "__main__":
    sys.exit(report(measure()))
