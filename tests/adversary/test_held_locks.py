"""Lock files older than the machine's last start that a living process holds all the same: nobody takes them away."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.actions.reasons import ReasonCode
from neuron_top.cache.locks import lock_holders, lock_owner
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.states import LOCKED, Holder, State
from neuron_top.compile.parallel.collect import WAITING
from tests.actions import caches, states
from tests.adversary.trees import cache_command, nobody_about

__all__ = ["nobody_about"]
LOCK = "model.hlo_module.pb.lock"
HOLDING = {
    "flock": "fcntl.flock(file, fcntl.LOCK_EX)",
    "shared flock": "fcntl.flock(file, fcntl.LOCK_SH)",
    "fcntl": "fcntl.lockf(file, fcntl.LOCK_EX)",
    "part of fcntl": "fcntl.lockf(file, fcntl.LOCK_EX, 1, 100)",
    "open file description": "fcntl.fcntl(file, 37, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0))",
    "open": "None",
    "left by a dead parent": "fcntl.flock(file, fcntl.LOCK_EX); os.fork() and os._exit(0)",
}
"""What a child does with the open lock file; it says its number, and waits until its input ends."""


@contextmanager
def held(path: Path, how: str) -> Iterator[int]:
    """A process that holds the file; its number."""
    program = (
        f"import fcntl, os, struct, sys; file = open(os.environ['HELD'], 'r+'); {HOLDING[how]}; "
        "print(os.getpid(), flush=True); sys.stdin.read()"
    )
    # Not in the command: to a test beside this one, a command that names the graph is a compiler of it.
    environ = {**os.environ, "HELD": str(path)}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    ) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        assert process.stdin is not None
        process.stdin.close()
        process.stdout.read()  # until the last of them has ended


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A collected graph, locked before this machine was started."""
    folder = states.entry_in(tmp_path / "cache", State.LOCKED_UNKNOWN)
    os.utime(folder / LOCK, (1, 1))
    return folder


def entry_of(place: Path) -> Entry:
    return caches.looked_at(place.parents[1]).entries[0]


@pytest.mark.parametrize("how", HOLDING)
def test_a_lock_that_a_living_process_holds_stays_and_says_who(
    place: Path, capsys: pytest.CaptureFixture[str], nobody_about: None, how: str
) -> None:
    root = place.parents[1]
    with held(place / LOCK, how) as pid:
        entry = entry_of(place)
        assert entry.lock is not None
        assert (entry.lock.verdict, entry.lock.owner) == (Holder.ALIVE, f"pid {pid}")
        assert f"process {pid} " in (entry.lock.proof or "")
        assert entry.state is State.COMPILING
        assert entry.state not in WAITING
        for words in (
            ["unlock", root, "--yes"],
            ["evict", root, "--state", "compiling", "--yes"],
            ["retry", root, "--next-run", "--yes"],
            ["maintain", root],
        ):
            status, said = cache_command(capsys, *words)
            assert status in (0, 4), said
            assert (place / LOCK).exists(), words
        status, said = cache_command(capsys, "unlock", root, "--dry-run")
        assert f"its holder is alive: process {pid} " in said
    assert cache_command(capsys, "unlock", root, "--yes")[0] == 0
    assert not (place / LOCK).exists()


@pytest.mark.parametrize("how", HOLDING)
def test_a_lock_that_is_taken_after_the_plan_was_made_stays(place: Path, how: str) -> None:
    root, snapshot = place.parents[1], caches.looked_at(place.parents[1])
    plan = plan_unlock(snapshot.entries, str(root), caches.context(snapshot), force=True)
    assert len(plan.steps) == 1
    with held(place / LOCK, how) as pid:
        reason = caches.reasons(caches.carried_out(plan, Trash(root)))[0]
        assert str(pid) in reason
        assert (place / LOCK).exists()


def test_who_reads_the_lock_file_does_not_hold_it(
    place: Path, capsys: pytest.CaptureFixture[str], nobody_about: None
) -> None:
    """A shell's `sleep 40 < lock`, and any viewer of the cache that looks whom the lock names."""
    with (
        (place / LOCK).open() as file,
        subprocess.Popen([sys.executable, "-c", "print(flush=True); import time; time.sleep(60)"],
                         stdin=file, stdout=subprocess.PIPE) as reader,
    ):  # fmt: skip
        try:
            assert reader.stdout is not None
            reader.stdout.readline()
            assert entry_of(place).state is State.STALE_LOCK
            assert cache_command(capsys, "unlock", place.parents[1], "--yes")[0] == 0
            assert not (place / LOCK).exists()
        finally:
            reader.kill()


def test_open_without_a_lock_says_nothing_against_an_owner_that_has_ended(
    place: Path, capsys: pytest.CaptureFixture[str], nobody_about: None
) -> None:
    ended = msgspec.structs.replace(lock_owner.current(), boot_id="of an earlier start")
    (place / LOCK).write_bytes(msgspec.json.encode(ended))
    with held(place / LOCK, "flock"):
        assert entry_of(place).state is State.COMPILING
    with held(place / LOCK, "open"):
        assert entry_of(place).state is State.STALE_LOCK
        assert cache_command(capsys, "unlock", place.parents[1], "--yes")[0] == 0
        assert not (place / LOCK).exists()


