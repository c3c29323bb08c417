"""The tutorial, cold and warm: four ranks, tensor parallel 2, twenty steps, by our back end ÷ by Inductor.

Whole commands of torchrun, each backend with caches of its own, turn by turn. Every rank traces the graphs at each
start, because they hold a device mesh.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench.figures import DEFAULT, Figure, own_folders, report, timed

SCRIPT = Path(__file__).parents[2] / "assets" / "examples" / "train_bert_tp.py"
RANKS = ("-m", "torch.distributed.run", "--nproc_per_node=4")
STEPS = ("--tensor_parallel_size", "2", "--steps_this_run", "20")
OURS, INDUCTOR = "neurontop", "inductor"
BOUNDS = {"cold": 0.7, "warm": 1.0}


def measure(repeats: int = 2) -> list[Figure]:
    """A start with empty caches, then one with what it left."""
    wall: dict[tuple[str, str], list[float]] = {}
    used: dict[tuple[str, str], list[float]] = {}
    for _ in range(repeats):
        for backend in (OURS, INDUCTOR):
            with own_folders() as (folder, environ):
                for state in BOUNDS:
                    command = (sys.executable, *RANKS, str(SCRIPT), *STEPS, "--backend", backend)
                    done = timed(command, {**environ, "OMP_NUM_THREADS": "1"}, folder)
                    wall.setdefault((state, backend), []).append(done.seconds)
                    used.setdefault((state, backend), []).append(done.cpu_seconds)
    return [
        Figure(
            f"the tutorial, {state}",
            DEFAULT,
            wall[state, OURS],
            wall[state, INDUCTOR],
            bound,
            used[state, OURS],
            used[state, INDUCTOR],
        )
        for state, bound in BOUNDS.items()
    ]


if __name__ == "__main__":
    sys.exit(report(measure()))
