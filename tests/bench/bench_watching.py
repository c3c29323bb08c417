"""The cost of watching: step time of a training job recorded by `neurontop run` ÷ of the same job alone."""

from __future__ import annotations

import re
import statistics
import sys

from tests.bench.figures import EXAMPLE, Figure, own_folders, report, timed

SIZES = ["--hidden", "256", "--heads", "4", "--layers", "2", "--vocabulary", "512", "--tensor_parallel_size", "2"]
STEPS, WARM_UP = 80, 10
_THROUGHPUT = re.compile(r"throughput : ([0-9.]+)")
BATCH = 8


def measure(repeats: int = 3) -> list[Figure]:
    """Compile once, then run turn by turn; a run counts with the median of its steps."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    job = [*launcher, str(EXAMPLE), *SIZES, "--batch_size", str(BATCH), "--steps_this_run", str(STEPS)]
    commands = {"watched": [sys.executable, "-m", "neuron_top", "run", "--plain", "--", *job], "alone": job}
    seconds: dict[str, list[float]] = {"watched": [], "alone": []}
    with own_folders() as (folder, environ):
        timed(job, environ, folder)
        for _ in range(repeats):
            for name, found in seconds.items():
                output = timed(commands[name], environ, folder).output
                steps = [BATCH / float(value) for value in _THROUGHPUT.findall(output)][WARM_UP:]
                found.append(statistics.median(steps))
    return [Figure("step time while watched", "alone", seconds["watched"], seconds["alone"], 1.02)]


if __name__ == "__main__":
    sys.exit(report(measure()))
