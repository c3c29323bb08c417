"""Reads the logs of whatever job was found on this machine, one job after the other."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from neuron_top.events import AnyEvent, OutputGrew
from neuron_top.events.log_sources import log_source
from neuron_top.ingest.followed_logs import LogFiles
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.plain_files import size_of
from neuron_top.processes.output_files import LARGE_BYTES
from neuron_top.telemetry.source import Emit

END_BYTES = 1 << 26
"""How much is read of the end of a log that is large when its job is found."""
_KEPT_SIZES = 4096
"""Sizes that are remembered of each log."""
Sizes = deque[tuple[float, int]]
"""(when, bytes) of a log that grows."""


class FoundLogs:
    """A source of the logs that `read` names. After `begin_anew` nothing comes of those that were named before, and a
    log that the next job continues is read from where it stood when that job began."""

    name = "logs"

    def __init__(self, buffer: LogBuffer) -> None:
        self._buffer = buffer
        self._lock = threading.Lock()
        """Held while an event is passed on, so that none of the last job comes after the announcement of the next."""
        self._number = 0
        """How many jobs there were before this one."""
        self._paths: Sequence[Path] = ()
        self._files: LogFiles | None = None
        self._sizes: dict[str, Sizes] = {}
        """By path, how a log grew."""
        self._begins: dict[str, int] = {}
        """Where reading begins in logs that a job before has written, too, and in large ones."""
        self._stopping = False

    def read(self, paths: Sequence[Path]) -> None:
        """The logs of the job, as known now; any thread may call it."""
        for path in map(str, paths):
            if (size := size_of(path)) > LARGE_BYTES:
                self._begins.setdefault(path, size - END_BYTES)
        self._paths = paths

    def begin_anew(self, announce: Callable[[], None], since: float) -> None:
        """Forget the logs of the job before; `announce` emits what tells others that there is another one, which was
        started at `since` (seconds since the epoch)."""
        with self._lock:
            self._number += 1
            self._begins = {path: _size_at(sizes, since) for path, sizes in self._sizes.items()}
            self._buffer.forget(map(log_source, self._paths))
            self._paths = ()
            announce()
            files = self._files
        if files is not None:
            files.stop()

    def start(self, emit: Emit) -> None:
        """Read until stopped."""
        while not self._stopping:
            self._read_one_job(emit)

    def _read_one_job(self, emit: Emit) -> None:
        with self._lock:
            number = self._number
            files = LogFiles(lambda: self._paths_of(number), self._buffer, begins=self._begins)
            self._files = files
        files.start(lambda event: self._pass_on(event, number, emit))

    def _paths_of(self, number: int) -> Sequence[Path]:
        """Those of the job, unless there is another one already."""
        return self._paths if number == self._number else ()

    def stop(self) -> None:
        """Read what came since the last look, then end."""
        self._stopping = True
        files = self._files
        if files is not None:
            files.stop()

    @property
    def is_behind(self) -> bool:
        """Whether what the logs held before is still being read."""
        return self._files is None or self._files.is_behind

    def _pass_on(self, event: AnyEvent, number: int, emit: Emit) -> None:
        with self._lock:
            if number != self._number:
                return
            if isinstance(event, OutputGrew):
                self._sizes.setdefault(event.path, deque(maxlen=_KEPT_SIZES)).append((time.time(), event.end))
            emit(event)


def _size_at(sizes: Sizes, moment: float) -> int:
    """The last size of a log that was known at a moment."""
    return next((size for at, size in reversed(sizes) if at <= moment), 0)
