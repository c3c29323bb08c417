"""How long a report takes: of a long console log, beside only counting it; of a trace of PyTorch, beside tlparse.

    python -m tests.bench.bench_report [--megabytes 1000] [--share 0.01]

The log is the one of bench_tally: our own words in the published formats, a share of the lines interesting. The trace
is a real one, of the example for regional compilation, repeated until it is long; both tools read the same file.
tlparse draws every graph and its code into pages of their own, which a report does not: it has more to write. Where
tlparse is not installed (`pip install tlparse`), that is said and the log alone is measured.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.bench_tally import generate
from tests.bench.figures import EXAMPLE, Figure, cpu_of_children, own_folders, report, timed

NEURONTOP = (sys.executable, "-m", "neuron_top")
TLPARSE = shutil.which("tlparse", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))
MEGABYTES = 100
TRACE_MEGABYTES = 40
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
        if TLPARSE is None:
            print("tlparse is not installed (pip install tlparse): no peer for traces", flush=True)
        else:
            yield _beside_tlparse(TLPARSE, folder, environ)


def _beside_tlparse(program: str, folder: Path, environ: dict[str, str]) -> Figure:
    trace = _trace(folder, environ)
    ours, theirs = [], []
    for _ in range(3):
        ours.append(timed([*NEURONTOP, "report", str(trace), "-o", str(folder / "t.html")], environ, folder))
        out = ["-o", str(folder / "tlparse"), "--overwrite", "--no-browser"]
        theirs.append(timed([program, str(trace), *out], environ, folder))
    size = trace.stat().st_size / 1e6
    rates = [size / statistics.median(one.cpu_seconds for one in runs) for runs in (ours, theirs)]
    print(f"a trace of {size:.0f} MB: ours {rates[0]:.0f} MB/s of processor time, tlparse {rates[1]:.1f}", flush=True)
    return Figure(
        f"report of a {size:.0f} MB trace",
        "tlparse",
        [one.seconds for one in ours],
        [one.seconds for one in theirs],
        1.0,
        [one.cpu_seconds for one in ours],
        [one.cpu_seconds for one in theirs],
    )


def _trace(folder: Path, environ: dict[str, str]) -> Path:
    """A real trace, long: what a job of one process wrote, again and again.

    Of Inductor, whose generated code is most of what tlparse draws; without it, tlparse is ten times as fast.
    """
    script = EXAMPLE.with_name("regional_compile.py")
    small = ["--blocks", "3", "--hidden", "32", "--sequence", "16", "--batch_size", "2", "--steps", "1"]
    job = [sys.executable, str(script), "--how", "full", "--backend", "inductor", *small]
    subprocess.run(job, env={**environ, "TORCH_TRACE": str(folder / "traces")}, check=True, capture_output=True)
    (written,) = (folder / "traces").iterdir()
    data, trace = written.read_bytes(), folder / "trace.log"
    with open(trace, "wb") as file:
        for _ in range(max(1, TRACE_MEGABYTES * 1_000_000 // len(data))):
            file.write(data)
    return trace


def main() -> int:
    """One log of the size asked for: seconds, MB/s, peak of memory; then the ratios. Gives the bounds missed."""
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

    return report(list(measure()))


if __name__ == "__main__":
    sys.exit(main())
