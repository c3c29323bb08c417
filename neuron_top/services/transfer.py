"""Copies recordings between this machine's file and a database: `neurontop runs push` and `pull`."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from neuron_top import private_files
from neuron_top.errors import RefusedForSafety
from neuron_top.events import RunStarted
from neuron_top.ingest.recordings import find_labeled
from neuron_top.services.fleet_database import check_named
from neuron_top.settings import Settings
from neuron_top.store.location import StoreLocation, location_of
from neuron_top.store.protocol import Store
from neuron_top.store.records import RunRecord

_LOCK = "transfer.lock"


class Copied(msgspec.Struct, frozen=True, kw_only=True):
    """A recording that was copied."""

    id: str
    events: int
    """How many events the copy has now."""
    new: int
    """How many of them are new."""


def push(settings: Settings, names: Sequence[str]) -> list[Copied]:
    """Copy recordings of this machine into the database of the settings. Raises NothingToShow, StoreUnusable."""
    here, there = _places(settings)
    return _copy(here, there, names, here)


def pull(settings: Settings, names: Sequence[str]) -> list[Copied]:
    """Copy recordings of the database into this machine's file. Raises NothingToShow, StoreUnusable."""
    here, there = _places(settings)
    return _copy(there, here, names, here)


def _places(settings: Settings) -> tuple[StoreLocation, StoreLocation]:
    check_named(settings)
    there = location_of(settings)
    return StoreLocation(there.path), there


@contextmanager
def _alone(here: StoreLocation) -> Iterator[None]:
    """Hold a lock while recordings are copied: two copies at a time would both add events. Raises RefusedForSafety."""
    folder = here.path.parent
    private_files.make_folder(folder)
    number = private_files.open_file(folder / _LOCK, os.O_RDWR)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RefusedForSafety(
                f"another push or pull of the recordings in {folder} is running; try again"
            ) from None
        yield
    finally:
        os.close(number)


def _copy(source: StoreLocation, target: StoreLocation, names: Sequence[str], here: StoreLocation) -> list[Copied]:
    """Copy recordings by their names; `here`: this machine's file, which is one of the two."""
    with _alone(here), source.open() as read, target.open(read_only=False) as written:
        records = [find_labeled(read, name, here.path.parent) for name in names]
        # What agents ship can arrive in front of what was copied before; a job of theirs has no node of its own.
        return [_copy_one(read, written, record, anew=target == here and not record.node) for record in records]


def _copy_one(source: Store, target: Store, record: RunRecord, *, anew: bool) -> Copied:
    """Copy one recording, or what was added to it since the last copy; its log stays where it is.

    `anew`: an earlier copy is replaced. Raises RefusedForSafety if another recording has its id there.
    """
    earlier = next((run for run in target.runs() if run.id == record.id), None)
    if earlier is not None and (earlier.node, earlier.started) != (record.node, record.started):
        raise RefusedForSafety(f"{target.place} has another recording {record.id}, of node {earlier.node or 'unknown'}")
    if earlier is not None and anew:
        target.forget(record.id)
    if earlier is None or anew:
        target.begin(_start_of(record), now=record.touched)
    before = earlier.events if earlier is not None else 0
    kept = 0 if anew else before
    total = 0
    for _number, events in source.batches(record.id):
        fresh = events[max(0, kept - total) :]
        total += len(events)
        if fresh:
            target.append(record.id, fresh, record.touched)
    if record.finished is not None:
        target.finish(record.id, record.exit_code, record.finished, record.summary.encode())
    target.remember_compiles(one for one in source.compile_history() if one.run == record.id)
    return Copied(id=record.id, events=max(total, kept), new=max(total - before, 0))


def _start_of(record: RunRecord) -> RunStarted:
    return RunStarted(
        run=record.id,
        node=record.node,
        name=record.name,
        command=record.command,
        directory=record.directory,
        at=record.started,
    )
