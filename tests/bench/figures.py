"""What a benchmark gives: ratios against a named peer measured in the same run, and the bound we set ourselves."""

from __future__ import annotations

import os
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


class Figure(NamedTuple):
    """A ratio of medians: ours ÷ theirs (seconds both), its bound, and every measurement."""

    name: str
    peer: str
    ours: Sequence[float]
    theirs: Sequence[float]
    bound: float

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
        return f"{self.name}: {self.ratio:.3f} (bound {self.bound:g}, {verdict})   {seconds}"


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


def timed(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> tuple[float, str]:
    """Seconds of a command that must end well, and its standard output."""
    began = time.perf_counter()
    done = subprocess.run(command, env=dict(environ), cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return seconds, done.stdout
