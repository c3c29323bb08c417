"""The lock of an entry as compilers and cache actions take, give back and break it: by path and by descriptor alike."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache.locks import lock_owner, protocol
from neuron_top.cache.locks.lock_owner import LockOwner
from neuron_top.cache.locks.protocol import EntryFolder, LockHeld

LOCK = "model.fxgraph.lock"


@pytest.fixture(params=["path", "descriptor"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EntryFolder]:
    if request.param == "path":
        yield EntryFolder.at(tmp_path)
        return
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield EntryFolder(handle=handle)
    os.close(handle)


def record(folder: Path, owner: LockOwner) -> Path:
    path = folder / f"model.{owner.token}.tmp"
    path.write_bytes(msgspec.json.encode(owner))
    return path


def dead() -> LockOwner:
    return msgspec.structs.replace(lock_owner.current(), started=1)


def test_only_one_takes_a_lock_and_only_its_owner_gives_it_back(folder: EntryFolder, tmp_path: Path) -> None:
    owner, other = lock_owner.current(), lock_owner.current()
    assert protocol.take(folder, LOCK, record(tmp_path, owner))
    assert not protocol.take(folder, LOCK, record(tmp_path, other))
    assert protocol.owner_of(folder, LOCK) == owner
    protocol.release(folder, LOCK, other.token)
    assert (tmp_path / LOCK).exists()
    protocol.release(folder, LOCK, owner.token)
    assert not (tmp_path / LOCK).exists()


def no_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "no hard links here")


def test_a_lock_is_taken_where_the_file_system_has_no_hard_links(
    folder: EntryFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", no_links)
    owner = lock_owner.current()
    assert protocol.take(folder, LOCK, record(tmp_path, owner))
    assert not protocol.take(folder, LOCK, record(tmp_path, lock_owner.current()))
    assert protocol.owner_of(folder, LOCK) == owner


@pytest.mark.parametrize("room", [0, 10])
def test_a_full_disk_without_hard_links_leaves_no_lock_that_names_nobody(
    folder: EntryFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(os, "link", no_links)
    owner = record(tmp_path, lock_owner.current())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            protocol.take(folder, LOCK, owner)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == [owner]


def test_a_lock_is_ours_where_the_answer_to_the_link_was_lost(
    folder: EntryFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS makes the link, its answer is lost, and the second try finds it there."""
    link = os.link

    def linked_twice(record: Path, lock: str, dst_dir_fd: int | None = None) -> None:
        for _ in range(2):
            link(record, lock, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "link", linked_twice)
    assert protocol.take(folder, LOCK, record(tmp_path, lock_owner.current()))
    monkeypatch.undo()
    assert not protocol.take(folder, LOCK, record(tmp_path, lock_owner.current()))


def test_a_record_that_is_gone_takes_no_lock(folder: EntryFolder, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        protocol.take(folder, LOCK, tmp_path / "gone")


def test_only_a_dead_owners_lock_is_broken(folder: EntryFolder, tmp_path: Path) -> None:
    living, gone = lock_owner.current(), dead()
    assert protocol.break_dead(folder, LOCK) is None
    assert protocol.take(folder, LOCK, record(tmp_path, living))
    assert protocol.break_dead(folder, LOCK) is None
    protocol.release(folder, LOCK, living.token)
    assert protocol.take(folder, LOCK, record(tmp_path, gone))
    assert protocol.break_dead(folder, LOCK) == gone
    assert not (tmp_path / LOCK).exists()


def test_an_empty_lock_goes_with_the_dead_owner_beside_it(folder: EntryFolder, tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    assert protocol.break_dead(folder, LOCK) is None  # as the SDK's: it names nobody
    (tmp_path / f"{LOCK}.owner").write_bytes(msgspec.json.encode(dead()))
    assert protocol.break_dead(folder, LOCK) is not None
    assert not list(tmp_path.iterdir())


def test_a_dead_owners_lock_that_a_living_process_has_locked_stays(folder: EntryFolder, tmp_path: Path) -> None:
    assert protocol.take(folder, LOCK, record(tmp_path, dead()))
    with open(tmp_path / LOCK, "rb") as client:
        fcntl.flock(client, fcntl.LOCK_EX)
        assert protocol.break_dead(folder, LOCK) is None
        with pytest.raises(LockHeld, match="flock"), protocol.unheld(folder, [LOCK]):
            pass
    assert protocol.break_dead(folder, LOCK) is not None


def test_who_takes_over_is_alone(folder: EntryFolder, tmp_path: Path) -> None:
    other = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    with protocol.taking_over(folder), pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)


def test_a_child_that_was_forked_while_somebody_took_over_keeps_nobody_away(
    folder: EntryFolder, tmp_path: Path
) -> None:
    other = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    with protocol.taking_over(folder):
        child = os.fork()
        if child == 0:
            signal.pause()
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(other)
