"""Files of this user alone: replaced whole or not at all."""

from __future__ import annotations

import os
import resource
import signal
import threading
from pathlib import Path

import pytest

from neuron_top.errors import RefusedForSafety
from neuron_top.private_files import make_file, replace_file
from tests.adversary.attacker import give_away, needs_root


def test_a_file_is_replaced_and_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b"old")
    path.chmod(0o644)
    replace_file(path, b"new", b"er")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"newer", 0o600)
    replace_file(path, b"newest", mode=0o640)
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_takes_only_a_part_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b"old")
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            replace_file(path, b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_writers_at_the_same_time_leave_the_file_of_one_of_them(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    contents = [letter * 100_000 for letter in (b"a", b"b", b"c", b"d")]
    threads = [
        threading.Thread(target=lambda data=data: [replace_file(path, data[:50_000], data[50_000:]) for _ in range(20)])
        for data in contents
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            assert path.read_bytes() in contents
    for thread in threads:
        thread.join()
    assert os.listdir(tmp_path) == [path.name]  # noqa: PTH208 (names)


def test_a_file_is_made_closed_to_others_and_one_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    make_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"kept")
    make_file(path)
    assert path.read_bytes() == b"kept"


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_no_file_is_made_where_something_else_lies(tmp_path: Path, kind: str) -> None:
    path, victim = tmp_path / "state.db", tmp_path / "victim"
    match kind:
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to(victim)
        case "pipe":
            os.mkfifo(path)
    with pytest.raises(RefusedForSafety, match="not a plain file"):
        make_file(path)
    assert not victim.exists()


@needs_root
def test_a_file_of_somebody_else_is_not_taken_for_ours(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.touch()
    give_away(path)
    with pytest.raises(RefusedForSafety, match="belongs to user"):
        make_file(path)


@needs_root
def test_a_file_of_somebody_else_in_a_folder_of_ours_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b"theirs")
    give_away(path)
    replace_file(path, b"ours")
    assert (path.read_bytes(), path.stat().st_uid) == (b"ours", os.geteuid())
