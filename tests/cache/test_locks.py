"""Proof of life, proof of death, and neither."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache.locks import lock_owner, verdicts
from neuron_top.cache.locks.verdicts import LockEvidence, lock_verdict
from neuron_top.cache.model.entry import Lock
from neuron_top.cache.model.states import Holder, State
from neuron_top.cache.processes import CacheProcess
from neuron_top.cache.scan import scanner
from neuron_top.cache.use import CacheUse
from tests.builders import HLO_NAME, write_entry

KEY = "MODULE_176283691422090868+f7f529f3"
NOW = 1_000_000.0
USED = LockEvidence(now=NOW, boot=NOW - 500_000, use=CacheUse(why="process 7 has /dev/neuron0 open"))
UNUSED = msgspec.structs.replace(USED, use=None)


def process(*command: str) -> CacheProcess:
    """A process with this command."""
    return CacheProcess(pid=7, command=command, environ=None, cwd=None)


def test_a_compiler_that_names_the_key_is_proof_of_life() -> None:
    seen = msgspec.structs.replace(USED, processes=(process("neuronx-cc", f"/tmp/model.{KEY}.hlo_module.pb"),))
    lock = lock_verdict(KEY, NOW - 90_000, seen)
    assert (lock.verdict, lock.owner) == (Holder.ALIVE, "pid 7")


@pytest.mark.parametrize(("unseen", "says"), [(1, "(of 1 process, "), (12, "(of 12 processes, ")])
def test_a_proof_of_death_says_of_how_many_processes_little_could_be_seen(unseen: int, says: str) -> None:
    proof = lock_verdict(KEY, NOW - 901, msgspec.structs.replace(UNUSED, unseen=unseen)).proof or ""
    assert says in proof


@pytest.mark.parametrize(
    "command",
    [
        ("sudo", "neurontop", "cache", "unlock", "/cache", KEY),
        ("timeout", "60", "neurontop", "cache", "evict", f"--module={KEY}"),
        ("tail", "-f", f"/cache/neuronxcc-2.21/{KEY}/model.log"),
        ("bash", "-c", f"cd /cache && neurontop cache show . {KEY}"),
    ],
)
def test_who_looks_at_a_graph_or_passes_its_name_on_to_us_does_not_compile_it(command: tuple[str, ...]) -> None:
    looks = process(*command)
    assert lock_verdict(KEY, NOW - 901, msgspec.structs.replace(UNUSED, processes=(looks,))).verdict is Holder.DEAD
    assert looks.modules == frozenset()


@pytest.mark.parametrize(
    "command",
    [
        ("neuronx-cc", "compile", f"--module={KEY}"),
        ("/opt/a-compiler", f"/tmp/work/model.{KEY}.hlo_module.pb"),
        ("/opt/a-compiler", f"--output=model.{KEY}.neff"),
    ],
)
def test_a_compiler_may_name_its_graph_in_any_way_and_others_by_a_file_of_the_work_folder(
    command: tuple[str, ...],
) -> None:
    assert process(*command).modules == {KEY}


def test_a_work_folder_that_grows_is_proof_of_life() -> None:
    assert (
        lock_verdict(KEY, NOW - 90_000, msgspec.structs.replace(USED, work_newest={KEY: NOW - 60})).verdict
        is Holder.ALIVE
    )


def test_a_lock_older_than_the_last_start_of_the_machine_is_dead() -> None:
    assert lock_verdict(KEY, NOW - 500_001, USED).verdict is Holder.DEAD


def test_with_nobody_using_the_cache_a_quarter_of_an_hour_is_enough() -> None:
    assert lock_verdict(KEY, NOW - 899, UNUSED).verdict is Holder.UNKNOWN
    assert lock_verdict(KEY, NOW - 901, UNUSED).verdict is Holder.DEAD


def test_of_a_holder_that_cannot_be_seen_from_here_an_idle_cache_proves_nothing() -> None:
    elsewhere = Lock(NOW - 901, Holder.UNKNOWN, None, "pid 7 on another")
    lock = lock_verdict(KEY, NOW - 901, UNUSED, elsewhere)
    assert (lock.verdict, lock.owner) == (Holder.UNKNOWN, "pid 7 on another")
    assert lock_verdict(KEY, NOW - 3 * 3600 - 1, UNUSED, elsewhere).verdict is Holder.DEAD


def test_in_a_used_cache_only_the_longest_compile_proves_death() -> None:
    assert lock_verdict(KEY, NOW - 3600, USED).verdict is Holder.UNKNOWN
    assert lock_verdict(KEY, NOW - 3 * 3600 - 1, USED).verdict is Holder.DEAD


def test_on_a_shared_file_system_death_is_never_proved() -> None:
    assert lock_verdict(KEY, NOW - 500_001, msgspec.structs.replace(UNUSED, shared=True)).verdict is Holder.UNKNOWN


UNTIL_TOLD = "print('up', flush=True); input()"


def started(command: list[str], handles: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """A process that runs: between fork and the end of exec a process has no command line to be found by."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=handles)
    assert child.stdout is not None
    child.stdout.readline()
    return child


