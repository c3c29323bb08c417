"""A cache in a folder of this machine (or mounted on it)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_top.actions.backends.base import BackendKind, BackendOptions, ExecuteOptions, ignore
from neuron_top.cache import filesystem
from neuron_top.cache.filesystem import Filesystem
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import catalog
from neuron_top.cache.scan.catalog import Sums
from neuron_top.errors import UsageError
from neuron_top.escapes import visible

if TYPE_CHECKING:  # a listing needs nothing of what changes a cache
    from neuron_top.actions.execution.copy_targets import LocalCopyTarget
    from neuron_top.actions.journal.records import PlanRestored
    from neuron_top.actions.journal.trash import Trash
    from neuron_top.actions.plan import Outcome, Plan
    from neuron_top.actions.plan_context import ContextFacts, PlanContext
    from neuron_top.cache.scan.verify import EntryFinding


class LocalBackend:
    """See CacheBackend."""

    kind = BackendKind.FOLDER
    keeps_graphs = True

    def __init__(self, root: str, options: BackendOptions) -> None:
        self.root = os.path.realpath(root.removeprefix("file://"))
        self._options = options
        self._trash: Trash | None = None

    def snapshot(self, *, rescan: bool = False) -> Snapshot:
        """See CacheBackend: from the index, but what changed is read again."""
        return catalog.open_root(self.root, self._options.state, full=rescan)

    def sums(self, *, rescan: bool = False) -> tuple[Sums, Filesystem]:
        """See CacheBackend: sums of settled entries come from the index while it is fresh."""
        trusted = 0.0 if rescan else catalog.TRUSTED_SECONDS
        sums = catalog.sums(self.root, self._options.state, trusted_seconds=trusted)
        return sums, filesystem.describe(sums.root)

    def with_failures(self, snapshot: Snapshot) -> Snapshot:
        """See CacheBackend: a scan has read the logs."""
        return snapshot

    def context(self, snapshot: Snapshot, facts: ContextFacts) -> PlanContext:
        """See CacheBackend: looks at the machine's processes too."""
        from neuron_top.actions import plan_context

        return plan_context.collect_context(snapshot, facts, self.trash())

    @contextlib.contextmanager
    def local_copy(self, entry: Entry) -> Iterator[tuple[str, Entry]]:
        """See CacheBackend: the entry itself."""
        yield self.root, entry

    def verify(
        self, entries: Iterable[Entry], *, deep: bool, watch: Callable[[int, int], None] = ignore
    ) -> Iterator[EntryFinding]:
        """See CacheBackend."""
        from neuron_top.cache.scan import verify

        wanted = tuple(entries)
        yield from verify.cheap(wanted)
        total, done = sum(entry.artifact_bytes or 0 for entry in wanted), 0
        for entry in wanted if deep else ():
            yield from verify.deep(self.root, entry)
            done += entry.artifact_bytes or 0
            watch(done, total)

    def journal(self) -> Trash:
        """See CacheBackend: it lies in the trash."""
        return self.trash()

    def trash(self) -> Trash:
        """See CacheBackend. Raises UsageError for a path that plans and journals cannot name."""
        from neuron_top.actions.journal.trash import Trash

        try:
            self.root.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"{visible(self.root)}: the path is not valid UTF-8; plans and journals cannot name it: rename the "
                "folder"
            ) from None
        if self._trash is None:
            self._trash = Trash(self.root, self._options.trash)
        return self._trash

    def execute(self, plan: Plan, options: ExecuteOptions) -> Outcome:
        """See CacheBackend: renames into the trash."""
        from neuron_top.actions.execution import local

        return local.execute(plan, self.trash(), options)

    def waits_for_readers(self, plan: Plan) -> bool:
        """See CacheBackend: no; a rename does not disturb readers."""
        return False

    def undo(self, identity: str, *, read_only: bool = False) -> PlanRestored:
        """See CacheBackend."""
        from neuron_top.actions.journal import restore

        return restore.restore(identity, self.trash(), read_only=read_only)

    def copy_target(self) -> LocalCopyTarget:
        """See CacheBackend."""
        from neuron_top.actions.execution.copy_targets import LocalCopyTarget

        return LocalCopyTarget(Path(self.root))

    def free(self) -> int | None:
        """See CacheBackend."""
        return self.copy_target().free()

    def why_shared(self) -> str | None:
        """See CacheBackend."""
        return self.copy_target().shared()
