"""Finds programs on the PATH, and runs one for its output, with limits on time and size.

A relative or empty part of the PATH means the current folder. Somebody who types a name into a shell may want that, but
we start these programs unasked, also in folders where others can put files: such parts are left out.

A program may hang, write without end, or leave a child behind that keeps its output open; `ask` returns all the same,
and ends every process of the program's group.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

MOST_BYTES = 16 * 1024**2
"""What an answer may have on both streams together; a listing of a thousand devices has one."""
_LOOK_SECONDS = 0.1
_CHUNK = 1 << 16
_END_SECONDS = 2.0


class NoAnswer(Exception):
    """The program was started and gave no usable answer; the text completes "<program> …"."""


class TooSlow(NoAnswer):
    """The program did not end in time."""


class Stopped(NoAnswer):
    """Nobody waits for the answer any more."""


class Answer(NamedTuple):
    """What a program wrote, and its exit status (negative: the signal that ended it)."""

    status: int
    out: bytes
    err: bytes


def find(name: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The full path of a program on the PATH; None where there is none."""
    parts = environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(part for part in parts if part.startswith(os.sep)))


def ask(
    command: Sequence[str | os.PathLike[str]],
    *,
    seconds: float,
    most_bytes: int = MOST_BYTES,
    environ: Mapping[str, str] | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Answer:
    """Run a program to its end and return its output. Raises NoAnswer, OSError where it cannot be started.

    `is_stopped`: whether to wait no longer.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        start_new_session=True,
    )
    try:
        return _OutputReader(process, most_bytes, is_stopped).read_until(time.monotonic() + seconds, seconds)
    finally:
        _end(process)


class _OutputReader:
    """Reads both streams of a process until it has ended."""

    def __init__(self, process: subprocess.Popen[bytes], most_bytes: int, is_stopped: Callable[[], bool]) -> None:
        self._process, self._left, self._is_stopped = process, most_bytes, is_stopped
        self._most = most_bytes
        self._parts: dict[int, list[bytes]] = {}
        self._selector = selectors.DefaultSelector()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                self._parts[stream.fileno()] = []
                self._selector.register(stream, selectors.EVENT_READ)

    def read_until(self, deadline: float, seconds: float) -> Answer:
        with self._selector:
            while self._process.poll() is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TooSlow(f"did not answer within {seconds:g} s")
                if self._is_stopped():
                    raise Stopped("was stopped")
                if self._selector.get_map():
                    self._take(min(left, _LOOK_SECONDS))
                else:  # both streams are closed, and it goes on
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self._process.wait(min(left, _LOOK_SECONDS))
            # A child that it left behind may hold the streams open: what is there is taken, nothing is waited for.
            while self._selector.get_map() and self._take(0):
                pass
        out, err = (b"".join(parts) for parts in self._parts.values())
        return Answer(self._process.returncode, out, err)

    def _take(self, seconds: float) -> bool:
        ready = self._selector.select(seconds)
        for key, _ in ready:
            data = os.read(key.fd, _CHUNK)
            if not data:
                self._selector.unregister(key.fileobj)
            self._left -= len(data)
            if self._left < 0:
                raise NoAnswer(f"wrote more than {self._most} bytes")
            self._parts[key.fd].append(data)
        return bool(ready)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