def test_our_own_lock_names_its_holder_and_dies_with_it(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, {HLO_NAME: b"x", f"{HLO_NAME}.lock": b""})
    owner = msgspec.json.encode(lock_owner.current())
    (folder / f"{HLO_NAME}.lock.owner").write_bytes(owner)
    assert scanner.scan(str(tmp_path)).entries[0].state is State.COMPILING
    child = started([sys.executable, "-c", UNTIL_TOLD])
    try:
        there = msgspec.structs.replace(
            lock_owner.current(), pid=child.pid, started=lock_owner.process_start(child.pid)
        )
    finally:
        child.communicate(b"\n")
    (folder / f"{HLO_NAME}.lock.owner").write_bytes(msgspec.json.encode(there))
    (entry,) = scanner.scan(str(tmp_path)).entries
    assert entry.state is State.STALE_LOCK
    assert entry.lock is not None
    assert entry.lock.owner == f"pid {child.pid} on {there.host}"


def test_a_real_process_that_names_the_key_is_found(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, {HLO_NAME: b"x", f"{HLO_NAME}.lock": b""})
    child = started([sys.executable, "-c", UNTIL_TOLD, f"model.{folder.name}.hlo_module.pb"])
    try:
        (entry,) = scanner.scan(str(tmp_path)).entries
    finally:
        child.communicate(b"\n")
    assert entry.state is State.COMPILING


