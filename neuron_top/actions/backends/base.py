"""`CacheBackend`: what every storage of a cache can do, the one interface between it and the actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:  # a listing needs nothing of what changes a cache
    from neuron_top.actions.execution.copy_targets import CopyTarget
    from neuron_top.actions.journal.journal import Journal
    from neuron_top.actions.journal.records import PlanRestored
    from neuron_top.actions.journal.trash import Trash
    from neuron_top.actions.plan import Outcome, Plan, Progress
    from neuron_top.actions.plan_context import ContextFacts, PlanContext
    from neuron_top.cache.filesystem import Filesystem
    from neuron_top.cache.model.entry import Entry
    from neuron_top.cache.model.snapshot import Snapshot
    from neuron_top.cache.scan.catalog import Sums
    from neuron_top.cache.scan.verify import EntryFinding
    from neuron_top.cache.use import CacheUse


GRACE_SECONDS = 60.0
"""Seconds between deleting the marks and deleting the rest: the slowest download of a client that saw a mark."""


class BackendKind(StrEnum):
    """Where a cache lies."""

    FOLDER = "folder"
    BUCKET = "bucket"


class ExecuteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a plan is carried out."""

    read_only: bool = False
    watch: Callable[[Progress], bool] = lambda progress: True
    """Called after each step; False stops cleanly before the next."""
    grace_seconds: float = GRACE_SECONDS
    """How long readers of a bucket get between deleting the marks and deleting the rest."""
    in_use: Callable[[str], CacheUse | None] | None = None
    """Returns who uses a root; None: this machine's processes are looked at."""
    pins: tuple[str, ...] = ()
    """Patterns of modules that no eviction takes, also if they were pinned after the plan was made."""


DEFAULT_OPTIONS = ExecuteOptions()


def ignore(done: int, total: int) -> None:
    """Does nothing: the `watch` of a caller that needs no progress."""


class CacheBackend(Protocol):
    """The storage of one cache."""

    kind: BackendKind
    keeps_graphs: bool
    """Whether an artifact can go while its graph stays."""
    root: str
    """A real path or a URL: what plans, journals and rows call it."""

    def snapshot(self, *, rescan: bool = False) -> Snapshot:
        """Its entries as they are now; `rescan` trusts no index. Raises NothingToShow, UsageError."""
        ...

    def sums(self, *, rescan: bool = False) -> tuple[Sums, Filesystem]:
        """The sums over its entries, and its file system; `rescan` asks every entry's folder. Raises NothingToShow."""
        ...

    def with_failures(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the cause of each failure, where a listing alone does not report it."""
        ...

    def context(self, snapshot: Snapshot, facts: ContextFacts) -> PlanContext:
        """What planners know besides `snapshot`, which must be the newest that was taken."""
        ...

    def local_copy(self, entry: Entry) -> AbstractContextManager[tuple[str, Entry]]:
        """(root, entry) to read the entry's files from: itself, or a copy that is gone afterwards."""
        ...

    def verify(
        self, entries: Iterable[Entry], *, deep: bool, watch: Callable[[int, int], None] = ignore
    ) -> Iterator[EntryFinding]:
        """What is wrong with entries of the newest snapshot. `deep` reads every byte and calls `watch` with the number
        of bytes that were read, and of all."""
        ...

    def journal(self) -> Journal:
        """What was done here."""
        ...

    def trash(self) -> Trash:
        """What was taken away here and can be purged. Raises UsageError where that is not ours to delete."""
        ...

    def execute(self, plan: Plan, options: ExecuteOptions) -> Outcome:
        """Carry out a plan that takes something away. Raises RefusedForSafety."""
        ...

    def waits_for_readers(self, plan: Plan) -> bool:
        """Whether executing the plan waits until downloads of what it takes have ended."""
        ...

    def undo(self, identity: str, *, read_only: bool = False) -> PlanRestored:
        """Bring back what a plan took away. Raises NothingToShow, RefusedForSafety."""
        ...

    def copy_target(self) -> CopyTarget:
        """The cache as copies read and write it."""
        ...

    def free(self) -> int | None:
        """Bytes that may still be written; None is unknown or without bound."""
        ...

    def why_shared(self) -> str | None:
        """Why others may write here; None for a local file system."""
        ...


class BackendOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What every backend is opened with."""

    state: Path
    """The state folder: indexes, and the journals of buckets."""
    trash: Path | None = None
    """The folder of the trash, where it is not the default beside the cache."""
