"""How fast `neurontop tally` counts a training log, beside `rg -c` with the same marks in the same run.

    python -m tests.bench.bench_tally [--megabytes 1000] [--shares 1,20,50]

The log is generated: our own words in the published formats, so that a share of its lines is interesting. Figures
are of one core; "loop" is a plain Python loop over the lines with a filter, for comparison. Prints, per share, MB/s
of each, the ratio to ripgrep, events a second, and the peak of memory.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import tempfile
import time
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from neuron_top.events import CacheHit
from neuron_top.parsers import families
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.families import KEYWORDS
from neuron_top.parsers.reader import LogReader
from tests.bench.figures import Row, summarize

_CHUNK = 1 << 20
_PART = 100_000_000
"""Bytes that are read with events: a minute of it at 50 %."""
_HEADER = re.compile(rb"(\d{4}-\d\d-\d\d \d\d:\d\d):([0-5]\d)\.000(\d{3}):  (\d{1,10})  (.+)", re.DOTALL)
_NUMBERS = re.compile(rb"'(\w+)': ([-\d.e]+)")
_WORDS = ("tea", "cup", "kettle", "leaf", "water", "steam", "pour", "warm", "green", "black", "mint", "spoon", "garden")
_FOLDER = "/scratch/cache/neuronxcc-2.99.1.0+abcdef01"


def _noise(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.5:
        item, size, depth = chance.randrange(10**6), chance.randrange(10**7), chance.randrange(64)
        return f"DEBUG brewer.loop item {item} moved, {size} bytes, depth {depth}"
    return f"sampled: {' '.join(chance.choice(_WORDS) for _ in range(14))}"


def _marked(chance: random.Random) -> str:
    hour, minute, second = chance.randrange(24), chance.randrange(60), chance.randrange(60)
    clock = f"{hour:02d}:{minute:02d}:{second:02d}.000{chance.randrange(1000):03d}"
    header = f"2026-03-04 {clock}:  {chance.randrange(100, 132)}  [INFO]: "
    module = f"MODULE_{10**18 + chance.randrange(500)}+0a1b2c3d"
    kind = chance.random()
    if kind < 0.4:
        return f"{header}Using a cached neff at {_FOLDER}/{module}/model.neff"
    if kind < 0.6:
        return f"{header}Compilation Successfully Completed for model.{module}.hlo_module.pb"
    if kind < 0.8:
        return "Compiler status PASS"
    return f"{{'loss': {chance.random():.4f}, 'learning_rate': 0.0001, 'epoch': {chance.random() * 3:.2f}}}"


def generate(path: Path, megabytes: int, share: float) -> None:
    """Write a log of that size; lines repeat after 10 MB, so that generating it takes seconds."""
    chance = random.Random(7)
    lines, size = [], 0
    while size < min(megabytes, 10) * 1_000_000:
        lines.append(_marked(chance) if chance.random() < share else _noise(chance))
        size += len(lines[-1]) + 1
    block = ("\n".join(lines) + "\n").encode()
    with open(path, "wb") as file:
        for _ in range(max(1, megabytes * 1_000_000 // len(block))):
            file.write(block)


def _interleaved(works: dict[str, Callable[[], int]]) -> dict[str, tuple[float, int]]:
    """Each work three times, turn by turn; the best in seconds of wall time, and what it counted."""
    best = {name: (float("inf"), 0) for name in works}
    for _ in range(3):
        for name, work in works.items():
            began = time.perf_counter()
            counted = work()
            best[name] = min(best[name], (time.perf_counter() - began, counted))
    return best


def _tally(path: Path, reader: LogReader, most: int | None = None) -> int:
    """Read a log, or its first `most` bytes; gives the number of events."""
    events = 0
    with open(path, "rb") as file:
        while (most is None or file.tell() < most) and (data := file.read(_CHUNK)):
            events += len(reader.feed(data))
    return events + len(reader.flush())


def _bare(path: Path, most: int) -> int:
    """The least that Python does for each marked line, which no reader of ours can be faster than: find it, split its
    header, look its words up, make an event with a stamp, a process and a place of its own. Gives the number of lines.
    """
    search, event, lines = families.search(KEYWORDS), CacheHit(module="MODULE_1"), 0
    seen, minutes = set[bytes](), dict[bytes, float]()
    with open(path, "rb") as file:
        while file.tell() < most and (block := file.read(_CHUNK)):
            ends = [end for _, _, end in search.find_matches_as_indexes(block)]
            index = position = 0
            while (index := bisect_right(ends, position, index)) < len(ends):
                begin = max(position, block.rfind(b"\n", position, ends[index]) + 1)
                position = block.find(b"\n", begin) + 1 or len(block)
                line = block[begin : position - 1]
                if (header := _HEADER.match(line)) is not None:
                    minute, second, millisecond, pid, words = header.groups()
                    at = minutes.setdefault(minute, 0.0) + int(second) + int(millisecond) / 1000
                    replace(event, offset=begin, at=at, pid=int(pid))
                    seen.add(words)
                elif line in seen or line.startswith(b"Compiler"):
                    replace(event, offset=begin)
                    seen.add(line)
                else:
                    numbers = [float(number) for _name, number in _NUMBERS.findall(line)]
                    replace(event, offset=len(numbers))
                lines += 1
    return lines


def _loop(path: Path) -> int:
    with open(path, "rb") as file:
        return sum(1 for line in file if b"neff" in line or b"ompil" in line or b"MODULE_" in line)


def _ripgrep(path: Path) -> int:
    patterns = [word for mark in KEYWORDS if b"\n" not in mark for word in ("-e", mark.decode())]
    command = ["rg", "--no-config", "--threads", "1", "-F", "-c", *patterns, str(path)]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def measure(megabytes: int, share: float) -> None:
    """Print the figures for one share of interesting lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        generate(path, megabytes, share)
        size = path.stat().st_size / 1e6
        part = min(size, _PART / 1e6)
        works: dict[str, Callable[[], int]] = {
            "tally": lambda: _tally(path, CountingReader("log:bench")),
            "events": lambda: _tally(path, LogReader("log:bench"), _PART),
            "bare": lambda: _bare(path, _PART),
            "loop": lambda: _loop(path),
        }
        if shutil.which("rg") is not None:
            works["rg"] = lambda: _ripgrep(path)
        best = _interleaved(works)
        seconds, (read, events), loop = best["tally"][0], best["events"], best["loop"][0]
        text = f"{share:4.0%} interesting, {size:.0f} MB: tally {size / seconds:.0f} MB/s"
        text += f", loop {size / loop:.0f} MB/s, ratio {loop / seconds:.2f} (aim 1.5 at 20 %)"
        if "rg" in best:
            text += f"; rg -c {size / best['rg'][0]:.0f} MB/s, ratio {best['rg'][0] / seconds:.2f} (aim 0.25 at 1 %)"
        else:
            text += "; no ripgrep here: ratio not measured"
        bare = best["bare"][0]
        text += f"; with events {part / read:.0f} MB/s and {events / read:,.0f} events/s"
        text += f", a bare loop that makes as many {part / bare:.0f} MB/s, ratio {bare / read:.2f}"
        aim = {0.2: 60.0, 0.5: 30.0}.get(share)
        if aim is not None:
            summarize(
                Row(
                    f"tally with events, {share:.0%} marked",
                    part / read,
                    "MB/s",
                    aim,
                    "a bare loop",
                    part / bare,
                    at_least=True,
                )
            )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{text}; peak {peak} MiB, load {os.getloadavg()[0]:.1f}", flush=True)


def main() -> None:
    """Measure every share asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--shares", default="1,20,50", help="percent of interesting lines")
    arguments = parser.parse_args()
    for share in arguments.shares.split(","):
        measure(arguments.megabytes, float(share) / 100)


if __name__ == "__main__":
    main()
