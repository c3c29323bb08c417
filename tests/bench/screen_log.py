"""A log that grows fast: what following it costs, how late a line is seen, how late a key is answered."""

from __future__ import annotations

import contextlib
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.terminal import Terminal

SCREEN = Path(__file__).with_name("synthetic_screen.py")


def log(rate: int, seconds: float) -> dict[str, float]:
    """CPU while a log of `rate` lines a second is followed, and how late a numbered line is on the screen."""
    with _followed() as (path, terminal):
        terminal.wanted = re.compile(rb"seen-\d{6}")
        marks, measured = _write(path, rate, seconds, terminal)
        time.sleep(1.0)
    lags = sorted(terminal.times[mark] - at for mark, at in marks.items() if mark in terminal.times)
    if not lags:
        raise SystemExit("no numbered line was seen")
    return {
        **measured,
        "lines_per_second": rate,
        "marks_written": len(marks),
        "marks_seen": len(lags),
        "median_lag_ms": round(1000 * statistics.median(lags)),
        "p99_lag_ms": round(1000 * lags[min(len(lags) - 1, int(len(lags) * 0.99))]),
    }


def keys(rate: int, presses: int = 40) -> dict[str, float]:
    """How long a key takes to be answered (another screen drawn) while `rate` lines a second arrive."""
    with _followed() as (path, terminal):
        writer = threading.Thread(target=_write, args=(path, rate, presses * 0.25 + 1, terminal), daemon=True)
        writer.start()
        taken = []
        for number in range(presses):
            key, text = ((b"3", b"No graph yet."), (b"5", b"following"))[number % 2]
            taken.append(terminal.answer(key, text))
            time.sleep(0.2)
        writer.join()
    taken.sort()
    return {
        "lines_per_second": rate,
        "median_ms": round(1000 * statistics.median(taken)),
        "worst_ms": round(1000 * taken[-1]),
    }


@contextlib.contextmanager
def _followed() -> Iterator[tuple[Path, Terminal]]:
    """An empty log and the program that follows it, drawn and settled."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        path.write_text("")
        terminal = Terminal([sys.executable, str(SCREEN), "log", str(path)])
        try:
            terminal.wait_for(b"Overview")
            time.sleep(1.5)
            yield path, terminal
        finally:
            terminal.close()


def _write(path: Path, rate: int, seconds: float, terminal: Terminal) -> tuple[dict[bytes, float], dict[str, float]]:
    """Lines in bursts at 20 Hz; the last line of each burst carries a number."""
    marks: dict[bytes, float] = {}
    cpu, written, begun = terminal.cpu_seconds(), terminal.written, time.perf_counter()
    burst = max(1, rate // 20)
    with path.open("ab", buffering=0) as out:
        for number in range(int(seconds * 20)):
            lines = [
                b"step detail %d of a worker that prints a lot, with some text behind it" % line
                for line in range(burst - 1)
            ]
            mark = b"seen-%06d" % number
            out.write(b"\n".join([*lines, mark]) + b"\n")
            marks[mark] = time.perf_counter()
            time.sleep(max(0.0, begun + (number + 1) / 20 - time.perf_counter()))
    wall = time.perf_counter() - begun
    return marks, {
        "cpu_percent": round(100 * (terminal.cpu_seconds() - cpu) / wall, 2),
        "rss_mib": round(terminal.rss_mib(), 1),
        "kb_per_second": round((terminal.written - written) / wall / 1000, 2),
    }
