"""Reads caches: which root is meant, its entries, its sums. Loads no code that changes a cache."""

from __future__ import annotations

from pathlib import Path

from neuron_top.actions.backends import BackendKind, BackendOptions, CacheBackend, open_backend
from neuron_top.actions.module_patterns import matcher
from neuron_top.actions.usage_history import NOTHING_RECORDED, UsageHistory
from neuron_top.cache import roots
from neuron_top.cache.filesystem import Filesystem
from neuron_top.cache.model.entry import Entry, Lock, written_at
from neuron_top.cache.model.failures import Failure
from neuron_top.cache.model.snapshot import EntryTally, EntryTotals, Snapshot, total
from neuron_top.cache.model.states import FAILURES, State, states_named
from neuron_top.cache.scan.catalog import Sums, sums_of
from neuron_top.cache.use import is_ahead
from neuron_top.errors import UsageError
from neuron_top.settings import Settings

__all__ = [
    "FAILURES",
    "NOTHING_RECORDED",
    "BackendKind",
    "CacheBackend",
    "CacheReader",
    "Entry",
    "Failure",
    "Filesystem",
    "Lock",
    "Snapshot",
    "State",
    "EntryTally",
    "EntryTotals",
    "UsageHistory",
    "is_ahead",
    "matcher",
    "states_named",
    "written_at",
]


class CacheReader:
    """The caches that one user may look at: folders and buckets."""

    def __init__(self, settings: Settings, trash: Path | None = None) -> None:
        self.settings = settings
        self._options = BackendOptions(state=settings.state_path, trash=trash)

    def resolve(self, given: str | None = None, *, folder: bool = False) -> str:
        """The root that is meant: the given one, else the one that a job started here would use.

        Raises UsageError for no cache's name; with `folder`, for a bucket too.
        """
        in_force = roots.root_in_force() if given is None else None
        root = in_force.path if in_force is not None else given or ""
        try:
            backend = self.backend(root)
        except UsageError as problem:
            raise UsageError(f"{problem} ({in_force.origin})" if in_force is not None else str(problem)) from None
        if folder and backend.kind is not BackendKind.FOLDER:
            origin = f" ({in_force.origin})" if in_force is not None else ""
            raise UsageError(f"{root}{origin} is not a folder of this machine: name a local copy of it")
        return backend.root

    def backend(self, root: str) -> CacheBackend:
        """The storage of a cache. Raises UsageError for a name that is neither a folder's nor a bucket's."""
        return open_backend(root, self._options)

    def snapshot(self, root: str, *, rescan: bool = False) -> Snapshot:
        """The entries of a cache. Raises NothingToShow for one that is gone."""
        return self.backend(root).snapshot(rescan=rescan)

    def usage_history(self, root: str) -> UsageHistory:
        """What recordings know about the modules of a cache, in addition to the entries' own files."""
        return UsageHistory.load(self.settings.state_path, root)

    @staticmethod
    def totals(snapshot: Snapshot, past: UsageHistory) -> EntryTotals:
        """The sums of a snapshot, with recorded compile times for entries whose own files have none."""
        return total(past.added_to(snapshot.entries))

    def sums(self, root: str, *, rescan: bool = False) -> tuple[Sums, Filesystem]:
        """The sums of a cache, with recorded compile times for entries whose own files have none; and its disk."""
        past = self.usage_history(root)
        if not past.compiled:
            return self.backend(root).sums(rescan=rescan)
        # Recordings report by module, and the sums of the index do not say which modules they are made of.
        snapshot = self.snapshot(root, rescan=rescan)
        return sums_of(snapshot, self.totals(snapshot, past)), snapshot.filesystem
