"""Entries that are held open: whatever else is opened meanwhile, each is moved from the folder that it lies in."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from neuron_top.actions.entry_lock import EntryLockGuard
from neuron_top.actions.open_entries import OPEN_FOLDERS, OpenRoot, StaleEntryError
from neuron_top.actions.reasons import NotDoneCode
from tests.actions import caches


def roots(tmp_path: Path) -> tuple[OpenRoot, OpenRoot]:
    """A cache with an entry for each of many compilers, and an empty trash."""
    for number in range(2 * OPEN_FOLDERS):
        (tmp_path / f"cache/compiler-{number}/MODULE_0").mkdir(parents=True)
    (tmp_path / "trash").mkdir()
    return OpenRoot(tmp_path / "cache"), OpenRoot(tmp_path / "trash")


def test_an_entry_is_moved_however_many_folders_were_opened_since(tmp_path: Path) -> None:
    cache, trash = roots(tmp_path)
    with cache.entry("compiler-0/MODULE_0") as entry:
        for number in range(1, 2 * OPEN_FOLDERS):
            with cache.entry(f"compiler-{number}/MODULE_0"):
                pass
        entry.rename_into(trash.above("compiler-0/MODULE_0"))
    assert (tmp_path / "trash/compiler-0/MODULE_0").is_dir()
    left = sorted(path.parent.name for path in (tmp_path / "cache").glob("*/MODULE_0"))
    assert left == sorted(f"compiler-{number}" for number in range(1, 2 * OPEN_FOLDERS))
    cache.close()
    trash.close()


def test_a_lock_that_somebody_cleared_meanwhile_does_not_undo_what_was_done_under_it(tmp_path: Path) -> None:
    place, trash = caches.entry(tmp_path / "cache", 1), tmp_path / "trash"
    trash.mkdir()
    (tmp_path / "token").write_bytes(b"{}")
    with (
        contextlib.closing(OpenRoot(tmp_path / "cache")) as root,
        contextlib.closing(OpenRoot(trash)) as target,
        root.entry(f"{caches.COMPILER}/{place.name}") as entry,
        EntryLockGuard(entry, tmp_path / "token"),
    ):
        (place / "model.hlo_module.pb.lock").unlink()
        entry.rename_into(target.above(place.name))
    assert (trash / place.name / "model.neff").exists()


def test_what_took_the_name_of_an_open_entry_stays(tmp_path: Path) -> None:
    cache, trash = roots(tmp_path)
    with cache.entry("compiler-0/MODULE_0") as entry:
        (tmp_path / "cache/compiler-0/MODULE_0").rename(tmp_path / "elsewhere")
        (tmp_path / "cache/compiler-0/MODULE_0").mkdir()
        with pytest.raises(StaleEntryError) as refused:
            entry.rename_into(trash.above("compiler-0/MODULE_0"))
    assert refused.value.reason.code is NotDoneCode.FOLDER_REPLACED
    assert (tmp_path / "cache/compiler-0/MODULE_0").is_dir()
    cache.close()
    trash.close()


def test_closed_entries_and_roots_leave_no_descriptor(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (`iterdir` would hold one more open)
    cache, trash = roots(tmp_path)
    for number in range(2 * OPEN_FOLDERS):
        with cache.entry(f"compiler-{number}/MODULE_0") as entry:
            entry.rename_into(trash.above(f"compiler-{number}/MODULE_0"))
    cache.close()
    trash.close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
