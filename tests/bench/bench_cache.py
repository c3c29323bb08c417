"""The catalog against `find` and against one careful pass in Python, on the same warm tree, in the same minutes.

`python -m tests.bench.bench_cache [ENTRIES]` builds a tree of so many entries of five files (50,000 unless told
otherwise), prints ratios (medians of processor time: other work on the machine would be counted otherwise) and the
latency from a file's change to its event.
"""

from __future__ import annotations

import os
import queue
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from neuron_top.cache.model.filenames import FLAGS_NAMES, NEFF
from neuron_top.cache.scan import catalog
from neuron_top.cache.scan.scanner import refresh, scan
from neuron_top.cache.scan.watch import CacheWatch
from neuron_top.events import CacheScanned, EntryChanged, Event
from neuron_top.parsers.neff import CHEAP_BYTES
from tests.bench.figures import Row, summarize
from tests.builders import HLO_NAME, neff, small_hlo, write_entry

ROUNDS, CHANGES = 5, 40
FILES = {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b"", "wrapped_neff.hlo": b"w"}
READ = (NEFF, *FLAGS_NAMES)
"""Files of which an index reads the beginning."""


def build(root: Path, count: int) -> None:
    """`count` entries of five files under three compilers."""
    for number in range(count):
        write_entry(root, FILES, compiler=f"neuronxcc-2.{20 + number % 3}.0+0acef03a", graph=f"{number:020x}")


def careful_pass(root: str) -> int:
    """Blocks of every file, each inode once: what anybody would write first."""
    seen: set[tuple[int, int]] = set()
    total, waiting = 0, [root]
    while waiting:
        with os.scandir(waiting.pop()) as members:
            for member in members:
                if member.is_dir(follow_symlinks=False):
                    waiting.append(member.path)
                    continue
                info = member.stat(follow_symlinks=False)
                if info.st_nlink > 1:
                    if (info.st_dev, info.st_ino) in seen:
                        continue
                    seen.add((info.st_dev, info.st_ino))
                total += info.st_blocks * 512
    return total


def same_calls(root: str) -> int:
    """The system calls that an index needs, and nothing else: each folder opened, asked and listed, each file asked,
    the first bytes of artifact and flags read (whether they are sound is what an index is for). What no index in
    Python goes below.
    """
    total = 0
    for compiler in Path(root).iterdir():
        for module in compiler.iterdir():
            folder = os.open(module, os.O_RDONLY | os.O_DIRECTORY)
            os.fstat(folder)
            for name in os.listdir(folder):  # noqa: PTH208 (a descriptor)
                if name in READ:
                    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
                    info = os.fstat(file)
                    total += len(os.read(file, CHEAP_BYTES))
                    os.close(file)
                else:
                    info = os.lstat(name, dir_fd=folder)
                total += info.st_blocks
            os.close(folder)
    return total


def find_pass(root: str) -> None:
    """`find -printf '%s'`."""
    subprocess.run(["find", root, "-printf", "%s"], stdout=subprocess.DEVNULL, check=True)


def seconds(work: Callable[[], object]) -> float:
    """Processor time of `work`, children included."""
    before = _used()
    work()
    return _used() - before


def _used() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def latencies(root: Path, state: Path) -> list[float]:
    """From a file's change to the event, seconds, one by one."""
    events: queue.Queue[Event] = queue.Queue()
    watch = CacheWatch(str(root), state)
    watch.start(events.put)
    found = []
    try:
        while not isinstance(events.get(timeout=60), CacheScanned):
            pass
        for number in range(CHANGES):
            began = time.perf_counter()
            write_entry(root, FILES, graph=f"f{number:019x}")
            while not (isinstance(event := events.get(timeout=60), EntryChanged) and event.state == "hit"):
                pass
            found.append(time.perf_counter() - began)
    finally:
        watch.stop()
    return found


def main(count: int = 50_000) -> None:
    """Build, measure, print."""
    with tempfile.TemporaryDirectory() as folder:
        root, state = Path(folder) / "cache", Path(folder) / "state"
        build(root, count)
        place = str(root)
        times: dict[str, list[float]] = {"find": [], "pass": [], "calls": [], "scan": [], "refresh": [], "stats": []}
        for _ in range(ROUNDS):
            times["find"].append(seconds(lambda: find_pass(place)))
            times["pass"].append(seconds(lambda: careful_pass(place)))
            times["calls"].append(seconds(lambda: same_calls(place)))
            began = _used()
            snapshot = scan(place)
            times["scan"].append(_used() - began)
            times["refresh"].append(seconds(lambda before=snapshot: refresh(before)))  # type: ignore[misc]
        catalog.open_root(place, state)
        command = [sys.executable, "-m", "neuron_top", "cache", "stats", place, "--json"]
        environ = {**os.environ, "NEURONTOP_STATE_DIR": str(state)}
        for _ in range(ROUNDS):
            work = lambda: subprocess.run(command, stdout=subprocess.DEVNULL, env=environ, check=True)  # noqa: E731
            times["stats"].append(seconds(work))
        middle = {name: statistics.median(values) for name, values in times.items()}
        small = Path(folder) / "small"
        build(small, min(count, 1000))
        changes = sorted(latencies(small, state))
        milliseconds = [round(value * 1000) for value in times["stats"]]
        ratio = middle["scan"] / middle["pass"]
        each = [scan / bare for scan, bare in zip(times["scan"], times["pass"], strict=True)]
        spread = f"{min(each):.2f}–{max(each):.2f}"
        summarize(Row(f"first index of {count:,} × 5 files", ratio, "×", 1.2, "careful scandir and stat", 1.0, spread))
        calls = middle["calls"] / middle["pass"]
        summarize(Row("the same, beside its system calls alone", ratio, "×", 1.2, "its system calls", calls))
        spread = f"{min(milliseconds)}–{max(milliseconds)}"
        summarize(Row("cache stats --json, processor time", middle["stats"] * 1000, "ms", 90, "", None, spread))
        print(f"cache: {count} entries of 5 files")
        print(f"  (c)  first scan / find              {middle['scan'] / middle['find']:.2f}   aim 2.0")
        print(f"  (c') first scan / scandir and stat  {middle['scan'] / middle['pass']:.2f}   aim 1.2")
        print(f"       its system calls / scandir and stat {middle['calls'] / middle['pass']:.2f}")
        print(f"  (d)  refresh / first scan           {middle['refresh'] / middle['scan']:.3f}  aim 0.2")
        print(f"       stats --json, whole process    {middle['stats'] * 1000:.0f} ms  aim 90 ms")
        worst = changes[int(len(changes) * 0.99)]
        print(
            f"  (e)  change to event, median, p99   {statistics.median(changes) * 1000:.0f} ms, {worst * 1000:.0f} ms"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
