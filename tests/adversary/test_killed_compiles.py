"""kill -9 around a compile: of the rank at every step, of the compile server, of the compile itself, of its tools.

Whoever is killed, the others get the right result; nothing that died of a signal is ever stored as the graph's failure.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from neuron_top.actions.execution.compile_child import compile_apart
from neuron_top.actions.planners.retry import plan_retry
from neuron_top.cache.model import filenames
from neuron_top.cache.model.states import Lookup
from neuron_top.cache.model.states import State as States
from neuron_top.compile.compiler import CompileOutcome, CompileTask
from neuron_top.compile.compilers.neuronx_cc import NeuronxCC
from neuron_top.compile.server import client as client_module
from neuron_top.compile.server.client import CompileClient
from neuron_top.compile.wrapper.flags import WrapperOptions
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.compile.wrapper.persistent_cache import EntryLock, WritableEntry
from neuron_top.errors import CompileError, CompilerKilled, CompilerMissing, RefusedForSafety
from neuron_top.events import CompileBegan, CompileEnded, Event
from neuron_top.run.model import Run
from tests.actions import caches, states
from tests.adversary.attacker import LONG
from tests.adversary.killed_rank import WAITERS, Ranks, ranks
from tests.compile.compile_forks import forks_at_work
from tests.compile.fakes import GRAPH, Copying, wrapper
from tests.compile.parallel import jobs

BOUNDED_SECONDS = 120.0
"""A rank that waits looks at the lock's owner once a second; a busy machine takes ten times as long as a quiet one."""


@pytest.fixture(scope="module")
def others() -> Iterator[Ranks]:
    with ranks() as found:
        yield found


def test_a_rank_killed_at_any_step_while_two_wait(others: Ranks, tmp_path: Path) -> None:
    at, step = 0, 1 if LONG else 4
    while True:
        root, journal = tmp_path / str(at), tmp_path / f"journal-{at}"
        died = others.attack(root, journal, at)
        reported = f"killed before touch {at}: {died}"
        assert died.waiters == [0] * WAITERS, reported
        assert died.seconds < BOUNDED_SECONDS, reported
        assert len(journal.read_text().splitlines()) <= 2, f"{reported}: compiled by more than the dead and one other"
        obtained = wrapper(root).get_or_compile(GRAPH)
        assert obtained.hit, reported
        assert obtained.entry.artifact.read_bytes() == b"the graphthe graph", reported
        assert obtained.entry.broken_reason() == "", reported
        assert leftovers(obtained.entry, (".lock", ".lock.owner")) == [], reported
        assert len(leftovers(obtained.entry, (".tmp",))) <= 1, reported
        # Killed after it wrote down who it is and before it had the lock: the next one with the lock removes that.
        lock = EntryLock(obtained.entry)
        assert lock.acquire(), reported
        obtained.entry.sweep()
        lock.release()
        assert leftovers(obtained.entry, (".tmp", ".lock", ".lock.owner")) == [], reported
        if not died.killed:
            break
        at += step
    assert at > 20


def leftovers(entry: WritableEntry, endings: tuple[str, ...]) -> list[str]:
    return [path.name for path in entry.path.iterdir() if path.name.endswith(endings)]


class Dying(Copying):
    """Its process is killed the first `deaths` times."""

    def __init__(self, deaths: int, kind: type[CompileError] = CompilerKilled, delay: float = 0.0) -> None:
        super().__init__(delay=delay)
        self.deaths, self.kind = deaths, kind

    def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
        if self.compiled < self.deaths:
            self.compiled += 1
            began(4711)
            next(iter(task.outputs.values())).write_bytes(b"half of the gr")
            time.sleep(self._delay)
            raise self.kind("the compile process was ended by signal 9 (SIGKILL)", module=task.module)
        return super().compile(task, began=began)


def test_a_compile_that_was_killed_is_tried_once_more_and_counts_as_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reported: list[Event] = []
    one = Dying(deaths=1)
    job = Wrapper(one, WrapperOptions(cache_url=str(tmp_path)), emit=reported.append)
    assert job.get_or_compile(GRAPH).entry.artifact.read_bytes() == b"the graphthe graph"
    assert one.compiled == 2
    assert "compiled once more" in capsys.readouterr().err
    ends = [(event.ok, event.cause) for event in reported if isinstance(event, CompileEnded)]
    assert ends == [(False, "retried"), (True, "")]
    assert sum(isinstance(event, CompileBegan) for event in reported) == 2
    run = Run()
    for event in reported:
        run.apply(event)
    assert (run.compiles.totals.failures, run.compiles.totals.misses) == (0, 2)


