"""The progress of a parallel compile: a bar that stays at the bottom of a terminal, or plain lines elsewhere.

Other lines (the compiler's, the wrapper's) are printed above the bar. Without a terminal a line is printed when a
graph ends and every half minute, so a log of a CI job stays short and never looks dead.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import threading
from typing import TextIO

from neuron_top.cli.output import log_stderr
from neuron_top.services.precompile import QueueProgress, Running
from neuron_top.units import clock_text, count_text, duration_text

_HEARTBEAT_SECONDS = 30.0
_BAR_WIDTH = 30
_MOST_WORKERS = 8
"""Workers that get a line of their own below the bar."""
_CLEAR_DOWN = "\x1b[J"


class ProgressScreen:
    """Shows `QueueProgress` on a stream. All methods may be called from any thread.

    If the stream cannot be written (its reader is gone), the compile goes on and gives the same result.
    """

    def __init__(self, stream: TextIO | None = None, *, ascii_only: bool = False) -> None:
        self._stream = stream or sys.stderr
        self.live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._ascii = ascii_only
        self._lock = threading.RLock()
        self._lines: list[str] = []
        self._shown: tuple[int, int] | None = None
        self._shown_at = 0.0
        self._cut = False

    def above(self, text: str) -> None:
        """Print text that stays; whole lines, or a line that a later call ends."""
        if not text:
            return
        with self._lock:
            self._erase()
            self._write(text)
            self._cut = not text.endswith("\n")
            self._draw()

    def show(self, progress: QueueProgress) -> None:
        """Show where things stand; on a terminal at most as often as the caller calls."""
        with self._lock:
            if self.live:
                self._erase()
                self._lines = live_lines(progress, shutil.get_terminal_size().columns, ascii_only=self._ascii)
                self._draw()
            elif self._is_news(progress):
                self._write(("\n" if self._cut else "") + plain_line(progress) + "\n")
                self._cut = False

    def close(self) -> None:
        """Leave the last state standing; nothing is drawn over it any more."""
        with self._lock:
            self._lines = []
            self._flush()

    def _is_news(self, progress: QueueProgress) -> bool:
        counts = (progress.done, progress.failed)
        if counts == self._shown and progress.elapsed - self._shown_at < _HEARTBEAT_SECONDS:
            return False
        self._shown, self._shown_at = counts, progress.elapsed
        return True

    def _erase(self) -> None:
        if self.live and self._lines:
            self._write(f"\r\x1b[{len(self._lines)}A{_CLEAR_DOWN}")

    def _draw(self) -> None:
        if self.live and self._lines:
            self._write(("\n" if self._cut else "") + "".join(f"{line}\n" for line in self._lines))
        self._flush()

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._stream.write(text)

    def _flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


class AboveScreen(io.StringIO):
    """A text stream for log lines that keeps the bar below them."""

    def __init__(self, screen: ProgressScreen) -> None:
        self._screen = screen

    def write(self, text: str) -> int:
        """Print `text` above the bar."""
        self._screen.above(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


class CompileOutput:
    """A pre-compile job on our standard streams: the command's output as it is, the bar at the bottom of stderr."""

    def __init__(self, *, ascii_only: bool = False) -> None:
        self._screen = ProgressScreen(ascii_only=ascii_only)
        self.log: TextIO = AboveScreen(self._screen)
        self.show, self.close = self._screen.show, self._screen.close

    def notify(self, remark: str) -> None:
        """Print a remark on stderr."""
        log_stderr(f"neurontop: {remark}")

    def echo(self, descriptor: int, data: bytes) -> None:
        """Pass on what the command wrote."""
        stream = sys.stdout.buffer if descriptor == 1 else sys.stderr.buffer
        stream.write(data)
        stream.flush()


class SdkOutput(CompileOutput):
    """The same for the SDK's tool, whose bar is drawn while it writes: what a terminal shows stands above the bar."""

    def echo(self, descriptor: int, data: bytes) -> None:
        """Pass on what the tool wrote."""
        if descriptor == 1 and not sys.stdout.isatty():
            super().echo(descriptor, data)
        else:
            self._screen.above(data.decode(errors="replace"))


def live_lines(progress: QueueProgress, width: int, *, ascii_only: bool = False) -> list[str]:
    """The bar and one line per running compile, none wider than the terminal."""
    room = max(20, width - 1)
    bar = _bar(progress, min(_BAR_WIDTH, max(5, room - 66)), ascii_only=ascii_only)
    lines = [f"{bar}  {_counts(progress)}  {clock_text(progress.elapsed)}{_to_go(progress)}"]
    shown = sorted(progress.running, key=lambda running: running.queued)[:_MOST_WORKERS]
    lines += [_running_line(running) for running in shown]
    if len(progress.running) > _MOST_WORKERS:
        lines.append(f"  and {len(progress.running) - _MOST_WORKERS} more")
    return [line if len(line) <= room else line[: room - 1] + ("." if ascii_only else "…") for line in lines]


def plain_line(progress: QueueProgress) -> str:
    """The same in one line for a log."""
    return (
        f"neurontop: {progress.done + progress.failed} of {count_text(progress.total)} graphs: {_counts(progress)}, "
        f"{duration_text(progress.elapsed)}{_to_go(progress)}"
    )


def _counts(progress: QueueProgress) -> str:
    parts = [f"{progress.done} done", f"{progress.running_count} running"]
    parts += [f"{progress.failed} failed", f"{count_text(progress.left)} left"]
    if progress.held_back:
        parts.append(f"waiting for {progress.held_back}")
    return ", ".join(parts)


def _to_go(progress: QueueProgress) -> str:
    if progress.remaining is None or progress.remaining == 0.0:
        return ""
    return f", about {duration_text(progress.remaining)} to go"


def _bar(progress: QueueProgress, width: int, *, ascii_only: bool) -> str:
    full, failed, empty = ("#", "x", "-") if ascii_only else ("━", "╍", "─")
    if not progress.total:
        return empty * width
    done = round(width * progress.done / progress.total)
    bad = min(width - done, max(bool(progress.failed), round(width * progress.failed / progress.total)))
    return full * done + failed * bad + empty * (width - done - bad)


def _running_line(running: Running) -> str:
    tries = f"  try {running.retries + 1}" if running.retries else ""
    if running.queued:
        return f"  queued    {running.module}{tries}"
    where = f"node {running.node}" if running.node else f"worker {running.worker}"
    return f"  {where}  {running.module}  {duration_text(running.seconds)}{tries}"
