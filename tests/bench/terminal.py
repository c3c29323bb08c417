"""A program in a terminal of 160×48 of our own, as a benchmark sees it: what it writes, when, and what it costs."""

from __future__ import annotations

import compileall
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import textual

import neuron_top

ROWS, COLUMNS = 48, 160
SEEN_CHARACTERS = 20
_UNSEEN = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[P\]^_].*?(?:\x1b\\\\|\x07)|\x1b.|\s", re.DOTALL)
"""What draws nothing: control sequences, control strings, white space."""
_LARGE = re.compile(r"/(torch|torchgen|functorch|triton)/")
"""Libraries that no screen imports and whose byte code takes minutes."""
TICKS = os.sysconf("SC_CLK_TCK")


def as_installed() -> None:
    """Byte code for our modules and for the libraries, as pip writes it for the peers it installs: an environment may
    be told to keep none (PYTHONDONTWRITEBYTECODE), and then each start compiles for half a second."""
    package, libraries = Path(neuron_top.__file__).parent, Path(textual.__file__).parents[1]
    for folder in (package, *(path.resolve() for path in package.iterdir() if path.is_symlink())):
        compileall.compile_dir(folder, quiet=2)
    compileall.compile_dir(libraries, quiet=2, rx=_LARGE, workers=0)


class Terminal:
    """A program in a pty; everything it writes is read and counted."""

    def __init__(self, command: Sequence[str]) -> None:
        self.started = time.perf_counter()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LANG="C.UTF-8", LC_ALL="C.UTF-8")
            os.execvp(command[0], command)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.written = 0
        self.drawn: float | None = None
        """Seconds from the start until so much was drawn that a person sees something."""
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
            if self.drawn is None and len(_UNSEEN.sub(b"", self._seen)) >= SEEN_CHARACTERS:
                self.drawn = now - self.started
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

    def cpu_exactly(self) -> float:
        """The same to the microsecond, of the threads that live: for single answers."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9

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
