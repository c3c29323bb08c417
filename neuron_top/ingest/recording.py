"""`neurontop run` without its screen: starts a command, and records it from its first byte to its last.

The order at the end matters. First the job's output is read to its end, then the sources are stopped (the side channel
may hold more), then the end itself is stored, and only then is the store closed: so the last event of a recording is
the end of its command, and what is shown last is complete.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from neuron_top import private_files
from neuron_top.compile.side_channel import EVENTS_VARIABLE
from neuron_top.errors import LimitReached, NeuronTopError, RefusedForSafety, is_thread_limit
from neuron_top.escapes import json_bytes
from neuron_top.events import AnyEvent, RunFinished, RunStarted
from neuron_top.ingest.graph_tables import GraphTables, metrics_folder, tables_in
from neuron_top.ingest.live import EventSink, LiveFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_ingestor import LogIngestor
from neuron_top.ingest.recorder import OutputFile, Recorder
from neuron_top.ingest.recordings import (
    EVENTS_NAME,
    LOCK_NAME,
    TRACE_NAME,
    is_recording,
    new_run_id,
    run_folder,
    store_path,
)
from neuron_top.ingest.side_channel_source import SideChannel
from neuron_top.ingest.torch_trace import TRACE_BYTES, TRACE_VARIABLE, TorchTraces
from neuron_top.parsers.secrets import command_without_secrets
from neuron_top.processes.interleave import Interleaver
from neuron_top.processes.launch import RUN_VARIABLE, CommandNotStarted, Job
from neuron_top.run.graph import AttemptOutcome
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.records import CompileRecord
from neuron_top.store.retention import enforce
from neuron_top.store.sqlite import SqliteStore
from neuron_top.telemetry import versions
from neuron_top.telemetry.source import Emit, Periodic, TelemetrySource
from neuron_top.telemetry.workers import WorkerSampler
from neuron_top.views.summary import Summary, summary


class Companion(Protocol):
    """Takes a recording's events in addition to its store."""

    def sink(self) -> EventSink:
        """The sink for the events."""

    def start(self) -> None:
        """Called once the command runs."""

    def finish(self) -> None:
        """Called once the recording is closed."""


