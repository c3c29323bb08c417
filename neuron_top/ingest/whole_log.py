"""Logs that no longer grow, rotated or compressed: read once."""

from __future__ import annotations

import errno
from collections.abc import Callable

from neuron_top.errors import UsageError
from neuron_top.events import SourceUnavailable
from neuron_top.events.log_sources import log_source
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_ingestor import LogIngestor
from neuron_top.ingest.pipe_copy import PipeCopy
from neuron_top.plain_files import last_change
from neuron_top.processes.log_input import portions
from neuron_top.telemetry.source import Emit, emit_all


class WholeLog:
    """A log that no longer grows, plain or compressed: read once, to its end; screens can scroll through a copy."""

    def __init__(self, path: str, buffer: LogBuffer, has_room: Callable[[WholeLog, int], bool]) -> None:
        self._path, self._buffer, self._has_room = path, buffer, has_room
        self.copied = 0
        """Bytes of it that were copied."""
        self._source = log_source(path)
        self._spool: PipeCopy | None = None

    def read(self, emit: Emit, stopped: Callable[[], bool]) -> None:
        """Read all of it, or until stopped; reports what cannot be read."""
        ingestor = LogIngestor(self._path, self._buffer, written=last_change(self._path))
        self._buffer.without_file.add(self._source)
        offset, remarks, unreadable = 0, list[str](), False
        try:
            for data in portions(self._path, remarks.append):
                self._keep(offset, data)
                emit_all(ingestor.take(offset, data), emit)
                offset += len(data)
                if stopped():
                    break
        except UsageError as problem:
            remarks.append(str(problem))
            unreadable = True
        emit_all([*ingestor.flush(), *ingestor.caught_up()], emit)
        if remarks:
            reason = "; ".join(remark.removeprefix("neurontop: ") for remark in remarks)
            emit(SourceUnavailable(name=self._source, reason=reason, unreadable=unreadable))

    def _keep(self, offset: int, data: bytes) -> None:
        """Write to the copy that screens scroll through, while there is room; without one they show the last lines."""
        if offset > 0 and self._spool is None:
            return
        try:
            if not self._has_room(self, len(data)):
                raise OSError(errno.EFBIG, "no room for a copy of the log")
            self._spool = self._spool or PipeCopy()
            self._spool.write(offset, data)
            self._buffer.copies[self._source] = self._spool.path
            self.copied = offset + len(data)
        except OSError:
            self._spool, self.copied = None, 0
            self._buffer.copies.pop(self._source, None)
