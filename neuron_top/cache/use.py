"""Which processes use a cache now, and which entries they may need."""

from __future__ import annotations

import os

import msgspec

DAY = 86400.0
"""Seconds. With `relatime`, a file's access time is updated at most once a day, so its last use may be a day later."""
AHEAD_SECONDS = DAY
"""Clocks of hosts differ, and time zones are mistaken; only a time that is further ahead than this means nothing."""


def is_ahead(at: float, now: float) -> bool:
    """Whether a time lies so far ahead of the clock that it does not tell when something happened."""
    return at > now + AHEAD_SECONDS


def last_read(facts: os.stat_result, now: float) -> float | None:
    """When a file was last read after it was written, by its access time; None if that does not tell."""
    if is_ahead(facts.st_atime, now):
        return None
    # With `relatime`, each read sets the access time of a file whose modification time lies ahead.
    return facts.st_atime if facts.st_atime > facts.st_mtime or is_ahead(facts.st_mtime, now) else None


class CacheUse(msgspec.Struct, frozen=True, kw_only=True):
    """At least one process uses a cache. Times are seconds since the epoch."""

    why: str
    """How that is known, in words."""
    certain: bool = True
    """False if a use is only possible: an environment names the cache, or a file in it changed recently."""
    since: float | None = None
    """When the first of these processes started; None if unknown."""
    held: frozenset[str] = frozenset()
    """Entries (`compiler/module`) with a file that one of the processes has open or mapped."""
    named: frozenset[str] = frozenset()
    """Modules that one of the processes compiles, by its command."""

    def concerns(self, path: str, module: str, last_use: float | None) -> bool:
        """Whether a process may need an entry: it holds or names it, or may have used it since the first one started.

        `last_use`: the entry's; None if it is not known.
        """
        if path in self.held or module in self.named or self.since is None or last_use is None:
            return True
        return last_use + DAY >= self.since
