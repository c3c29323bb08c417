"""Entries that are dated far ahead of the clock: since when each was seen so, kept in a file of the state folder.

A clock that was wrong leaves such times behind. They say nothing of when a file was written or read, and no entry would
ever be old by them. What is known is that an entry lies there unchanged since it was first seen: its age counts from
then. Where the state folder keeps nothing it counts from now, which takes nothing too early.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from neuron_top.cache.model.entry import Entry
from neuron_top.cache.use import is_ahead
from neuron_top.errors import FileMalformed, RefusedForSafety
from neuron_top.store.state_file import StateFile

FILE_NAME = "dated-ahead.json"


class _Seen(msgspec.Struct, frozen=True, array_like=True):
    times: str
    """All times of the entry: another one, and it was changed or read."""
    since: float


_Known = dict[str, dict[str, _Seen]]
"""Root → path of an entry → how it was seen first."""
_decoder = msgspec.json.Decoder(_Known)  # made once, in one thread: see `cache/scan/index.py`


def is_dated_ahead(entry: Entry, now: float) -> bool:
    """Whether one of its times that plans go by lies so far ahead that it says nothing."""
    newest = max(entry.changed_at, entry.read_at or 0.0, entry.compiled_at or 0.0)
    return is_ahead(newest, now)


def first_seen(state: Path, root: str, entries: Iterable[Entry], now: float) -> dict[str, float]:
    """By path: since when the entries that are dated ahead lie there as they do. What is new is written down."""
    ahead = {entry.path: entry for entry in entries if is_dated_ahead(entry, now)}
    file = StateFile(state / FILE_NAME, _decoder, {}, "entries that are dated ahead of the clock")
    if not ahead and not os.path.lexists(file.path):
        return {}

    def seen(before: _Known) -> _Known:
        known = before.get(root, {})
        after = {path: _seen(entry, known.get(path), now) for path, entry in ahead.items()}
        others = {place: entries for place, entries in before.items() if place != root}
        return {**others, root: after} if after else others

    found = seen(file.known())
    if found != file.known():
        with contextlib.suppress(FileMalformed, RefusedForSafety):
            found = file.change(seen)
    return {path: one.since for path, one in found.get(root, {}).items()}


def _seen(entry: Entry, before: _Seen | None, now: float) -> _Seen:
    times = f"{entry.folder_mtime_ns} {entry.artifact_mtime_ns} {entry.changed_at!r} {entry.read_at!r}"
    return before if before is not None and before.times == times and before.since <= now else _Seen(times, now)
