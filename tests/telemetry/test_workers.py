"""Worker processes as cores: found by their environment, measured, and gone when they are gone."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from neuron_top.events import AnyEvent, CoreSample, CoresSampled, ProcessExited, ProcessSeen
from neuron_top.process_stat import ProcessStat
from neuron_top.telemetry.worker_placement import WorkerPlacement, is_compiler, is_launcher, module_in, place_of
from neuron_top.telemetry.workers import WorkerSampler, _Member

WORKER = """
import sys
ballast = bytearray(b'x' * int(sys.argv[1]))
sys.stdout.write('ready\\n')  # one write: the lines of two workers don't mix
sys.stdout.flush()
sys.stdin.readline()
"""
LAUNCHER = f"""
import os, subprocess, sys
children = [
    subprocess.Popen([sys.executable, '-c', {WORKER!r}, str(20_000_000 * (rank + 1))], stdin=subprocess.PIPE,
        env={{**os.environ, 'LOCAL_RANK': str(rank), 'RANK': str(rank + 4), 'WORLD_SIZE': '8'}})
    for rank in range(2)
]
sys.stdin.readline()
for child in children:
    child.communicate(b'\\n')
print('over', flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def launcher() -> Iterator[subprocess.Popen[bytes]]:
    environment = {name: value for name, value in os.environ.items() if name not in ("LOCAL_RANK", "RANK")}
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    yield process
    process.communicate(b"\n\n")


def said(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def say(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


def cores_in(events: list[AnyEvent]) -> dict[int, CoreSample]:
    return {core.core: core for event in events if isinstance(event, CoresSampled) for core in event.cores}


def test_each_worker_is_the_core_its_launcher_named(launcher: subprocess.Popen[bytes]) -> None:
    assert (said(launcher), said(launcher)) == (b"ready\n", b"ready\n")
    sampler = WorkerSampler(lambda: [launcher.pid])
    events = sampler.look()
    seen = {event.local_rank: event for event in events if isinstance(event, ProcessSeen) and event.role == "worker"}
    assert {local: (event.rank, event.world_size) for local, event in seen.items()} == {0: (4, 8), 1: (5, 8)}
    cores = cores_in(events)
    assert set(cores) == {0, 1}
    assert (cores[0].memory or 0) > 20_000_000
    assert (cores[1].memory or 0) - (cores[0].memory or 0) > 15_000_000
    assert cores[0].peak == cores[0].memory


def test_a_worker_that_ended_is_gone_and_sampled_no_more(launcher: subprocess.Popen[bytes]) -> None:
    said(launcher), said(launcher)
    sampler = WorkerSampler(lambda: [launcher.pid])
    pids = {core.pid for core in cores_in(sampler.look()).values()}
    say(launcher)
    assert said(launcher) == b"over\n"
    events = sampler.look()
    assert {event.pid for event in events if isinstance(event, ProcessExited)} == pids
    assert cores_in(events) == {}


def test_a_single_process_without_any_place_stands_for_core_0() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("LOCAL_RANK", "RANK")}
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, "1000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    said(process)
    cores = cores_in(WorkerSampler(lambda: [process.pid]).look())
    process.communicate(b"\n")
    assert {core: sample.pid for core, sample in cores.items()} == {0: process.pid}


def test_a_worker_seen_between_its_fork_and_its_exec_is_a_worker_afterwards() -> None:
    becomes = (
        "import os, sys; print('ready', flush=True); os.read(0, 1);"
        f"os.execve(sys.executable, [sys.executable, '-c', {WORKER!r}, '1'], {{**os.environ, 'LOCAL_RANK': '2'}})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", becomes, "torchrun"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    sampler = WorkerSampler(lambda: [process.pid], clock=itertools.count(step=1000).__next__)
    roles = []
    for _ in range(2):
        assert said(process) == b"ready\n"
        events = [*sampler.look(), *sampler.look()]
        roles.append([event.role for event in events if isinstance(event, ProcessSeen)])
        say(process)
    process.communicate()
    assert roles == [["launcher"], ["worker"]]
    assert set(cores_in(events)) == {2}


def test_an_id_that_went_from_a_parent_to_its_descendant_ends_no_search() -> None:
    sampler = WorkerSampler(list)
    for pid, parent in ((10, 1), (11, 10), (12, 11), (10, 12)):
        sampler._members[pid] = _Member(ProcessStat(pid, parent, "S", 0.0, 0, 0))
    found = [[member.stat.pid for member in sampler._ancestors(sampler._members[pid])] for pid in (12, 10)]
    assert found == [[11, 10], [12, 11]]
    sampler._members[13] = _Member(ProcessStat(13, 12, "S", 0.0, 0, 0))
    assert [member.stat.pid for member in sampler._ancestors(sampler._members[13])] == [12, 11, 10]


def test_a_root_that_does_not_exist_is_no_error() -> None:
    assert WorkerSampler(lambda: [2**22 + 1]).look() == []


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"LOCAL_RANK": "3", "RANK": "11", "WORLD_SIZE": "16"}, WorkerPlacement(3, 11, 3, 16)),
        ({"NEURON_RT_VISIBLE_CORES": "4-7"}, WorkerPlacement(4, None, None, None)),
        ({"NEURON_RT_VISIBLE_CORES": "8,9", "RANK": "1"}, WorkerPlacement(8, 1, None, None)),
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "2", "OMPI_COMM_WORLD_RANK": "2"}, WorkerPlacement(2, 2, 2, None)),
        ({"LOCAL_RANK": "", "RANK": "x"}, None),
        ({}, None),
    ],
)
def test_a_place_is_read_from_any_launchers_variables(
    environment: dict[str, str], place: WorkerPlacement | None
) -> None:
    assert place_of(environment) == place


def test_compilers_and_launchers_are_known_by_their_commands() -> None:
    compiler = "/opt/bin/python /opt/bin/neuronx-cc compile /tmp/w/MODULE_123+abcdef01/model.hlo_module.pb"
    assert is_compiler(compiler)
    assert module_in(compiler) == "MODULE_123+abcdef01"
    assert not is_compiler("vim neuronx-cc.txt")
    assert is_launcher("/venv/bin/python /venv/bin/torchrun --nproc_per_node=2 train.py")
    assert is_launcher("python -m torch.distributed.run train.py")
    assert not is_launcher("python train.py")
