"""How long a report of a long console log takes, beside only counting it with `neurontop tally` in the same run.

    python -m tests.bench.bench_report [--megabytes 1000] [--share 0.01]

The log is the one of bench_tally: our own words in the published formats, a share of the lines interesting. tlparse,
the nearest tool, reads another format (PyTorch's structured trace), so its rate is no peer of this one; its own rate on
traces of its own, 12 to 16 MB/s by an earlier measurement on a machine of this class, is named for orientation only.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.bench_tally import generate
from tests.bench.figures import Figure, cpu_of_children, own_folders, timed

NEURONTOP = (sys.executable, "-m", "neuron_top")
MEGABYTES = 200
BOUND = 4.0
"""A report keeps every graph and draws it; more than this over counting alone would be waste."""


def measure() -> Iterator[Figure]:
    """Report ÷ tally, three turns each."""
    with own_folders() as (folder, environ):
        log = folder / "train.log"
        generate(log, MEGABYTES, 0.01)
        ours, theirs = [], []
        for _ in range(3):
            ours.append(timed([*NEURONTOP, "report", str(log), "-o", str(folder / "r.html")], environ, folder)[0])
            theirs.append(timed([*NEURONTOP, "tally", "--json", str(log)], environ, folder)[0])
        yield Figure(f"report of a {MEGABYTES} MB log", "counting it", ours, theirs, BOUND)


def main() -> None:
    """One log of the size asked for: seconds, MB/s, peak of memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--share", type=float, default=0.01)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="neurontop-bench-") as folder:
        log = Path(folder) / "train.log"
        generate(log, arguments.megabytes, arguments.share)
        began, used = time.perf_counter(), cpu_of_children()
        subprocess.run([*NEURONTOP, "report", str(log), "-o", f"{folder}/r.html"], check=True, capture_output=True)
        seconds, cpu = time.perf_counter() - began, cpu_of_children() - used
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        size, page = log.stat().st_size / 1e6, Path(folder, "r.html").stat().st_size / 1e6
        print(
            f"{size:.0f} MB in {seconds:.1f} s: {size / seconds:.0f} MB/s; of processor time {cpu:.1f} s: "
            f"{size / cpu:.0f} MB/s; {peak:.0f} MiB of memory, page {page:.1f} MB"
        )


if __name__ == "__main__":
    main()
