"""What changed in caches on disk while the run was watched, and what the catalog counted last."""

from __future__ import annotations

from typing import assert_never

import msgspec

from neuron_top.events import ArtifactFetched, CacheFamily, CacheScanned, EntryChanged


class CacheRoot(msgspec.Struct, kw_only=True):
    """One cache root, as last scanned."""

    root: str
    states: dict[str, int] = {}
    """Entries by state, as in `cache.model.states.State`."""
    size: int | None = None
    free: int | None = None
    """Bytes free on its disk."""
    scanned: float | None = None

    @property
    def entries(self) -> int:
        """Entries of all states."""
        return sum(self.states.values())


class Fetches(msgspec.Struct, kw_only=True):
    """Totals of artifacts that were fetched from elsewhere; those that are being fetched by (node, module)."""

    under_way: dict[tuple[str, str], ArtifactFetched] = {}
    graphs: int = 0
    """How many arrived and passed the checks."""
    bytes: int = 0
    seconds: float = 0.0
    """Sum over all of them, several of which may have been fetched at a time."""
    refused: dict[str, str] = {}
    """Module → why what arrived is not used."""
    places: list[str] = []


class CacheTracker:
    """Roots by path, and the entries that changed during the run by (root, compiler, module)."""

    def __init__(self) -> None:
        self.fetches = Fetches()
        self.roots: dict[str, CacheRoot] = {}
        self.entries: dict[tuple[str, str, str], EntryChanged] = {}
        """The newest change of each entry that changed."""
        self._newest: dict[str, EntryChanged] = {}
        """The same by module alone, in whichever root."""
        self.changes = 0

    def apply(self, event: CacheFamily) -> None:
        """Take one event into account."""
        match event:
            case EntryChanged():
                self.changes += 1
                self.entries[event.root, event.compiler, event.module] = event
                known = self._newest.get(event.module)
                if known is None or (event.time or 0.0) >= (known.time or 0.0):
                    self._newest[event.module] = event
            case CacheScanned():
                root = self.roots.setdefault(event.root, CacheRoot(root=event.root))
                root.states, root.size, root.free, root.scanned = dict(event.states), event.size, event.free, event.time
            case ArtifactFetched():
                self._fetched(event)
            case _:
                assert_never(event)

    def _fetched(self, event: ArtifactFetched) -> None:
        fetches, key = self.fetches, (event.node, event.module)
        if event.place not in fetches.places:
            fetches.places.append(event.place)
        if not event.ended:
            fetches.under_way[key] = event
            return
        fetches.under_way.pop(key, None)
        if event.problem:
            fetches.refused[event.module] = event.problem
            return
        fetches.graphs += 1
        fetches.bytes += event.bytes
        fetches.seconds += event.seconds

    def entry(self, module: str) -> EntryChanged | None:
        """The newest change of an entry of this module, in whichever root."""
        return self._newest.get(module)
