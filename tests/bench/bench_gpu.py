"""On a GPU: cold and warm starts ÷ Inductor's, and graphs pre-compiled four at a time ÷ one after the other.

A start is a whole process, from `python` to the end of its first training step. Cold, all caches are empty, that of the
CUDA driver among them; warm, they are what the cold start left. Without a GPU nothing is measured.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import torch

from tests.bench.bench_parallel import COMPILE
from tests.bench.figures import DEFAULT, Figure, own_folders, report, timed

START = """
import sys, torch
from torch import nn
torch.manual_seed(0)
layers = [nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True) for _ in range(2)]
model = torch.compile(nn.Sequential(*layers, nn.Linear(256, 16)).cuda(), backend=sys.argv[1])
model(torch.randn(8, 64, 256, device="cuda")).square().sum().backward()
torch.cuda.synchronize()
"""
RANKS, GRAPHS, JOBS = 4, 8, 4
SEVERAL = f"""
import torch
for width in range({GRAPHS}):
    torch._dynamo.reset()
    def step(x, y, width=width):
        for turn in range(3 + width % 3):
            x = torch.nn.functional.layer_norm((x @ y).relu() * (width + 1.5), (16 * (width + 2),))
            x = torch.softmax(x + turn, -1).cumsum(-1)
        return x.sum(-1)
    size = 16 * (width + 2)
    given = torch.ones(8, size, device="cuda"), torch.ones(size, size, device="cuda")
    torch.compile(step, backend="neurontop", dynamic=False)(*given)
"""
BACKENDS = {"ours": "neurontop", DEFAULT: "inductor"}


def starts(ranks: int, repeats: int = 3) -> list[Figure]:
    """Of one process, or of ranks that share the GPU and their graphs; turn by turn."""
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(repeats):
        for name, backend in BACKENDS.items():
            with own_folders() as (folder, environ):
                own = {**environ, "CUDA_CACHE_PATH": str(folder / "driver"), "OMP_NUM_THREADS": "1"}
                for state in ("cold", "warm"):
                    found.setdefault((state, name), []).append(_together(ranks, backend, own, folder))
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


def _together(ranks: int, backend: str, environ: Mapping[str, str], folder: Path) -> float:
    """Wall seconds until the last of so many equal processes has ended."""
    (folder / "start.py").write_text(START)
    each = f'for rank in $(seq {ranks}); do "$0" start.py {backend} & done'
    ends = "for job in $(jobs -p); do wait $job || exit; done"
    return timed(["bash", "-c", f"{each}; {ends}", sys.executable], environ, folder).seconds


def precompile(repeats: int = 3) -> list[Figure]:
    """Collect once, then compile copies of the collected cache, turn by turn."""
    seconds: dict[int, list[float]] = {1: [], JOBS: []}
    cpu: dict[int, list[float]] = {1: [], JOBS: []}
    with own_folders() as (folder, environ):
        (folder / "graphs.py").write_text(SEVERAL)
        timed([*COMPILE, "--collect-only", "--", sys.executable, "graphs.py"], environ, folder)
        shutil.move(folder / "cache", folder / "collected")
        for _ in range(repeats):
            for jobs in seconds:
                with own_folders() as (fresh, own):
                    shutil.copytree(folder / "collected", fresh / "cache")
                    done = timed([*COMPILE, "-j", str(jobs), "--compile-only"], own, fresh)
                    seconds[jobs].append(done.seconds)
                    cpu[jobs].append(done.cpu_seconds)
    name = f"parallel pre-compile for a GPU, {GRAPHS} graphs, -j {JOBS}"
    return [Figure(name, "one after the other", seconds[JOBS], seconds[1], 0.6, cpu[JOBS], cpu[1])]


def main() -> int:
    """What is measured, on what."""
    if not torch.cuda.is_available():
        print("no GPU that PyTorch can use: nothing was measured")
        return 0
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {os.cpu_count()} cores", flush=True)
    return report([*starts(1), *starts(RANKS), *precompile()])


if __name__ == "__main__":
    sys.exit(main())
