"""Start to the first frame of a bare Textual program, of toolong (a log viewer) and of frogmouth (a reader).

The bare one is the least that Textual takes. The others are taken from the environment that NEURONTOP_BENCH_PEERS
names, or put into a throw-away one; where they cannot be had that is said. Two moments count: the first frame with
anything to see in it, and the file's own first text.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.screen_log import BARE
from tests.bench.terminal import Terminal

PEERS = {"toolong": "tl", "frogmouth": "frogmouth"}
WORD = "the-first-text"
_INSTALL_SECONDS = 300


def first_frames(count: int = 5) -> dict[str, float | str]:
    """Median milliseconds of ours and of each peer, turn by turn, and our ratio to each."""
    with programs(PEERS) as folder, tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "text.md"
        file.write_text(f"{WORD}\n")
        commands = {
            "ours": [sys.executable, "-m", "neuron_top", "watch", str(file)],
            "bare_textual": [sys.executable, str(BARE), str(file)],
        }
        missing = {}
        for name, program in PEERS.items():
            if isinstance(folder, Path) and (folder / "bin" / program).exists():
                commands[name] = [str(folder / "bin" / program), str(file)]
            else:
                missing[name] = f"not measured: {folder if isinstance(folder, str) else f'no {program} in {folder}'}"
        texts: dict[str, list[float]] = {name: [] for name in commands}
        frames: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(count):
            for name, command in commands.items():
                terminal = Terminal(command)
                texts[name].append(terminal.wait_for(WORD.encode()))
                frames[name].append(terminal.drawn or texts[name][-1])
                terminal.close()
    return {**_compared("first_frame", frames), **_compared("first_text", texts), **missing}


def _compared(what: str, taken: dict[str, list[float]]) -> dict[str, float]:
    medians = {name: statistics.median(times) for name, times in taken.items()}
    figures: dict[str, float] = {f"{what}_{name}_ms": round(1000 * value) for name, value in medians.items()}
    ratios = {f"{what}_ours_by_{name}": round(medians["ours"] / medians[name], 2) for name in medians if name != "ours"}
    return {**figures, **ratios}


@contextmanager
def programs(packages: Iterable[str]) -> Iterator[Path | str]:
    """An environment that holds these packages, or why there is none."""
    if given := os.environ.get("NEURONTOP_BENCH_PEERS"):
        yield Path(given)
        return
    with tempfile.TemporaryDirectory() as folder:
        install = [f"{folder}/bin/python", "-m", "pip", "install", "--quiet", *packages]
        try:
            for command in ([sys.executable, "-m", "venv", folder], install):
                subprocess.run(command, check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS)
        except (OSError, subprocess.SubprocessError) as problem:
            yield f"{', '.join(packages)} cannot be installed here: {problem}"
        else:
            yield Path(folder)
