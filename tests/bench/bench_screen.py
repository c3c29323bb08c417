"""What the screen costs: CPU, memory, bytes to the terminal, first frame, and how late a line is seen.

The real program runs in a pty of 160×48. CPU and memory are read from /proc for the program over the same wall time.
btop and nvitop run in a pty of the same size in the same minute, for comparison; where one cannot, that is said.

    python -m tests.bench.bench_screen [--seconds 20]      one JSON document on stdout
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neuron_top.cache.scan import catalog
from tests.bench import bench_cache, screen_peers
from tests.bench.figures import Row, summarize
from tests.bench.screen_log import SCREEN, bare_log, keys, log
from tests.bench.terminal import Terminal, as_installed, over


def cores(count: int, seconds: float) -> dict[str, float]:
    """The screen with so many cores at 1 Hz."""
    terminal = Terminal([sys.executable, str(SCREEN), "cores", str(count)])
    try:
        first = terminal.wait_for(b"Overview")
        terminal.wait_for(b"GiB")
        time.sleep(3.0)
        return {"first_frame_ms": round(first * 1000), **over(terminal, seconds)}
    finally:
        terminal.close()


def first_frames(count: int = 7) -> float:
    """Median milliseconds from the start of the process to the first drawn frame."""
    times = []
    for _ in range(count):
        terminal = Terminal([sys.executable, str(SCREEN), "cores", "32"])
        times.append(terminal.wait_for(b"Overview"))
        terminal.close()
    return round(statistics.median(times) * 1000)


def large_index(entries: int = 50_000, count: int = 7) -> dict[str, float]:
    """Medians from the start to the first frame, ms: of this machine with so large a cache, and with an empty one."""
    with tempfile.TemporaryDirectory() as folder:
        root, state = Path(folder) / "cache", Path(folder) / "state"
        bench_cache.build(root, entries)
        catalog.open_root(str(root), state)
        times: dict[Path, list[float]] = {root: [], Path(folder) / "empty": []}
        for _ in range(count):
            for place, taken in times.items():
                os.environ |= {"NEURON_COMPILE_CACHE_URL": str(place), "NEURONTOP_STATE_DIR": str(state)}
                terminal = Terminal([sys.executable, "-m", "neuron_top"])
                taken.append(terminal.wait_for(b"Overview"))
                terminal.close()
        for name in ("NEURON_COMPILE_CACHE_URL", "NEURONTOP_STATE_DIR"):
            del os.environ[name]
    large, empty = (statistics.median(taken) for taken in times.values())
    return {"entries": entries, "first_frame_ms": round(large * 1000), "ratio_to_empty": round(large / empty, 2)}


def growth(hours: float, count: int = 32) -> dict[str, float]:
    """Resident memory after so many hours of a run at 1 Hz, replayed as fast as the screen takes them."""
    terminal = Terminal([sys.executable, str(SCREEN), "hours", str(hours), str(count)])
    try:
        terminal.wait_for(b"Overview")
        before = terminal.rss_mib()
        seconds = terminal.wait_for(b"COMPLETED", 300.0)
        return {
            "hours": hours,
            "rss_mib_at_first": round(before, 1),
            "rss_mib": round(terminal.rss_mib(), 1),
            "replayed_in_seconds": round(seconds),
        }
    finally:
        terminal.close()


def btop(seconds: float) -> dict[str, float] | str:
    """btop in the same size at 1 s, or why not."""
    if shutil.which("btop") is None:
        return "btop is not installed"
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "btop"
        settings.mkdir()
        (settings / "btop.conf").write_text("update_ms=1000\n")
        os.environ["XDG_CONFIG_HOME"] = folder
        terminal = Terminal(["btop", "--utf-force"])
        try:
            time.sleep(3.0)
            return over(terminal, seconds)
        finally:
            terminal.close()


def nvitop(seconds: float) -> dict[str, float] | str:
    """nvitop in the same size at 1 s, or in its own words why it does not run here: it needs NVIDIA's library."""
    with screen_peers.programs(("nvitop",)) as folder:
        if isinstance(folder, str):
            return folder
        program = str(folder / "bin" / "nvitop")
        tried = subprocess.run([program, "--once"], capture_output=True, text=True, timeout=60, check=False)
        if tried.returncode:
            return f"does not run here: {next(iter((tried.stderr or tried.stdout).splitlines()), 'no reason reported')}"
        terminal = Terminal([program, "--monitor", "full", "--interval", "1"])
        try:
            time.sleep(3.0)
            return over(terminal, seconds)
        finally:
            terminal.close()


def summarize_screen(figures: Mapping[str, Any]) -> None:
    """The lines for the table at the end of all benchmarks."""
    beside = figures["start_beside_peers"]
    peer = ("toolong's", beside["first_frame_toolong_ms"]) if "first_frame_toolong_ms" in beside else ("", None)
    summarize(Row("first frame", beside["first_frame_ours_ms"], "ms", 250, *peer))
    bare = "a bare Textual program's", beside["first_frame_bare_textual_ms"]
    summarize(Row("first frame, beside the least that Textual takes", beside["first_frame_ours_ms"], "ms", 250, *bare))
    for name, aim, lag in (("log_20", 1.5, 250), ("log_5000", 2.5, 60)):
        log, what = figures[name], f"a log of {name[4:]} lines a second"
        bare, peer = figures[f"bare_{name}"], "a bare Textual program's"
        summarize(Row(f"{what}, watched", log["cpu_percent"], "% of a core", aim, peer, bare["cpu_percent"]))
        summarize(
            Row(
                f"{what}, until a line is seen, 99th percentile", log["p99_lag_ms"], "ms", lag, peer, bare["p99_lag_ms"]
            )
        )


def main() -> None:
    """All figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    as_installed()
    figures = {
        "load_average": os.getloadavg()[0],
        "first_frame_ms": first_frames(),
        "large_index": large_index(),
        "start_beside_peers": screen_peers.first_frames(),
        "cores_32": cores(32, seconds),
        "btop": btop(seconds),
        "nvitop": nvitop(seconds),
        "cores_128": cores(128, seconds),
        "log_20": log(20, seconds / 2),
        "bare_log_20": bare_log(20, seconds / 2),
        "log_5000": log(5000, seconds),
        "bare_log_5000": bare_log(5000, seconds),
        "keys_10000": keys(10_000, 128),
        "growth": growth(8.0),
    }
    print(json.dumps(figures, indent=2))
    summarize_screen(figures)


if __name__ == "__main__":
    main()
