"""Five situations that the SDK's neighbors misjudge (a published clean-up tool was run on each): ours must not."""

from __future__ import annotations

import socket
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Plan
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.planners.maintain import criteria_of
from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.actions.planners.retry import plan_retry
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model.states import State
from neuron_top.settings import Settings
from tests.actions import caches, states

SWEEPING = Settings(cache_states=",".join(State), cache_older_than="1s", cache_max_size="0")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def every_plan(root: Path) -> list[Plan]:
    """All that a timer, or a person who asks for everything but for nothing by name, could plan."""
    snapshot = caches.looked_at(root)
    context = caches.context(snapshot)
    entries, name = snapshot.entries, str(root)
    return [
        *(plan_eviction(entries, name, policy, context) for policy in criteria_of(SWEEPING)),
        plan_eviction(entries, name, EvictCriteria(free_bytes=1 << 62), context),
        plan_retry(entries, name, context, deterministic=True),
        plan_unlock(entries, name, context),
        plan_quarantine(entries, name, context),
    ]


def survives_everything(root: Path, state: State) -> None:
    assert [entry.state for entry in caches.looked_at(root).entries] == [state]
    before = caches.everything(root)
    for plan in every_plan(root):
        assert plan.steps == (), plan.verb
        caches.carried_out(plan, Trash(root))
    assert caches.everything(root) == before


def test_a_failed_graph_that_is_being_retried_under_its_lock_is_in_progress(root: Path) -> None:
    states.entry_in(root, State.RETRYING)
    survives_everything(root, State.RETRYING)


def test_a_failure_log_beside_a_lock_that_names_nobody_is_not_a_failure(root: Path) -> None:
    place = states.entry_in(root, State.LOCKED_UNKNOWN)
    (place / "model.log").write_bytes(states.LOG["model.log"])
    survives_everything(root, State.LOCKED_UNKNOWN)


def test_graphs_that_were_collected_and_not_compiled_yet_are_work_not_waste(root: Path) -> None:
    states.entry_in(root, State.EXTRACTED)
    survives_everything(root, State.EXTRACTED)


def test_a_neff_without_its_mark_is_being_written_or_half_written_not_empty(root: Path) -> None:
    states.entry_in(root, State.PUBLISHED_UNMARKED)
    survives_everything(root, State.PUBLISHED_UNMARKED)


def test_an_empty_neff_with_a_mark_is_corrupt_not_a_success(root: Path) -> None:
    place = states.entry_in(root, State.CORRUPT)
    snapshot = caches.looked_at(root)
    plan = plan_quarantine(snapshot.entries, str(root), caches.context(snapshot))
    assert caches.carried_out(plan, Trash(root)).done == 1
    assert {path.name for path in place.iterdir()} == {"compile_flags.json", "model.hlo_module.pb"}
    assert [entry.state for entry in caches.looked_at(root).entries] == [State.EXTRACTED]


def test_a_compile_on_another_host_is_never_declared_dead(root: Path) -> None:
    place = states.entry_in(root, State.STALE_LOCK)
    elsewhere = msgspec.structs.replace(lock_owner.current(), host=f"not-{socket.gethostname()}", pid=1)
    (place / "model.hlo_module.pb.lock").write_bytes(msgspec.json.encode(elsewhere))
    caches.grow_old(place, 0.001)
    survives_everything(root, State.LOCKED_UNKNOWN)
