"""The source that follows a saved capture of telemetry."""

from __future__ import annotations

from pathlib import Path

import msgspec

from neuron_top.events import AnyEvent, Rotation, SourceAvailable, SourceUnavailable
from neuron_top.events.log_sources import capture_source
from neuron_top.ingest.wakeup import Wakeup
from neuron_top.plain_files import last_change, size_of
from neuron_top.processes.tail import FileChange, FileTail
from neuron_top.telemetry.source import Emit, emit_all
from neuron_top.telemetry.telemetry_file import TelemetryFile


class TelemetryLog:
    """Follows a file of neuron-monitor's records, or a saved listing of neuron-ls."""

    def __init__(self, path: Path) -> None:
        self.name = capture_source(path)
        self._tail = FileTail(path)
        self._reader = TelemetryFile(source=self.name)
        self._wakeup = Wakeup()
        self._wakeup.watch(path)
        self._written, self._old_end = last_change(path), size_of(path)
        """When what is there already was last changed, and where it ends."""
        self._problem = ""
        self.is_behind = True

    def start(self, emit: Emit) -> None:
        """Read until stopped."""
        with self._wakeup:
            while True:
                last = self._wakeup.stopping
                self._read(emit)
                if self.is_behind and self._wakeup.stopping:
                    break
                self.is_behind = False
                self._report(emit)
                if last:
                    break
                self._wakeup.wait()
        if not self.is_behind:
            emit_all(map(self._dated, self._reader.flush()), emit)
        self._tail.close()

    def stop(self) -> None:
        """Read what came since the last look, then end; as `LogFiles` does."""
        self._wakeup.stop()

    def _read(self, emit: Emit) -> None:
        while (step := self._tail.read(limit=1)) and not (self.is_behind and self._wakeup.stopping):
            for item in step:
                if not isinstance(item, FileChange):
                    emit_all(map(self._dated, self._reader.feed(item.data)), emit)
                elif item.how is not Rotation.VANISHED:
                    # An unfinished last line of the old file is not the beginning of the new one's first.
                    emit_all(map(self._dated, self._reader.flush()), emit)
                    self._reader, self._old_end = TelemetryFile(source=self.name), -1

    def _report(self, emit: Emit) -> None:
        """Report why there is no telemetry in the file, or that there is some now."""
        tail, problem = self._tail, ""
        if tail.problem is not None:
            problem = f"{tail.problem.strerror}: {tail.path}"
        elif tail.awaited:
            problem = f"no such file yet, it is read as soon as it is there: {tail.path}"
        elif self._reader.is_unreadable:
            problem = f"no record of neuron-monitor in it so far: {tail.path}"
        if problem != self._problem:
            self._problem = problem
            emit(
                SourceUnavailable(name=self.name, reason=problem, unreadable=tail.problem is not None)
                if problem
                else SourceAvailable(name=self.name)
            )

    def _dated(self, event: AnyEvent) -> AnyEvent:
        """Date old records, which have no timestamps, to the file's last change; they are at least that old."""
        is_old = self._tail.position <= self._old_end
        return msgspec.structs.replace(event, at=self._written) if is_old else event
