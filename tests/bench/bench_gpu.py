"""On a GPU: cold and warm starts ÷ Inductor's; graphs pre-compiled four at a time ÷ one, and ÷ a job of Inductor's.

A start is a whole process, from `python` to the end of its first training step. Cold, all caches are empty, those of
the CUDA driver and of Triton among them; warm, they are what the cold start left. Without a GPU nothing is measured.
"""

from __future__ import annotations

import os
import sys

import torch

from tests.bench import bench_parallel
from tests.bench.figures import DEFAULT, Figure, own_folders, report, timed_together

START = """
import sys, torch
from torch import nn
torch.manual_seed(0)
layers = [nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True) for _ in range(2)]
model = torch.compile(nn.Sequential(*layers, nn.Linear(256, 16)).cuda(), backend=sys.argv[1])
model(torch.randn(8, 64, 256, device="cuda")).square().sum().backward()
torch.cuda.synchronize()
"""
RANKS = 4
BACKENDS = {"ours": "neurontop", DEFAULT: "inductor"}


def starts(ranks: int, repeats: int = 3) -> list[Figure]:
    """Of one process, or of ranks that share the GPU and their graphs; turn by turn."""
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(repeats):
        for name, backend in BACKENDS.items():
            with own_folders() as (folder, environ):
                places = {"CUDA_CACHE_PATH": str(folder / "driver"), "TRITON_HOME": str(folder)}
                own = {**environ, **places, "OMP_NUM_THREADS": "1"}
                for state in ("cold", "warm"):
                    done = timed_together(ranks, [sys.executable, "-c", START, backend], own, folder)
                    found.setdefault((state, name), []).append(done.seconds)
    who = "process" if ranks == 1 else "ranks that share it"
    return [
        Figure(
            f"{state} start on a GPU, {ranks} {who}",
            f"{DEFAULT}, its caches {state}",
            found[state, "ours"],
            found[state, DEFAULT],
            0.7 if state == "cold" and ranks > 1 else 1.0,
        )
        for state in ("cold", "warm")
    ]


def main() -> int:
    """What is measured, on what."""
    if not torch.cuda.is_available():
        print("no GPU that PyTorch can use: nothing was measured")
        return 0
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {os.cpu_count()} cores", flush=True)
    return report([*starts(1), *starts(RANKS), *bench_parallel.measure(graphs=8, jobs=4, device="cuda")])


if __name__ == "__main__":
    sys.exit(main())