@pytest.mark.parametrize("kind", [CompilerKilled, CompilerMissing])
def test_what_is_not_the_graphs_fault_is_reported_and_never_stored(tmp_path: Path, kind: type[CompileError]) -> None:
    one = Dying(deaths=10, kind=kind)
    with pytest.raises(kind, match="signal 9"):
        wrapper(tmp_path, one).get_or_compile(GRAPH)
    assert one.compiled == (2 if kind is CompilerKilled else 1)
    entry = wrapper(tmp_path).entry(GRAPH.key)
    assert entry.state() is Lookup.MISS
    assert {path.name for path in entry.path.iterdir()} == {"model.fxgraph", "compile_flags.json"}
    assert not wrapper(tmp_path).get_or_compile(GRAPH).hit


def test_who_waited_for_a_compile_that_died_twice_tries_it_itself(tmp_path: Path) -> None:
    first, problems = Dying(deaths=10, delay=0.5), []

    def get_or_compile() -> None:
        try:
            wrapper(tmp_path, first).get_or_compile(GRAPH)
        except CompilerKilled as problem:
            problems.append(str(problem))

    thread = threading.Thread(target=get_or_compile)
    thread.start()
    while not first.compiled:
        time.sleep(0.01)
    second = Copying()
    obtained = wrapper(tmp_path, second).get_or_compile(GRAPH)
    thread.join()
    assert (obtained.hit, second.compiled, first.compiled) == (False, 1, 2)
    assert "nothing is stored" in problems[0]


SERVER = """
import json, os, sys
turn = sys.argv[1]
for line in sys.stdin:
    request = json.loads(line)
    if "graph" not in request:
        continue
    print(json.dumps({"id": request["id"], "began": os.getpid()}), flush=True)
    if turn == "killed":
        os.kill(os.getpid(), 9)
    if turn == "asked to end":
        sys.exit(0)
    if turn == "crashed":
        os.abort()
    if turn == "cut":
        sys.stdout.write('{"id": 1, "sta'); sys.stdout.flush(); os._exit(1)
    if turn == "junk":
        print("Fatal Python error: something", flush=True)
"""


