"""kill -9 at every touch of the disk, of every act: nothing is lost, nothing broken is taken for a hit, and the next
command goes on with it, undoes it, or clears up after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from neuron_top.actions import plan as plans
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Plan, Totals
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.actions.planners.retry import plan_retry
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.states import State
from neuron_top.errors import RefusedForSafety
from tests.actions import caches, states
from tests.actions.killing import Killer, killer

Planner = Callable[[Sequence[Entry], str, PlanContext], Plan]
StoredFile = dict[str, tuple[bytes, int, int]]


def evicting(*, slim: bool) -> Planner:
    return lambda entries, root, facts: plan_eviction(
        entries, root, EvictCriteria(older_than=0.0, keep_graph=slim), facts
    )


ACTS: dict[str, tuple[State, Planner, set[State]]] = {
    # what it is done to, its planner, and what is left when it is done
    "evict": (State.HIT, evicting(slim=False), set()),
    "slim": (State.HIT, evicting(slim=True), {State.EXTRACTED}),
    "retry": (State.FAILED_LEGACY, plan_retry, {State.EXTRACTED}),
    "quarantine": (State.CORRUPT, plan_quarantine, {State.EXTRACTED}),
    "unlock": (State.STALE_LOCK, plan_unlock, {State.EXTRACTED}),
}


@pytest.fixture(scope="module")
def kills() -> Iterator[Killer]:
    with killer() as found:
        yield found


def made(folder: Path, act: str) -> tuple[Path, Plan, StoredFile]:
    """Two entries of the act's state, its plan (beside them, as a file), and all that was there before."""
    state, planner, _ = ACTS[act]
    root = folder / "cache"
    for number in range(2):
        place = states.entry_in(root, state, number=number)
        for lock in place.glob("*.lock"):
            # As the compile component locks: one file under two names.
            lock.with_name(f"{lock.name}.owner").hardlink_to(lock)
            caches.grow_old(place, 10)
    before = caches.everything(root)
    entries = caches.looked_at(root).entries
    context = PlanContext(now=time.time(), before=Totals(entries=2, files=0, size=0))
    plan = planner(entries, str(root), context)
    assert len(plan.steps) == 2
    (folder / "plan.json").write_bytes(plans.encode(plan))
    return root, plan, before


def now(root: Path) -> set[State]:
    return {entry.state for entry in caches.looked_at(root).entries}


def contents(found: StoredFile) -> dict[str, bytes]:
    return {name: data for name, (data, _, _) in found.items()}


def check_no_false_hit(root: Path, act: str, at: int) -> None:
    """A mark stands beside the very artifact that it marked, or there is none."""
    for stub in root.rglob("model.neff") if act == "retry" else ():
        assert stub.with_name("model.log").exists(), f"killed at touch {at}: a stub that nothing calls a failure"
    for done in root.rglob("model.done"):
        artifact = done.with_name("model.neff")
        assert artifact.exists(), f"killed at touch {at}: a mark without an artifact"
        assert act != "quarantine" or artifact.stat().st_size == 0


def check_next_command_frees_locks(trash: Trash, act: str, at: int) -> None:
    """Whatever is done next to the cache: no client waits for a lock of ours that nobody holds."""
    with trash.exclusively():
        pass
    if act != "unlock":
        assert not list(trash.root.parent.rglob("MODULE_*/*.lock")), f"killed at touch {at}"


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("resume", [False, True], ids=["undone", "resumed"])
def test_an_act_killed_at_any_touch_is_resumed_or_undone(kills: Killer, tmp_path: Path, act: str, resume: bool) -> None:
    killed, at = True, 0
    while killed:
        root, plan, before = made(tmp_path / str(at), act)
        killed = kills.killed("execute", root, str(root.parent / "plan.json"), at)
        check_no_false_hit(root, act, at)
        trash = Trash(root)
        if not trash.histories():
            assert caches.everything(root) == before, f"killed at touch {at}: touched before it was journalled"
        else:
            if resume:
                assert caches.carried_out(plan, trash).refused == (), f"killed at touch {at}"
                assert now(root) == ACTS[act][2]
            else:
                check_next_command_frees_locks(trash, act, at)
            restore(plan.identity, trash)
            assert contents(caches.everything(root)) == contents(before), f"killed at touch {at}"
            assert not list(trash.folder.glob("*/lock.*"))
        at += 1
    assert at > 15


@pytest.mark.parametrize("act", ACTS)
def test_an_undo_killed_at_any_touch_is_resumed(kills: Killer, tmp_path: Path, act: str) -> None:
    killed, at = True, 0
    while killed:
        root, plan, before = made(tmp_path / str(at), act)
        trash = Trash(root)
        caches.carried_out(plan, trash)
        killed = kills.killed("restore", root, plan.identity, at)
        check_no_false_hit(root, act, at)
        assert restore(plan.identity, trash).kept == ()
        after = caches.everything(root)
        assert contents(after) == contents(before), f"killed at touch {at}"
        if act == "evict":
            assert after == before, f"killed at touch {at}: times or modes differ"
        at += 1
    assert at > 4


@pytest.mark.parametrize("act", ["evict", "slim"])
def test_a_purge_killed_at_any_touch_is_finished_by_the_next_command(kills: Killer, tmp_path: Path, act: str) -> None:
    killed, at = True, 0
    while killed:
        root, plan, before = made(tmp_path / str(at), act)
        trash = Trash(root)
        caches.carried_out(plan, trash)
        killed = kills.killed("purge", root, plan.identity, at)
        whole = (trash.folder / plan.identity).exists()
        with trash.exclusively():
            pass
        if whole:
            assert restore(plan.identity, trash).kept == ()
            assert caches.everything(root) == before, f"killed at touch {at}"
        else:
            assert trash.history_of(plan.identity).state == "purged", f"killed at touch {at}"
            assert not list(trash.folder.glob(f"{plan.identity}*")), f"killed at touch {at}: its space is not free"
            with pytest.raises(RefusedForSafety, match="purged"):
                restore(plan.identity, trash)
        at += 1
    assert at > 5


def test_a_line_of_the_journal_that_was_cut_does_not_swallow_the_next(tmp_path: Path) -> None:
    root, plan, before = made(tmp_path, "slim")
    trash = Trash(root)
    trash.prepare()
    trash.journal.write_bytes(b'{"type":"PlanBegun","plan":"0123')
    caches.carried_out(plan, trash)
    assert trash.history_of(plan.identity).state == "done"
    restore(plan.identity, trash)
    assert caches.everything(root) == before
