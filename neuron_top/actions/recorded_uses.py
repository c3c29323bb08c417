"""Reads the recordings for what they say about modules: last uses, compile times, and which modules a run used.

Hits lie in the events of recordings; reading them all each time would take seconds. So the last use per module is kept
beside the store, with how far each recording was read, and only what was recorded since is read again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.errors import NothingToShow
from neuron_top.events import AnyEvent, ArtifactLoaded, CacheHit, CompileCompleted, CompileEnded, GraphExtracted
from neuron_top.store.sqlite import FILE_NAME, SqliteStore

USES = "cache-uses.json"


class Uses(msgspec.Struct, kw_only=True):
    """The kept file. `read` maps a recording to the number of the last batch that was read."""

    read: dict[str, int] = {}
    used: dict[str, float] = {}
    """Module → last use, seconds since the epoch."""


_uses = msgspec.json.Decoder(Uses)  # made once, in one thread: see `cache/scan/index.py`


def read(state: Path) -> tuple[dict[str, float], dict[str, float]]:
    """(module → last use, module → seconds of its newest measured compile). Raises StoreUnusable."""
    with SqliteStore(state / FILE_NAME, read_only=True) as store:
        compiled: dict[str, float] = {}
        for record in store.compile_history():
            compiled.setdefault(record.module, record.seconds)
        return _brought_up(store, state / USES).used, compiled


def modules_of(state: Path, run: str) -> tuple[str, ...]:
    """Every module that a recorded run used, compiled or, as a trial run, collected.

    Raises NothingToShow for a run that is not there.
    """
    with SqliteStore(state / FILE_NAME, read_only=True) as store:
        record = store.run(run)
        if record is None:
            raise NothingToShow(f"no recording {run!r}; `neurontop runs` lists them")
        modules = {module for event in store.replay(record.id) if (module := _used(event) or _collected(event))}
    return tuple(sorted(modules))


def _brought_up(store: SqliteStore, path: Path) -> Uses:
    uses = _kept(path)
    there = {record.id: record.events for record in store.runs()}
    before = dict(uses.read)
    uses.read = {run: number for run, number in uses.read.items() if run in there}
    for run in there:
        for number, events in store.batches(run, uses.read.get(run, -1)):
            _note(uses.used, events)
            uses.read[run] = number
    if uses.read != before:
        _keep(path, uses)
    return uses


def _note(used: dict[str, float], events: Iterable[AnyEvent]) -> None:
    for event in events:
        module, at = _used(event), event.time
        if module and at is not None and at > used.get(module, 0.0):
            used[module] = at


def _used(event: AnyEvent) -> str | None:
    return event.module if isinstance(event, CacheHit | CompileCompleted | ArtifactLoaded | CompileEnded) else None


def _collected(event: AnyEvent) -> str | None:
    return event.module if isinstance(event, GraphExtracted) else None


def _kept(path: Path) -> Uses:
    try:
        return _uses.decode(path.read_bytes())
    except (OSError, *MALFORMED):
        return Uses()


def _keep(path: Path, uses: Uses) -> None:
    """A state folder that cannot be written costs the time of reading again, nothing else."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    with contextlib.suppress(OSError):
        temporary.write_bytes(msgspec.json.encode(uses))
        temporary.replace(path)
