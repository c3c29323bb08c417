"""Lists, opens, replays, labels and deletes recordings, and loads them as runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from neuron_top.errors import NeuronTopError, NothingToShow, RefusedForSafety
from neuron_top.events import RunFinished
from neuron_top.ingest.recordings import (
    LAST,
    find_labeled,
    find_recording,
    goes_on,
    is_folder_name,
    is_recording,
    load_labeled,
    load_run,
    nothing_recorded,
    recordings_in_progress,
    run_folder,
    silent_seconds,
)
from neuron_top.plain_files import is_folder
from neuron_top.run.model import Run
from neuron_top.services.alerts import AlertService
from neuron_top.settings import Settings
from neuron_top.store.location import location_of
from neuron_top.store.protocol import Store
from neuron_top.store.records import RunRecord
from neuron_top.store.run_labels import NO_LABELS, LabelFile, RunLabels
from neuron_top.views.overlay import OverlaidRun, overlaid_run
from neuron_top.views.run_deletion import RunDeletion, run_deletion
from neuron_top.views.runs import RunRow, run_row
from neuron_top.views.states import run_name

if TYPE_CHECKING:
    from neuron_top.ingest.replay import ReplayFeed
    from neuron_top.services.feeds import Feed

__all__ = ["LAST", "NEWEST_RUNS", "RunService", "first_local_root"]

NEWEST_RUNS = 500
View = TypeVar("View")


class RunService:
    """The recordings of this user on this machine, or those of a database."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kept = location_of(settings)
        self._labels = LabelFile(settings.state_path)

    @property
    def folder(self) -> str:
        """Where the recordings are kept."""
        return str(self._kept)

    @property
    def nothing_recorded(self) -> NeuronTopError:
        """The error for no recording, which says how to make one."""
        return nothing_recorded(self._kept)

    @property
    def was_used(self) -> bool:
        """Whether there is a store: a recording was made once, even if none is left."""
        return self._kept.exists

    def rows(self, limit: int | None = NEWEST_RUNS) -> tuple[RunRow, ...]:
        """Recordings, newest first; none when nothing was recorded yet. Raises StoreUnusable."""
        return self._rows(limit, lambda record: True)

    def unfinished(self) -> tuple[RunRow, ...]:
        """Those of `rows` whose end was not recorded; only their files are measured. Raises StoreUnusable."""
        return self._rows(NEWEST_RUNS, lambda record: record.open)

    def _rows(self, limit: int | None, is_wanted: Callable[[RunRecord], bool]) -> tuple[RunRow, ...]:
        if not self._kept.exists:
            return ()
        labels = self._labels.known()
        with self._kept.open() as store:
            return tuple(
                self._row(
                    record,
                    labels.get(record.id, NO_LABELS),
                    alive=goes_on(record, store),
                    silent=silent_seconds(record, store),
                )
                for record in store.runs(limit=limit)
                if is_wanted(record)
            )

    def count(self) -> int:
        """How many recordings there are. Raises StoreUnusable."""
        if not self._kept.exists:
            return 0
        with self._kept.open() as store:
            return len(store.runs())

    def find(self, name: str) -> RunRecord:
        """A recording by id, unique prefix of one, name, `last` or `last~`. Raises NothingToShow, StoreUnusable."""
        with self._store(name) as store:
            return find_labeled(store, name, self._settings.state_path)

    def of_id(self, run: str) -> RunRecord:
        """The recording with this id; names, which may mean another recording tomorrow, and files are not searched.
        Raises NothingToShow, StoreUnusable."""
        with self._store() as store:
            return _of_id(store, run)

    def interrupted_by(self, record: RunRecord) -> str:
        """Name of the signal by which a person stopped a recorded job; "" if nobody did. Raises StoreUnusable."""
        with self._store() as store:
            last_events = store.replay(record.id, since=record.finished) if not record.open else ()
            return next((event.interrupted_by for event in last_events if isinstance(event, RunFinished)), "")

    def in_progress(self) -> str | None:
        """The newest recording that is being made now."""
        ids = recordings_in_progress(self._settings) if self._kept.exists else []
        return ids[0] if ids else None

    def load(self, name: str) -> Run:
        """The run at the end of its recording, or as it is now. Raises NothingToShow, StoreUnusable."""
        with self._store(name) as store:
            return load_labeled(store, name, self._settings)

    def load_running(self, run: str) -> Run:
        """A run that is being recorded, by its id; it is empty if the recorder has only just begun."""
        with self._store() as store:
            return load_run(store, run, self._settings.history_seconds)

    def read_end(self, name: str, view: Callable[[Run, float], View]) -> View:
        """`view(run, now)` at the end of a recording. Raises NothingToShow, StoreUnusable."""
        with self._store() as store:
            record = find_labeled(store, name, self._settings.state_path)
            run = load_run(store, record.id, self._settings.history_seconds)
        return view(run, record.finished if record.finished is not None else record.touched)

    def plan_deletion(self, names: Iterable[str]) -> RunDeletion:
        """What deleting these recordings would do. Raises NothingToShow for an unknown name, StoreUnusable."""
        with self._store() as store:
            labels = self._labels.known()
            records = [find_labeled(store, name, self._settings.state_path) for name in names]
            written = {record.id for record in records if goes_on(record, store)}
        rows = [self._row(record, labels.get(record.id, NO_LABELS), alive=record.id in written) for record in records]
        return run_deletion(rows, written)

    def delete(self, run: str) -> int:
        """Delete a recording, rows and folder; returns the bytes freed. Raises RefusedForSafety while it is written.

        In a database only the rows are deleted; the files stay on the machine that recorded it.
        """
        from neuron_top.store.retention import delete

        if is_recording(run_folder(self._settings, run)):
            raise RefusedForSafety(f"recording {run} is still being written; delete it when its job has ended")
        with self._kept.open(read_only=False) as store:
            if self._kept.address:
                freed = _forget(store, run)
            else:
                freed = delete(store, self._settings.state_path, run).freed_bytes
        self._labels.forget(run)
        AlertService(self._settings).forget(run)
        return freed

    def label(
        self,
        name: str,
        *,
        new_name: str | None = None,
        starred: bool | None = None,
        note: str | None = None,
        add_tags: Iterable[str] = (),
        remove_tags: Iterable[str] = (),
    ) -> RunRow:
        """Name, star, annotate or tag a recording; None leaves a label as it is, "" removes it. Returns its row.

        Raises NothingToShow, StoreUnusable, UsageError for a label that is too long, RefusedForSafety.
        """
        with self._store() as store:
            record = find_labeled(store, name, self._settings.state_path)
            alive = goes_on(record, store)
        gone, added = set(remove_tags), tuple(add_tags)

        def change(labels: RunLabels) -> RunLabels:
            return RunLabels(
                name=labels.name if new_name is None else new_name,
                tags=tuple(tag for tag in (*labels.tags, *added) if tag not in gone),
                starred=labels.starred if starred is None else starred,
                note=labels.note if note is None else note,
            )

        return self._row(record, self._labels.change(record.id, change), alive=alive)

    def _row(self, record: RunRecord, labels: RunLabels, *, alive: bool, silent: float = 0.0) -> RunRow:
        return run_row(
            record,
            time.time(),
            recorder_alive=alive,
            silent_seconds=silent,
            labels=labels,
            file_bytes=self._file_bytes(record),
        )

    def _file_bytes(self, record: RunRecord) -> int:
        """Bytes of a recording's files; for a database, the files are on the machine that made the recording."""
        from neuron_top.store.retention import folder_bytes

        here = not self._kept.address and is_folder_name(record.id)
        return folder_bytes(self._settings.state_path, record.id) if here else 0

    def overlay(self, names: Iterable[str]) -> tuple[OverlaidRun, ...]:
        """The curves of several recordings, in the given order. Raises NothingToShow, StoreUnusable."""
        return tuple(self._curves(name) for name in dict.fromkeys(names))

    def _curves(self, name: str) -> OverlaidRun:
        run = self.load(name)
        return overlaid_run(run.job.run, run_name(run.job.name, run.job.command, run.job.run), run)

    def replay(self, name: str, *, speed: float = 1.0) -> ReplayFeed:
        """A recording as a feed. Raises NothingToShow, StoreUnusable."""
        return self._replay(self.find(name), speed=speed)

    def _replay(self, record: RunRecord, *, speed: float) -> ReplayFeed:
        from neuron_top.ingest.replay import ReplayFeed

        name = self._labels.known().get(record.id, NO_LABELS).name
        return ReplayFeed(self._kept, record.id, name=name, speed=speed, history_seconds=self._settings.history_seconds)

    def open(self, run: str) -> Feed:
        """A recording by its id as a feed: followed while it is made, here or on the nodes of a fleet, else paused at
        its end.

        Raises NothingToShow, StoreUnusable.
        """
        if is_folder_name(run) and is_recording(run_folder(self._settings, run)):
            from neuron_top.ingest.follow import FollowedFeed

            return FollowedFeed(self._settings, run)
        with self._store() as store:
            record = _of_id(store, run)
            is_of_fleet = bool(self._kept.address) and goes_on(record, store)
        if is_of_fleet:
            from neuron_top.ingest.fleet_job_feed import job_feed

            return job_feed(self._settings, record.id)
        feed = self._replay(record, speed=1.0)
        feed.clock.pause()
        feed.clock.seek(feed.clock.end)
        return feed

    def _store(self, name: str = LAST) -> Store:
        """The store in which to look for this name. Raises NothingToShow, StoreUnusable."""
        if not self._kept.exists:
            raise nothing_recorded(self._kept, name)
        return self._kept.open()


def _of_id(store: Store, run: str) -> RunRecord:
    record = store.run(run)
    if record is None or record.id != run:
        raise NothingToShow(f"no recording {run!r}; `neurontop runs` lists the recordings")
    return record


def _forget(store: Store, run: str) -> int:
    record = find_recording(store, run)
    if goes_on(record, store):
        raise RefusedForSafety(f"recording {run} is still being written; delete it when its job has ended")
    store.forget(record.id)
    return record.bytes


def first_local_root(named: Iterable[str]) -> str | None:
    """The first of these roots that is a folder of this machine, as far as this user may know."""
    return next((root for root in named if is_folder(root)), None)
