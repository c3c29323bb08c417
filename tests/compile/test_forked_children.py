"""Children that a job forks, as data loaders do: they hold nothing of its compile server's, and keep nobody up."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_top.cache.locks.kernel_lock import give_back
from neuron_top.compile.server import client as client_module
from neuron_top.compile.server.client import CompileClient
from tests.compile.fakes import server_command

SERVER = """
import sys
for line in sys.stdin:
    pass
"""


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompileClient:
    """Of a server that ends with its input, as the real one does."""
    monkeypatch.setattr(client_module, "_COMMAND", server_command(tmp_path, SERVER))
    return CompileClient()


def forked(work: Callable[[], object]) -> int:
    """A child that does the work and goes on until it is killed; one whose work hangs or fails ends with 1."""
    pid = os.fork()
    if pid:
        return pid
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(60)
    try:
        work()
        os._exit(0)
    finally:
        os._exit(1)


def test_a_job_with_a_living_child_does_not_wait_for_its_server_at_its_end(client: CompileClient) -> None:
    client.start()
    server = client._process
    child = forked(lambda: time.sleep(50))
    try:
        start = time.monotonic()
        client.close()
        assert time.monotonic() - start < 4, "it waited until it lost its patience"
        assert server is not None
        assert server.returncode == 0, "it was ended by force"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_child_that_was_forked_while_another_thread_talks_to_the_server_starts_its_own(client: CompileClient) -> None:
    client.start()
    with client._lock:
        child = forked(client.start)
    assert os.waitpid(child, 0) == (child, 0)
    assert client._process is not None
    assert client._process.poll() is None, "the parent's goes on"
    client.close()


def test_a_child_keeps_no_lock_of_its_parents_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from neuron_top.compile.torch import machine_locks

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    with machine_locks.first_compile():
        assert machine_locks.claim_server_start()
        of_graph = machine_locks.open_lock("a graph.lock")
        assert of_graph is not None
        assert machine_locks.try_lock(of_graph)
        child = forked(lambda: time.sleep(50))
        give_back(of_graph)
    try:
        for name in ("a graph.lock", "server.lock"):
            other = machine_locks.open_lock(name)
            assert other is not None
            assert machine_locks.try_lock(other), f"{name} is held by the child"
            os.close(other)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
