"""Reads the recordings for what they say about modules: last uses, compile times, and which modules a run used.

Hits are events in recordings, and reading them all each time would take seconds. So the last use of each module is kept
in a file beside the store, with how far each recording was read, and only what was recorded since then is read.

Copies of a module may lie in several caches. A hit names the cache that it came from. The end of a compile and the load
of an artifact name none: they count for the cache that the same recording names for the module, if it names one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from neuron_top import private_files
from neuron_top.decoders import MALFORMED
from neuron_top.errors import NothingToShow, RefusedForSafety
from neuron_top.events import (
    AnyEvent,
    ArtifactLoaded,
    CacheHit,
    CompileCompleted,
    CompileEnded,
    EntryChanged,
    GraphExtracted,
)
from neuron_top.plain_files import is_folder, read_plain
from neuron_top.store.errors import StoreCorrupt
from neuron_top.store.sqlite import FILE_NAME, SqliteStore

USES = "cache-uses.json"


class Uses(msgspec.Struct, kw_only=True):
    """What the file beside the store holds. `read`: recording → number of the last batch that was read."""

    read: dict[str, int] = {}
    used: dict[str, float] = {}
    """Module → last use in an unknown cache, seconds since the epoch."""
    used_in: dict[str, dict[str, float]] = {}
    """Root of a cache → module → last use there."""
    roots: dict[str, dict[str, str]] = {}
    """Recording that is not finished → module → root of the cache that it was last seen in."""


_uses = msgspec.json.Decoder(Uses)  # made once, in one thread: see `cache/scan/index.py`


def read(state: Path, root: str) -> tuple[dict[str, float], dict[str, float]]:
    """(module → last use in the cache at `root`, module → seconds of its newest measured compile).

    A use counts for every cache if its own is unknown or is no folder of this machine: a job in a container sees the
    same folder under another path. Raises StoreUnusable.
    """
    with SqliteStore(state / FILE_NAME, read_only=True) as store:
        compiled: dict[str, float] = {}
        for record in store.compile_history():
            compiled.setdefault(record.module, record.seconds)
        uses = _updated_uses(store, state / USES)
    used = dict(uses.used)
    for elsewhere, modules in uses.used_in.items():
        if _may_be(elsewhere, root):
            for module, at in modules.items():
                _note(used, module, at)
    return used, compiled


def _may_be(named: str, root: str) -> bool:
    """Whether a cache that a recording names may be the one at `root`."""
    if "://" in named:
        return named.rstrip("/") == root.rstrip("/")
    try:
        return os.path.realpath(named) == os.path.realpath(root) or not is_folder(named)
    except ValueError:  # a log may name anything: no path holds a zero byte
        return True


def modules_of(state: Path, run: str) -> tuple[str, ...]:
    """Every module that a recorded run used, compiled or, as a trial run, extracted.

    Raises NothingToShow for an unknown run, StoreUnusable.
    """
    with SqliteStore(state / FILE_NAME, read_only=True) as store:
        record = store.run(run)
        if record is None:
            raise NothingToShow(f"no recording {run!r}; `neurontop runs` lists them")
        modules = {module for event in store.replay(record.id) if (module := _used(event) or _collected(event))}
    return tuple(sorted(modules))


def _updated_uses(store: SqliteStore, path: Path) -> Uses:
    """The stored uses, with what was recorded since they were stored; stored again if there was anything."""
    uses = _load(path)
    runs = {record.id: record for record in store.runs()}
    before = dict(uses.read)
    uses.read = {run: number for run, number in uses.read.items() if run in runs}
    for run, record in runs.items():
        batches = store.batches(run, uses.read.get(run, -1))
        roots = uses.roots.pop(run, {})
        unplaced: dict[str, float] = {}
        with contextlib.suppress(StoreCorrupt):  # what else was recorded still counts
            for number, events in batches:
                _note_events(uses, roots, unplaced, events)
                uses.read[run] = number
        for module, at in unplaced.items():
            _note(uses.used_in.setdefault(roots[module], {}) if module in roots else uses.used, module, at)
        if roots and record.finished is None:
            uses.roots[run] = roots
    uses.roots = {run: roots for run, roots in uses.roots.items() if run in runs}
    if uses.read != before:
        _store(path, uses)
    return uses


def _note_events(uses: Uses, roots: dict[str, str], unplaced: dict[str, float], events: Iterable[AnyEvent]) -> None:
    for event in events:
        root, module = getattr(event, "root", None), getattr(event, "module", None)
        if isinstance(event, EntryChanged):  # perhaps another job's work: this job's own lookups take precedence
            if event.state is not None:
                roots.setdefault(event.module, event.root)
        elif root and module:
            roots[module] = root
        used, at = _used(event), event.time
        if used and at is not None:
            _note(uses.used_in.setdefault(root, {}) if root else unplaced, used, at)


def _note(used: dict[str, float], module: str, at: float) -> None:
    if at > used.get(module, 0.0):
        used[module] = at


def _used(event: AnyEvent) -> str | None:
    return event.module if isinstance(event, CacheHit | CompileCompleted | ArtifactLoaded | CompileEnded) else None


def _collected(event: AnyEvent) -> str | None:
    return event.module if isinstance(event, GraphExtracted) else None


def _load(path: Path) -> Uses:
    try:
        return _uses.decode(read_plain(path))
    except (OSError, *MALFORMED):
        return Uses()


def _store(path: Path, uses: Uses) -> None:
    """Store the file. Where that fails, the recordings are read again next time."""
    with contextlib.suppress(OSError, RefusedForSafety):
        private_files.replace_file(path, msgspec.json.encode(uses))