def test_where_nothing_says_how_it_is_open_it_counts_as_open_for_writing(place: Path, tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    (proc / "77/fd").mkdir(parents=True)
    (proc / "77/fd/3").symlink_to(place / LOCK)
    assert lock_holders.find(str(place), [LOCK], proc=str(proc))[LOCK].pid == 77
    (proc / "77/fdinfo").mkdir()
    for flags, counts in (("0100002", True), ("0100001", True), ("02100000", False)):
        (proc / "77/fdinfo/3").write_text(f"pos:\t0\nflags:\t{flags}\nmnt_id:\t36\n")
        assert (LOCK in lock_holders.find(str(place), [LOCK], proc=str(proc))) is counts


def test_an_empty_lock_is_not_opened_to_ask_whom_it_names(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_owner, "NoAtimeReader", lambda: pytest.fail("it was opened"))
    assert lock_owner.read_record(place / LOCK) is None


def test_the_kernel_is_asked_where_proc_reports_nothing(place: Path, tmp_path: Path) -> None:
    """As from another namespace: no process is to be seen, no lock is listed."""
    (tmp_path / "proc").mkdir()
    lock = {"cache": place.parents[1], "name": f"{place.parent.name}/{place.name}/{LOCK}"}
    for how, seen in (("fcntl", True), ("open file description", True), ("flock", False)):
        with held(place / LOCK, how):
            found = lock_holders.find(str(lock["cache"]), [str(lock["name"])], proc=str(tmp_path / "proc"))
            assert (str(lock["name"]) in found) is seen
            handle = os.open(place / LOCK, os.O_RDONLY)
            assert "living process" in (lock_holders.of_open_file(handle) or "")
            os.close(handle)


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("1: FLOCK  ADVISORY  WRITE {pid} {device}:{inode} 0 EOF", True),
        ("1: POSIX  ADVISORY  WRITE {pid} {device}:{inode} 128 227", True),
        ("1: OFDLCK ADVISORY  READ  -1 {device}:{inode} 0 EOF", True),
        ("1: FLOCK  ADVISORY  WRITE 999999 {device}:{inode} 0 EOF", True),
        ("1: -> FLOCK  ADVISORY  WRITE {pid} {device}:{inode} 0 EOF", False),
        ("1: FLOCK  ADVISORY  WRITE {pid} fe:fe:{inode} 0 EOF", False),
        ("1: FLOCK  ADVISORY  WRITE {pid} {device}:1 0 EOF", False),
        ("1: LEASE  ACTIVE    READ  {pid} {device}:{inode} 0 EOF", False),
        ("\x00\xff", False),
        ("1: FLOCK  ADVISORY  WRITE {pid} ffffffffff:ffffffffff:{inode} 0 EOF", False),
    ],
)
def test_a_line_of_proc_locks_counts_where_device_and_inode_are_the_files(
    place: Path, tmp_path: Path, line: str, counts: bool
) -> None:
    """Read as the kernel writes it; of a process whose files may not be looked at."""
    facts = (place / LOCK).stat()
    device = f"{os.major(facts.st_dev):02x}:{os.minor(facts.st_dev):02x}"
    proc = tmp_path / "proc"
    (proc / "77").mkdir(parents=True)
    (proc / "locks").write_text(line.format(pid=77, device=device, inode=facts.st_ino) + "\n", encoding="latin-1")
    found = lock_holders.find(str(place), [LOCK], proc=str(proc))
    assert list(found) == ([LOCK] if counts else [])


def test_the_device_of_the_mount_counts_too(place: Path, tmp_path: Path) -> None:
    """btrfs and overlay: the kernel lists the mount's device, `stat` reports another."""
    facts = (place / LOCK).stat()
    proc = tmp_path / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "77").mkdir()
    (proc / "self/mountinfo").write_text("36 35 00:42 / / rw,relatime - btrfs /dev/x rw\n")
    (proc / "locks").write_text(f"1: FLOCK  ADVISORY  WRITE 77 00:2a:{facts.st_ino} 0 EOF\n")
    assert lock_holders.find(str(place), [LOCK], proc=str(proc))[LOCK].proof == "process 77 holds a lock on it (flock)"


@pytest.mark.parametrize("what", ["pipe", "link", "folder"])
def test_a_lock_that_is_no_file_is_shown_taken_away_and_brought_back(place: Path, what: str) -> None:
    root, trash = place.parents[1], Trash(place.parents[1])
    (place / LOCK).unlink()
    {
        "pipe": lambda: os.mkfifo(place / LOCK),
        "link": lambda: (place / LOCK).symlink_to("/etc/passwd"),
        "folder": (place / LOCK).mkdir,
    }[what]()
    snapshot = caches.looked_at(root)
    assert snapshot.entries[0].state in LOCKED
    assert "a lock that is a" in snapshot.entries[0].problems[0]
    evict = plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=0.0), caches.context(snapshot))
    assert not evict.steps
    assert evict.exclusions[0].cause.code in (ReasonCode.LOCK_STALE, ReasonCode.LOCK_UNPROVED)
    plan = plan_unlock(snapshot.entries, str(root), caches.context(snapshot), force=what == "link")
    assert caches.carried_out(plan, trash).done == 1
    assert not os.path.lexists(place / LOCK)
    assert restore(plan.identity, trash).restored == 1
    assert os.path.lexists(place / LOCK)


def test_a_pipe_that_a_living_process_has_locked_stays(place: Path) -> None:
    (place / LOCK).unlink()
    os.mkfifo(place / LOCK)
    snapshot = caches.looked_at(place.parents[1])
    plan = plan_unlock(snapshot.entries, snapshot.root, caches.context(snapshot))
    handle = os.open(place / LOCK, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.flock(handle, fcntl.LOCK_EX)
    outcome = caches.carried_out(plan, Trash(place.parents[1]))
    os.close(handle)
    assert caches.reasons(outcome) == ["a living process holds a lock on it (flock)"]
