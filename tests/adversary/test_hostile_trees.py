"""Trees that were made to hurt: deep, wide, oddly named, mounted, replaced. What is asked for is done, or said."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top import folders
from neuron_top.actions.journal.purge_tree import empty
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import CannotPurge, Trash
from neuron_top.actions.planners import sweep
from neuron_top.cache.tree import measure
from neuron_top.errors import RefusedForSafety
from neuron_top.events import RunStarted
from neuron_top.store.retention import delete, enforce, folder_of
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from tests.actions import caches
from tests.adversary.attacker import LONG, as_stranger, give_away, needs_root
from tests.adversary.trees import (
    DEEP,
    cache_command,
    clean,
    dig,
    evicted,
    few_open_files,
    nobody_about,
    planned,
)

__all__ = ["clean", "nobody_about"]
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def root(clean: Path) -> Path:
    return clean / "cache"


def purge_all(trash: Trash) -> list[str]:
    """What was said of plans that could not go."""
    said = []
    with trash.exclusively():
        for history in trash.expired(float("inf")):
            try:
                trash.purge(history)
            except CannotPurge as problem:
                said.append(str(problem))
    return said


def test_an_entry_of_thousands_of_nested_folders_is_measured_evicted_restored_and_purged(root: Path) -> None:
    place = caches.entry(root, 1)
    dig(place)
    caches.grow_old(place, 10)
    entry = caches.looked_at(root).entries[0]
    assert entry.allocated >= 8192 + 5000
    assert not entry.problems
    trash, first = Trash(root), planned(root)
    with few_open_files():
        assert caches.carried_out(first, trash).done == 1
        restore(first.identity, trash)
        assert (place / "model.neff").exists()
        again = planned(root)
        assert caches.carried_out(again, trash).done == 1
        assert purge_all(trash) == []
    assert not (trash.folder / again.identity).exists()
    assert trash.history_of(again.identity).purged.freed >= entry.allocated  # type: ignore[union-attr]


def test_nested_folders_put_into_the_trash_stop_no_other_plan(
    root: Path, capsys: pytest.CaptureFixture[str], nobody_about: None
) -> None:
    deep, other, last = evicted(root, 1), evicted(root, 2), evicted(root, 3)
    trash = Trash(root)
    dig(trash.folder / deep)
    (trash.folder / deep).rename(trash.folder / f"{deep}.purging")  # as a killed purge leaves it
    (place := caches.entry(root, 4)).joinpath("model.hlo_module.pb.lock").touch()
    os.utime(place / "model.hlo_module.pb.lock", (1, 1))
    with few_open_files():
        assert cache_command(capsys, "restore", other, root)[0] == 0
        assert cache_command(capsys, "unlock", root, "--yes")[0] == 0
        assert cache_command(capsys, "purge", root, "--yes")[0] == 0
    assert not (place / "model.hlo_module.pb.lock").exists()
    assert trash.history_of(deep).state == trash.history_of(last).state == "purged"


@pytest.mark.parametrize("what", ["link", "link to a plan", "dangling link", "file", "pipe"])
def test_a_plans_folder_that_was_replaced_is_reported_and_stops_nothing_else(
    root: Path, capsys: pytest.CaptureFixture[str], nobody_about: None, what: str
) -> None:
    victim, other, last = evicted(root, 1), evicted(root, 2), evicted(root, 3)
    trash, outside = Trash(root), root.parent / "outside"
    entry = outside / caches.COMPILER / caches.module(7)
    entry.mkdir(parents=True)
    for path in (entry / "precious", outside / "lock.precious", outside / "plan.json"):
        path.write_text("precious")
    before = caches.everything(outside)
    place = trash.folder / victim
    place.rename(root.parent / "moved")
    if what == "file":
        place.write_text("no folder")
    elif what == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to({"link": outside, "link to a plan": root.parent / "moved"}.get(what, "/nowhere"))
    status, said = cache_command(capsys, "purge", root, "--yes", "--plan", victim)
    assert status == 1, said
    assert victim in said
    assert "by hand" in said
    status, said = cache_command(capsys, "restore", victim, root)
    assert status == 4, said
    status, said = cache_command(capsys, "apply", victim, root, "--yes")
    assert status in (1, 3, 4), said
    assert cache_command(capsys, "restore", other, root)[0] == 0
    status, said = cache_command(capsys, "purge", root, "--yes")
    assert status == 1, said
    assert trash.history_of(last).state == "purged"
    assert caches.everything(outside) == before
    assert (root.parent / "moved" / caches.COMPILER).exists()


@pytest.mark.parametrize("what", ["link", "file", "pipe"])
def test_a_token_that_is_no_file_of_ours_stops_nothing(root: Path, what: str) -> None:
    first, second = evicted(root, 1), evicted(root, 2)
    trash, precious = Trash(root), root.parent / "precious"
    precious.write_text("precious")
    token = trash.folder / first / "lock.token"
    {"link": lambda: token.symlink_to(precious), "file": token.touch, "pipe": lambda: os.mkfifo(token)}[what]()
    restore(second, trash)
    restore(first, trash)
    assert precious.read_text() == "precious"
    assert len(caches.looked_at(root).entries) == 2


@pytest.mark.parametrize("what", ["trash", "folder", "journal", "pipe", "directory"])
def test_a_trash_or_journal_that_leads_elsewhere_is_refused_and_nothing_is_written_there(
    root: Path, capsys: pytest.CaptureFixture[str], nobody_about: None, what: str
) -> None:
    plan = evicted(root, 1)
    caches.entry(root, 2)
    trash, outside = Trash(root), root.parent / "outside"
    place = {"trash": trash.folder.parent, "folder": trash.folder}.get(what, trash.journal)
    place.rename(outside)
    if what == "pipe":
        os.mkfifo(place)
    elif what == "directory":
        place.mkdir()
    else:
        place.symlink_to(outside)
    before = caches.everything(outside) if outside.is_dir() else outside.read_bytes()
    for words in (
        ["restore", plan, root],
        ["purge", root, "--yes"],
        ["journal", root],
        ["evict", root, "--older-than", "1s", "--yes"],
    ):
        status, said = cache_command(capsys, *words)
        assert status == 4, (words, said)
        assert "trash" in said or "journal" in said
    assert before == (caches.everything(outside) if outside.is_dir() else outside.read_bytes())
    assert len(caches.looked_at(root).entries) == 1


def test_what_cannot_be_deleted_is_set_apart_and_purged_when_it_can_be(
    root: Path, capsys: pytest.CaptureFixture[str], nobody_about: None
) -> None:
    stuck, other = evicted(root, 1), evicted(root, 2)
    trash = Trash(root)
    with immutable(next((trash.folder / stuck).rglob("model.neff"))):
        status, said = cache_command(capsys, "purge", root, "--yes")
        assert status == 1, said
        assert stuck in said
        assert "not permitted" in said
        assert trash.history_of(other).state == "purged"
        again = evicted(root, 3)
        assert cache_command(capsys, "restore", again, root)[0] == 0
        status, said = cache_command(capsys, "restore", stuck, root)
        assert status == 4, said
        assert "could not be purged" in cache_command(capsys, "journal", root)[1]
        immutable_place = next(trash.folder.glob(f"{stuck}*"))
        assert immutable_place.name == f"{stuck}.apart"
        change(next(immutable_place.rglob("model.neff")), "-i")
        assert cache_command(capsys, "purge", root, "--yes")[0] == 0
    assert not list(trash.folder.glob(f"{stuck}*"))
    assert trash.history_of(stuck).state == "purged"


def change(path: Path, how: str) -> bool:
    return subprocess.run(["chattr", how, str(path)], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def immutable(path: Path) -> Iterator[None]:
    """Not even root may remove it."""
    folder = path.parents[4]
    if not change(path, "+i"):
        pytest.skip("this user or this file system cannot make a file immutable")
    try:
        yield
    finally:
        for left in folder.rglob(path.name):
            change(left, "-i")


@needs_root
def test_folders_without_permission_are_set_apart_and_the_others_go(root: Path) -> None:
    closed, other = evicted(root, 1), evicted(root, 2)
    mine = Trash(root)
    theirs = mine.folder.parent.with_name(".neurontop-trash-65534")
    mine.folder.parent.rename(theirs)
    trash = Trash(root, theirs)
    place = next((trash.folder / closed).glob("*/MODULE_*"))
    give_away(theirs, *theirs.rglob("*"), root, *root.rglob("*"))
    for folder in root.parents:
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o001)
    place.chmod(0o000)
    said = as_stranger(lambda: "; ".join(purge_all(trash)))
    assert closed in said
    assert "Permission denied" in said
    assert trash.history_of(other).state == "purged"


@needs_root
def test_what_is_mounted_in_the_trash_belongs_to_somebody_else(
    root: Path, capsys: pytest.CaptureFixture[str], nobody_about: None
) -> None:
    plan, other = evicted(root, 1), evicted(root, 2)
    trash, precious = Trash(root), root.parent / "precious"
    precious.mkdir()
    (precious / "file").write_text("precious")
    inside = trash.folder / plan / "mounted here"
    inside.mkdir()
    if subprocess.run(["mount", "--bind", precious, inside], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount")
    try:
        status, said = cache_command(capsys, "purge", root, "--yes")
        assert status == 1, said
        assert "mounted" in said
        assert trash.history_of(other).state == "purged"
    finally:
        subprocess.run(["umount", "--lazy", inside], check=True)
    assert (precious / "file").read_text() == "precious"
    assert cache_command(capsys, "restore", plan, root)[0] == 0
    assert len(caches.looked_at(root).entries) == 1


def test_odd_names_are_evicted_restored_and_purged(root: Path) -> None:
    place = caches.entry(root, 1)
    for name in (b"two\nlines", b"\xff\xfe not text", b"\x1b[2J", b"-rf", b"$(touch x)", b" "):
        (place / os.fsdecode(name)).write_bytes(b"x")
        (place / os.fsdecode(b"folder " + name)).mkdir()
        (root / os.fsdecode(b"compiler " + name)).mkdir()
    caches.grow_old(place, 10)
    before = caches.everything(place)
    trash, plan = Trash(root), planned(root)
    assert caches.carried_out(plan, trash).done == 1
    restore(plan.identity, trash)
    assert caches.everything(place) == before
    again = planned(root)
    assert caches.carried_out(again, trash).done == 1
    assert purge_all(trash) == []
    assert not list(trash.folder.glob(f"{again.identity}*"))


def test_entries_of_many_compilers_go_and_come_back_with_few_open_files(root: Path) -> None:
    for number in range(300):
        caches.entry(root, number, compiler=f"neuronxcc-2.21.{number}.0+043b1bf7")
    before = caches.everything(root)
    trash, plan = Trash(root), planned(root)
    with few_open_files(160):
        assert caches.carried_out(plan, trash).done == 300
        assert restore(plan.identity, trash).restored == 300
        slim = planned(root, keep_graph=True)
        assert caches.carried_out(slim, trash).done == 300
        restore(slim.identity, trash)
    assert caches.everything(root) == before


def test_a_folder_of_many_folders_is_removed_in_batches(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 60_000 if LONG else 100  # six times BATCH, in each of three folders
    monkeypatch.setattr(folders, "BATCH", folders.BATCH if LONG else 7)
    place = clean / "plan"
    for path in ("c", "c/a", ""):
        (place / path).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (place / path / f"{number}").mkdir()
    (place / "c/a/5/file").write_bytes(b"x")
    assert empty(place).files == 1
    assert list(place.iterdir()) == []


def test_an_entry_of_very_many_names_is_looked_at_and_goes(root: Path) -> None:
    count = 1_000_000 if LONG else 20_000
    place = caches.entry(root, 1)
    for number in range(count):
        (place / f"unknown {number}").touch()
    caches.grow_old(place, 10)
    assert len(caches.looked_at(root).entries[0].others) == count
    plan, trash = planned(root), Trash(root)
    assert caches.carried_out(plan, trash).done == 1
    with trash.exclusively():
        assert trash.purge(trash.history_of(plan.identity)).files >= count


def test_a_moved_folder_leads_a_removal_nowhere_else(clean: Path) -> None:
    """Far up the way is found again through `..`: what was moved meanwhile must not be taken for it."""
    place = clean / "place"
    place.mkdir()
    dig(place, folders.OPEN_FOLDERS * 3)
    (clean / "other").mkdir()
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    with contextlib.closing(folders.Descent(handle)) as way:
        for _ in range(folders.OPEN_FOLDERS * 2):
            way.enter("d")
        (place / "d" / "d" / "d").rename(clean / "other" / "d")
        with pytest.raises(OSError, match="moved"):
            climb(way, folders.OPEN_FOLDERS * 2)
    os.close(handle)


def climb(way: folders.Descent, count: int) -> None:
    for _ in range(count):
        way.leave()


def test_a_tree_of_any_depth_is_measured_with_few_open_files(clean: Path) -> None:
    dig(clean, DEEP, name="a" * 100)
    with few_open_files():
        size = measure(str(clean))
    assert size.complete
    assert (size.files, size.apparent) == (1, 5000)


def test_folders_alone_end_a_walk_too(clean: Path) -> None:
    for number in range(50):
        (clean / f"{number}").mkdir()
    assert not measure(str(clean), limit=20).complete


def test_a_recording_of_nested_folders_is_deleted_and_one_that_cannot_be_stops_no_other(clean: Path) -> None:
    with SqliteStore(clean / FILE_NAME) as store:
        for number in range(4):
            store.begin(RunStarted(run=f"r{number}", at=float(number)), pid=None)
            store.finish(f"r{number}", 0, number + 0.5)
            folder_of(clean, f"r{number}").mkdir(parents=True)
        dig(folder_of(clean, "r0"))
        folder_of(clean, "r1").rmdir()
        folder_of(clean, "r1").symlink_to(clean)
        with few_open_files(), pytest.raises(RefusedForSafety, match="is a link"):
            enforce(store, clean, keep_runs=1, keep_bytes=1 << 30, is_recording=lambda folder: False)
        assert [record.id for record in store.runs()] in (["r1", "r3"], ["r3", "r1"])
        assert not folder_of(clean, "r0").exists()
        assert delete(store, clean, "r3").id == "r3"


def test_a_work_folder_of_nested_folders_is_measured_and_swept(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(clean))
    place = clean / "user" / "neuroncc_compile_workdir" / "one"
    place.mkdir(parents=True)
    dig(place)
    with few_open_files():
        found = sweep.find_work_folders()
    assert [(left.path, left.files) for left in found] == [(str(place), 1)]


def test_an_entry_of_inductors_with_nested_folders_is_shown(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = "f" + "a" * 30
    place = clean / "inductor" / "fxgraph" / "ab" / key
    place.mkdir(parents=True)
    dig(place, 1500)
    (place / os.fsdecode(b"\xff odd")).write_bytes(b"x")
    status, said = cache_command(capsys, "show", "--json", clean / "inductor", key)
    assert status == 0, said
    assert "leaf" in said
