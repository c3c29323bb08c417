"""Checks before a step that nothing else would catch, one test each: with the check taken out, the test fails."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions import entry_lock
from neuron_top.actions import plan as plans
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.stale_locks import free_locks
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.open_entries import OpenEntry, StaleEntryError
from neuron_top.actions.plan import Plan
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.actions.reasons import NotDone, NotDoneCode
from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model.states import State
from neuron_top.errors import RefusedForSafety
from neuron_top.views.plan import reason_text
from tests.actions import caches, states

LOCK = "model.hlo_module.pb.lock"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def planned(root: Path, *, slim: bool = False) -> Plan:
    snapshot = caches.looked_at(root)
    return plan_eviction(
        snapshot.entries, str(root), EvictCriteria(older_than=0.0, keep_graph=slim), caches.context(snapshot)
    )


def unnoticed(place: Path) -> tuple[int, int]:
    """The times of a folder, to be put back: a change that does not show in them."""
    facts = place.stat()
    return facts.st_atime_ns, facts.st_mtime_ns


def test_what_a_recording_saw_used_within_a_day_stays(root: Path) -> None:
    place = caches.entry(root, 1)
    snapshot = caches.looked_at(root)
    context = caches.context(snapshot, used={place.name: time.time() - 3600})
    plan = plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=0.0), context)
    assert plan.steps == ()
    assert reason_text(plan.exclusions[0]).startswith("used within a day")


def test_a_lock_of_another_host_taken_since_the_plan_is_not_broken(root: Path) -> None:
    place = caches.entry(root, 1)
    plan, times = planned(root), unnoticed(place)
    elsewhere = msgspec.structs.replace(lock_owner.current(), host=f"not-{socket.gethostname()}")
    (place / LOCK).write_bytes(msgspec.json.encode(elsewhere))
    os.utime(place, ns=times)
    assert caches.reasons(caches.carried_out(plan, Trash(root)))[0] == "it is locked"
    assert (place / LOCK).exists()


def test_what_is_gone_with_its_compilers_folder_is_called_gone(root: Path) -> None:
    place = caches.entry(root, 1)
    plan = planned(root)
    place.parent.rename(root / "elsewhere")
    assert caches.reasons(caches.carried_out(plan, Trash(root))) == ["it is gone"]


def test_an_artifact_written_again_in_its_place_is_refused(root: Path) -> None:
    place = caches.entry(root, 1)
    plan = planned(root)
    (place / "model.neff").write_bytes(caches.neff(9000))
    outcome = caches.carried_out(plan, Trash(root))
    assert caches.reasons(outcome)[0] == "its artifact was written again since the plan was made"
    assert (place / "model.neff").exists()


def test_a_failure_written_again_in_its_place_is_refused(root: Path) -> None:
    failed = {"model.hlo_module.pb": b"\x0a\x01m", "model.log": b"Failed compilation with ['neuronx-cc']: Killed"}
    place = caches.entry(root, 1, files=failed)
    plan = planned(root)
    assert len(plan.steps) == 1
    (place / "model.log").write_text("Failed compilation with ['neuronx-cc']: No space left on device")
    outcome = caches.carried_out(plan, Trash(root))
    assert caches.reasons(outcome) == ["it was written again since the plan was made"]
    assert (place / "model.log").exists()


def test_an_artifact_that_is_gone_is_refused(root: Path) -> None:
    place = caches.entry(root, 1)
    plan, times = planned(root), unnoticed(place)
    (place / "model.neff").unlink()
    os.utime(place, ns=times)
    assert caches.reasons(caches.carried_out(plan, Trash(root)))[0] == "its artifact is gone"


def test_a_folder_that_took_the_place_of_the_planned_one_is_refused(root: Path, tmp_path: Path) -> None:
    place = caches.entry(root, 1)
    plan, times = planned(root), unnoticed(place)
    place.rename(tmp_path / "old")
    caches.entry(root, 1)
    os.utime(place, ns=times)
    outcome = caches.carried_out(plan, Trash(root))
    assert caches.reasons(outcome)[0] == "another folder has taken its place since the plan was made"


def test_a_plan_is_not_carried_out_with_the_trash_of_another_root(root: Path, tmp_path: Path) -> None:
    caches.entry(root, 1)
    caches.entry(tmp_path / "other", 1)
    with pytest.raises(RefusedForSafety, match=r"this plan is for .* and cannot be executed on"):
        caches.carried_out(planned(root), Trash(tmp_path / "other"))


@pytest.mark.parametrize("spelled", ["{root}/trash", "cache/trash", "{root}/../cache/trash", "link/trash"])
def test_a_trash_inside_the_cache_is_refused_however_it_is_spelled(
    root: Path, monkeypatch: pytest.MonkeyPatch, spelled: str
) -> None:
    caches.entry(root, 1)
    (root.parent / "link").symlink_to(root)
    monkeypatch.chdir(root.parent)
    with pytest.raises(RefusedForSafety, match="inside the cache"):
        caches.carried_out(planned(root), Trash(root, spelled.format(root=root)))
    assert not (root / "trash").exists()


def test_a_trash_that_is_a_link_is_refused(root: Path, tmp_path: Path) -> None:
    caches.entry(root, 1)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "trash").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedForSafety, match="is a link"):
        caches.carried_out(planned(root), Trash(root, tmp_path / "trash"))


@pytest.mark.parametrize("slim", [False, True], ids=["entry", "file"])
def test_what_was_compiled_anew_is_not_overwritten_by_an_undo(root: Path, slim: bool) -> None:
    place = caches.entry(root, 1)
    plan, trash = planned(root, slim=slim), Trash(root)
    caches.carried_out(plan, trash)
    place.mkdir(exist_ok=True)
    (place / "model.neff").write_bytes(b"anew")
    record = restore(plan.identity, trash)
    assert "it exists again" in caches.reasons(record)
    assert (place / "model.neff").read_bytes() == b"anew"


def test_a_lock_that_its_holder_gave_back_meanwhile_is_reported(root: Path) -> None:
    place = states.entry_in(root, State.STALE_LOCK)
    snapshot = caches.looked_at(root)
    plan = plan_unlock(snapshot.entries, str(root), caches.context(snapshot))
    times = unnoticed(place)
    (place / LOCK).unlink()
    os.utime(place, ns=times)
    assert caches.reasons(caches.carried_out(plan, Trash(root)))[0] == "the lock is gone"


def test_a_lock_that_a_client_takes_while_the_old_one_goes_is_reported_and_stays(root: Path, tmp_path: Path) -> None:
    place = states.entry_in(root, State.STALE_LOCK)

    class Raced(OpenEntry):
        def move_files(self, action: plans.Action, target: int) -> None:
            super().move_files(action, target)
            (place / LOCK).write_bytes(b"a client's")

    above, handle = (os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (place.parent, place))
    with Raced(place.name, above, handle) as entry, pytest.raises(StaleEntryError) as raised:
        entry_lock.take_away(entry, above)
    os.close(above)
    assert raised.value.reason == NotDone(NotDoneCode.LOCK_NEW)
    assert (place / LOCK).read_bytes() == b"a client's"


def test_a_dead_lock_that_another_has_broken_and_taken_meanwhile_stays(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, flock = caches.entry(root, 1), fcntl.flock
    (place / LOCK).write_bytes(states.dead_owner())
    living, waited = states.living_owner(), []

    def raced(handle: int, operation: int) -> None:
        """Another process was faster: when it lets us go on, it holds the lock."""
        flock(handle, operation)
        if not waited:
            waited.append(operation)
            (place / LOCK).write_bytes(living)

    above, handle = (os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (place.parent, place))
    with OpenEntry(place.name, above, handle) as entry:
        monkeypatch.setattr(fcntl, "flock", raced)
        entry_lock.break_dead(entry)
        monkeypatch.undo()
    os.close(above)
    assert waited == [fcntl.LOCK_EX]
    assert (place / LOCK).read_bytes() == living


@pytest.mark.parametrize("taken_again", [False, True])
def test_a_lock_that_a_client_took_after_all_were_cleared_stays(
    root: Path, tmp_path: Path, *, taken_again: bool
) -> None:
    """`neuron_parallel_compile --command clear-locks` during a long copy, then a job: its lock was removed."""
    place, token = caches.entry(root, 1), root.parent / "token"
    token.write_bytes(states.living_owner())
    above, handle = (os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (place.parent, place))
    with OpenEntry(place.name, above, handle) as entry, entry_lock.EntryLockGuard(entry, token):
        (place / LOCK).unlink()
        if taken_again:
            (place / LOCK).write_bytes(b"")
    os.close(above)
    assert (place / LOCK).exists() is taken_again


def test_a_folder_that_takes_the_place_of_an_open_entry_is_not_renamed(root: Path, tmp_path: Path) -> None:
    place = caches.entry(root, 1)
    above, handle = (os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (place.parent, place))
    place.rename(tmp_path / "old")
    place.mkdir()
    with (
        OpenEntry(place.name, above, handle) as entry,
        pytest.raises(StaleEntryError) as raised,
    ):
        entry.rename_into(above)
    os.close(above)
    assert raised.value.reason == NotDone(NotDoneCode.FOLDER_REPLACED)
    assert place.exists()


def test_a_resumed_plan_takes_no_foreign_dead_lock_for_its_own(root: Path) -> None:
    for number in range(2):
        caches.entry(root, number)
    plan, trash = planned(root), Trash(root)
    caches.carried_out(plan, trash, watch=lambda progress: False)
    left = root / plan.steps[1].path
    (left / LOCK).write_bytes(states.dead_owner())
    (left / "model.log").write_bytes(b"written since the plan was made")
    outcome = caches.carried_out(plan, trash)
    assert [path for path, _ in outcome.refused] == [plan.steps[1].path]
    assert (left / "model.neff").exists()


def test_only_the_lock_of_the_killed_process_itself_is_freed(root: Path) -> None:
    place = caches.entry(root, 1)
    plan, trash = planned(root), Trash(root)
    caches.carried_out(plan, trash, watch=lambda progress: False)
    restore(plan.identity, trash)
    (place / LOCK).write_bytes(b"")  # a client's
    dead = trash.folder / plan.identity / "lock.dead"
    dead.parent.mkdir()
    dead.write_bytes(states.dead_owner())
    (trash.folder / "second-name").hardlink_to(dead)
    free_locks(trash)
    assert (place / LOCK).exists()
    assert not dead.exists()


def test_the_lock_of_a_living_process_is_not_freed(root: Path) -> None:
    place = caches.entry(root, 1)
    plan, trash = planned(root), Trash(root)
    caches.carried_out(plan, trash)
    restore(plan.identity, trash)
    token = trash.folder / plan.identity / "lock.alive"
    token.parent.mkdir()
    token.write_bytes(states.living_owner())
    (place / LOCK).hardlink_to(token)
    free_locks(trash)
    assert (place / LOCK).exists()
    assert token.exists()


def test_the_journal_knows_of_every_move_before_the_first(root: Path) -> None:
    for number in range(3):
        caches.entry(root, number)
    plan, trash = planned(root), Trash(root)
    intended: list[int] = []

    def watch(progress: plans.Progress) -> bool:
        intended.append(len(trash.history_of(plan.identity).moves))
        return True

    caches.carried_out(plan, trash, watch=watch)
    assert intended == [3, 3, 3]
