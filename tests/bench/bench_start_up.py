"""Processor time of commands that scripts and people wait for, beside a Python that only imports what all of them need.

    python -m tests.bench.bench_start_up [--rounds 15] [--before FOLDER]

The peer is a bare interpreter that imports the libraries and does nothing: what no command can go below. `--before`
names a checkout of another version (`git worktree add --detach FOLDER COMMIT`), which is measured in turns with this.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.bench_cache import build
from tests.bench.bench_tally import generate
from tests.bench.figures import Row, cpu_of_children, summarize
from tests.bench.terminal import as_installed

HERE = Path(__file__).parents[2]
IMPORTS = "import argparse, json, msgspec, pathlib, re"
COMMANDS = {
    "cache stats --json": ("cache", "stats", "--json", "{cache}"),
    "tally of a short log": ("tally", "{log}"),
    "watch --help": ("watch", "--help"),
}
BOUND = {"cache stats --json": 1.5, "tally of a short log": 2.5, "watch --help": 1.2}
_ENTRIES, _LINES = 20, 300


def used(command: list[str], environ: dict[str, str]) -> float:
    """Processor milliseconds of a process that must end well."""
    before = cpu_of_children()
    subprocess.run(command, env=environ, cwd=environ["HOME"], capture_output=True, check=True)
    return (cpu_of_children() - before) * 1000


def main() -> None:
    """Measure in turns, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--before", metavar="FOLDER", type=Path, help="checkout of another version, measured beside")
    arguments = parser.parse_args()
    as_installed()
    trees = {"now": HERE, **({"before": arguments.before.resolve()} if arguments.before else {})}
    with tempfile.TemporaryDirectory() as folder:
        cache, log = Path(folder) / "cache", Path(folder) / "train.log"
        build(cache, _ENTRIES)
        generate(log, 1, 0.2)
        log.write_text("\n".join(log.read_text().splitlines()[:_LINES]) + "\n")
        for name, words in COMMANDS.items():
            given = [word.format(cache=cache, log=log) for word in words]
            taken = in_turns(given, trees, Path(folder), arguments.rounds)
            tell(name, taken)


def in_turns(words: list[str], trees: dict[str, Path], folder: Path, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each version and of the bare interpreter; the first round, which fills caches, does not count."""
    taken: dict[str, list[float]] = {**{name: [] for name in trees}, "bare": []}
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "COLUMNS")}
    for turn in range(rounds + 1):
        for name in taken if turn % 2 else reversed(taken):
            state = {
                "NEURONTOP_STATE_DIR": str(folder / f"state-{name}"),
                "NEURONTOP_CONFIG": os.devnull,
            }
            environ = {**kept, **state, "HOME": str(folder), "PYTHONPATH": str(trees.get(name, ""))}
            bare = [sys.executable, "-P", "-c", IMPORTS]
            spent = used(bare if name == "bare" else [sys.executable, "-P", "-m", "neuron_top", *words], environ)
            if turn:
                taken[name].append(spent)
    return taken


def tell(name: str, taken: dict[str, list[float]]) -> None:
    """One line for each command."""
    middle = {who: statistics.median(times) for who, times in taken.items()}
    each = "; ".join(f"{who} {middle[who]:.0f} ms ({min(times):.0f}–{max(times):.0f})" for who, times in taken.items())
    before = f"; ÷ before {middle['now'] / middle['before']:.3f}" if "before" in taken else ""
    print(f"{name}, processor time: {each}; ÷ bare {middle['now'] / middle['bare']:.2f}{before}", flush=True)
    ratios = [now / bare for now, bare in zip(taken["now"], taken["bare"], strict=True)]
    what, spread = f"{name}, processor time ÷ bare", f"{min(ratios):.2f}–{max(ratios):.2f}"
    ratio = middle["now"] / middle["bare"]
    summarize(Row(what, ratio, "×", BOUND[name], "a Python that imports the libraries", 1.0, spread))


if __name__ == "__main__":
    main()
