"""The caches as the pages and the API see them: their entries, and plans for them.

Listing a large cache takes seconds, so it is done in a thread and at most every few seconds. The rules and the life
cycle of a plan are the service's; this module keeps the plans by identity and enforces the limits of clients.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from neuron_top.amounts import parse_bytes
from neuron_top.dashboard.plan_registry import PlanRegistry, Requester
from neuron_top.errors import NothingToShow, UsageError
from neuron_top.services.cache_listing import CacheListing
from neuron_top.services.caches import (
    ACTIONS,
    CacheService,
    Disk,
    Verb,
    action_of,
)
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.services.trash import PlanHistory
from neuron_top.settings import Settings
from neuron_top.units import counted
from neuron_top.views.entries import EntryRow, EntryTable
from neuron_top.views.plan import with_texts

FRESH_SECONDS = 5.0
BUTTONS = tuple(action for action in ACTIONS if action.button and action.planner is not None)
"""The actions that the pages can plan."""


class DashboardCaches:
    """Entries of every cache of this machine, and plans by identity. Safe from any thread."""

    def __init__(
        self,
        settings: Settings,
        named: Sequence[str] | None = (),
        changed: Callable[[], None] = lambda: None,
        service: CacheService | None = None,
    ) -> None:
        """`named`: roots besides those that this machine uses (None: list none); `changed` is called when
        an execution has moved on.
        """
        self._service = service or CacheService(settings)
        self._listing, self._changed = CacheListing(settings, named, self._service), changed
        self._lock = threading.Lock()
        self._table = EntryTable(roots=(), rows=())
        self._listed_at = float("-inf")
        self._refresh, self._changes = False, 0
        self.version = 0
        """Grows with every listing that differs from the one before."""
        self._plans = PlanRegistry()
        self.trash: tuple[PlanHistory, ...] = ()
        """Plans of listed caches that can be undone, the newest first, as last listed."""
        self.disks: dict[str, Disk] = {}
        """Of each listed cache in a folder: its disk, when it was listed."""
        self.budget = parse_bytes(settings.cache_max_size) if settings.cache_max_size else None
        """What a cache may take by the user's policy; None without one."""

    def table(self, *, fresh: bool = False) -> EntryTable:
        """All entries, listed again when the last listing is some seconds old. Slow: not for an event loop."""
        if fresh or time.monotonic() - self._listed_at > FRESH_SECONDS:
            with self._lock:
                if fresh or time.monotonic() - self._listed_at > FRESH_SECONDS:
                    self._list()
        return self._table

    def use(self, roots: Sequence[str]) -> None:
        """List the caches that a shown job uses, from its first line on; those on other services are left out."""
        with self._lock:
            if self._listing.also(root for root in roots if root.startswith("/")):
                self._listed_at = float("-inf")

    @property
    def last(self) -> EntryTable:
        """All entries as last listed, at once."""
        return self._table

    def _list(self) -> None:
        (refresh, self._refresh), changes = (self._refresh, False), self._changes
        before, self._table = self._table, self._listing.entries(refresh=refresh)
        present = [root for root, _origin, exists in self._table.roots if exists]
        self.disks = self._service.disks(present)
        self.trash = tuple(sorted(self._service.trash.restorable(present), key=lambda one: -one.begun.at))
        # What was changed meanwhile may be missing in it.
        self._listed_at = time.monotonic() if changes == self._changes else float("-inf")
        if self._table != before or not self.version:
            self.version += 1  # last: whoever sees it sees the listing

    def undo_from_trash(self, identity: str, requester: Requester) -> str:
        """Restore the files of any executed plan; returns a sentence about the result.

        Raises NothingToShow, NotPermitted, RefusedForSafety.
        """
        self.table(fresh=True)
        past = next((one for one in self.trash if one.begun.plan == identity), None)
        if past is None:
            raise NothingToShow("this plan is no longer in the trash")
        requester.check_permission(past.begun.verb)
        try:
            return self._service.trash.undo(past.begun.root, identity).text
        finally:
            self._list_next_time()

    def plan(
        self, verb: Verb, keys: Iterable[str], requester: Requester, *, assume_exclusive: bool = False
    ) -> list[PlanExecution]:
        """Plans for the entries with these keys, one for each root and (where that matters) compiler version.

        Nothing is changed. Raises UsageError for a verb without a button, for a storage that cannot do it, and for a
        reader who assumes exclusive use; NothingToShow when none of the entries is there; LimitReached.
        """
        if action_of(verb) not in BUTTONS:
            raise UsageError(f"{verb} is not possible from here; possible are {', '.join(a.verb for a in BUTTONS)}")
        if assume_exclusive and not requester.can_execute:
            raise UsageError("sign in with the act token to state that no other host or container uses a cache")
        self._plans.begin(requester)
        wanted = frozenset(keys)
        rows = [row for row in self.table(fresh=True).rows if row.key in wanted]
        if not rows:
            raise NothingToShow("none of the selected entries exists any more; select again")
        executions = []
        for root, groups in _grouped(verb, rows).items():
            plans = self._service.plan_together(verb, root, groups, assume_exclusive=assume_exclusive)
            for paths, plan in zip(groups, plans, strict=True):
                policy = f"{counted(len(paths), 'entry', 'entries')} selected in the dashboard"
                executions.append(PlanExecution(plan=with_texts(msgspec.structs.replace(plan, policy=policy))))
        self._plans.add(executions, requester)
        return executions

    def plan_room(self, amount: str, requester: Requester, *, assume_exclusive: bool = False) -> list[PlanExecution]:
        """Plans that evict what is worth least until so much of the disk is free, as `cache evict --min-free` does.

        Raises UsageError for an amount that cannot be read, NothingToShow without a cache, LimitReached.
        """
        if assume_exclusive and not requester.can_execute:
            raise UsageError("sign in with the act token to state that no other host or container uses a cache")
        wanted = parse_bytes(amount)
        self._plans.begin(requester)
        largest_first = self.table(fresh=True).largest_first
        if not largest_first:
            raise NothingToShow("there is no cache that holds an entry")
        plans = self._service.plan_room(largest_first, wanted, assume_exclusive)
        executions = [PlanExecution(plan=with_texts(plan)) for plan in plans]
        self._plans.add(executions, requester)
        return executions

    def execution(self, identity: str) -> PlanExecution:
        """A plan by its identity, and what became of it. Raises NothingToShow."""
        return self._plans.get(identity)

    def execute(self, identity: str, requester: Requester, typed: str = "") -> PlanExecution:
        """Confirm a plan and execute it in a thread. Raises NothingToShow, NotPermitted, RefusedForSafety."""
        execution = self._permitted(identity, requester)
        execution.confirm(typed)
        self._begin([execution])
        return execution

    def execute_together(self, identities: Iterable[str], requester: Requester, typed: str) -> None:
        """Confirm the plans of one action; they are executed one after another, as plans of one cache exclude each
        other. `typed`: for those that need a word. Raises NothingToShow, NotPermitted, RefusedForSafety.
        """
        executions = [self._permitted(identity, requester) for identity in identities]
        confirmed: list[PlanExecution] = []
        try:
            for execution in sorted(executions, key=lambda each: not each.typed):  # a wrong word begins none of them
                execution.confirm(typed if execution.typed else "")
                confirmed.append(execution)
        finally:
            self._begin(confirmed)

    def stop(self, identity: str, requester: Requester) -> PlanExecution:
        """Stop a confirmed plan before its next step. Raises NothingToShow, NotPermitted, RefusedForSafety."""
        execution = self._permitted(identity, requester)
        execution.stop()
        return execution

    def undo(self, identity: str, requester: Requester) -> PlanExecution:
        """Restore the files that a plan took away. Raises NothingToShow, NotPermitted, RefusedForSafety."""
        execution = self._permitted(identity, requester)
        try:
            self._service.trash.undo_execution(execution)
        finally:
            self._list_next_time()
        return execution

    def _permitted(self, identity: str, requester: Requester) -> PlanExecution:
        """A plan that this client may execute, stop and undo. Raises NothingToShow, NotPermitted."""
        execution = self.execution(identity)
        requester.check_permission(execution.plan.verb)
        return execution

    def _begin(self, executions: Sequence[PlanExecution]) -> None:
        if executions:
            name = f"plan {executions[0].plan.identity}"
            threading.Thread(target=self._run, args=(executions,), name=name, daemon=True).start()

    def _run(self, executions: Sequence[PlanExecution]) -> None:
        for execution in executions:
            self._service.run(execution, self._changed)
            self._list_next_time()

    def _list_next_time(self) -> None:
        self._changes += 1
        self._refresh, self._listed_at = True, float("-inf")
        self._changed()


def _grouped(verb: Verb, rows: Sequence[EntryRow]) -> dict[str, list[list[str]]]:
    """Root → the paths of each plan: emptying a compiler version is a plan of its own, the rest goes together."""
    groups: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        compiler = row.compiler if action_of(verb).per_compiler else ""
        groups.setdefault(row.root, {}).setdefault(compiler, []).append(row.key[len(row.root) + 1 :])
    return {root: list(paths.values()) for root, paths in groups.items()}
