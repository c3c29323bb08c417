"""Cold and warm start of ranks that share their graphs, our cache against plain Inductor.

    python tests/bench/bench_cold_start.py [--ranks 4] [--repeat 3]

Each start is a fresh set of processes that trains the same small transformer for two steps; wall time from start to the
end of the last rank. Cold: all caches empty, for both back ends. Warm: the caches that the cold start left. Prints
medians and the two ratios (cold wanted below 0.6, warm at most 1.1).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RANK = """
import sys, torch
from torch import nn
torch.manual_seed(0)
layers = [nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.0, activation=a) for a in ("relu", "gelu")]
model = torch.compile(nn.Sequential(*layers, nn.Linear(64, 10)), backend=sys.argv[1])
for _ in range(2):
    model(torch.randn(2, 16, 64)).square().sum().backward()
"""


def start(backend: str, ranks: int, folder: Path) -> float:
    """Seconds that all ranks need, started together."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "NEURON_COMPILE_CACHE_URL": str(folder / "neuron"),
    }
    began = time.monotonic()
    command = [sys.executable, "-c", RANK, backend]
    running = [subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) for _ in range(ranks)]
    if any(process.wait() for process in running):
        raise SystemExit(f"a rank with backend {backend} failed")
    return time.monotonic() - began


def main() -> None:
    """Measure in turns, so that a change in the machine's load meets both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    seconds: dict[tuple[str, str], list[float]] = {}
    for _ in range(arguments.repeat):
        for backend in ("inductor", "neurontop"):
            with tempfile.TemporaryDirectory() as folder:
                for state in ("cold", "warm"):
                    taken = start(backend, arguments.ranks, Path(folder))
                    seconds.setdefault((state, backend), []).append(taken)
    for state in ("cold", "warm"):
        plain, ours = (statistics.median(seconds[state, name]) for name in ("inductor", "neurontop"))
        print(f"{state}: inductor {plain:.1f} s, neurontop {ours:.1f} s, ratio {ours / plain:.2f}")


if __name__ == "__main__":
    main()
