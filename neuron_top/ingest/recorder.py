"""Records a run: its output as it came, and its events in the store.

Recording must never harm the job. When the disk is full, or the store cannot be used, recording stops with one
warning, and the job and the screen go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from neuron_top import private_files
from neuron_top.errors import NeuronTopError, RefusedForSafety
from neuron_top.events import AnyEvent, RunStarted
from neuron_top.identity import node_name
from neuron_top.ingest.recordings import EVENTS_NAME, OUTPUT_NAME
from neuron_top.store.sqlite import SqliteStore


class OutputFile:
    """`output.log` of one run. Appends until the disk refuses; offsets go on counting after that."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self.path = folder / OUTPUT_NAME
        self._warn = warn
        self.begun = False
        """The file was created; it holds whatever was appended."""
        self._end = 0
        self._number: int | None = None
        try:
            for made in (folder.parent.parent, folder.parent, folder, folder / EVENTS_NAME):
                private_files.make_folder(made)
            self._number = private_files.open_file(self.path, os.O_WRONLY | os.O_APPEND)
            self.begun = True
        except (OSError, RefusedForSafety) as problem:
            self._give_up(problem)

    @property
    def descriptor(self) -> int | None:
        """The open file that is appended to; None if it could not be opened, or a write failed."""
        return self._number

    def append(self, data: bytes) -> int:
        """Write all of `data`; returns the offset at which it begins."""
        offset, self._end = self._end, self._end + len(data)
        left = memoryview(data)
        try:
            while left and self._number is not None:
                left = left[os.write(self._number, left) :]
        except OSError as problem:
            self._give_up(problem)
        return offset

    def close(self) -> None:
        """Close the file."""
        number, self._number = self._number, None
        if number is not None:
            os.close(number)

    def _give_up(self, problem: OSError | RefusedForSafety) -> None:
        self.close()
        reason = str(problem)
        if isinstance(problem, OSError):
            reason = f"{problem.filename or self.path}: {problem.strerror or problem}"
        self._warn(f"the output is not recorded any more: {reason}; the job goes on")


class Recorder:
    """Writes a run's events to the store. All calls from one thread."""

    def __init__(self, path: Path, started: RunStarted, folder: Path, warn: Callable[[str], None]) -> None:
        self._run, self._warn = started.run, warn
        self._store: SqliteStore | None = None
        self.begun = False
        """The recording stands in the store, with whatever was added since."""
        self.complete = True
        """Every event so far was stored."""
        try:
            self._store = SqliteStore(path)
            here = msgspec.structs.replace(started, node=started.node or node_name().value)  # where `pid` runs
            self._store.begin(here, pid=os.getpid(), folder=folder, now=started.time or 0.0)
            self.begun = True
        except (NeuronTopError, OSError) as problem:
            self._give_up(problem)

    def append(self, events: Sequence[AnyEvent], now: float) -> None:
        """Add events in order."""
        if self._store is None or not events:
            return
        try:
            self._store.append(self._run, events, now)
        except NeuronTopError as problem:
            self._give_up(problem)

    def end(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _give_up(self, problem: Exception) -> None:
        self.end()
        self.complete = False
        self._warn(f"events are not recorded any more: {problem}")