@pytest.mark.parametrize("turn", ["killed", "asked to end", "crashed", "cut", "junk"])
def test_a_server_that_ends_in_any_way_answers_everybody_who_waits(
    turn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "server.py"
    script.write_text(textwrap.dedent(SERVER))
    monkeypatch.setattr(client_module, "_COMMAND", (sys.executable, str(script), turn))
    client = CompileClient()
    task = CompileTask(module="MODULE_1+2", graph=tmp_path / "g", outputs={"model.inductor": tmp_path / "o"})
    try:
        for _ in range(2):  # the second time with a new server
            with pytest.raises(CompilerKilled, match=r"the compile server \(process \d+\)"):
                client.compile(task, began=lambda pid: None)
    finally:
        client.close()


def test_a_server_asked_to_end_leaves_the_locks_of_a_living_job_alone(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    lock = tmp_path / "model.fxgraph.lock"
    lock.write_bytes(b'{"host": "h", "boot_id": "b", "pid": 1, "token": "mine"}')
    client = CompileClient()
    try:
        client.hold(lock, "mine")
        (server,) = [
            child for child in psutil.Process().children() if "compile.server.server" in " ".join(child.cmdline())
        ]
        server.terminate()
        psutil.wait_procs([server], timeout=BOUNDED_SECONDS)
        assert lock.exists()
    finally:
        client.close()


NEURONX = """#!/bin/sh
if [ "$1" = --version ]; then echo "NeuronX Compiler version 2.99.1234.0+0a1b2c3d"; exit 0; fi
echo once >> {folder}/calls
{body}
"""


@pytest.mark.parametrize(
    ("body", "kind", "calls"),
    [
        ("kill -9 $$", CompilerKilled, 2),
        ("kill -15 $$", CompilerKilled, 2),
        ("sh -c 'kill -9 $$'; exit $?", CompilerKilled, 2),
        ("echo '[F137] neuronx-cc was forcibly killed'; exit 70", CompilerKilled, 2),
        ("echo 'walrus: error while loading shared libraries: libx.so.1'; exit 127", CompilerMissing, 1),
        ("echo 'OSError: [Errno 28] No space left on device'; exit 1", CompileError, None),
    ],
)
def test_the_neuron_compiler_ended_by_the_machine_stores_nothing(
    body: str, kind: type[CompileError], calls: int | None, tmp_path: Path
) -> None:
    program = tmp_path / "neuronx-cc"
    program.write_text(NEURONX.format(folder=tmp_path, body=body))
    program.chmod(0o755)
    entry = tmp_path / "cache" / "neuronxcc-2.99.1234.0+0a1b2c3d" / "MODULE_12345678901234567+d7517139"
    entry.mkdir(parents=True)
    (entry / "model.hlo_module.pb").write_bytes(b"hlo")
    (entry / "compile_flags.json").write_text("[]")
    one = Wrapper(NeuronxCC(str(program)), WrapperOptions(cache_url=str(tmp_path / "cache")))
    with pytest.raises(kind):
        one.compile_entry(entry)
    assert {path.name for path in entry.iterdir()} == {"model.hlo_module.pb", "compile_flags.json"}
    if calls is not None:
        assert len((tmp_path / "calls").read_text().splitlines()) == calls


def test_the_process_that_retries_for_a_screen_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = states.entry_in(tmp_path / "cache", States.FAILED)
    version = caches.COMPILER.removeprefix("neuronxcc-")
    program = tmp_path / "neuronx-cc"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo "version {version}"; exit 0; fi\nkill -9 $PPID\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    snapshot = caches.looked_at(tmp_path / "cache")
    plan = plan_retry(snapshot.entries, str(tmp_path / "cache"), caches.context(snapshot), compilers={caches.COMPILER})
    before = (place / filenames.FAILURE_LOG).read_bytes()
    with pytest.raises(RefusedForSafety, match="make the plan again"):
        compile_apart(plan, jobs=1, read_only=False, watch=lambda progress: True)
    assert (place / filenames.FAILURE_LOG).read_bytes() == before


def test_a_compiler_that_leaves_a_process_behind_is_not_waited_for(tmp_path: Path) -> None:
    program = tmp_path / "neuronx-cc"
    program.write_text(NEURONX.format(folder=tmp_path, body='setsid sleep 600 & echo $! > "$5.pid"; cp "$3" "$5"'))
    program.chmod(0o755)
    graph, output = tmp_path / "graph", tmp_path / "out.neff"
    graph.write_bytes(b"hlo")
    task = CompileTask(module="MODULE_1+2", graph=graph, outputs={filenames.NEFF: output})
    try:
        assert NeuronxCC(str(program)).compile(task, began=lambda pid: None).seconds < BOUNDED_SECONDS
    finally:
        os.kill(int(output.with_name("out.neff.pid").read_text()), signal.SIGKILL)


JOB = """
import torch
f = lambda x: torch.softmax((x * 3).sin() @ x.T, -1).cumsum(0)
x = torch.ones(24, 16)
assert torch.allclose(torch.compile(f, backend="neurontop")(x), f(x), atol=1e-5)
print("right result")
"""


def _server(job: int) -> list[psutil.Process]:
    try:
        children = psutil.Process(job).children()
        return [child for child in children if "compile.server.server" in " ".join(child.cmdline())]
    except psutil.Error:
        return []


@pytest.mark.torch
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("victim", ["server", "compile", "every compile", "job"] if LONG else ["server"])
def test_real_ranks_of_which_one_loses_its_compiler(victim: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    environ = jobs.environment(tmp_path, OMP_NUM_THREADS="1")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", JOB],
            env={**environ, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    at_work: list[subprocess.Popen[str]] = []
    jobs.until(lambda: at_work.extend(job for job in started if forks_at_work(job.pid)) or at_work)
    first = at_work[0]
    (second,) = (job for job in started if job is not first)
    if victim == "job":
        first.kill()
    elif victim == "server":
        _server(first.pid)[0].kill()
    else:
        forks_at_work(first.pid)[0].kill()
        while victim == "every compile" and first.poll() is None:
            for fork in forks_at_work(first.pid):
                fork.kill()
            time.sleep(0.02)
    said = {job: job.communicate(timeout=jobs.TIMEOUT) for job in started}
    assert said[second][0] == "right result\n", said[second][1]
    if victim in ("server", "compile"):
        assert said[first][0] == "right result\n", said[first][1]
        assert re.search(r"(server|compile) .*signal 9 \(SIGKILL\).*once more", said[first][1])
    elif victim == "every compile":
        assert re.search(r"signal 9 \(SIGKILL\).*second time.*the next run tries again", said[first][1])
    assert not jobs.files(tmp_path, filenames.FAILURE_LOG)
    assert not jobs.files(tmp_path, "*.lock*")
    assert not jobs.files(tmp_path, "*.tmp")
    assert len(jobs.files(tmp_path, filenames.DONE)) == 1
