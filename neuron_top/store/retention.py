"""Deletes recordings, rows and folders, if there are too many or they are too big; the oldest finished ones first.

This module deletes, so it is narrow: only a folder directly in `<state folder>/runs` that has the recording's id as its
name, never a link, never a recording that is still being made.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import psutil

from neuron_top.cache.filesystem import mounted_below
from neuron_top.cache.tree import measure
from neuron_top.errors import RefusedForSafety
from neuron_top.folders import FOLDER_FLAGS, remove_folders
from neuron_top.identity import node_name
from neuron_top.store.protocol import Store
from neuron_top.store.records import RunRecord

RUNS_FOLDER = "runs"
FOREIGN_SECONDS = 86400.0
"""Seconds for which a recording of another host counts as alive without a sign of it."""
CLOCK_SECONDS = 60.0
"""By how much a recorder may seem to have begun after its recording last grew, as the clock was set forward."""


class Dropped(msgspec.Struct, frozen=True, kw_only=True):
    """A recording that was deleted, and the bytes that its rows and its folder took."""

    id: str
    freed_bytes: int


def recorder_alive(record: RunRecord) -> bool:
    """Whether the recording is still being written: it is not finished, and its process exists.

    A process of another host cannot be looked up; its recording counts as alive if it was changed lately.
    """
    if not record.open:
        return False
    if record.node and record.node != node_name().value:
        return time.time() - record.touched < FOREIGN_SECONDS
    return record.pid is not None and psutil.pid_exists(record.pid) and _started_before(record.pid, record.touched)


def _started_before(pid: int, touched: float) -> bool:
    """Whether a process began before a recording last grew: a later one only has the id of the recorder, which died."""
    try:
        return psutil.Process(pid).create_time() < touched + CLOCK_SECONDS
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True


def folder_of(state: Path, run: str) -> Path:
    """The folder of a recording's files. Raises RefusedForSafety for an id that would lead out of the state folder."""
    if not run or run in (".", "..") or "/" in run or "\0" in run:
        raise RefusedForSafety(f"{run!r} is not the name of a recording")
    return state / RUNS_FOLDER / run


def folder_bytes(state: Path, run: str) -> int:
    """Allocated bytes of a recording's files; files that vanish meanwhile count as 0."""
    return measure(str(folder_of(state, run))).allocated


def surplus(
    records: Iterable[RunRecord],
    sizes: Callable[[RunRecord], int],
    keep_runs: int,
    keep_bytes: int,
    alive: Callable[[RunRecord], bool] = recorder_alive,
) -> list[RunRecord]:
    """Which recordings exceed the limits, oldest first. Pure, apart from `sizes`.

    `sizes` gives the bytes of a recording. Running ones count against the limits but are never deleted, nor is the
    newest. The others go strictly by age: no old recording outlives a younger one because it is smaller.
    """
    newest_first = sorted(records, key=lambda record: (record.started or record.touched, record.id), reverse=True)
    staying = {record.id for record in newest_first if alive(record)} | {record.id for record in newest_first[:1]}
    count = len(staying)
    total = sum(sizes(record) for record in newest_first if record.id in staying)
    candidates = [record for record in newest_first if record.id not in staying]
    for index, record in enumerate(candidates):
        count, total = count + 1, total + sizes(record)
        if count > keep_runs or total > keep_bytes:
            return candidates[index:][::-1]
    return []


def enforce(
    store: Store, state: Path, keep_runs: int, keep_bytes: int, is_recording: Callable[[Path], bool]
) -> list[Dropped]:
    """Delete recordings that exceed the limits, except the newest; returns the deleted ones.

    `is_recording`: whether a process records into this folder now; one in another container has no process id here.
    If one cannot be deleted, the others still are; RefusedForSafety at the end then says which and why.
    """
    going = surplus(
        store.runs(),
        lambda record: record.bytes + folder_bytes(state, record.id),
        keep_runs,
        keep_bytes,
        lambda record: recorder_alive(record) or is_recording(folder_of(state, record.id)),
    )
    dropped, problems = [], []
    for record in going:
        try:
            dropped.append(delete(store, state, record.id))
        except RefusedForSafety as problem:
            problems.append(str(problem))
    if problems:
        raise RefusedForSafety("; ".join(problems))
    return dropped


def delete(store: Store, state: Path, run: str) -> Dropped:
    """Delete one recording, rows and folder.

    Raises RefusedForSafety while it runs, and when its folder is a link or cannot be removed.
    """
    record = next((one for one in store.runs() if one.id == run), None)
    if record is not None and recorder_alive(record):
        raise RefusedForSafety(f"recording {run} is still being written by process {record.pid}")
    folder = folder_of(state, run)
    if folder.is_symlink():
        raise RefusedForSafety(f"{folder} is a link; remove it by hand if it is not needed")
    size = folder_bytes(state, run) + (record.bytes if record is not None else 0)
    mount = mounted_below(str(folder))
    if mount:
        raise RefusedForSafety(f"{mount} is mounted in recording {run}: unmount it, then delete the recording")
    store.forget(run)  # rows first: a folder without rows is swept later, rows without a folder would mislead
    try:
        _remove(folder)
    except OSError as problem:
        raise RefusedForSafety(
            f"recording {run} is deleted from the store, but {folder} cannot be removed ({problem.strerror}: "
            f"{problem.filename}): remove it by hand"
        ) from None
    return Dropped(id=run, freed_bytes=size)


def _remove(folder: Path) -> None:
    """Remove a folder of any depth; one that does not exist counts as removed. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), contextlib.ExitStack() as stack:
        above = os.open(folder.parent, FOLDER_FLAGS)
        stack.callback(os.close, above)
        remove_folders(above, [folder.name])
