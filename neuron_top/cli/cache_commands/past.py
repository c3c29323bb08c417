"""What recordings add to an entry's own files: its last use by a job that was watched, and what its compile took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from neuron_top.cache.model.entry import Entry

STORE_NAME = "neurontop.db"
"""As `store.sqlite` calls it, which is not loaded just to look for it."""


class UsageHistory(NamedTuple):
    """Module → last use (seconds since the epoch) and seconds of its newest measured compile."""

    used: Mapping[str, float] = {}
    compiled: Mapping[str, float] = {}

    def last_used(self, entry: Entry) -> float | None:
        """The newer of the artifact's access time and the last use in a recording; None when neither is known."""
        known = [at for at in (entry.read_at, self.used.get(entry.module)) if at is not None]
        return max(known, default=None)

    def known_by(self, entry: Entry) -> str | None:
        """What tells `last_used`."""
        at = self.last_used(entry)
        if at is None:
            return None
        return "access time" if at == entry.read_at else "a recorded run"

    def compile_seconds(self, entry: Entry) -> float | None:
        """Of the entry's own statistics, else of a recording; None when nobody measured it."""
        return entry.compile_seconds if entry.compile_seconds is not None else self.compiled.get(entry.module)

    def added_to(self, entries: Iterable[Entry]) -> list[Entry]:
        """The entries, with the recorded compile time of those whose own files tell none: what sums are made of."""
        return [
            msgspec.structs.replace(entry, compile_seconds=seconds)
            if entry.compile_seconds is None and (seconds := self.compiled.get(entry.module)) is not None
            else entry
            for entry in entries
        ]


NO_PAST = UsageHistory()
"""Nothing is recorded, or nobody asked."""


def recorded(state: Path) -> UsageHistory:
    """What the recordings in `state` know."""
    if not (state / STORE_NAME).exists():
        return NO_PAST
    from neuron_top.actions import (
        usage_history as history,  # a store is opened only where there is one and somebody asks
    )

    known = history.known(state)
    return UsageHistory(known.used, known.compiled)
