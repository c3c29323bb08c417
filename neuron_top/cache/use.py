"""Which processes use a cache now, and which entries they may need."""

from __future__ import annotations

import msgspec

DAY = 86400.0
"""A mount with `relatime` writes a file's access time at most once a day: the last use may be so much later."""


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
