"""Which processes use a cache now, and which entries they may need."""

from __future__ import annotations

import os

import msgspec

DAY = 86400.0
"""A mount with `relatime` writes a file's access time at most once a day: the last use may be so much later."""
AHEAD_SECONDS = DAY
"""Clocks of hosts differ, and zones are mistaken: only a time that lies further ahead says nothing."""


def is_ahead(at: float, now: float) -> bool:
    """Whether a time lies so far ahead of the clock that it says nothing of when something happened."""
    return at > now + AHEAD_SECONDS


def last_read(facts: os.stat_result, now: float) -> float | None:
    """When a file was read after it was written, as its access time says; None where that says nothing of it."""
    if is_ahead(facts.st_atime, now):
        return None
    # A mount with `relatime` sets the access time at every read where the file is dated ahead of it.
    return facts.st_atime if facts.st_atime > facts.st_mtime or is_ahead(facts.st_mtime, now) else None


class CacheUse(msgspec.Struct, frozen=True, kw_only=True):
    """At least one process uses a cache. Times are seconds since the epoch."""

    why: str
    """How that is known, in words."""
    certain: bool = True
    """False where it only may be so: an environment names it, or a file below it is young."""
    since: float | None = None
    """When the first of them started; None where that cannot be known."""
    held: frozenset[str] = frozenset()
    """Entries (`compiler/module`) with a file that one of them has open or mapped."""
    named: frozenset[str] = frozenset()
    """Modules that one of them compiles, as its command shows."""

    def concerns(self, path: str, module: str, last_use: float | None) -> bool:
        """Whether one of them may need an entry: it holds or names it, or may have used it since it started.

        `last_use`: of the entry; None where it is not known.
        """
        if path in self.held or module in self.named or self.since is None or last_use is None:
            return True
        return last_use + DAY >= self.since
