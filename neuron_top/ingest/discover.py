"""Finds what runs on this machine when no log was named. It looks every second for:

1. A recording of this user in progress (`neurontop run` holds a lock in its folder): it is followed, and what it
   records of the machine is not measured a second time.
2. Processes that were given a place in a job (LOCAL_RANK, or cores in NEURON_RT_VISIBLE_CORES): shown as cores, and the
   files that they write their output to are read as logs.

Neuron devices and compile caches have sources of their own. An empty screen says what was looked for, and where.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from neuron_top.errors import NeuronTopError
from neuron_top.events import AnyEvent, SourceAvailable, SourceUnavailable
from neuron_top.ingest.follow import FollowedRun
from neuron_top.ingest.found_logs import FoundLogs
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.recordings import recordings_in_progress, runs_folder
from neuron_top.ingest.worker_finder import WorkerFinder, job_found
from neuron_top.process_stat import stat_of
from neuron_top.processes import proc
from neuron_top.processes.output_files import output_files
from neuron_top.settings import Settings
from neuron_top.telemetry.source import BacklogSource, Emit, TelemetrySource
from neuron_top.telemetry.worker_placement import VISIBLE_CORES, is_launcher
from neuron_top.telemetry.workers import WorkerSampler
from neuron_top.units import counted

LOOK_SECONDS = 1.0
_FIRST_LOOK_SECONDS = 5.0


class Discovery:
    """A source that follows whatever job of this user runs; while none does, it reports what it looks for."""

    name = "jobs"

    def __init__(
        self, settings: Settings, buffer: LogBuffer, *, stays: bool = False, logs: FoundLogs | None = None
    ) -> None:
        """`stays`: it follows only the first job, and none after that has ended: a person chooses another one.

        `logs` reads those of the job that was found by its processes; then each such job is announced.
        """
        self._stays, self._logs = stays, logs
        self._outputs: list[Path] = []
        """What its workers write to."""
        self._job: int | None = None
        """What started the job that was found last."""
        self._pids: list[int] = []
        """Its workers, as of the last look."""
        self._shown = ""
        self._settings, self._buffer = settings, buffer
        self._stopped = threading.Event()
        self._looked = threading.Event()
        self._followed: FollowedRun | None = None
        self._interrupted: FollowedRun | None = None
        """What was followed last, if an error ended that: it goes on where it stopped."""
        self._strangers = WorkerFinder()
        self._sampler = WorkerSampler(self._strangers.pids, period=settings.sample_seconds, placed_only=True)
        self._reported = ""

    @property
    def following(self) -> bool:
        """Whether a recording is followed now, which reports on the machine itself."""
        return self._followed is not None

    def wait_for_look(self) -> None:
        """Block until it has looked once, or is stopped: whoever wants only what is there now reads these logs, too."""
        self._looked.wait(_FIRST_LOOK_SECONDS)

    def start(self, emit: Emit) -> None:
        """Look for a job and follow it, again and again, until stopped."""
        while not self._stopped.is_set():
            running = recordings_in_progress(self._settings)
            if self._stays and self._shown:
                pass
            elif running:
                self._shown = running[0]
                self._looked.set()
                self._follow(running[0], emit)
            else:
                self._look_at_processes(emit)
                self._looked.set()
            self._stopped.wait(LOOK_SECONDS)

    def stop(self) -> None:
        """End."""
        self._stopped.set()
        self._looked.set()
        followed = self._followed
        if followed is not None:
            followed.stop()

    def _follow(self, run: str, emit: Emit) -> None:
        self._report(SourceAvailable(name=self.name, detail=f"following the recording {run}"), emit)
        if self._logs is not None:
            self._logs.begin_anew(lambda: None, time.time())
            self._job = None
        followed, self._interrupted = self._interrupted, None
        if followed is None or followed.run != run:
            followed = FollowedRun(self._settings, run, self._buffer)
        self._followed = followed
        try:
            followed.start(emit)
        except NeuronTopError as problem:  # the store is not there yet, or was moved aside: ask again
            self._shown, self._interrupted = "", followed
            self._report(SourceUnavailable(name=self.name, reason=str(problem)), emit)
        finally:
            self._followed = None

    def _look_at_processes(self, emit: Emit) -> None:
        pids = self._strangers.look()
        if pids and self._logs is not None:
            self._take(pids, self._logs, emit)
        self._pids = pids
        if pids:
            words = f"{counted(len(pids), 'worker process', 'worker processes')}, found by their environment"
            words += f"; they write to {self._outputs[0]}" if self._outputs else "; their output is not recorded"
            if self._strangers.jobs > 1:
                words += f" (one of {self._strangers.jobs} jobs)"
            self._report(SourceAvailable(name=self.name, detail=words), emit)
        else:
            self._report(SourceUnavailable(name=self.name, reason=looked_for(self._settings)), emit)
        for event in self._sampler.look():
            emit(event)

    def _take(self, pids: list[int], logs: FoundLogs, emit: Emit) -> None:
        """Announce the job of these workers if it is another one, and look for its logs whenever it has other workers.

        A launcher may start its workers again; a shell that starts some again has started another job.
        """
        job, is_same = self._strangers.job, self._strangers.job == self._job
        launched = job is not None and is_launcher(proc.command_of(job) or "")
        if not is_same or not (self._pids or launched):
            logs.begin_anew(lambda: emit(job_found(pids)), _start_of([job] if job is not None and launched else pids))
        self._job = job
        if pids != self._pids:
            self._outputs = output_files(pids)
            logs.read(self._outputs)

    def _report(self, event: SourceAvailable | SourceUnavailable, emit: Emit) -> None:
        words = event.detail if isinstance(event, SourceAvailable) else event.reason
        if words != self._reported:
            self._reported = words
            emit(event)


class GatedSource:
    """A source whose events are ignored while a recording is followed, which reports the same."""

    def __init__(self, source: TelemetrySource, discovery: Discovery) -> None:
        self.name = source.name
        self._source, self._discovery = source, discovery

    def start(self, emit: Emit) -> None:
        """Start the source; pass its events on while no recording is followed."""

        def pass_on(event: AnyEvent) -> None:
            if not self._discovery.following:
                emit(event)

        self._source.start(pass_on)

    @property
    def is_behind(self) -> bool:
        """Whether the source still reads what was there before it."""
        return isinstance(self._source, BacklogSource) and self._source.is_behind

    def stop(self) -> None:
        """End the source."""
        self._source.stop()


def _start_of(pids: Sequence[int]) -> float:
    """When the first of these processes was started, in seconds since the epoch."""
    since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)  # finer than the time of the boot, which is in whole seconds
    stats = filter(None, map(stat_of, pids))
    return time.time() - since_boot + min((stat.started for stat in stats), default=since_boot)


def looked_for(settings: Settings) -> str:
    """What was looked for, where, and what to do next: for an empty screen, and for `neurontop` without a terminal."""
    return (
        f"no job found: no recording in progress in {runs_folder(settings)}, and no process of yours with LOCAL_RANK "
        f"or {VISIBLE_CORES}. Start one with `neurontop run -- torchrun …`, or name a log: `neurontop watch train.log`"
    )
