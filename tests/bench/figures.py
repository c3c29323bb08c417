"""What a benchmark gives: ratios against a named peer measured in the same run, and the bound we set ourselves."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

EXAMPLE = Path(__file__).parents[2] / "assets" / "examples" / "train_bert_tp.py"


DEFAULT, FX_ONLY = "Inductor as it comes", "Inductor with its FX-graph cache only"
PEERS: Mapping[str, Mapping[str, str]] = {DEFAULT: {}, FX_ONLY: {"TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}}
"""Whom a warm start is compared with, and by which environment. As it comes, PyTorch keeps AOTAutograd's traces beside
the FX graphs and traces nothing when warm; with its FX-graph cache only it traces as we do, and saves compiling."""


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


def report(figures: Sequence[Figure]) -> int:
    """Print them; gives the number of bounds that were missed."""
    for figure in figures:
        print(figure.line(), flush=True)
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
        "NEURONTOP_CONFIG": str(folder / "none.toml"),
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


def cpu_of_children() -> float:
    """Processor seconds of all processes that we have waited for, and of those that they waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
