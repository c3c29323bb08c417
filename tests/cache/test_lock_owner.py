"""Is the holder of a lock alive? Proved for processes of this boot of this host, unknown for all others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache.locks import lock_owner, protocol
from neuron_top.cache.locks.protocol import EntryFolder


def test_this_process_is_alive() -> None:
    assert lock_owner.is_alive(lock_owner.current()) is True


def test_an_ended_process_is_dead() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    owner = msgspec.structs.replace(lock_owner.current(), pid=process.pid, started=1)
    assert lock_owner.is_alive(owner) is False


def test_a_zombie_is_dead() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()  # end of file: it has ended, and nobody has waited for it yet
    started = lock_owner.process_start(process.pid)
    owner = msgspec.structs.replace(lock_owner.current(), pid=process.pid, started=started or 1)
    while lock_owner.process_start(process.pid) is not None:
        pass
    assert lock_owner.is_alive(owner) is False
    process.wait()
    process.stdout.close()


def test_a_reused_pid_is_not_the_owner() -> None:
    owner = msgspec.structs.replace(lock_owner.current(), started=1)
    assert lock_owner.is_alive(owner) is False


def test_another_host_or_namespace_cannot_be_judged() -> None:
    here = lock_owner.current()
    assert lock_owner.is_alive(msgspec.structs.replace(here, host="elsewhere.example")) is None
    assert lock_owner.is_alive(msgspec.structs.replace(here, pid_namespace="pid:[1]")) is None


def test_nobody_survives_a_reboot() -> None:
    assert lock_owner.is_alive(msgspec.structs.replace(lock_owner.current(), boot_id="before")) is False


@pytest.mark.parametrize(("there", "alive"), [("i-0123456789abcdef0", None), ("", False), ("here", False)])
def test_another_boot_is_a_reboot_unless_the_machine_is_known_to_be_another(
    monkeypatch: pytest.MonkeyPatch, there: str, alive: bool | None
) -> None:
    monkeypatch.setattr(lock_owner, "lasting_machine_id", lambda: "here")
    owner = msgspec.structs.replace(lock_owner.current(), boot_id="before", machine=there)
    assert lock_owner.is_alive(owner) is alive


def test_the_sdks_empty_lock_names_nobody(tmp_path: Path) -> None:
    lock = tmp_path / "model.hlo_module.pb.lock"
    assert protocol.owner_of(EntryFolder.at(lock.parent), lock.name) is None
    lock.touch()
    assert protocol.owner_of(EntryFolder.at(lock.parent), lock.name) is None


def test_the_owner_is_read_from_the_sidecar_too(tmp_path: Path) -> None:
    owner = lock_owner.current()
    lock = tmp_path / "model.fxgraph.lock"
    lock.touch()
    (tmp_path / "model.fxgraph.lock.owner").write_bytes(msgspec.json.encode(owner))
    assert protocol.owner_of(EntryFolder.at(lock.parent), lock.name) == owner
