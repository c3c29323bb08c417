"""Lists the caches of this machine and those that were named as one table of entries, folders and buckets alike.

Beside it the caches that are only shown, PyTorch's own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from neuron_top.cache import inductor, roots
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.roots import Root
from neuron_top.errors import NeuronTopError
from neuron_top.services.caches import CacheService
from neuron_top.settings import Settings
from neuron_top.views.entries import EntryRow, EntryTable, entry_row
from neuron_top.views.other_caches import OtherCache, other_cache

MOST_NAMED = 50
AGES_SECONDS = 60.0
"""Seconds for which the rows of an unchanged cache are reused: only their ages grow."""
BUCKET_SECONDS = 30.0
BUCKET_PATIENCE = 30.0
"""A bucket is listed again only after this many times the duration of its last listing, as that costs requests."""


class _Listed(NamedTuple):
    entries: tuple[Entry, ...]
    rows: tuple[EntryRow, ...]
    at: float
    """Seconds since the epoch."""


class CacheListing:
    """Lists caches and remembers the result. Threads take turns; slow, so not for an event loop."""

    def __init__(
        self,
        settings: Settings,
        named: Sequence[str] | None = (),
        caches: CacheService | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`named`: caches that the user named for this program: then these alone are listed, and those that its job
        uses; None: a recording of another machine is shown, so no cache of this one is listed.
        """
        self._lists, self._named = named is not None, tuple(named or ())
        self._only_named = bool(named)
        self._caches, self._clock = caches or CacheService(settings), clock
        self._others = OtherCaches()
        self._turn = threading.Lock()
        self._listed: dict[str, _Listed] = {}
        self._buckets_due: dict[str, float] = {}
        self._problems: dict[str, str] = {}

    def also(self, named: Iterable[str]) -> bool:
        """List the caches that a job uses from now on, too, up to a limit; returns whether one was added."""
        fresh = [root for root in dict.fromkeys(named) if root not in self._named]
        added = fresh[: max(0, MOST_NAMED - len(self._named))]
        self._named = (*self._named, *added)
        return bool(added)

    def entries(self, *, refresh: bool = False) -> EntryTable:
        """All entries; `refresh` also lists buckets that were listed a moment ago."""
        with self._turn:
            return self._entries(refresh=refresh)

    def _entries(self, *, refresh: bool) -> EntryTable:
        if not self._lists:
            return EntryTable(roots=(), rows=())
        found = roots.of_command_line(self._named) if self._only_named else roots.find(named=self._named)
        found = [root for root in found if root.kind is roots.CacheKind.NEURON]
        listed = [root for root in found if root.exists or root.remote]
        for root in listed:
            if not root.remote:
                self._list(root.path)
            elif refresh or self._clock() >= self._buckets_due.get(root.path, float("-inf")):
                began = self._clock()
                self._list(root.path)
                ended = self._clock()
                self._buckets_due[root.path] = ended + max(BUCKET_SECONDS, BUCKET_PATIENCE * (ended - began))
        paths = [root.path for root in listed]
        return EntryTable(
            roots=tuple((root.path, root.origin, root.path in self._listed) for root in found),
            rows=tuple(row for path in paths for row in (self._listed[path].rows if path in self._listed else ())),
            others=() if self._only_named else self._others.look(),
            problems=tuple(self._problems[path] for path in paths if path in self._problems),
        )

    def _list(self, path: str) -> None:
        try:
            snapshot = self._caches.snapshot(path)
        except NeuronTopError as problem:
            self._listed.pop(path, None)
            self._problems[path] = f"{path} cannot be listed: {problem}"
            return
        self._problems.pop(path, None)
        before = self._listed.get(path)
        unchanged = before is not None and before.entries == snapshot.entries
        if before is None or not unchanged or snapshot.taken_at - before.at > AGES_SECONDS:
            past = self._caches.usage_history(path)
            rows = tuple(entry_row(path, entry, snapshot.taken_at, past) for entry in snapshot.entries)
            self._listed[path] = _Listed(snapshot.entries, rows, snapshot.taken_at)


LEAST_SECONDS = 30.0
PATIENCE = 30.0
"""A scan is repeated only after this many times its duration, so it takes at most a thirtieth of a core."""


class OtherCaches:
    """Scans other caches and remembers the result. One thread at a time; slow, so not for an event loop."""

    def __init__(
        self, find: Callable[[], Iterable[Root]] = roots.find, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._find, self._clock = find, clock
        self._seen: tuple[OtherCache, ...] = ()
        self._next = float("-inf")

    def look(self) -> tuple[OtherCache, ...]:
        """The existing caches of Inductor, as they are now or were a moment ago."""
        began = self._clock()
        if began >= self._next:
            there = [root for root in self._find() if root.kind is roots.CacheKind.INDUCTOR and root.exists]
            self._seen = tuple(other_cache(root.path, root.origin, inductor.entries(root.path)) for root in there)
            ended = self._clock()
            self._next = ended + max(LEAST_SECONDS, PATIENCE * (ended - began))
        return self._seen
