"""Computes what becomes free as a plan's entries go, in order: a file with several names is freed with the last one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from neuron_top.cache.model.entry import Entry


class Going(NamedTuple):
    """Bytes that leave a cache with an entry, or with the files of it that are taken."""

    frees: int
    """Free once the trash is purged."""
    stays: int = 0
    """Not free even then, because the files have names outside the cache."""
    links: int = 0
    """Names that go without freeing their inode."""


NOTHING = Going(0)


class FreedBytes:
    """Keeps track of the files' names as entries of one cache go. `trashed`: inode → names in its trash."""

    def __init__(self, everything: Iterable[Entry], trashed: Mapping[int, int]) -> None:
        self._names: Counter[int] = Counter()
        """Inode → names in the cache that no step has taken yet."""
        self._outside: dict[int, int] = {}
        """Inode → names outside the cache and its trash."""
        for entry in everything:
            for link in entry.links:
                self._names[link.inode] += link.here
                self._outside[link.inode] = link.names - trashed.get(link.inode, 0)
        for inode, count in self._names.items():
            self._outside[inode] -= count

    def preview(self, entry: Entry, *, keep_graph: bool = False) -> Going:
        """What would go with `entry` now, after the entries that were taken before it."""
        frees = entry.allocated - (entry.kept if keep_graph else 0)
        stays = links = 0
        for link in entry.links:
            if keep_graph and link.kept:
                continue
            is_shared, is_outside = self._names[link.inode] > link.here, self._outside[link.inode] > 0
            if is_shared or is_outside:
                frees -= link.allocated
                stays += 0 if is_shared else link.allocated
            links += link.here if is_shared or is_outside else link.here - 1
        return Going(max(0, frees), stays, links)

    def take(self, entry: Entry, *, keep_graph: bool = False) -> Going:
        """As `preview`; the entry then counts as taken."""
        going = self.preview(entry, keep_graph=keep_graph)
        for link in entry.links:
            if not (keep_graph and link.kept):
                self._names[link.inode] -= link.here
        return going
