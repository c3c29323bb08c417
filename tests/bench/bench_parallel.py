"""Parallel pre-compile of 12 distinct graphs: two workers ÷ one, and ÷ a job of Inductor's that compiles one by one.

Ours is the compile alone: collecting the graphs and loading the artifacts is not in it. The job traces the graphs too.
"""

from __future__ import annotations

import sys

from tests.bench.collected_graphs import COMPILE, JOB, Run, cpu_seconds, seconds, timed_in_turns
from tests.bench.figures import Figure, report

GRAPHS = """
import sys, torch
count, device, backend = int(sys.argv[1]), sys.argv[2], sys.argv[3]
for width in range(count):
    torch._dynamo.reset()
    def step(x, y, width=width):
        for turn in range(3 + width % 3):
            x = torch.nn.functional.layer_norm((x @ y).relu() * (width + 1.5), (16 * (width + 2),))
            x = torch.softmax(x + turn, -1).cumsum(-1)
        return x.sum(-1)
    size = 16 * (width + 2)
    given = torch.ones(8, size, device=device), torch.ones(size, size, device=device)
    torch.compile(step, backend=backend, dynamic=False)(*given)
"""
WORKER, INDUCTOR = "one worker", "Inductor, one by one"
BOUNDS = {WORKER: 0.9, INDUCTOR: 0.6}
"""One worker compiles kernels beside each other already, so two on two cores gain little."""


def measure(repeats: int = 3, *, graphs: int = 12, jobs: int = 2, device: str = "cpu") -> list[Figure]:
    """Collect once, then compile copies of the collected cache, turn by turn with a job of Inductor."""
    peers = {WORKER: Run((*COMPILE, "-j", "1", "--compile-only")), INDUCTOR: Run(script(graphs, device, "inductor"))}
    runs = {"ours": Run((*COMPILE, "-j", str(jobs), "--compile-only")), **peers}
    taken = timed_in_turns(GRAPHS, script(graphs, device, "neurontop"), runs, repeats)
    what = f"parallel pre-compile, {graphs} graphs, -j {jobs}{'' if device == 'cpu' else ', on a GPU'}"
    wall, used = seconds(taken), cpu_seconds(taken)
    return [Figure(what, peer, wall["ours"], wall[peer], BOUNDS[peer], used["ours"], used[peer]) for peer in peers]


def script(graphs: int, device: str, backend: str) -> tuple[str, ...]:
    """The job that has the graphs."""
    return sys.executable, JOB, str(graphs), device, backend


if __name__ == "__main__":
    sys.exit(report(measure()))
