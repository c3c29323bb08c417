"""A maintainer that takes random actions on a cache while jobs use it, through the same planners and the same hand.

It does not look whether somebody uses the cache, which would stop it at once, and its protection of what was used
lately is shorter than a day: what is tested is the layer below, an entry's lock and a step's checks.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from neuron_top.actions.journal import trash as journal
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.plan import Plan
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.actions.planners.retry import plan_retry
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.errors import NothingToShow
from tests.actions import caches

VERBS = ("evict", "evict", "slim", "quarantine", "retry", "unlock", "restore", "purge")


class Maintainer:
    """Counts what it did in `did`; rests up to `pause` seconds after each act, and takes a `share` of the entries."""

    def __init__(self, root: Path, *, pause: float = 0.0, share: float = 1.0, protect_seconds: float = 0.05) -> None:
        self.root, self.trash = root, journal.Trash(root)
        self.pause, self.share, self.protect_seconds = pause, share, protect_seconds
        self.chance = random.Random(7)
        self.did: Counter[str] = Counter()

    def work_while(self, jobs: Sequence[subprocess.Popen[str]]) -> Counter[str]:
        """Act until the last job has ended."""
        while any(job.poll() is None for job in jobs):
            try:
                snapshot = caches.looked_at(self.root)
            except NothingToShow:  # the job has not made its cache yet
                time.sleep(0.05)
                continue
            self.act(snapshot)
            time.sleep(self.chance.random() * self.pause)
        return self.did

    def act(self, snapshot: Snapshot) -> None:
        """One act, a moment after it was planned."""
        context = msgspec.structs.replace(caches.context(snapshot), protect_seconds=self.protect_seconds)
        verb = self.chance.choice(VERBS)
        if verb in ("restore", "purge"):
            self.look_back(verb)
            return
        chosen = [entry for entry in snapshot.entries if self.chance.random() < self.share]
        plan = self.planned(verb, chosen, context)
        time.sleep(self.chance.random() * 0.02)
        outcome = caches.carried_out(plan, self.trash)
        self.did[verb] += outcome.done
        self.did["refused"] += len(outcome.refused)

    def planned(self, verb: str, entries: Sequence[Entry], context: PlanContext) -> Plan:
        """The plan of an act."""
        root = str(self.root)
        if verb in ("evict", "slim"):
            return plan_eviction(entries, root, EvictCriteria(older_than=0.0, keep_graph=verb == "slim"), context)
        planner = {"quarantine": plan_quarantine, "retry": plan_retry, "unlock": plan_unlock}[verb]
        return planner(entries, root, context)

    def look_back(self, verb: str) -> None:
        """Undo a plan of before, or delete for ever what it took."""
        histories = [history for history in self.trash.histories() if history.state == "done" and history.moves]
        if not histories:
            return
        history = self.chance.choice(histories)
        if verb == "restore":
            self.did[verb] += restore(history.begun.plan, self.trash).restored
        else:
            with self.trash.exclusively():
                self.trash.purge(history)
            self.did[verb] += 1
