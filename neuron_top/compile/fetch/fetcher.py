"""The fetcher of a process: at a miss, one process of the node asks the source, for all its ranks.

What is found is fetched under the entry's lock, verified and published; what is not there is remembered on this node
for a while, so that 128 ranks that miss one graph cause one request. Nothing that goes wrong here ends a job: the graph
is then compiled.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from neuron_top.cache.location import is_bucket
from neuron_top.cache.model.states import Lookup
from neuron_top.compile import side_channel
from neuron_top.compile.claims.node_gate import NodeGate, NodeNote
from neuron_top.compile.claims.unanswered import Unanswered
from neuron_top.compile.fetch.arriving import Arriving
from neuron_top.compile.fetch.source import ArtifactSource, BucketSource, FolderSource
from neuron_top.compile.wrapper.log_lines import SAY_EVERY_SECONDS, WrapperLog
from neuron_top.compile.wrapper.persistent_cache import EntryLock, WritableEntry
from neuron_top.errors import NeuronTopError
from neuron_top.events import ArtifactFetched
from neuron_top.events.levels import LogLevel
from neuron_top.identity import node_name
from neuron_top.settings import load
from neuron_top.units import bytes_text, duration_text

ABSENT_SECONDS = 60.0
"""How long a node believes that the source does not have an entry."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5


class Fetched(NamedTuple):
    """The result of a fetch: whether the entry is to be looked up again, and the seconds waited for another process."""

    look_again: bool
    waited: float


class Fetcher:
    """Fetches missing entries into a cache. Safe to share between threads."""

    def __init__(
        self,
        source: ArtifactSource,
        log: WrapperLog,
        emit: side_channel.Emit = side_channel.emit,
        *,
        node: str = "",
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock`: by which a source that does not answer is spared."""
        self.source, self._log, self._emit = source, log, emit
        self._node, self._sleep = node or node_name().value, sleep
        self._unanswered = Unanswered(clock)

    def fetch(
        self, entry: WritableEntry, graph: str, interrupted: Callable[[], bool], *, anew: bool = False
    ) -> Fetched:
        """Fetch an entry that this cache lacks; `anew`: ask even if the source did not have it a moment ago.

        Raises KeyboardInterrupt once `interrupted` says so.
        """
        began = said = time.monotonic()
        pause = _FIRST_PAUSE
        key = f"fetch {self.source.place} {entry.path}"
        with NodeGate(self._node, key) as gate:
            while not gate.passed():  # another process of this node is fetching
                if interrupted():
                    raise KeyboardInterrupt
                if entry.state() is not Lookup.MISS:
                    break
                if time.monotonic() - said >= SAY_EVERY_SECONDS:
                    said = time.monotonic()
                    waits = f"another process of this node fetches it; waited {duration_text(said - began)}"
                    self._log.remark(f"{entry.module}: {waits}", level=LogLevel.INFO)
                self._sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)
            waited = time.monotonic() - began
            if entry.state() is not Lookup.MISS:
                return Fetched(True, waited)
            note = NodeNote(self._node, f"{key} {os.getppid()}")  # for this start of the job; the next asks again
            known_absent = not anew and note.is_younger(ABSENT_SECONDS)
            if known_absent or self._fetched(entry, graph, interrupted):
                return Fetched(entry.state() is not Lookup.MISS, waited)
            note.write()
        return Fetched(False, waited)

    def _fetched(self, entry: WritableEntry, graph: str, interrupted: Callable[[], bool]) -> bool:
        """Fetch the entry; False where there is no use in asking again soon."""
        if self._unanswered.is_spared():
            return False
        asked = self._unanswered.now()
        try:
            files = self.source.files(f"{entry.path.parent.name}/{entry.module}")
            if not files:
                return False
        except (NeuronTopError, OSError) as problem:
            self._unanswered.failed(asked)
            self._log.remark_once(f"nothing is fetched from {self.source.place}: {problem}")
            return False
        lock = EntryLock(entry)
        try:
            if not lock.acquire():
                return True  # somebody is compiling it
            if entry.state() is Lookup.MISS:
                report = functools.partial(self._report, entry.module)
                return self._arrived(entry, Arriving(entry, graph, files, report), interrupted)
            return True
        finally:
            lock.release()

    def _arrived(self, entry: WritableEntry, arriving: Arriving, interrupted: Callable[[], bool]) -> bool:
        problem = "interrupted"
        try:
            arriving.fetch(interrupted)
            problem = ""
        except (NeuronTopError, OSError) as reason:
            problem = str(reason)
        finally:
            self._report(entry.module, arriving.arrived, arriving.total, arriving.seconds, ended=True, problem=problem)
        if problem:
            self._log.remark(f"{entry.module} from {self.source.place} is not used: {problem}")
            return False
        rate = bytes_text(arriving.arrived / max(arriving.seconds, 0.001))
        self._log.remark(
            f"Fetched {entry.module} from {self.source.place}: {bytes_text(arriving.arrived)} in "
            f"{duration_text(arriving.seconds)} ({rate}/s), verified",
            level=LogLevel.INFO,
        )
        return True

    def _report(
        self, module: str, arrived: int, total: int, seconds: float, *, ended: bool = False, problem: str = ""
    ) -> None:
        """Emit the progress of one entry."""
        self._emit(
            ArtifactFetched(
                module=module,
                place=self.source.place,
                bytes=arrived,
                total_bytes=total,
                seconds=seconds,
                ended=ended,
                problem=problem,
                **side_channel.reporter(),
            )
        )


def source_at(place: str) -> ArtifactSource:
    """The artifact source at this address. Raises UsageError."""
    return BucketSource(place) if is_bucket(place) else FolderSource(Path(place))


def fetcher_for(root: Path, log: WrapperLog, emit: side_channel.Emit = side_channel.emit) -> Fetcher | None:
    """The fetcher for a cache, by the settings of this process; wrong settings do not end the job."""
    try:
        place = load()[0].cache_source
        if not place or place.rstrip("/") == str(root):
            return None
        return Fetcher(source_at(place), log, emit)
    except NeuronTopError as problem:
        log.remark_once(f"nothing is fetched from elsewhere: {problem}")
        return None
