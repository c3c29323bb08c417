"""The source that reads a log from a pipe."""

from __future__ import annotations

import os
import select

from neuron_top.events import SourceUnavailable
from neuron_top.events.log_sources import PIPE_SOURCE
from neuron_top.ingest.log_buffer import KEPT_LINES, LogBuffer
from neuron_top.ingest.log_ingestor import QUIET_SECONDS, LogIngestor
from neuron_top.ingest.pipe_copy import PipeCopy
from neuron_top.processes.stop_request import StopRequest
from neuron_top.telemetry.source import Emit, emit_all

_STDIN_BYTES = 1 << 16


class StandardInput:
    """Reads a log from a pipe until its end; with `kept`, a copy of it can be scrolled back through."""

    name = "standard input"

    def __init__(self, buffer: LogBuffer, number: int = 0, *, kept: bool = False) -> None:
        self._ingestor = LogIngestor("-", buffer)
        self._buffer, self._number, self._kept = buffer, number, kept
        self._spool: PipeCopy | None = None
        self._stop = StopRequest()
        self.is_behind = True  # until its end, since it is unknown how much there was

    def start(self, emit: Emit) -> None:
        """Read until the writer closes its end, or until stopped."""
        offset = 0
        if self._kept:
            self._keep(emit, 0, b"")
        while (has_data := self._wait()) is not None:
            if not has_data:
                emit_all(self._ingestor.quiet(), emit)
                continue
            data = os.read(self._number, _STDIN_BYTES)
            if not data:
                emit_all(self._ingestor.closed(), emit)
                return
            if self._spool is not None:
                self._keep(emit, offset, data)
            emit_all(self._ingestor.take(offset, data), emit)
            offset += len(data)
        emit_all(self._ingestor.flush(), emit)

    def _wait(self) -> bool | None:
        """Wait for data; False after a moment of quiet, to report what the reader holds back; None: stop."""
        limit = None if self._ingestor.settled else QUIET_SECONDS
        sources: list[int | StopRequest] = [self._number, self._stop]
        ready = select.select(sources, [], [], limit)[0]
        return None if self._stop in ready else bool(ready)

    def _keep(self, emit: Emit, offset: int, data: bytes) -> None:
        """Write the bytes to the copy, before their events are emitted. A full disk ends the copy, not the reading."""
        try:
            self._spool = self._spool or PipeCopy()
            self._spool.write(offset, data)
            self._buffer.copies[PIPE_SOURCE] = self._spool.path
        except OSError as problem:
            self._spool = None
            self._buffer.copies.pop(PIPE_SOURCE, None)
            reason = f"only its last {KEPT_LINES} lines can be shown: {problem.strerror or problem}"
            emit(SourceUnavailable(name=f"copy of {self.name}", reason=reason))

    def stop(self) -> None:
        """Stop reading."""
        self._stop.make()
