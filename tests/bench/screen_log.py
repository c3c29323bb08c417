"""A log that grows fast: what following it costs, how late a line is seen, how late a key is answered."""

from __future__ import annotations

import contextlib
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench.terminal import Terminal

SCREEN = Path(__file__).with_name("synthetic_screen.py")
ANSWERS = (
    (b"2", b"Last minute"),
    (b"s", b"sorted by"),
    (b"/", b"ords to keep"),
    (b"\x1b", b"Core"),
    (b"?", b"Keys of Cores"),
    (b"\x1b", b"Last minute"),
    (b"3", b"No graph yet"),
    (b"4", b"Compile cache"),
    (b"5", b"following"),
    (b"k", b" byte "),
    (b"f", b"following"),
    (b"6", b"Recordings"),
    (b"a", b"Alerts"),
    (b"\x1b", b"Recordings"),
    (b"1", b"Training"),
)
"""Keys, and a text that is drawn when each has been answered."""


BARE = Path(__file__).with_name("bare_screen.py")


def log(rate: int, seconds: float) -> dict[str, float]:
    """CPU while a log of `rate` lines a second is followed, and how late a numbered line is on the screen."""
    return _log(rate, seconds, [str(SCREEN), "log"])


def bare_log(rate: int, seconds: float) -> dict[str, float]:
    """The same of a Textual program that does nothing but draw the last lines as often."""
    return _log(rate, seconds, [str(BARE)])


def _log(rate: int, seconds: float, program: Sequence[str]) -> dict[str, float]:
    with _followed(program) as (path, terminal):
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


def keys(rate: int, cores: int, rounds: int = 6) -> dict[str, object]:
    """How long a key takes to be answered while so many cores update at 1 Hz and `rate` lines a second arrive.

    The first round is told apart: nothing has been shown yet of what it goes to. What of an answer's time the program
    had the processor is reported beside it: on a busy machine the rest is waiting for it.
    """
    with _followed([str(SCREEN), "busy"], str(cores)) as (path, terminal):
        length = rounds * len(ANSWERS) * 0.25 + 2
        writer = threading.Thread(target=_write, args=(path, rate, length, terminal), daemon=True)
        writer.start()
        time.sleep(1.0)
        taken: list[list[tuple[float, str]]] = []
        worked: list[float] = []
        for _ in range(rounds):
            taken.append([])
            for key, text in ANSWERS:
                before = terminal.cpu_exactly()
                taken[-1].append((terminal.answer(key, text), key.decode()))
                worked.append(terminal.cpu_exactly() - before)
                time.sleep(0.15)
        writer.join()
    first, later = sorted(taken[0]), sorted(one for turn in taken[1:] for one in turn)
    return {
        "lines_per_second": rate,
        "cores": cores,
        "presses": len(first) + len(later),
        "median_ms": round(1000 * statistics.median(seconds for seconds, _ in later)),
        "p95_ms": round(1000 * later[int(len(later) * 0.95)][0]),
        "worst_ms": round(1000 * later[-1][0]),
        "worst_key": later[-1][1],
        "cpu_median_ms": round(1000 * statistics.median(worked)),
        "cpu_p95_ms": round(1000 * sorted(worked)[int(len(worked) * 0.95)]),
        "cpu_worst_ms": round(1000 * max(worked)),
        "worst_first_time_ms": round(1000 * first[-1][0]),
        "worst_first_time_key": first[-1][1],
    }


@contextlib.contextmanager
def _followed(program: Sequence[str], *more: str) -> Iterator[tuple[Path, Terminal]]:
    """An empty log and the program that follows it, drawn and settled."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        path.write_text("")
        terminal = Terminal([sys.executable, *program, str(path), *more])
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
