"""The compile server of a job starts when a script names the back end, with the environment of that moment."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import psutil
import pytest

pytest.importorskip("torch")

from neuron_top.compile.graphs import inductor_compile
from neuron_top.compile.server.client import CompileClient
from neuron_top.compile.torch import machine_locks

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compile servers")]

SCRIPT = """
import json, os, sys
import psutil, torch

def servers():
    return [child.pid for child in psutil.Process().children() if "neuron_top.compile.server.server" in child.cmdline()]

def twice(x):
    return x * 2

if "with ptxas" in sys.argv:
    from torch._inductor.runtime import compile_tasks
    compile_tasks._set_triton_ptxas_path = lambda: os.environ.setdefault("TRITON_PTXAS_PATH", "/torch/bin/ptxas")
compiled = torch.compile(twice, backend="neurontop")
named = servers()
if "changed" in sys.argv:
    os.environ["TORCHINDUCTOR_FREEZING"] = "0"
result = compiled(torch.ones(3)).tolist()
print(json.dumps([named, servers(), result]))
"""


def seen(*arguments: str, **environment: str) -> tuple[list[int], list[int], list[float]]:
    """Servers once the back end was named, servers after the first graph, and its result."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    named, after, result = json.loads(done.stdout.splitlines()[-1])
    return named, after, result


def test_threads_that_name_the_back_end_at_the_same_time_all_get_it() -> None:
    """PyTorch registers what each of them finds, and asserts that a name is registered once."""
    threads = """
import concurrent.futures, threading, torch
together = threading.Barrier(3)

def compiled(factor):
    together.wait()
    return torch.compile(lambda x: x * factor, backend="neurontop")(torch.ones(2)).tolist()

with concurrent.futures.ThreadPoolExecutor(3) as pool:
    print(list(pool.map(compiled, (2.0, 3.0, 4.0))))
"""
    done = subprocess.run([sys.executable, "-c", threads], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[[2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]"


def test_the_server_that_was_started_early_compiles_the_first_graph() -> None:
    """A build of PyTorch for GPUs sets a variable of Triton's when it first compiles: that is no other setting."""
    named, after, result = seen("with ptxas")
    assert len(named) == 1
    assert after == named
    assert result == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("blocked", [[], [signal.SIGALRM, signal.SIGCHLD]], ids=["", "signals blocked"])
def test_a_server_that_is_not_ready_yet_ends_as_soon_as_its_job(
    blocked: list[signal.Signals], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    (tmp_path / "tqdm.py").write_text(f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(60)\n")
    monkeypatch.syspath_prepend(tmp_path)
    client = CompileClient()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)  # a child inherits what its parent blocks
    client.start()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    server = client._process
    assert server is not None
    while not begun.exists():  # PyTorch imports it
        assert server.poll() is None
        time.sleep(0.05)
    start = time.monotonic()
    client.close()
    assert time.monotonic() - start < 4
    assert server.returncode == 0


def test_a_preparation_that_is_left_early_ends_what_it_runs(tmp_path: Path) -> None:
    running, scrap = tmp_path / "running", tmp_path / "scrap"

    def slow() -> None:
        script = f"trap 'rm {scrap}; exit' TERM; touch {scrap}; while :; do sleep 0.01; done"
        with subprocess.Popen(["sh", "-c", script]) as compiler:
            while not scrap.exists():
                time.sleep(0.01)
            running.write_text(str(compiler.pid))

    def left_early() -> None:
        with inductor_compile._beside(slow):
            while not running.exists() or not running.read_text():
                time.sleep(0.05)
            raise SystemExit

    start = time.monotonic()
    with pytest.raises(SystemExit):
        left_early()
    assert time.monotonic() - start < 50
    with contextlib.suppress(psutil.NoSuchProcess):  # reaped by whoever adopts it
        psutil.Process(int(running.read_text())).wait(10)
    assert not scrap.exists(), "the compiler had time to remove it"


def test_a_server_started_with_other_settings_compiles_nothing() -> None:
    """PyTorch reads settings as it is imported: what the script sets in between must count."""
    named, after, result = seen("changed")
    assert len(named) == len(after) == 1
    assert after != named
    assert result == [2.0, 2.0, 2.0]


def test_whatever_the_first_work_is_it_goes_to_a_server_with_the_settings_of_now(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another rank may have filled the cache meanwhile: then nobody starts a server before the first miss."""
    client = CompileClient()
    try:
        client.start()
        first = client._process
        monkeypatch.setattr(sys, "path", [*sys.path, str(Path(sysconfig.get_path("purelib"), "setuptools", "_vendor"))])
        client.start()
        monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
        client.start()
        assert client._process is first, "a package has added a place for itself, and PyTorch has loaded a kernel"
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
        client.start()
        second = client._process
        assert second is not first, "the script has: its modules are nowhere else"
        monkeypatch.setenv("TORCHINDUCTOR_FREEZING", "0")
        client.hold(tmp_path / "lock", "token")
        third = client._process
        assert third is not second
        assert second is not None
        assert second.wait(10) is not None
        monkeypatch.setenv("TORCHINDUCTOR_FREEZING", "1")
        client.hold(tmp_path / "lock", "token")
        assert client._process is third, "it has work"
    finally:
        client.close()


def test_no_server_starts_early_where_the_cache_holds_graphs_or_another_process_has_started_one(
    own_caches: Path,
) -> None:
    with machine_locks.first_compile():
        assert machine_locks.claim_server_start()
        named, after, result = seen()
        assert named == []
        assert len(after) == 1, "nobody else has compiled its graph"
        assert result == [2.0, 2.0, 2.0]
    assert any(own_caches.iterdir()), "the first run has filled the cache"
    assert seen()[0] == []


def test_who_has_no_server_lets_the_one_that_has_take_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def is_begun() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    machine_locks.let_the_server_go_first(is_begun)
    assert asked == 1, "nobody has a server"
    asked = 0
    with machine_locks.first_compile():
        assert machine_locks.claim_server_start()
        assert machine_locks.claim_server_start(), "it has it already"
        with monkeypatch.context() as patch:
            patch.setattr(machine_locks, "_held", {})  # as another process
            assert not machine_locks.claim_server_start()
            patch.setattr(machine_locks, "_head_start_ends", lambda: math.inf)
            machine_locks.let_the_server_go_first(is_begun)
            assert asked == 4
            asked = 0
            patch.setattr(machine_locks, "_head_start_ends", lambda: 0.0)
            machine_locks.let_the_server_go_first(is_begun)
            assert asked == 1, "it has waited for an earlier graph"
    assert machine_locks.claim_server_start(), "the first graph is there: the next process may start one"
    with machine_locks.first_compile():
        pass


def test_settings_that_make_no_sense_are_reported_by_the_first_graph() -> None:
    script = """
import torch
compiled = torch.compile(lambda x: x * 2, backend="neurontop")
print("named")
compiled(torch.ones(3))
"""
    environment = {**os.environ, "NEURON_CC_FLAGS": "--retry_failed_compilation --cache_dir"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "named\n"
    assert done.returncode != 0


def test_a_module_of_the_scripts_does_not_hide_pythons_own_from_the_server(tmp_path: Path) -> None:
    """The job had imported Python's before it put the folder in front; a server that finds the other cannot start."""
    (tmp_path / "queue.py").write_text("raise RuntimeError('not the queue that PyTorch wants')")
    script = """
import sys, torch
sys.path.insert(0, sys.argv[1])
print(torch.compile(lambda x: x * 2, backend="neurontop")(torch.ones(3)).tolist())
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[2.0, 2.0, 2.0]\n"), done.stderr
