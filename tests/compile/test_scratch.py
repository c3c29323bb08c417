"""Scratch folders: gone with their process, and with the next one where that was killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.compile.wrapper.scratch import PREFIX, Scratch, remove_dead

JOB = """
import os, signal, sys
from pathlib import Path
from neuron_top.compile.wrapper.scratch import Scratch
scratch = Scratch([Path(sys.argv[1])])
(scratch.folder() / "inductor").mkdir()
(scratch.folder() / "inductor" / "half.cpp").write_text("int main")
print(scratch.folder(), flush=True)
sys.stdin.read()
if sys.argv[2] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def job(place: Path, end: str) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", JOB, str(place), end], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


@pytest.mark.parametrize("end", ["killed", "well"])
def test_a_scratch_folder_goes_with_its_process_or_with_the_next(tmp_path: Path, end: str) -> None:
    process, folder = job(tmp_path, end)
    living = Scratch([tmp_path])
    own = living.folder()
    assert folder.exists(), "its process lives"
    process.communicate("")
    assert folder.exists() == (end == "killed")
    remove_dead([tmp_path])
    assert not folder.exists()
    assert own.exists()


def test_the_next_process_that_needs_a_folder_tidies_up(tmp_path: Path) -> None:
    process, folder = job(tmp_path, "killed")
    process.communicate("")
    assert Scratch([tmp_path]).folder().exists()
    assert not folder.exists()


def test_what_names_no_dead_owner_stays(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}other").mkdir()
    (tmp_path / f"{PREFIX}file").write_text("a file")
    process, left = job(tmp_path / "..", "killed")
    process.communicate("")
    (tmp_path / f"{PREFIX}link").symlink_to(left)
    remove_dead([tmp_path])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{PREFIX}{name}" for name in ("file", "link", "other")]
    assert left.exists()


def test_nothing_is_removed_where_others_can_exchange_folders(tmp_path: Path) -> None:
    process, folder = job(tmp_path, "killed")
    process.communicate("")
    tmp_path.chmod(0o777)
    remove_dead([tmp_path])
    assert folder.exists()
    tmp_path.chmod(0o1777)
    remove_dead([tmp_path])
    assert not folder.exists()
