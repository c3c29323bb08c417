"""A journal that was emptied, cut, garbled or written by a newer version: what lies in the trash is found again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Plan
from neuron_top.actions.planners import sweep
from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.actions.planners.retry import plan_retry
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.actions.reasons import NotDone, NotDoneCode
from neuron_top.cache.model.states import State
from neuron_top.errors import NothingToShow
from neuron_top.services.caches import CacheService
from neuron_top.settings import Settings
from tests.actions import caches, states
from tests.adversary.trees import cache_command, nobody_about, planned

__all__ = ["nobody_about"]


def emptied(journal: bytes) -> bytes:
    return b""


def begun_only(journal: bytes) -> bytes:
    return journal.splitlines(keepends=True)[0]


def without_moves(journal: bytes) -> bytes:
    return b"".join(line for line in journal.splitlines(keepends=True) if b"MovesIntended" not in line)


def without_beginning(journal: bytes) -> bytes:
    return b"".join(journal.splitlines(keepends=True)[1:])


def half_a_line(journal: bytes) -> bytes:
    return journal[: len(journal) * 2 // 5]


def garbage(journal: bytes) -> bytes:
    return bytes(byte ^ 0x5A for byte in journal) + b"\n" + b"[" * 100_000 + b"\n\x00\xff{}\n"


def zeros(journal: bytes) -> bytes:
    return bytes(len(journal))


def newer(journal: bytes) -> bytes:
    lines = [json.loads(line) for line in journal.splitlines()]
    return b"".join(json.dumps({**line, "type": line["type"] + "2", "more": 1}).encode() + b"\n" for line in lines)


def doubled(journal: bytes) -> bytes:
    return b"".join(line * 2 for line in journal.splitlines(keepends=True))


def wrong_types(journal: bytes) -> bytes:
    return journal.replace(b'"at":', b'"at":"now","was":').replace(b'"moves":[[', b'"moves":[["x",')


DAMAGES: tuple[Callable[[bytes], bytes], ...] = (
    emptied, begun_only, without_moves, without_beginning, half_a_line, garbage, zeros, newer, doubled, wrong_types,
)  # fmt: skip


def evict(root: Path) -> Plan:
    return planned(root, states=frozenset({State.HIT, State.FAILED}))


def slim(root: Path) -> Plan:
    return planned(root, keep_graph=True)


def retry(root: Path) -> Plan:
    snapshot = caches.looked_at(root)
    return plan_retry(snapshot.entries, str(root), caches.context(snapshot))


def quarantine(root: Path) -> Plan:
    snapshot = caches.looked_at(root)
    return plan_quarantine(snapshot.entries, str(root), caches.context(snapshot))


def unlock(root: Path) -> Plan:
    snapshot = caches.looked_at(root)
    return plan_unlock(snapshot.entries, str(root), caches.context(snapshot))


ACTS: tuple[Callable[[Path], Plan], ...] = (evict, slim, retry, quarantine, unlock)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "cache"
    for number, state in enumerate((State.HIT, State.HIT, State.FAILED, State.STALE_LOCK, State.CORRUPT), 1):
        caches.grow_old(states.entry_in(place, state, number=number), 10)
    return place


@pytest.mark.parametrize("planless", [False, True], ids=["with plan", "without plan"])
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_what_lies_in_the_trash_is_found_again(
    root: Path,
    capsys: pytest.CaptureFixture[str],
    nobody_about: None,
    damage: Callable[[bytes], bytes],
    act: Callable[[Path], Plan],
    planless: bool,
) -> None:
    before = caches.everything(root)
    plan, trash = act(root), Trash(root)
    assert caches.carried_out(plan, trash).done == len(plan.steps) > 0
    assert caches.everything(root) != before
    trash.journal.write_bytes(damage(trash.journal.read_bytes()))
    if planless:
        (trash.folder / plan.identity / "plan.json").write_bytes(b"{")
    status, said = cache_command(capsys, "journal", root)
    assert status == 0, said
    assert plan.identity in said
    status, said = cache_command(capsys, "restore", plan.identity, root)
    assert status == 0, said
    assert "brought back" in said
    assert caches.everything(root) == (untimed(before, root) if planless else before)
    for place in root.glob("*/*"):
        caches.grow_old(place, 10)
    again = act(root)
    assert caches.carried_out(again, trash).done == len(again.steps) > 0
    trash.journal.write_bytes(damage(trash.journal.read_bytes()))
    status, said = cache_command(capsys, "purge", root, "--yes")
    assert status == 0, said
    assert not any(path.name.startswith(again.identity) for path in trash.folder.iterdir())


def untimed(before: dict[str, tuple[bytes, int, int]], root: Path) -> dict[str, tuple[bytes, int, int]]:
    """Without plan and journal nobody knows the time of change that a folder had."""
    now = caches.everything(root)
    return {
        name: (facts[0], facts[1], now[name][2] if (root / name).is_dir() else facts[2])
        for name, facts in before.items()
    }


def test_a_screen_offers_what_was_found_again_to_be_undone(root: Path) -> None:
    plan, trash = evict(root), Trash(root)
    caches.carried_out(plan, trash)
    trash.journal.unlink()
    service = CacheService(Settings())
    assert service.trash.last_restorable(str(root)).begun.plan == plan.identity
    assert service.trash.undo(str(root), plan.identity).record.restored == len(plan.steps)


def test_an_entry_that_was_compiled_again_is_not_mixed_with_the_evicted_one(root: Path) -> None:
    """With nothing but folders to tell, what holds a graph went whole, and stays in the trash."""
    plan, trash = evict(root), Trash(root)
    caches.carried_out(plan, trash)
    trash.journal.unlink()
    (trash.folder / plan.identity / "plan.json").unlink()
    path = next(step.path for step in plan.steps)
    (root / path).mkdir(parents=True)
    (root / path / "model.hlo_module.pb").write_bytes(b"new")
    record = restore(plan.identity, trash)
    assert (path, NotDone(NotDoneCode.EXISTS_AGAIN)) in record.kept
    assert [found.name for found in (root / path).iterdir()] == ["model.hlo_module.pb"]


def test_a_purge_that_was_killed_is_finished_without_a_journal(root: Path) -> None:
    plan, trash = evict(root), Trash(root)
    caches.carried_out(plan, trash)
    (trash.folder / plan.identity).rename(trash.folder / f"{plan.identity}.purging")
    trash.journal.unlink()
    with trash.exclusively():
        pass
    assert not list(trash.folder.glob(f"{plan.identity}*"))


def test_a_swept_work_folder_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = tmp_path / "user" / "neuroncc_compile_workdir" / "one"
    (place / "below").mkdir(parents=True)
    (place / "file").write_bytes(b"x")
    for path in (place / "file", place / "below", place):
        os.utime(path, (1, 1))
    snapshot = caches.looked_at(states.entry_in(tmp_path / "cache", State.HIT).parents[1])
    plan = sweep.plan_sweeps(sweep.find_work_folders(), caches.context(snapshot), os.getuid())[0]
    trash = Trash(plan.root)
    assert caches.carried_out(plan, trash).done == 1
    trash.journal.unlink()
    (trash.folder / plan.identity / "plan.json").unlink()
    assert restore(plan.identity, trash).restored == 1
    assert (place / "file").read_bytes() == b"x"


@pytest.mark.parametrize(
    "path", ["../../precious", "/precious", "..", ".", "", "a/../../precious", "a\0b", "a/" * 5000]
)
def test_a_hand_edited_journal_leads_nowhere(root: Path, path: str) -> None:
    plan, trash = evict(root), Trash(root)
    caches.carried_out(plan, trash)
    precious = root.parent / "precious"
    precious.mkdir()
    (precious / "file").write_text("precious")
    lines = [json.loads(line) for line in trash.journal.read_bytes().splitlines()]
    for line in lines:
        for move in line.get("moves", ()):
            move[2], move[4] = path, 10**18
    trash.journal.write_text("\n".join(map(json.dumps, lines)) + "\n")
    restore(plan.identity, trash)
    assert (precious / "file").read_text() == "precious"
    assert all((root / step.path).exists() for step in plan.steps)


@pytest.mark.parametrize("number", [10**30, -(10**30), 1 << 63, -(1 << 63) - 1])
def test_a_journal_with_impossible_numbers_is_read_and_undone(root: Path, number: int) -> None:
    plan, trash = evict(root), Trash(root)
    caches.carried_out(plan, trash)
    lines = [json.loads(line) for line in trash.journal.read_bytes().splitlines()]
    for line in lines:
        for move in line.get("moves", ()):
            move[3] = move[4] = move[5] = number
    trash.journal.write_text("\n".join(map(json.dumps, lines)) + "\n")
    restore(plan.identity, trash)
    assert all((root / step.path).exists() for step in plan.steps)


def test_a_plan_that_nobody_knows_is_none(root: Path) -> None:
    evict(root)
    with pytest.raises(NothingToShow):
        restore("0123456789", Trash(root))
