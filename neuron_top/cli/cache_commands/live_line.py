"""One line on the terminal that says how far an execution is; an interrupt stops it before its next step."""

from __future__ import annotations

import signal
import sys
import time

from neuron_top.actions.plan import Progress
from neuron_top.units import bytes_text, count_text


class LiveLine:
    """A context around an execution. Not `live`, it draws nothing and only catches the interrupt."""

    def __init__(self, verb: str, *, live: bool) -> None:
        self._verb, self._live = verb, live
        self._next = 0.0
        self.stopped = False
        """Whether somebody interrupted."""

    def __enter__(self) -> LiveLine:
        self._before = signal.signal(signal.SIGINT, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)
        if self._live and self._next:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _stop(self, number: int, frame: object) -> None:
        self.stopped = True

    def show(self, progress: Progress) -> bool:
        """Draw, ten times a second at most; False when it is to stop."""
        now = time.monotonic()
        if self._live and now >= self._next:
            self._next = now + 0.1
            text = f"{self._verb}: {count_text(progress.done)} of {count_text(progress.total)}"
            text += f", {bytes_text(progress.moved_bytes)}"
            text += f", {count_text(progress.refused)} left alone" if progress.refused else ""
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
        return not self.stopped