class Recording:
    """One recorded command. Call `start`, then `finish`, which waits for the command; `feed` shows it meanwhile."""

    def __init__(
        self,
        command: Sequence[str],
        settings: Settings,
        *,
        name: str = "",
        shown: bool = True,
        warn: Callable[[str], None] = lambda text: None,
        environ: Mapping[str, str] = os.environ,
        extra: Callable[[], Sequence[TelemetrySource]] = tuple,
    ) -> None:
        """`shown`: the output goes through to our own streams. `extra`: further sources (telemetry, caches)."""
        self.run = new_run_id()
        self.folder = run_folder(settings, self.run)
        self.name = name
        self._settings, self._warn, self._extra = settings, warn, extra
        self.companion: Companion | None = None
        self._environ = {**environ, RUN_VARIABLE: self.run, EVENTS_VARIABLE: str(self.folder / EVENTS_NAME)}
        own_trace = TRACE_VARIABLE not in environ  # one set by the user wins; an empty one means no trace
        if own_trace:
            self._environ[TRACE_VARIABLE] = str(self.folder / TRACE_NAME)
        self._trace = TorchTraces(self._environ[TRACE_VARIABLE], keep_bytes=TRACE_BYTES if own_trace else None)
        self.job = Job(command, self._environ, shown=shown)
        self.feed = LiveFeed((), buffer=LogBuffer())
        self._output: JobOutput | None = None
        self._output_file: OutputFile | None = None
        self._recorder: Recorder | None = None
        self._is_complete = False
        self._lock: int | None = None

    def start(self, changed: Callable[[], None] = lambda: None) -> None:
        """Start the command and all that watches it. Raises CommandNotStarted or LimitReached; then nothing is left
        running."""
        program = self.job.command[0]
        if os.sep not in program and shutil.which(program, path=self._environ.get("PATH")) is None:
            raise CommandNotStarted(program, FileNotFoundError(2, "command not found"))
        buffer = LogBuffer()
        output = self._output_file = OutputFile(self.folder, self._warn)
        self._lock = _hold(self.folder / LOCK_NAME)
        prepared = self._start_event()
        self.job.start(output.descriptor)
        started = msgspec.structs.replace(prepared, at=time.time(), pid=self.job.pid)
        sampler = WorkerSampler(lambda: [self.job.pid], period=self._settings.sample_seconds)
        self._output = JobOutput(self.job, output, buffer)
        self.feed = LiveFeed(
            [
                self._output,
                SideChannel(self.folder / EVENTS_NAME),
                self._trace,
                self._graph_tables(started.at or 0.0),
                Periodic("workers", self._settings.sample_seconds, sampler.look),
                *self._extra(),
            ],
            buffer=buffer,
            sink=lambda: self._sink(started),
            history_seconds=self._settings.history_seconds,
        )
        self.feed.publish(started)
        try:
            self.feed.start(changed)
        except RuntimeError as problem:
            self.job.end_rest()
            self.feed.stop()
            if not is_thread_limit(problem):
                raise
            raise LimitReached(
                f"cannot watch {program!r} ({problem}), so it was ended: raise the limit of processes (ulimit -u)"
            ) from None
        if self.companion is not None:
            self.companion.start()

    def _graph_tables(self, began: float) -> GraphTables:
        """The tables that TorchNeuron writes where the command's environment asks for them."""
        folder = metrics_folder(self._environ)
        # A file system's clock may be a little behind ours.
        return GraphTables(lambda: tables_in(folder) if folder is not None else (), since=began - 1.0)

    def _sink(self, started: RunStarted) -> EventSink:
        recorder = self._recorder = Recorder(store_path(self._settings), started, self.folder, self._warn)
        return Both(recorder, self.companion.sink()) if self.companion is not None else recorder

    def _start_event(self) -> RunStarted:
        """The event of the command's start, as far as it is known before it runs."""
        command = self.job.command
        world = self._environ.get("WORLD_SIZE", "")
        try:
            folder = str(Path.cwd())
        except FileNotFoundError:  # deleted meanwhile, which is the command's affair
            folder = ""
        return RunStarted(
            run=self.run,
            name=self.name,
            command=command_without_secrets(command),
            directory=folder,
            environment=versions.environment_that_matters(self._environ),
            versions=versions.package_versions(command, self._environ),
            git_revision=versions.git_revision(Path(folder)) if folder else "",
            world_size=int(world) if world.isdecimal() else None,
            source="job",
        )

    def finish(self) -> tuple[int, Summary]:
        """Wait for the command, read the rest, close the recording; returns its exit status (negative: signal) and the
        summary."""
        code = self.job.wait()
        self.feed.wait_for("job")
        if self.job.interrupted_by or code < 0:
            self.job.end_rest()
        elif self.job.left_processes:
            self._warn("the command left processes that go on; what they print from now on is not recorded")
        self.feed.stop_sources()
        for event in self._output.ended(code) if self._output is not None else ():
            self.feed.publish(event)
        ended = RunFinished(
            run=self.run,
            exit_code=code,
            interrupted_by=self.job.interrupted_by,
            at=self.job.ended or time.time(),
            source="job",
        )
        self.feed.publish(ended)
        self.feed.stop()
        closing = self.feed.read(summary)
        self._close_store(code, ended.at or time.time(), closing)
        if self._lock is not None:
            os.close(self._lock)
        if self.companion is not None:
            self.companion.finish()
        return code, closing

    @property
    def is_replayable(self) -> bool:
        """Whether it is in the store, so that other commands can read it."""
        return self._recorder is not None and self._recorder.begun

    @property
    def kept(self) -> str:
        """Where the recording is kept, and how much of it if not all; call it after `finish`."""
        if self._recorder is not None and self._recorder.begun:
            return str(self.folder) if self._is_complete else f"{self.folder} (not all of it: a warning says why)"
        if self._output_file is not None and self._output_file.begun:
            return f"{self.folder} (the output alone: a warning says why)"
        return "nothing: a warning says why"

    def _close_store(self, code: int, finished: float, closing: Summary) -> None:
        if self._recorder is None or not self._recorder.begun:
            return  # a warning said so when it began
        self._is_complete = self._recorder.complete
        try:
            with SqliteStore(store_path(self._settings)) as store:
                store.finish(self.run, code, finished, json_bytes(closing))
                store.remember_compiles(
                    self.feed.read(lambda run, _now: measured_compiles(run, run.job.node, run.job.run))
                )
                self._drop_old(store)
        except (NeuronTopError, OSError) as problem:
            self._is_complete = False
            self._warn(f"the end of the run is not recorded: {problem}")

    def _drop_old(self, store: SqliteStore) -> None:
        try:
            settings = self._settings
            enforce(store, settings.state_path, settings.keep_runs, settings.keep_bytes, is_recording)
        except RefusedForSafety as problem:
            self._warn(f"not every old recording could be deleted: {problem}")


