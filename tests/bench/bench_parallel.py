"""Parallel pre-compile of 12 distinct graphs: two workers ÷ one, and ÷ a job of Inductor's that compiles one by one.

Ours is the compile alone: collecting the graphs and loading the artifacts is not in it. The job traces the graphs too.
"""

from __future__ import annotations

import shutil
import sys

from tests.bench.figures import Figure, Timed, own_folders, report, timed

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
COMPILE = (sys.executable, "-m", "neuron_top", "compile")
WORKER, INDUCTOR = "one worker", "Inductor, one by one"
BOUNDS = {WORKER: 0.9, INDUCTOR: 0.6}
"""One worker compiles kernels beside each other already, so two on two cores gain little."""


def measure(repeats: int = 3, *, graphs: int = 12, jobs: int = 2, device: str = "cpu") -> list[Figure]:
    """Collect once, then compile copies of the collected cache, turn by turn with a job of Inductor."""
    peers = {WORKER: (*COMPILE, "-j", "1", "--compile-only"), INDUCTOR: script(graphs, device, "inductor")}
    commands = {"ours": (*COMPILE, "-j", str(jobs), "--compile-only"), **peers}
    taken: dict[str, list[Timed]] = {name: [] for name in commands}
    with own_folders() as (folder, environ):
        (folder / "graphs.py").write_text(GRAPHS)
        timed([*COMPILE, "--collect-only", "--", *script(graphs, device, "neurontop")], environ, folder)
        shutil.move(folder / "cache", folder / "collected")
        for _ in range(repeats):
            for name, command in commands.items():
                with own_folders() as (fresh, own):
                    shutil.copytree(folder / "collected", fresh / "cache")
                    shutil.copy(folder / "graphs.py", fresh)
                    taken[name].append(timed(command, own, fresh))
    what = f"parallel pre-compile, {graphs} graphs, -j {jobs}{'' if device == 'cpu' else ', on a GPU'}"
    wall = {name: [one.seconds for one in all_] for name, all_ in taken.items()}
    used = {name: [one.cpu_seconds for one in all_] for name, all_ in taken.items()}
    return [Figure(what, peer, wall["ours"], wall[peer], BOUNDS[peer], used["ours"], used[peer]) for peer in peers]


def script(graphs: int, device: str, backend: str) -> tuple[str, ...]:
    """The job that has the graphs."""
    return sys.executable, "graphs.py", str(graphs), device, backend


if __name__ == "__main__":
    sys.exit(report(measure()))
