"""Cold start of ranks that share their graphs: through our cache ÷ plain Inductor, each with all its caches empty.

Each start is a fresh set of processes that trains the same small transformer for two steps; wall time from start to
the end of the last rank. A second start, with the caches that the first one left, gives the warm figure of the same
job, whole processes this time (bench_warm_start measures the first step alone). Of the small job, imports are the
largest part; the large one, eight layers of eight widths, is compiled for longer than it is imported. That one starts
cold only, once more with NEURONTOP_SKIP_TRACE=0, so that every rank traces instead of one for all.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.bench.figures import DEFAULT, PEERS, Figure, own_folders, report, timed_together

OURS, INDUCTOR = "neurontop", "inductor"
RANKS = 4
RANK = """
import sys, torch
from torch import nn
torch.manual_seed(0)
layers = []
for place in range(int(sys.argv[2])):
    activation = ("relu", "gelu")[place % 2]
    width = 128 + 16 * place
    layers.append(nn.TransformerEncoderLayer(64, 4, width, batch_first=True, dropout=0.0, activation=activation))
model = torch.compile(nn.Sequential(*layers, nn.Linear(64, 10)), backend=sys.argv[1])
for _ in range(2):
    model(torch.randn(2, 16, 64)).square().sum().backward()
"""
SMALL, LARGE = 2, 8
"""Layers."""
EVERY_RANK_TRACES = {"NEURONTOP_SKIP_TRACE": "0"}


def start(backend: str, layers: int, environ: Mapping[str, str], folder: Path) -> tuple[float, float]:
    """Wall and processor seconds that all ranks need, started together."""
    command = [sys.executable, "-c", RANK, backend, str(layers)]
    done = timed_together(RANKS, command, {**environ, "OMP_NUM_THREADS": "1"}, folder)
    return done.seconds, done.cpu_seconds


def small_job(repeats: int = 3) -> list[Figure]:
    """Cold, then warm. Turn by turn, so that a change in the machine's load meets all."""
    starters: Mapping[str, Mapping[str, str]] = {OURS: {}, **PEERS}
    wall: dict[tuple[str, str], list[float]] = {}
    cpu: dict[tuple[str, str], list[float]] = {}
    for _ in range(repeats):
        for name, more in starters.items():
            with own_folders() as (folder, environ):
                for state in ("cold", "warm"):
                    seconds, used = start(OURS if name == OURS else INDUCTOR, SMALL, {**environ, **more}, folder)
                    wall.setdefault((state, name), []).append(seconds)
                    cpu.setdefault((state, name), []).append(used)
    return [
        Figure(
            f"{state} start, {RANKS} ranks",
            f"{peer}, its caches {state}",
            wall[state, OURS],
            wall[state, peer],
            bound,
            cpu[state, OURS],
            cpu[state, peer],
        )
        for state, peer, bound in (("cold", DEFAULT, 0.7), *(("warm", peer, 1.1) for peer in PEERS))
    ]


def large_job(repeats: int = 2) -> list[Figure]:
    """Cold, turn by turn."""
    ours = {"one rank traces": {}, "every rank traces": EVERY_RANK_TRACES}
    wall: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    for _ in range(repeats):
        for name, more in {**ours, DEFAULT: PEERS[DEFAULT]}.items():
            with own_folders() as (folder, environ):
                seconds, used = start(OURS if name in ours else INDUCTOR, LARGE, {**environ, **more}, folder)
                wall.setdefault(name, []).append(seconds)
                cpu.setdefault(name, []).append(used)
    return [
        Figure(
            f"cold start, {RANKS} ranks, {LARGE} layers, {name}",
            f"{DEFAULT}, its caches cold",
            wall[name],
            wall[DEFAULT],
            0.7,
            cpu[name],
            cpu[DEFAULT],
        )
        for name in ours
    ]


if __name__ == "__main__":
    sys.exit(report([*small_job(), *large_job()]))
