"""All benchmarks in one run: `python -m tests.bench [NAME]… [--skip NAME]…`, a name for each bench_<name>.py here.

Each prints ratios against named peers that were measured in the same run, turn by turn, so that a busy machine
disturbs both alike. Each has a process of its own: one that breaks is reported and the others go on. The exit status is
the number of figures that missed their aim and of benchmarks that missed a bound of their own or broke.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.figures import SUMMARY, kept_rows, summary
from tests.bench.terminal import as_installed

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def run_one(name: str) -> str:
    """Run one benchmark, its output passed through; what is wrong with it, "" when nothing is."""
    print(f"== {name}, load average {os.getloadavg()[0]:.1f}", flush=True)
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", f"tests.bench.bench_{name}"], cwd=FOLDER.parents[1], check=False)
    print(f"   ({name}: {time.perf_counter() - began:.0f} s)", flush=True)
    return f"{name} (status {done.returncode})" if done.returncode else ""


def main() -> int:
    """Run them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--skip", action="append", default=[], metavar="NAME", help="leave this one out (repeatable)")
    arguments = parser.parse_args()
    if unknown := {*arguments.names, *arguments.skip} - {*NAMES}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(NAMES)}")
    as_installed()
    print(f"{os.cpu_count()} cores", flush=True)
    chosen = [name for name in arguments.names or NAMES if name not in arguments.skip]
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "summary.jsonl"
        os.environ[SUMMARY] = str(kept)
        wrong = [problem for name in chosen if (problem := run_one(name))]
        rows = kept_rows(kept.read_text(encoding="utf-8").splitlines()) if kept.exists() else []
    if rows:
        print(f"== all in one table\n{summary(rows)}", flush=True)
    wrong += [row.what for row in rows if not row.met]
    print(f"missed a bound or broke: {', '.join(wrong)}" if wrong else "every bound was kept", flush=True)
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
