"""Finds what runs on this machine when no log was named. It looks every second for:

1. A recording of this user in progress (`neurontop run` holds a lock in its folder): it is followed, and what it
   records of the machine is not measured a second time.
2. Processes that were given a place in a job (LOCAL_RANK, or cores in NEURON_RT_VISIBLE_CORES): shown as cores.

Neuron devices and compile caches have sources of their own. An empty screen says what was looked for, and where.
"""

from __future__ import annotations

import threading

from neuron_top.errors import NeuronTopError
from neuron_top.events import AnyEvent, SourceAvailable, SourceUnavailable
from neuron_top.ingest.follow import FollowedRun
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.recordings import recordings_in_progress, runs_folder
from neuron_top.ingest.worker_finder import WorkerFinder
from neuron_top.settings import Settings
from neuron_top.telemetry.source import Emit, TelemetrySource
from neuron_top.telemetry.worker_placement import VISIBLE_CORES
from neuron_top.telemetry.workers import WorkerSampler

LOOK_SECONDS = 1.0


class Discovery:
    """A source that follows whatever job of this user runs; while none does, it reports what it looks for."""

    name = "jobs"

    def __init__(self, settings: Settings, buffer: LogBuffer, *, stays: bool = False) -> None:
        """`stays`: it follows only the first job, and none after that has ended: a person chooses another one."""
        self._stays = stays
        self._shown = ""
        self._settings, self._buffer = settings, buffer
        self._stopped = threading.Event()
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

    def start(self, emit: Emit) -> None:
        """Look for a job and follow it, again and again, until stopped."""
        while not self._stopped.is_set():
            running = recordings_in_progress(self._settings)
            if self._stays and self._shown:
                pass
            elif running:
                self._shown = running[0]
                self._follow(running[0], emit)
            else:
                self._look_at_processes(emit)
            self._stopped.wait(LOOK_SECONDS)

    def stop(self) -> None:
        """End."""
        self._stopped.set()
        followed = self._followed
        if followed is not None:
            followed.stop()

    def _follow(self, run: str, emit: Emit) -> None:
        self._report(SourceAvailable(name=self.name, detail=f"following the recording {run}"), emit)
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
        if pids:
            words = f"{len(pids)} worker processes, found by their environment; their output is not recorded"
            if self._strangers.jobs > 1:
                words += f" (one of {self._strangers.jobs} jobs)"
            self._report(SourceAvailable(name=self.name, detail=words), emit)
        else:
            self._report(SourceUnavailable(name=self.name, reason=looked_for(self._settings)), emit)
        for event in self._sampler.look():
            emit(event)

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

    def stop(self) -> None:
        """End the source."""
        self._source.stop()


def looked_for(settings: Settings) -> str:
    """What was looked for, where, and what to do next: for an empty screen, and for `neurontop` without a terminal."""
    return (
        f"no job found: no recording in progress in {runs_folder(settings)}, and no process of yours with LOCAL_RANK "
        f"or {VISIBLE_CORES}. Start one with `neurontop run -- torchrun …`, or name a log: `neurontop watch train.log`"
    )