def test_use_is_read_from_devices_open_files_environments_and_recent_changes(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    proc = tmp_path / "proc"

    def seen(**files: str) -> str | None:
        place = proc / "4711"
        (place / "fd").mkdir(parents=True, exist_ok=True)
        (place / "cmdline").write_bytes(files.get("cmdline", "python\0train.py").encode())
        (place / "environ").write_bytes(files.get("environ", "").encode())
        if "open" in files:
            (place / "fd" / "3").symlink_to(files["open"])
        evidence = verdicts.evidence_on(str(root), [KEY], proc=str(proc), tmp=str(tmp_path), now=NOW)
        (place / "fd" / "3").unlink(missing_ok=True)
        return evidence.use.why if evidence.use is not None else None

    assert seen() is None
    assert seen(open="/dev/neuron0") == "process 4711 has /dev/neuron0 open"
    assert seen(open=f"{root}/lock") == "process 4711 has a file of the cache open"
    assert seen(cmdline="/opt/bin/walrus_driver\0-x") == "process 4711 is a Neuron compiler"
    may = "process 4711 ({}) may use this cache, as its environment names it".format
    assert seen(environ=f"NEURON_COMPILE_CACHE_URL={root}") == may("train.py")
    assert seen(environ=f"NEURON_CC_FLAGS=--cache_dir={root} -O1") == may("train.py")
    assert seen(environ=f"NEURON_CC_FLAGS=--cache_dir={root} -O1", cmdline="/bin/sleep\x0060") == may("sleep")
    named = f"NEURON_COMPILE_CACHE_URL={root}"
    ours = "python\0/usr/bin/neurontop"
    for waiting in ("-bash", "/bin/zsh\0-i", ours, f"{ours}\0serve", "python3\0-m\0neuron_top", "neurontop"):
        assert seen(environ=named, cmdline=waiting) is None, "it waits for a person, or only looks"
    for starting, name in (
        ("bash\0train.sh", "bash"),
        ("sh\0-c\0python x", "sh"),
        (f"{ours}\0run\0--\0x", "neurontop"),
        ("neurontop\0compile", "neurontop"),
    ):
        assert seen(environ=named, cmdline=starting) == may(name)
    assert seen(open=f"{root}/x.neff", cmdline=f"{ours}\0serve") is None, "one of ours that lists it"
    assert seen(open=f"{root}/x.neff", cmdline="neurontop\0run\0x") == "process 4711 has a file of the cache open"
    assert seen() is None


def test_who_is_not_seen_may_have_changed_a_file_shortly_before(tmp_path: Path) -> None:
    (root := tmp_path / "root").mkdir()

    def use(*changes: float) -> CacheUse | None:
        proc = str(tmp_path / "none")
        return verdicts.evidence_on(str(root), [KEY], proc=proc, tmp=str(tmp_path), changes=changes, now=NOW).use

    why = "somebody may use this cache, as a file below it changed in the last ten minutes"
    for changes in ([NOW - 5], [NOW + 1], [NOW - 7200, NOW - 5, NOW + 7200]):
        found = use(*changes)
        assert found is not None
        assert (found.why, found.certain) == (why, False)
    assert use(NOW - 7200, NOW + 7200) is None, "the clock was ahead when the second was written"


def test_of_several_users_the_job_is_named_and_the_others_are_counted(tmp_path: Path) -> None:
    (root := tmp_path / "root").mkdir()
    proc = tmp_path / "proc"
    named = f"NEURON_COMPILE_CACHE_URL={root}"

    def start(pid: int, *command: str, opened: Path | None = None) -> str:
        (place := proc / str(pid)).mkdir(parents=True)
        (place / "fd").mkdir()
        (place / "cmdline").write_bytes("\0".join(command).encode())
        (place / "environ").write_bytes(named.encode())
        if opened is not None:
            (place / "fd" / "3").symlink_to(opened)
        use = verdicts.evidence_on(str(root), [KEY], proc=str(proc), tmp=str(tmp_path), now=NOW).use
        assert use is not None
        return use.why

    may = "({}) may use this cache, as its environment names it".format
    assert start(10, "neurontop", "run", "--", "x") == f"process 10 {may('neurontop')}"
    assert start(11, "python", "train.py") == f"process 11 {may('train.py')}; 1 more process may use it too"
    assert start(12, "python", "train.py") == f"process 11 {may('train.py')}; 2 more processes may use it too"
    opened = "process 13 has a file of the cache open; 3 more processes may use it too"
    assert start(13, "python", "train.py", opened=root / "x.neff") == opened


def test_a_work_folder_in_use_is_found_by_the_key_in_its_file_names(tmp_path: Path) -> None:
    work = tmp_path / "user" / "neuroncc_compile_workdir" / "uuid"
    work.mkdir(parents=True)
    (work / f"model.{KEY}.hlo_module.pb").write_bytes(b"x")
    at = time.time() - 30
    os.utime(work / f"model.{KEY}.hlo_module.pb", (at, at))
    evidence = verdicts.evidence_on(str(tmp_path), [KEY], proc=str(tmp_path / "none"), tmp=str(tmp_path), environ={})
    assert abs(evidence.work_newest[KEY] - at) < 1
    assert lock_verdict(KEY, at, evidence).verdict is Holder.ALIVE


def test_only_a_file_that_carries_the_key_in_its_name_is_proof_of_life(tmp_path: Path) -> None:
    key = f"MODULE_{os.getpid():020d}+f7f529f3"
    entry, work = tmp_path / "another-cache" / key, tmp_path / f"model.{key}.neff"
    entry.mkdir(parents=True)
    work.touch()
    (tmp_path / "cache").mkdir()
    assert opened_by_another(entry, tmp_path / "cache", key) == [], "an entry of the same name in another cache"
    assert len(opened_by_another(work, tmp_path / "cache", key)) == 1


def opened_by_another(path: Path, root: Path, key: str) -> list[int]:
    """Which processes count as at work on `key` while another process has `path` open."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with started([sys.executable, "-c", UNTIL_TOLD], (handle,)):
            return list(verdicts.evidence_on(str(root), [key]).work_open.values())
    finally:
        os.close(handle)
