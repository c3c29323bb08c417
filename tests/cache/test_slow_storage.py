"""A walk of a slow network file system: several threads, the same entries in the same order."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from neuron_top.cache import filesystem
from neuron_top.cache.scan import scanner, slow_storage
from neuron_top.cache.scan.slow_storage import CHUNK, Looks
from tests.builders import HLO_NAME, neff, small_hlo, write_entry

NAMES = [f"MODULE_{number}" for number in range(6 * CHUNK)]


def threads_of(looks: Looks, pause: float) -> set[str]:
    """Names of the threads in which a walk looks, where each look waits so long."""
    used = set[str]()

    def look(name: str) -> str:
        used.add(threading.current_thread().name)
        time.sleep(pause)
        return name.lower()

    assert list(looks.in_order(look, NAMES)) == [name.lower() for name in NAMES]
    return used


def test_where_the_network_makes_it_wait_several_threads_look() -> None:
    looks = Looks(over_network=True)
    assert len(threads_of(looks, 2 * slow_storage.SLOW_SECONDS)) > 2
    main = threading.current_thread().name
    assert main not in threads_of(looks, 0.0)  # the next folder of the same walk


def test_on_a_local_disk_one_thread_looks_whatever_makes_it_wait() -> None:
    assert threads_of(Looks(over_network=False), 2 * slow_storage.SLOW_SECONDS) == {threading.current_thread().name}


def test_a_look_that_fails_ends_the_walk() -> None:
    looks = Looks(over_network=True)
    looks.slow = True

    def look(name: str) -> str:
        raise OSError(name)

    with pytest.raises(OSError, match="MODULE_0"):
        list(looks.in_order(look, NAMES))


def test_threads_find_what_one_thread_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(CHUNK + 40):
        lock = {"model.hlo_module.pb.lock": b""} if number % 7 == 0 else {}
        write_entry(
            tmp_path,
            {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b"", **lock},
            graph=f"{number:020d}",
            age=100_000.0,
        )
    one = scanner.scan(str(tmp_path))
    shared = filesystem.Filesystem(kind="nfs4", shared=True)
    monkeypatch.setattr(filesystem, "describe", lambda *place: shared)
    monkeypatch.setattr(slow_storage, "SLOW_SECONDS", -1.0)
    several = scanner.scan(str(tmp_path))
    assert [entry.path for entry in several.entries] == [entry.path for entry in one.entries]
    assert [(entry.state, entry.problems) for entry in several.entries] == [
        (entry.state, entry.problems) for entry in one.entries
    ]
    again = scanner.refresh(several)
    unlocked = [(now, before) for now, before in zip(again.entries, several.entries, strict=True) if not before.lock]
    assert len(unlocked) > CHUNK
    assert all(now is before for now, before in unlocked)
