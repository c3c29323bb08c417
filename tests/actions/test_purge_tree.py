"""What is deleted for ever: all of a folder of the trash, nothing outside it, and exactly what became free is known."""

from __future__ import annotations

import os
from pathlib import Path

from neuron_top.actions.journal.purge_tree import empty
from neuron_top.folders import Removed, _one_name_of_several


def blocks(path: Path) -> int:
    return path.stat().st_blocks * 512


def filled(place: Path, size: int) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(b"x" * size)
    return place


def test_all_that_lies_below_goes_and_the_folder_stays(tmp_path: Path) -> None:
    place = tmp_path / "plan"
    found = [filled(place / name, 5000) for name in ("plan.json", "c/a/model.neff", "c/b/model.neff", "c/b/deep/er/f")]
    freed = sum(map(blocks, found))
    assert empty(place) == Removed(freed, files=4)
    assert list(place.iterdir()) == []


def test_links_are_removed_and_what_they_lead_to_stays(tmp_path: Path) -> None:
    outside = filled(tmp_path / "outside/model.neff", 100)
    (tmp_path / "plan/c/a").mkdir(parents=True)
    (tmp_path / "plan/c/folder").symlink_to(outside.parent)
    (tmp_path / "plan/c/a/model.neff").symlink_to(outside)
    (tmp_path / "plan/whole").symlink_to(outside.parent)
    assert empty(tmp_path / "plan").files == 3
    assert outside.read_bytes() == b"x" * 100


def test_the_last_name_of_a_file_that_was_seen_with_several_frees_its_bytes(tmp_path: Path) -> None:
    """Two threads see an inode with two names each; whoever deletes second deletes the last, and must count it."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"x" * 5000)
    second.hardlink_to(first)
    size = first.stat().st_blocks * 512
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    freed = [_one_name_of_several(handle, name) for name in ("first", "second")]
    os.close(handle)
    assert freed == [0, size]


def test_an_inode_of_many_names_is_free_once_and_only_with_its_last(tmp_path: Path) -> None:
    """Two threads delete the names; each of them could take itself for the last, or neither."""
    place = tmp_path / "plan"
    shared, kept = filled(tmp_path / "shared", 8192), filled(tmp_path / "kept", 8192)
    freed = blocks(shared)
    for number in range(200):
        (place / f"c/{number}").mkdir(parents=True)
        os.link(shared, place / f"c/{number}/shared")
        os.link(kept, place / f"c/{number}/kept")
    shared.unlink()
    assert empty(place) == Removed(freed, files=400)
    assert kept.stat().st_nlink == 1
