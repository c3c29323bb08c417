"""What a benchmark gives: ratios against a named peer measured in the same run, and the bound we set ourselves."""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SUMMARY = "NEURONTOP_BENCH_SUMMARY"
"""The variable that names the file for the table at the end."""
EXAMPLE = Path(__file__).parents[2] / "assets" / "examples" / "train_bert_tp.py"


DEFAULT, FX_ONLY = "Inductor as it comes", "Inductor with its FX-graph cache only"
PEERS: Mapping[str, Mapping[str, str]] = {DEFAULT: {}, FX_ONLY: {"TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}}
"""Whom a warm start is compared with, and by which environment. As it comes, PyTorch keeps AOTAutograd's traces beside
the FX graphs and traces nothing when warm; with its FX-graph cache only it traces, and saves compiling."""


class Timed(NamedTuple):
    """A command that ended: wall seconds, processor seconds of all its processes, standard output."""

    seconds: float
    cpu_seconds: float
    output: str


class Figure(NamedTuple):
    """A ratio of medians: ours ÷ theirs (seconds both), its bound, and every measurement.

    Processor seconds, where they were measured, report the same story without the other work on the machine.
    """

    name: str
    peer: str
    ours: Sequence[float]
    theirs: Sequence[float]
    bound: float
    our_cpu: Sequence[float] = ()
    their_cpu: Sequence[float] = ()

    @property
    def ratio(self) -> float:
        """Median of ours by median of theirs."""
        return statistics.median(self.ours) / statistics.median(self.theirs)

    @property
    def spread(self) -> str:
        """The smallest and largest ratio that these measurements could give, and how many there are."""
        low, high = min(self.ours) / max(self.theirs), max(self.ours) / min(self.theirs)
        return f"{low:.3g}–{high:.3g}, n={len(self.ours)}"

    def line(self) -> str:
        """For the report."""
        verdict = "kept" if self.ratio <= self.bound else "MISSED"
        seconds = " · ".join(
            f"{who} {statistics.median(values):.3g} s ({min(values):.3g}–{max(values):.3g}, n={len(values)})"
            for who, values in (("ours", self.ours), (self.peer, self.theirs))
        )
        line = f"{self.name}: {self.ratio:.3f} (bound {self.bound:g}, {verdict})   {seconds}"
        if self.our_cpu and self.their_cpu:
            ours, theirs = statistics.median(self.our_cpu), statistics.median(self.their_cpu)
            line += f" · of processor time {ours / theirs:.3f} ({ours:.3g} s ÷ {theirs:.3g} s)"
        return line


class Row(NamedTuple):
    """A line of the table at the end of all benchmarks."""

    what: str
    ours: float
    unit: str
    aim: float
    """The same unit."""
    peer: str = ""
    theirs: float | None = None
    spread: str = ""
    """Smallest to largest measurement, where there were several."""
    at_least: bool = False
    """More is better."""

    @property
    def met(self) -> bool:
        """Whether the aim is."""
        return self.ours >= self.aim if self.at_least else self.ours <= self.aim


def summarize(row: Row) -> None:
    """Keep a line for the table at the end: in the file that `python -m tests.bench` names, else nowhere."""
    if name := os.environ.get(SUMMARY):
        with open(name, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def kept_rows(lines: Iterable[str]) -> list[Row]:
    """What benchmarks kept."""
    return [Row(*json.loads(line)) for line in lines]


def summary(kept: Iterable[Row]) -> str:
    """The table of it."""
    rows = [("", "ours", "aim", "", "peer, in the same run", "spread")]
    for row in kept:
        theirs = f"{row.theirs:.3g} {row.unit}  {row.peer}" if row.theirs is not None else row.peer or "none here"
        verdict = "met" if row.met else "MISSED"
        rows.append((row.what, f"{row.ours:.3g} {row.unit}", f"{row.aim:.3g}", verdict, theirs, row.spread))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def report(figures: Sequence[Figure]) -> int:
    """Print them; gives the number of bounds that were missed."""
    for figure in figures:
        print(figure.line(), flush=True)
        summarize(Row(figure.name, figure.ratio, "×", figure.bound, figure.peer, 1.0, figure.spread))
    return sum(figure.ratio > figure.bound for figure in figures)


@contextmanager
def own_folders() -> Iterator[tuple[Path, dict[str, str]]]:
    """A scratch folder, and an environment whose caches and state all lie in it."""
    folder = Path(tempfile.mkdtemp(prefix="neurontop-bench-"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEURON", "TORCHINDUCTOR"))}
    own = {
        "NEURON_COMPILE_CACHE_URL": str(folder / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "NEURONTOP_STATE_DIR": str(folder / "state"),
        "NEURONTOP_CONFIG": os.devnull,
    }
    try:
        yield folder, {**kept, **own}
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # noqa: TID251 (our own scratch folder)


def timed(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> Timed:
    """A command that must end well."""
    began, used = time.perf_counter(), cpu_of_children()
    done = subprocess.run(command, env=dict(environ), cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return Timed(seconds, cpu_of_children() - used, done.stdout)


def timed_together(count: int, command: Sequence[str], environ: Mapping[str, str], folder: Path) -> Timed:
    """So many equal processes, started together, which must all end well; until the last of them has."""
    began, used = time.perf_counter(), cpu_of_children()
    with (folder / "output").open("w+b") as output:
        processes = [
            subprocess.Popen(command, env=dict(environ), cwd=folder, stdout=output, stderr=output) for _ in range(count)
        ]
        statuses = [process.wait() for process in processes]
        output.seek(0)
        said = output.read().decode(errors="replace")
    if any(statuses):
        sys.exit(f"one of {count} × {' '.join(command)} failed:\n{said[-3000:]}")
    return Timed(time.perf_counter() - began, cpu_of_children() - used, said)


def cpu_of_children() -> float:
    """Processor seconds of all processes that we have waited for, and of those that they waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
