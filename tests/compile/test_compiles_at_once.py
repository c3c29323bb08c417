"""A compile server tells each of its forks how many of the cores are its own."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from neuron_top.compile import compiles_at_once
from neuron_top.compile.server import server
from neuron_top.compile.server.client import _WORK_FOLDER

CORES = 8


def test_compiles_share_the_cores_from_their_begin_to_their_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forks: list[int] = []

    def fork() -> int:
        forks.append(os.posix_spawnp("sleep", ["sleep", "60"], os.environ))
        return forks[-1]

    monkeypatch.setattr(server.signal, "set_wakeup_fd", lambda *_, **__: -1)
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    one, shares = server.Server(os.getppid(), 0, 1), list[int]()
    monkeypatch.setattr(one, "_send", lambda message: None)
    monkeypatch.setattr(server.os, "fork", fork)
    begin: dict[str, Any] = {"graph": "g", "outputs": {}, "environ": {_WORK_FOLDER: str(tmp_path)}, "scratch": ""}
    for number in (1, 2, 3):
        one._begin({"id": number, **begin})
        shares.append(compiles_at_once.share_of(CORES))
    for left in (2, 1, 0):
        os.kill(forks[left], signal.SIGKILL)
        while len(one._running) > left:
            one._reap()
            time.sleep(0.01)
        shares.append(compiles_at_once.share_of(CORES))
    assert shares == [8, 4, 2, 4, 8, 8]


def test_there_is_always_one_core() -> None:
    compiles_at_once.tell(3)
    assert compiles_at_once.share_of(2) == 1
    compiles_at_once.tell(0)
