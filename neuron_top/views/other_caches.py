"""Sums up caches that other programs manage; they are in no plan and are never changed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from neuron_top.cache.inductor import KINDS, InductorEntry

LARGEST_SHOWN = 20
READ_ONLY = "PyTorch's own cache (Inductor): read-only here"
COMMAND = "neurontop cache ls --inductor"
"""Lists every entry."""


class KindSum(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of entry takes. Bytes are disk blocks."""

    kind: str
    what: str
    """The kind in words."""
    entries: int
    bytes: int
    used: float | None
    """Latest use of any of them, else latest change, seconds since the epoch."""


class OtherCache(msgspec.Struct, frozen=True, kw_only=True):
    """One such cache. `origin` says where its path comes from."""

    root: str
    origin: str
    kinds: tuple[KindSum, ...]
    largest: tuple[InductorEntry, ...]
    """The largest entries, largest first."""

    @property
    def entries(self) -> int:
        """Entries of all kinds."""
        return sum(kind.entries for kind in self.kinds)

    @property
    def bytes(self) -> int:
        """Disk blocks of all kinds."""
        return sum(kind.bytes for kind in self.kinds)


def other_cache(root: str, origin: str, entries: Sequence[InductorEntry]) -> OtherCache:
    """Inductor's cache at `root`, summed up."""
    kinds = []
    for kind, what in KINDS.items():
        some = [entry for entry in entries if entry.kind == kind]
        if some:
            kinds.append(
                KindSum(
                    kind=kind,
                    what=what,
                    entries=len(some),
                    bytes=sum(entry.bytes for entry in some),
                    used=max(
                        (time for entry in some if (time := entry.used or entry.changed) is not None), default=None
                    ),
                )
            )
    largest = sorted(entries, key=lambda entry: (-entry.bytes, entry.key))[:LARGEST_SHOWN]
    return OtherCache(root=root, origin=origin, kinds=tuple(kinds), largest=tuple(largest))
