"""Every state of an entry × every action: what goes, what stays, and what is not even spoken of."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Plan
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.copy import CopyDestination, plan_copy
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.actions.planners.retry import plan_retry
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.model.states import State
from neuron_top.errors import RefusedForSafety
from neuron_top.views.plan import reason_text
from tests.actions import caches, states

TAKEN, LEFT, SILENT = "taken", "left", "silent"
ACTIONS = {
    "age": lambda entries, root, facts: plan_eviction(entries, root, EvictCriteria(older_than=0.0), facts),
    "named": lambda entries, root, facts: plan_eviction(entries, root, EvictCriteria(states=frozenset(State)), facts),
    "slim": lambda entries, root, facts: plan_eviction(
        entries, root, EvictCriteria(older_than=0, keep_graph=True), facts
    ),
    "retry": lambda entries, root, facts: plan_retry(entries, root, facts),
    "unlock": lambda entries, root, facts: plan_unlock(entries, root, facts),
    "force": lambda entries, root, facts: plan_unlock(entries, root, facts, force=True),
    "quarantine": lambda entries, root, facts: plan_quarantine(entries, root, facts),
    "now": lambda entries, root, facts: plan_retry(
        entries, root, facts, compilers={caches.COMPILER, states.OLD_COMPILER}
    ),
    "copy": lambda entries, root, facts: plan_copy(
        Snapshot(root=root, taken_at=facts.now, seconds=0.0, entries=entries, folders=()),
        CopyDestination(f"{root}-copy"),
        now=facts.now,
    ),
}
ELSEWHERE = ("now", "copy")
"""Actions of other hands, which change nothing here until they have succeeded."""
T, L, S = TAKEN, LEFT, SILENT
TABLE = {
    #                           age named slim retry unlock force quarantine now copy
    State.HIT:                  (T, T, T, S, S, S, S, S, T),
    State.HIT_LEFTOVER_LOCK:    (L, L, L, S, L, T, S, S, L),
    State.HIT_LEGACY:           (T, T, T, S, S, S, S, S, L),
    State.CORRUPT:              (T, T, T, S, S, S, T, S, L),
    State.PARTIAL:              (L, T, L, S, S, S, S, S, L),
    State.COMPILING:            (L, L, L, S, L, L, S, S, L),
    State.RETRYING:             (L, L, L, L, L, L, S, L, L),
    State.LOCKED_UNKNOWN:       (L, L, L, S, L, T, S, S, L),
    State.STALE_LOCK:           (L, L, L, S, T, T, S, S, L),
    State.FAILED:               (T, T, T, T, S, S, S, T, L),
    State.FAILED_LEGACY:        (T, T, T, T, S, S, S, T, L),
    State.PUBLISHED_UNMARKED:   (L, T, L, S, S, S, S, S, L),
    State.EXTRACTED:                 (L, T, L, S, S, S, S, S, L),
    State.EMPTY:                (T, T, L, S, S, S, S, S, L),
    State.INCONSISTENT:         (T, T, T, S, S, S, T, S, L),
    State.TRACED:               (L, L, L, S, S, S, S, S, L),
    State.UNKNOWN:              (L, L, L, S, S, S, S, S, L),
}  # fmt: skip


def test_the_table_speaks_of_every_state_and_every_action() -> None:
    assert set(TABLE) == set(State)
    assert {len(row) for row in TABLE.values()} == {len(ACTIONS)}


def cases() -> list[tuple[State, str, str]]:
    return [(state, action, row[at]) for state, row in TABLE.items() for at, action in enumerate(ACTIONS)]


@pytest.mark.parametrize(("state", "action", "expected"), cases(), ids=lambda value: str(value))
def test_what_an_action_does_to_a_state(tmp_path: Path, state: State, action: str, expected: str) -> None:
    root = tmp_path / "cache"
    # A compile of the same key beside us, in another test's process, would be proof of life.
    place = states.entry_in(root, state, number=os.getpid())
    before = caches.everything(root)
    plan = planned(root, state, action)
    assert verdict(plan) == expected, plan.exclusions
    if action in ELSEWHERE:
        with pytest.raises(RefusedForSafety, match="cannot be executed") if plan.steps else contextlib.nullcontext():
            caches.carried_out(plan, Trash(root))
        assert caches.everything(root) == before
        return
    # The scan itself may take a second look at the clock: what counts is what is on disk.
    outcome = caches.carried_out(plan, Trash(root))
    assert outcome.refused == ()
    if expected != TAKEN:
        assert caches.everything(root) == before
    else:
        assert caches.everything(root) != before
        assert (place / "model.hlo_module.pb").exists() == (
            action not in ("age", "named") and (state is not State.EMPTY)
        )


def planned(root: Path, state: State, action: str) -> Plan:
    snapshot = caches.looked_at(root)
    assert [entry.state for entry in snapshot.entries] == [state]
    entries: tuple[Entry, ...] = snapshot.entries
    context: PlanContext = caches.context(snapshot)
    return ACTIONS[action](entries, str(root), context)


def verdict(plan: Plan) -> str:
    if plan.steps:
        return TAKEN
    return LEFT if plan.exclusions else SILENT


@pytest.mark.parametrize("state", [State.EXTRACTED, State.PARTIAL, State.PUBLISHED_UNMARKED])
def test_somebodys_young_work_stays_even_when_it_is_named(tmp_path: Path, state: State) -> None:
    root = tmp_path / "cache"
    states.entry_in(root, state, age_days=0.5)
    plan = planned(root, state, "named")
    assert verdict(plan) == LEFT
    assert "within a day" in reason_text(plan.exclusions[0])
