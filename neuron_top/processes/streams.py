"""Writes to our output streams while a job uses them: passes its bytes on whole, and puts our lines in between.

A job may write half a line and finish it later (a progress bar, a print in pieces). A line of ours waits for the end of
that line; if none comes for long, ours begins with a line end. Two streams that lead to one place (a terminal, `2>&1`)
are one stream here.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import selectors
import termios
import threading
import time
from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 10.0
"""How long an unfinished line of the job delays a line of ours."""


class _Place:
    """The file or terminal that one or both of our streams lead to."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.mid_line = False
        self.kept_back_since: float | None = None


class SharedStreams:
    """Decides when a line of ours may be written to a stream that passes on a job's output. Safe between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._places: dict[tuple[int, int], _Place] = {}

    @contextlib.contextmanager
    def passing(self, number: int, data: bytes) -> Iterator[None]:
        """Within the block, `data` of the job is written to descriptor `number`, and no line of ours."""
        place = self._place(number)
        with place.lock:
            place.mid_line = not data.endswith(b"\n")
            yield

    @contextlib.contextmanager
    def between_lines(self, number: int) -> Iterator[str | None]:
        """While inside, a line of ours may be written to `number`, after what is given; None: not now, ask again."""
        place = self._place(number)
        with place.lock:
            if not place.mid_line:
                place.kept_back_since = None
                yield ""
                return
            now = self._clock()
            since = place.kept_back_since = now if place.kept_back_since is None else place.kept_back_since
            if now - since < PATIENCE_SECONDS:
                yield None
                return
            place.kept_back_since, place.mid_line = None, False
            yield "\n"

    def _place(self, number: int) -> _Place:
        try:
            info = os.fstat(number)
        except OSError:  # closed: the write will report it
            return _Place()
        with self._lock:
            return self._places.setdefault((info.st_dev, info.st_ino), _Place())


def write_all(number: int, data: bytes) -> bool:
    """Write all data; False if the reader is gone. Waits for a non-blocking stream that is full."""
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(number, left) :]
        except BlockingIOError:
            with selectors.DefaultSelector() as ready:
                ready.register(number, selectors.EVENT_WRITE)
                ready.select()
        except OSError as problem:
            if problem.errno not in (errno.EPIPE, errno.EIO):
                raise
            return False
    return True


def make_raw(terminal: int) -> None:
    """Turn off line-end translation and echo, which the user's own terminal already does."""
    attributes = termios.tcgetattr(terminal)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def copy_window_size(source: int, target: int) -> None:
    """Give the terminal `target` the size of the terminal `source`."""
    size = fcntl.ioctl(source, termios.TIOCGWINSZ, b"\0" * 8)
    fcntl.ioctl(target, termios.TIOCSWINSZ, size)
