"""A cache root as last seen: its entries, what else lies in it, and the sums."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import msgspec

from neuron_top.cache.filesystem import Filesystem
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.states import UNSETTLED, State

YOUNG_SECONDS = 900.0
"""Seconds. Entries that were written to within this time are read again at every refresh, but at most YOUNGEST."""
YOUNGEST = 64
"""Live compiles are few, while all entries of a cache that was just copied are young."""
LOCAL_TICK, SHARED_TICK = 0.1, 2.0
"""Seconds within which two writes may get the same time stamp, on local and on network file systems."""


class Folder(msgspec.Struct, frozen=True, array_like=True):
    """A folder that holds entries, usually those of one compiler version; `name` is its path below the root."""

    name: str
    inode: int
    mtime_ns: int


class Other(msgspec.Struct, frozen=True, array_like=True):
    """A member of a root that is neither an entry nor a compiler folder: the registry, `lock`, unknown names. It is
    counted, but never changed."""

    path: str
    allocated: int
    files: int
    mtime_ns: int


class EntryTally(msgspec.Struct, frozen=True):
    """How many entries, and what space they take. Bytes are disk blocks, each inode counted once over the whole sum."""

    entries: int = 0
    bytes: int = 0
    apparent_bytes: int = 0
    compile_seconds: float | None = None
    """Sum of the known compile times; None if none is known."""

    def __add__(self, other: EntryTally) -> EntryTally:
        seconds = [part for part in (self.compile_seconds, other.compile_seconds) if part is not None]
        return EntryTally(
            self.entries + other.entries,
            self.bytes + other.bytes,
            self.apparent_bytes + other.apparent_bytes,
            sum(seconds) if seconds else None,
        )


class EntryTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the entries of one root."""

    all: EntryTally = EntryTally()
    states: dict[str, EntryTally] = {}
    compilers: dict[str, EntryTally] = {}

    def __add__(self, other: EntryTotals) -> EntryTotals:
        return EntryTotals(
            all=self.all + other.all,
            states=_merged(self.states, other.states),
            compilers=_merged(self.compilers, other.compilers),
        )


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What a scan of a root found. It never changes; `scanner.refresh` returns a new one."""

    root: str
    taken_at: float
    seconds: float
    """How long the scan took."""
    entries: tuple[Entry, ...]
    folders: tuple[Folder, ...]
    others: tuple[Other, ...] = ()
    problems: tuple[str, ...] = ()
    """What below the root could not be read, in words; empty if everything could."""
    atime_fallbacks: int = 0
    """How many files and folders were opened in a way that may have changed their access time: those of other users,
    unless we are root."""
    filesystem: Filesystem = Filesystem()

    def find(self, text: str) -> list[Entry]:
        """Entries whose module or path is `text`; if there are none, those whose path contains it."""
        exact = [entry for entry in self.entries if text in (entry.module, entry.path)]
        return exact or [entry for entry in self.entries if text in entry.path]

    def totals(self) -> EntryTotals:
        """The sums over all entries."""
        return total(self.entries)


def to_look_at(entries: Sequence[Entry], seen_at: float, now: float, *, shared: bool) -> set[str]:
    """Paths of entries that may have changed since a scan at `seen_at` although their folder's time did not.

    Those are entries in states that do not last; those without flags in their name, whose files lie in folders below
    their own; those whose files are links, which may lead nowhere by now; entries written so shortly before the scan
    that a second write may have the same time; and the youngest few, because rewriting a file in place does not change
    its folder's time.
    """
    racy = seen_at - (SHARED_TICK if shared else LOCAL_TICK)
    found = {
        entry.path
        for entry in entries
        if entry.state in UNSETTLED or "+" not in entry.module or entry.has_links or entry.changed_at >= racy
    }
    first, last = now - YOUNG_SECONDS, now + YOUNG_SECONDS  # a time slightly ahead of our clock counts as young, too
    young = [entry for entry in entries if first < entry.changed_at < last]
    if len(young) > YOUNGEST:
        young = heapq.nsmallest(YOUNGEST, young, key=lambda entry: abs(now - entry.changed_at))
    return found | {entry.path for entry in young}


def total(entries: Iterable[Entry]) -> EntryTotals:
    """Sums by state and by compiler; an inode that several entries share is counted with the first of them."""
    seen: set[int] = set()
    states: dict[State, list[float | int | None]] = {}
    compilers: dict[str, list[float | int | None]] = {}
    for entry in entries:
        allocated = entry.allocated
        for link in entry.links:
            if link.inode in seen:
                allocated -= link.allocated
            seen.add(link.inode)
        for sums in (
            states.setdefault(entry.state, [0, 0, 0, None]),
            compilers.setdefault(entry.compiler, [0, 0, 0, None]),
        ):
            sums[0] += 1  # type: ignore[operator]
            sums[1] += allocated  # type: ignore[operator]
            sums[2] += entry.apparent  # type: ignore[operator]
            if entry.compile_seconds is not None:
                sums[3] = (sums[3] or 0.0) + entry.compile_seconds
    by_state = {str(state): _tally(states[state]) for state in State if state in states}
    by_compiler = {name: _tally(sums) for name, sums in sorted(compilers.items())}
    return EntryTotals(all=sum(by_state.values(), EntryTally()), states=by_state, compilers=by_compiler)


def _tally(sums: Sequence[float | int | None]) -> EntryTally:
    return EntryTally(int(sums[0] or 0), int(sums[1] or 0), int(sums[2] or 0), sums[3])


def _merged(left: dict[str, EntryTally], right: dict[str, EntryTally]) -> dict[str, EntryTally]:
    return {name: left.get(name, EntryTally()) + right.get(name, EntryTally()) for name in sorted({*left, *right})}
