"""Remembers in a file of the state folder when each entry that is dated far ahead of the clock was first seen.

A wrong clock leaves such times behind. They do not tell when a file was written or read, and judged by them an entry
would never be old. All that is known is that the entry has not changed since it was first seen, so its age counts from
then. If the file cannot be kept, the age counts from now, so that nothing is evicted too early.
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
    """All times of the entry; if one of them differs, the entry was changed or read."""
    since: float


_Known = dict[str, dict[str, _Seen]]
"""Root → path of an entry → its times and when they were first seen."""
_decoder = msgspec.json.Decoder(_Known)  # made once, in one thread: see `cache/scan/index.py`


def is_dated_ahead(entry: Entry, now: float) -> bool:
    """Whether a time that plans use lies so far ahead of the clock that it means nothing."""
    newest = max(entry.changed_at, entry.read_at or 0.0, entry.compiled_at or 0.0)
    return is_ahead(newest, now)


def first_seen(state: Path, root: str, entries: Iterable[Entry], now: float) -> dict[str, float]:
    """Path → when the entry was first seen as it is now, for entries that are dated ahead. Stores what is new."""
    ahead = {entry.path: entry for entry in entries if is_dated_ahead(entry, now)}
    file = StateFile(state / FILE_NAME, _decoder, {}, "entries that are dated ahead of the clock")
    if not ahead and not os.path.lexists(file.path):
        return {}

    def updated(before: _Known) -> _Known:
        known = before.get(root, {})
        after = {path: _seen(entry, known.get(path), now) for path, entry in ahead.items()}
        others = {other: seen for other, seen in before.items() if other != root}
        return {**others, root: after} if after else others

    stored = file.known()
    result = updated(stored)
    if result != stored:
        with contextlib.suppress(FileMalformed, RefusedForSafety):
            result = file.change(updated)
    return {path: seen.since for path, seen in result.get(root, {}).items()}


def _seen(entry: Entry, before: _Seen | None, now: float) -> _Seen:
    times = f"{entry.folder_mtime_ns} {entry.artifact_mtime_ns} {entry.changed_at!r} {entry.read_at!r}"
    return before if before is not None and before.times == times and before.since <= now else _Seen(times, now)
