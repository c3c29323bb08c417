"""The caches as the dashboard sees them, and the plans that are made, previewed, carried out and undone from there.

Looking at a large cache takes seconds, so it is done in a thread, at most every few seconds, and rows are kept between.
A plan is made by the same planners, checked by the same hand and written to the same journal as on the command line.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from neuron_top.actions.desk import COMPILE, EVICT, QUARANTINE, RETRY, SLIM, UNLOCK, CacheService
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Progress
from neuron_top.cache import roots
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import catalog
from neuron_top.dashboard.plans import Maker, PlanExecution, Plans
from neuron_top.errors import NeuronTopError, NothingToShow, RefusedForSafety, UsageError
from neuron_top.ingest.other_caches import OtherCaches
from neuron_top.settings import Settings
from neuron_top.units import counted
from neuron_top.views.entries import EntryRow, EntryTable, entry_row

FRESH_SECONDS = 5.0
VERBS = (EVICT, SLIM, COMPILE, RETRY, UNLOCK, QUARANTINE)
"""`compile` and `retry` are two ways to the same end: failures are compiled now, or on the next run."""


class CachePlans:
    """Entries of every cache of this machine, and works by the identity of their plan. Safe from any thread."""

    def __init__(self, settings: Settings, named: Sequence[str] = (), moved: Callable[[], None] = lambda: None) -> None:
        """`named`: roots besides those that this machine uses; `moved` is called when a work has gone on."""
        self._settings, self._named, self._moved = settings, tuple(named), moved
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._hand = CacheService(settings)
        self._others = OtherCaches()
        self._snapshots: dict[str, Snapshot] = {}
        self._table = EntryTable(roots=(), rows=())
        self._taken = float("-inf")
        self.version = 0
        """Grows with every look that was taken."""
        self._plans = Plans()

    def table(self, *, fresh: bool = False) -> EntryTable:
        """All entries; looked at anew when the last look is some seconds old. Slow: not for an event loop."""
        if fresh or time.monotonic() - self._taken > FRESH_SECONDS:
            with self._looking:
                if fresh or time.monotonic() - self._taken > FRESH_SECONDS:
                    self._look()
        return self._table

    @property
    def last(self) -> EntryTable:
        """All entries as last seen, at once."""
        return self._table

    @property
    def looked(self) -> bool:
        """Whether a look was ever taken."""
        return self.version > 0

    def _look(self) -> None:
        found = [(root.path, root.origin, root.exists) for root in roots.find() if root.kind == roots.NEURON]
        found += [(path, "named at the start", Path(path).is_dir()) for path in self._named
                  if path not in {root for root, _origin, _exists in found}]  # fmt: skip
        snapshots: dict[str, Snapshot] = {}
        for path, _origin, exists in found:
            if exists:
                try:
                    snapshots[path] = catalog.open_root(path, self._settings.state_path)
                except NeuronTopError:
                    continue
        rows: list[EntryRow] = []
        for root, snapshot in snapshots.items():
            before = self._snapshots.get(root)
            if before is not None and before.entries == snapshot.entries:
                rows += [row for row in self._table.rows if row.root == root]
            else:
                rows += [entry_row(root, entry, snapshot.taken_at) for entry in snapshot.entries]
        table = EntryTable(roots=tuple(found), rows=tuple(rows), others=self._others.look())
        if table != self._table or not self.version:
            self.version += 1
        self._snapshots, self._table, self._taken = snapshots, table, time.monotonic()

    def plan(self, verb: str, keys: Iterable[str], maker: Maker) -> list[PlanExecution]:
        """Plans for the entries with these keys, one for each root and compiler version. Nothing is changed.

        Raises UsageError for an unknown verb, NothingToShow when none of the entries is there, LimitReached when
        the maker has asked for too many.
        """
        if verb not in VERBS:
            raise UsageError(f"no such action: {verb}")
        self._plans.begin(maker)
        self.table(fresh=True)
        chosen = set(keys)
        works = []
        for root, snapshot in self._snapshots.items():
            wanted = [entry for entry in snapshot.entries if f"{root}/{entry.path}" in chosen]
            if wanted:
                context = self._hand.context(snapshot)
                made = [self._hand.plan_in(snapshot, context, verb, paths) for paths in _at_once(verb, wanted)]
                policy = f"{counted(len(wanted), 'entry', 'entries')} chosen in the dashboard"
                works += [PlanExecution(plan=msgspec.structs.replace(plan, policy=policy)) for plan in made]
        if not works:
            raise NothingToShow("none of the chosen entries is there any more")
        self._plans.add(works, maker)
        return works

    def work(self, identity: str) -> PlanExecution:
        """A work by the identity of its plan. Raises NothingToShow."""
        return self._plans.get(identity)

    def carry_out(self, identity: str, typed: str = "") -> PlanExecution:
        """Start the execution in a thread. Raises NothingToShow, RefusedForSafety."""
        work = self.work(identity)
        with self._lock:
            if work.state != "planned":
                raise RefusedForSafety(f"this plan is {work.state} already")
            if work.plan.refused:
                raise RefusedForSafety(work.plan.refused)
            if typed != work.typed:
                raise RefusedForSafety(f"type {work.typed} to confirm")
            work.state = "running"
        threading.Thread(target=self._execute, args=(work,), name=f"plan {identity}", daemon=True).start()
        return work

    def stop(self, identity: str) -> PlanExecution:
        """Begin no further step of a work that runs. Raises NothingToShow, RefusedForSafety."""
        work = self.work(identity)
        with self._lock:
            if work.state != "running":
                raise RefusedForSafety(f"this plan is {work.state}: there is nothing to stop")
            work.stopping = True
        return work

    def undo(self, identity: str) -> PlanExecution:
        """Bring back what a plan took away. Raises NothingToShow, RefusedForSafety."""
        work = self.work(identity)
        with self._lock:
            if work.plan.verb == COMPILE:
                raise RefusedForSafety("compiling took nothing away: evict the entries instead")
            if work.state != "done":
                raise RefusedForSafety(f"this plan is {work.state}: there is nothing to undo")
            work.state = "undone"
        try:
            record = restore(identity, Trash(work.plan.root))
        except (NeuronTopError, OSError) as problem:
            work.state, work.message = "done", f"could not be undone: {problem}"
            raise
        finally:
            self._taken = float("-inf")
            self._moved()
        work.message = f"{record.restored} brought back" + (
            f", {len(record.kept)} stay in the trash" if record.kept else ""
        )
        return work

    def _execute(self, work: PlanExecution) -> None:
        def watch(progress: Progress) -> bool:
            work.progress = progress
            self._moved()
            return not work.stopping

        try:
            work.outcome = self._hand.carry_out(work.plan, watch)
            work.state = "done"
        except (NeuronTopError, OSError) as problem:
            work.state, work.message = "failed", str(problem)
        self._taken = float("-inf")
        self._moved()


def _at_once(verb: str, wanted: Iterable[Entry]) -> Iterable[list[str]]:
    """Paths for each plan: to empty a compiler version is a decision of its own, the rest goes together."""
    groups: dict[str, list[str]] = {}
    for entry in wanted:
        groups.setdefault(entry.compiler if verb in (EVICT, SLIM) else "", []).append(entry.path)
    return groups.values()
