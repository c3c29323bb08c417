"""A live feed of several logs, which may be several jobs: each job has its own run, and its own feed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, TypeVar

from neuron_top.events import AnyEvent, SourceAvailable, SourceUnavailable
from neuron_top.events.log_sources import is_log, log_source, path_of
from neuron_top.ingest.job_groups import JobGroups, LogJob, distinct_names
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.run.model import Run

View = TypeVar("View")


class JobsFeed(LiveFeed):
    """Behaves as the feed of the first job that was seen; `job` returns the feed of each.

    Events that come from no log (devices, caches) go to every job.
    """

    def __init__(self, groups: JobGroups, **options: Any) -> None:
        super().__init__((), **options)
        self._groups = groups
        self._runs: dict[LogJob, Run] = {}
        self._first_logs: dict[LogJob, str] = {}
        self._listeners: list[Callable[[], None]] = []

    @property
    def jobs(self) -> tuple[LogJob, ...]:
        """The jobs that were seen so far, in that order."""
        with self._lock:
            return tuple(self._runs)

    def job(self, name: str) -> JobFeed | None:
        """The feed of a job by its id; None where there is no such job."""
        return next((JobFeed(self, job) for job in self.jobs if job.id == name), None)

    def start(self, changed: Callable[[], None]) -> None:
        """Start all sources."""
        super().start(lambda: self._notify(changed))

    def listen(self, changed: Callable[[], None]) -> None:
        """Call this function at changes, too."""
        self._listeners.append(changed)

    def forget(self, changed: Callable[[], None]) -> None:
        """Call this function no more."""
        self._listeners.remove(changed)

    def _notify(self, changed: Callable[[], None]) -> None:
        for one in (changed, *self._listeners):
            one()

    def read(self, view: Callable[[Run, float], View]) -> View:
        """`view(run, now)` of the first job."""
        with self._lock:
            return view(next(iter(self._runs.values()), self._run), self._clock())

    def read_job(self, job: LogJob, view: Callable[[Run, float], View]) -> View:
        """`view(run, now)` of one job."""
        with self._lock:
            return view(self._runs[job], self._clock())

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The last lines of the first job, or of one log."""
        first = None if source is not None else self._first_sources()
        return super().log_tail(count, source) if first is None else self.log_tail_of(count, first)

    def _ends(self, sources: Container[str] | None) -> dict[str, int]:
        return super()._ends(self._first_sources() if sources is None else sources)

    def _first_sources(self) -> tuple[str, ...] | None:
        with self._lock:
            run = next(iter(self._runs.values()), None)
            return tuple(log_source(path) for path in run.job.sources) if run is not None else None

    def is_of(self, source: str, job: LogJob) -> bool:
        """Whether this source is a log of the job."""
        return self._groups.of(path_of(source)) == job

    def _events_applied(self) -> int:
        return sum(run.events for run in (self._run, *self._runs.values()))

    def _apply(self, event: AnyEvent) -> None:
        source = _source_of(event)
        if source:
            path = path_of(source)
            job = self._groups.of(path)
            run = self._runs.get(job)
            if run is None:
                run = self._add(job, path)
            run.apply(event)
        else:
            for run in (self._run, *self._runs.values()):
                run.apply(event)

    def _add(self, job: LogJob, path: str) -> Run:
        """Add a run for a job whose first log this is; other jobs may need a longer name from now on."""
        added = self._runs[job] = copy.deepcopy(self._run)
        self._first_logs[job] = path
        for one, name in distinct_names(self._first_logs).items():
            self._runs[one].job.listed_name = name
        return added


class JobFeed:
    """A `Feed` of one job of a `JobsFeed`, which somebody else started and will stop."""

    def __init__(self, whole: JobsFeed, job: LogJob) -> None:
        self._whole, self._job = whole, job
        self._changed: Callable[[], None] | None = None

    def start(self, changed: Callable[[], None]) -> None:
        """Receive changes from now on."""
        self._changed = changed
        self._whole.listen(changed)

    def stop(self) -> None:
        """Receive no more changes; the others go on."""
        if self._changed is not None:
            self._whole.forget(self._changed)
            self._changed = None

    def read(self, view: Callable[[Run, float], View]) -> View:
        """`view(run, now)` of the job."""
        return self._whole.read_job(self._job, view)

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The last lines of its logs."""
        if source is not None:
            return self._whole.log_tail(count, source)
        return self._whole.log_tail_of(count, self._sources())

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """A page that ends before these offsets."""
        return self._whole.log_older_of(self._sources(), before, count, query)

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """A page that begins at these offsets."""
        return self._whole.log_newer_of(self._sources(), after, count, query)

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """The lines at these places."""
        return self._whole.log_lines([place for place in places if self._whole.is_of(place[0], self._job)])

    def log_state(self) -> str:
        """Always "": the logs are files of this machine."""
        return ""

    def log_chains(self) -> list[LogChain]:
        """Its logs, each with its rotated files."""
        return [chain for chain in self._whole.log_chains() if self._whole.is_of(chain.files[0], self._job)]

    def _sources(self) -> tuple[str, ...]:
        return tuple(log_source(path) for path in self.read(lambda run, _now: tuple(run.job.sources)))


def _source_of(event: AnyEvent) -> str:
    """The log that an event is about; "" for one that is about the machine."""
    if isinstance(event, SourceAvailable | SourceUnavailable):
        return event.name if is_log(event.name) else ""
    return event.source if is_log(event.source) else ""
