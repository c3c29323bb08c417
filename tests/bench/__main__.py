"""All benchmarks of the compile and runtime components: `python -m tests.bench [NAME]…`, names as in bench_<name>.py.

Each prints a ratio against a named peer that was measured in the same run, turn by turn, so that a busy machine
disturbs both alike. The exit status is the number of bounds that were missed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time

NAMES = ("cold_start", "warm_start", "parallel", "watching")


def main() -> int:
    """Run them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(NAMES)} (default: all)")
    names = parser.parse_args().names or NAMES
    if unknown := [name for name in names if name not in NAMES]:
        parser.error(f"unknown: {', '.join(unknown)}")
    missed = 0
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}", flush=True)
    for name in names:
        began = time.perf_counter()
        for figure in importlib.import_module(f"tests.bench.bench_{name}").measure():
            missed += figure.ratio > figure.bound
            print(figure.line(), flush=True)
        print(f"  ({name}: {time.perf_counter() - began:.0f} s)", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
