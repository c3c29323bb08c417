"""What recordings say about modules beside an entry's own files: the last use by a watched job, what a compile took."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from neuron_top.cache.model.entry import Entry
from neuron_top.cache.use import is_ahead

_STORE_NAME = "neurontop.db"
"""As `store.sqlite.FILE_NAME`: loading that module just to look for the file would cost time."""


class UsageHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What recordings say about modules, beside an entry's own files."""

    used: Mapping[str, float] = {}
    """Module → last use in the cache asked about, seconds since the epoch."""
    compiled: Mapping[str, float] = {}
    """Module → seconds of its newest measured compile."""

    @classmethod
    def load(cls, state: Path, root: str) -> UsageHistory:
        """What the recordings in `state` say about the cache at `root`; nothing if there are none or they cannot be
        read."""
        if not (state / _STORE_NAME).exists():
            return NOTHING_RECORDED
        from neuron_top.actions import recorded_uses  # a store is opened only where there is one and somebody asks
        from neuron_top.store.errors import StoreUnusable

        try:
            used, compiled = recorded_uses.read(state, root)
        except StoreUnusable:
            return NOTHING_RECORDED
        now = time.time()
        return cls(used={module: at for module, at in used.items() if not is_ahead(at, now)}, compiled=compiled)

    def last_used(self, entry: Entry) -> float | None:
        """The later of the artifact's access time and the last recorded use. A time that lies far ahead of the clock
        does not count; None if none is left."""
        now = time.time()
        times = (entry.read_at, self.used.get(entry.module))
        return max((at for at in times if at is not None and not is_ahead(at, now)), default=None)

    def known_by(self, entry: Entry) -> str | None:
        """Where `last_used` is known from, in words."""
        at = self.last_used(entry)
        if at is None:
            return None
        return "access time" if at == entry.read_at else "a recorded run"

    def compile_seconds(self, entry: Entry) -> float | None:
        """Compile time by the entry's own statistics, else by a recording; None when nobody measured it."""
        return entry.compile_seconds if entry.compile_seconds is not None else self.compiled.get(entry.module)

    def added_to(self, entries: Iterable[Entry]) -> list[Entry]:
        """The entries, for sums: those whose own files report no compile time get the recorded one."""
        return [
            msgspec.structs.replace(entry, compile_seconds=seconds)
            if entry.compile_seconds is None and (seconds := self.compiled.get(entry.module)) is not None
            else entry
            for entry in entries
        ]


NOTHING_RECORDED = UsageHistory()