class Both:
    """An `EventSink` that passes events on to two others."""

    def __init__(self, first: EventSink, second: EventSink) -> None:
        self._first, self._second = first, second

    def append(self, events: Sequence[AnyEvent], now: float) -> None:
        """Append to both."""
        self._first.append(events, now)
        self._second.append(events, now)

    def end(self) -> None:
        """End both."""
        self._first.end()
        self._second.end()


def measured_compiles(run: Run, node: str, name: str) -> list[CompileRecord]:
    """The compiles whose seconds were measured, not only bounded, for later estimates. `name`: the run's."""
    return [
        CompileRecord(
            module=graph.module,
            node=node,
            run=name,
            compiler=graph.compiler or "",
            graph_bytes=graph.graph_bytes,
            operators=graph.operators,
            seconds=attempt.seconds,
            peak_rss=attempt.peak_rss_bytes,
            finished=attempt.end,
            op_counts=graph.op_counts,
        )
        for graph in run.compiles.graphs.values()
        for attempt in graph.attempts
        if graph.module
        and attempt.outcome is AttemptOutcome.DONE
        and attempt.seconds is not None
        and attempt.end is not None
    ]


def _hold(path: Path) -> int | None:
    """Take the lock; None if that fails (then nothing is recorded either)."""
    try:
        number = private_files.open_file(path, os.O_RDWR)
    except (OSError, RefusedForSafety):
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        return None
    return number


class JobOutput:
    """A source: passes the output on until its end. The owner of the job waits for it and stops it."""

    name = "job"

    def __init__(self, job: Job, output: OutputFile, buffer: LogBuffer) -> None:
        self._job, self._output = job, output
        self._ingestor = LogIngestor(str(output.path), buffer)
        self._lines = Interleaver()

    def start(self, emit: Emit) -> None:
        """Pass everything on; returns at the end of both streams."""

        def record(data: bytes) -> None:
            if data:
                for event in self._ingestor.take(self._output.append(data), data):
                    emit(event)

        def idle() -> None:
            record(self._lines.overdue(time.monotonic()))
            for event in (*self._ingestor.quiet(), *self._ingestor.grew()):
                emit(event)

        self._job.pump(lambda stream, data: record(self._lines.feed(stream, data, time.monotonic())), idle)
        record(self._lines.flush())
        for event in self._ingestor.flush():
            emit(event)
        self._output.close()

    def ended(self, exit_code: int) -> list[AnyEvent]:
        """The events that the exit code adds; call it after `start` has returned."""
        return self._ingestor.ended(exit_code)

    def stop(self) -> None:
        """Nothing to do: the output ends with the job."""
