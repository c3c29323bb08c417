"""What the screen costs: CPU, memory, bytes to the terminal, first frame, and how late a line is seen.

The real program runs in a pty of 160×48. CPU and memory are read from /proc for the program and its children over the
same wall time. btop runs in a pty of the same size in the same minute, for comparison; without btop that is said.

    python tests/bench/bench_screen.py [--seconds 20]      one JSON document on stdout
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

ROWS, COLUMNS = 48, 160
TICKS = os.sysconf("SC_CLK_TCK")
SCREEN = Path(__file__).with_name("synthetic_screen.py")


class Terminal:
    """A program in a pty; everything it writes is read and counted."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.perf_counter()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LANG="C.UTF-8", LC_ALL="C.UTF-8")
            os.execvp(command[0], command)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.written = 0
        self.first_write: float | None = None
        self._seen = b""
        self.times: dict[bytes, float] = {}
        self.wanted = re.compile(rb"$^")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                select.select([self._master], [], [])
                data = os.read(self._master, 65536)
            except OSError:
                return
            if not data:
                return
            now = time.perf_counter()
            self.written += len(data)
            self._seen = (self._seen + data)[-200_000:]
            for match in self.wanted.finditer(self._seen):
                self.times.setdefault(match.group(), now)

    def wait_for(self, text: bytes, seconds: float = 20.0) -> float:
        """Seconds from the start until `text` was written."""
        self.wanted = re.compile(re.escape(text))
        deadline = time.perf_counter() + seconds
        while text not in self.times:
            if time.perf_counter() > deadline:
                raise SystemExit(
                    f"{text!r} was not drawn within {seconds} s; the end of what was: {self._seen[-400:]!r}"
                )
            time.sleep(0.002)
        return self.times[text] - self.started

    def answer(self, key: bytes, text: bytes) -> float:
        """Seconds from a key to the first time that `text` is written after it."""
        self._seen, self.times, self.wanted = b"", {}, re.compile(re.escape(text))
        begun = time.perf_counter()
        os.write(self._master, key)
        while text not in self.times:
            if time.perf_counter() > begun + 10:
                raise SystemExit(f"{key!r} was not answered by {text!r} within 10 s")
            time.sleep(0.001)
        return self.times[text] - begun

    def cpu_seconds(self) -> float:
        """User and system time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def rss_mib(self) -> float:
        """Resident memory."""
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())[1]) / 1024

    def close(self) -> None:
        """End it; by force when it does not leave."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.kill(self.pid, number)
            for _ in range(50):
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.02)


def over(terminal: Terminal, seconds: float) -> dict[str, float]:
    """CPU share of one core, memory, and bytes a second over so many seconds."""
    cpu, written, begun = terminal.cpu_seconds(), terminal.written, time.perf_counter()
    time.sleep(seconds)
    wall = time.perf_counter() - begun
    return {
        "cpu_percent": round(100 * (terminal.cpu_seconds() - cpu) / wall, 2),
        "rss_mib": round(terminal.rss_mib(), 1),
        "kb_per_second": round((terminal.written - written) / wall / 1000, 2),
    }


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


def log(rate: int, seconds: float) -> dict[str, float]:
    """CPU while a log of `rate` lines a second is followed, and how late a numbered line is on the screen."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        path.write_text("")
        terminal = Terminal([sys.executable, str(SCREEN), "log", str(path)])
        try:
            terminal.wait_for(b"Overview")
            time.sleep(1.5)
            terminal.wanted = re.compile(rb"seen-\d{6}")
            marks, measured = _write(path, rate, seconds, terminal)
            time.sleep(1.0)
        finally:
            terminal.close()
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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        path.write_text("")
        terminal = Terminal([sys.executable, str(SCREEN), "log", str(path)])
        try:
            terminal.wait_for(b"Overview")
            time.sleep(1.5)
            writer = threading.Thread(target=_write, args=(path, rate, presses * 0.25 + 1, terminal), daemon=True)
            writer.start()
            taken = []
            for number in range(presses):
                key, text = ((b"3", b"No graph yet."), (b"5", b"following"))[number % 2]
                taken.append(terminal.answer(key, text))
                time.sleep(0.2)
            writer.join()
        finally:
            terminal.close()
    taken.sort()
    return {
        "lines_per_second": rate,
        "median_ms": round(1000 * statistics.median(taken)),
        "worst_ms": round(1000 * taken[-1]),
    }


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


def main() -> None:
    """All figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    figures = {
        "load_average": os.getloadavg()[0],
        "first_frame_ms": first_frames(),
        "cores_32": cores(32, seconds),
        "btop": btop(seconds),
        "cores_128": cores(128, seconds),
        "log_20": log(20, seconds / 2),
        "log_5000": log(5000, seconds),
        "keys_10000": keys(10_000),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
