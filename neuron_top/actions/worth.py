"""What an entry is worth keeping: the order in which candidates of an eviction go."""

from __future__ import annotations

import re
from collections import Counter

from neuron_top.actions.surroundings import DAY, Surroundings
from neuron_top.cache.entry import FAILURES, HITS, Entry, State, compiler_version

SUPERSEDED_DAYS = 30
"""An older compiler's entry that was unused for so long goes before newer ones."""
_LOG_PATH = re.compile(r"--logfile=[^\s\"]*")


class Worth:
    """Sort key of candidates: what may go first comes first. `everything` is the whole root, for comparison."""

    def __init__(self, everything: list[Entry], around: Surroundings) -> None:
        self.around = around
        versions = [compiler_version(entry.compiler) for entry in everything if not entry.local]
        self.newest = max(versions, default=())
        copies = Counter(self._without_log(entry) for entry in everything if entry.state in HITS)
        self.copied = {what for what, count in copies.items() if count > 1}

    @staticmethod
    def _without_log(entry: Entry) -> tuple[str, str, str]:
        flags = _LOG_PATH.sub("", entry.flags or entry.module)
        return entry.compiler, entry.module.partition("+")[0], flags

    def rank(self, entry: Entry) -> tuple[int, str]:
        """(order, why) of the classes in the published procedure."""
        if entry.state is State.EMPTY:
            return 0, "only leftovers"
        if entry.state not in HITS and entry.state not in FAILURES:
            return 1, f"{entry.state}: of no use to any client"
        if entry.state in FAILURES:
            return 2, "a cached failure, replayed to every rank"
        if self._without_log(entry) in self.copied:
            return 3, "the same graph under flags that differ only in a log path"
        idle = self.around.now - self.around.last_use(entry)[0]
        superseded = not entry.local and compiler_version(entry.compiler) < self.newest
        if superseded and idle > SUPERSEDED_DAYS * DAY:
            return 4, f"an older compiler's, unused for {idle / DAY:.0f} days"
        return 5, f"unused for {idle / DAY:.1f} days"

    def key(self, entry: Entry) -> tuple[int, float, str]:
        """Class first, then idle time over compile minutes, then the name."""
        idle = self.around.now - self.around.last_use(entry)[0]
        minutes = (self.around.rebuild(entry)[0] or 0.0) / 60
        return self.rank(entry)[0], -idle / (1 + minutes), entry.path
