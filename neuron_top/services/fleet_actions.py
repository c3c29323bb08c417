"""Changes that an operator asks nodes of the fleet for: each node plans, the operator confirms once, follows, and may
undo."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase

import msgspec

from neuron_top.actions.fleet_request import FleetRequest
from neuron_top.actions.registry import FLEET_ACTIONS, CacheAction
from neuron_top.errors import NothingToShow, ReadOnlyMode, RefusedForSafety, UsageError
from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.services.fleet_database import FleetDatabase
from neuron_top.store.errors import StoreNotAllowed, StoreUnreachable
from neuron_top.store.fleet_records import Intent, IntentState
from neuron_top.views.fleet_plan import FleetPlan, fleet_plan, undoable_nodes

__all__ = ["FLEET_ACTIONS", "CacheAction", "FleetActions", "FleetRequest", "StoreNotAllowed"]

_LOOK_SECONDS = 0.3
_OUTAGE_SECONDS = 60.0
_SIGNS_SECONDS = 5.0
"""Between two looks at whether awaited nodes still show signs of life."""
_HOST_LIST = re.compile(r"\[[^\]\s]*(?:\d\d-\d|\d-\d\d|,)")
"""`n[10-12]` or `n[1,7]`: a range with a number of several digits, or a list."""


class FleetActions(FleetDatabase):
    """The changes of a fleet. Every call asks the database, so screens call in a thread."""

    def ask(self, request: FleetRequest, nodes: Collection[str]) -> FleetPlan:
        """Ask these nodes to plan a change. Raises UsageError, NothingToShow for unknown nodes, StoreNotAllowed."""
        if self._settings.read_only:
            raise ReadOnlyMode("read-only mode: no change is requested of the fleet")
        if request.action not in FLEET_ACTIONS:
            raise UsageError(f"no action {request.action!r}; known: {', '.join(FLEET_ACTIONS)}")
        if not nodes:
            raise UsageError("no node is named")
        known = {record.node for record in self._store.nodes()}
        if missing := sorted(set(nodes) - known):
            raise NothingToShow(f"no node {', '.join(missing)}; `neurontop fleet nodes` lists them")
        batch = uuid.uuid4().hex[:10]
        asked = msgspec.to_builtins(request)
        for node in sorted(set(nodes)):
            self._store.intents.ask(node, asked, batch)
        return self.of(batch)

    def nodes_named(self, text: str) -> set[str]:
        """Nodes by names separated by commas or blanks; a pattern stands for the matching nodes that report now.

        Raises NothingToShow for a pattern that none matches, UsageError for a list of hosts as Slurm prints it.
        """
        if _HOST_LIST.search(text):
            raise UsageError(
                f"{text}: lists of hosts as Slurm prints them are not read; as a pattern, [10-12] is a 0, a 1 or a 2. "
                "Name the nodes: `scontrol show hostnames LIST` prints them"
            )
        found: set[str] = set()
        for name in text.replace(",", " ").split():
            if not any(sign in name for sign in "*?["):
                found.add(name)
                continue
            matching = {node for node in self._reporting() if fnmatchcase(node, name)}
            if not matching:
                raise NothingToShow(f"no node that reports now matches {name}; `neurontop fleet nodes` lists them")
            found |= matching
        return found

    def of(self, batch: str) -> FleetPlan:
        """The state of a change. Raises NothingToShow."""
        intents = self._store.intents.of_batch(batch) if batch else []
        if not intents:
            raise NothingToShow(f"no change {batch!r} was asked for; `neurontop fleet changes` lists them")
        return fleet_plan(intents)

    def newest(self) -> tuple[FleetPlan, ...]:
        """The newest changes, newest first."""
        batches: dict[str, list[Intent]] = {}
        for intent in self._store.intents.newest():
            batches.setdefault(intent.batch, []).append(intent)
        return tuple(
            fleet_plan(sorted(intents, key=lambda one: (one.node, one.id)))
            for batch, intents in batches.items()
            if batch
        )

    def answered(self, batch: str, seconds: float, watch: Callable[[FleetPlan], bool] = lambda plan: True) -> FleetPlan:
        """Wait until every node has answered, at most this long. Ends when `watch` returns False, or when all nodes
        that have not answered went silent after they had begun.

        A database that is started again meanwhile is waited for, too: requests and answers are in it. Raises
        StoreUnreachable for one that stays away.
        """
        end = time.monotonic() + seconds
        plan, reached = self.of(batch), time.monotonic()
        looked = reached
        while plan.awaited and time.monotonic() < end and watch(plan):
            time.sleep(_LOOK_SECONDS)
            try:
                if time.monotonic() - looked > _SIGNS_SECONDS:
                    looked = time.monotonic()
                    if self._are_gone(plan):
                        break
                plan, reached = self.of(batch), time.monotonic()
            except StoreUnreachable:
                if time.monotonic() - reached > _OUTAGE_SECONDS:
                    raise
        return plan

    def _are_gone(self, plan: FleetPlan) -> bool:
        """Whether all awaited nodes have begun and have shown no sign of life for long."""
        reporting = self._reporting()
        return all(node.has_begun and node.node not in reporting for node in plan.awaited)

    def _reporting(self) -> set[str]:
        """The nodes that report now, by the database's clock."""
        now = self._store.clock()
        return {record.node for record in self._store.nodes() if now - record.seen <= SILENT_SECONDS}

    def confirm(self, plan: FleetPlan, word: str = "") -> FleetPlan:
        """Confirm the plans, once for all nodes; requests to nodes that did not answer are withdrawn.

        Raises RefusedForSafety for a wrong word, or if there is nothing to do.
        """
        if not plan.planned:
            raise RefusedForSafety("nothing was done: no node has anything to do")
        if word != plan.word:
            raise RefusedForSafety(f"type {plan.word} to confirm" if plan.word else "nothing has to be typed")
        for node in plan.nodes:
            if node.has_steps:
                self._store.intents.move(node.intent, IntentState.PLANNED, IntentState.CONFIRMED)
        return self.take_back(plan.batch, (IntentState.ASKED, IntentState.PLANNED))

    def confirm_seen(self, batch: str, seen: Collection[int], word: str = "") -> FleetPlan:
        """Confirm the plans that a person has seen, by their intents. Raises RefusedForSafety where others came."""
        plan = self.of(batch)
        if {node.intent for node in plan.planned} != set(seen):
            raise RefusedForSafety(
                "the plan has changed since it was shown (another node has answered): look at it again, then confirm"
            )
        return self.confirm(plan, word)

    def take_back(
        self,
        batch: str,
        states: Sequence[IntentState] = (IntentState.ASKED, IntentState.PLANNED, IntentState.CONFIRMED),
    ) -> FleetPlan:
        """Withdraw the requests that no node has begun."""
        for node in self.of(batch).nodes:
            if node.state in states:
                self._store.intents.move(node.intent, node.state, IntentState.CANCELED)
        return self.of(batch)

    def undo(self, batch: str, nodes: Collection[str] = ()) -> FleetPlan:
        """Ask nodes to undo a change: these, or all that did something. Raises NothingToShow."""
        if self._settings.read_only:
            raise ReadOnlyMode("read-only mode: no change is requested of the fleet")
        plan = self.of(batch)
        if missing := sorted(set(nodes) - {node.node for node in plan.nodes}):
            raise NothingToShow(f"change {batch} was not asked of {', '.join(missing)}")
        undoable = set(undoable_nodes(plan))
        wanted = [node for node in plan.nodes if node.node in undoable and (not nodes or node.node in nodes)]
        if not wanted:
            raise NothingToShow(f"nothing that change {batch} did can be undone")
        for node in wanted:
            self._store.intents.move(node.intent, node.state, IntentState.UNDO)
        return self.of(batch)
