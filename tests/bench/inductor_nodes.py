"""Twelve graphs of PyTorch's compiler on four nodes of a real Slurm and a real Ray, of which three fail.

`python -m tests.bench.inductor_nodes [slurm] [ray]`: many minutes, and no ratio, so `make bench` leaves it out. In the
middle a node is killed (kill -9 of all its processes), another cannot import PyTorch, and a third has a full disk for
what it compiles, where this user may make one. Every graph must be compiled exactly once, none may be lost, and a job
that must find all of them computes what it does with those that were compiled on this machine.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from neuron_top.cache.locks import lock_owner
from tests.bench.bench_executors import fleet_database
from tests.compile.parallel import jobs
from tests.servers.ray_cluster import ray_cluster
from tests.servers.slurm import slurm_cluster

GRAPHS = 12
WITHOUT_PYTORCH, WITH_A_FULL_DISK = "n2", "n3"
_JOB = """
import torch

def made(width):
    return lambda x: (x * width).sin().sum(-1)

for width in range(2, COUNT + 2):
    torch._dynamo.reset()
    step = torch.compile(made(width), backend="neurontop", dynamic=False)
    print("graph", width, repr(step(torch.ones(8, 16 * width)).sum().item()))
"""
_NODES = """
import os, sys

node = os.environ.get("SLURMD_NODENAME", os.environ.get("NEURONTOP_NODE"))
if node == "WITHOUT":

    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "torch":
                raise ImportError("no PyTorch on this node")

    sys.meta_path.insert(0, Missing())
if node == "FULL" and os.path.isdir("DISK"):
    import tempfile

    os.environ["TORCHINDUCTOR_CACHE_DIR"] = "DISK"
    os.environ["TMPDIR"] = tempfile.tempdir = "DISK"
"""


class Cluster(NamedTuple):
    """Where the graphs are compiled."""

    arguments: tuple[str, ...]
    killed: str
    """The node that is killed: not the one that leads."""
    belongs: Callable[[str, Mapping[str, str], list[str]], bool]
    """(node, environment, command): whether a process is the node's."""
    lost: Callable[[], None]
    """Called once it is dead."""
    logs: Callable[[], Iterator[Path]]


def main(names: list[str]) -> int:
    """Each of them, in a folder of its own."""
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above)
        script = folder / "job.py"
        script.write_text(_JOB.replace("COUNT", str(GRAPHS)))
        collected = folder / "collected"
        collected.mkdir()
        done = jobs.compile_command(
            ["--collect-only", "--", sys.executable, script], jobs.environment(collected), collected
        )
        assert done.returncode == 0, done.stderr
        here = _own(folder, "here", collected)
        done = jobs.compile_command(["--compile-only", "-j", "2"], here, folder / "here")
        assert done.returncode == 0, done.stderr
        wanted = results(script, here)
        for name in names or ["slurm", "ray"]:
            began = time.perf_counter()
            with full_disk(folder / f"disk-{name}"), fleet_database() as url:
                environ = _own(folder, name, collected)
                environ |= {"NEURONTOP_STORE": url, "NEURONTOP_CLAIM_LEASE": "10s"} if url else {}
                text = _NODES.replace("WITHOUT", WITHOUT_PYTORCH).replace("FULL", WITH_A_FULL_DISK)
                (folder / name / "sitecustomize.py").write_text(text.replace("DISK", str(folder / f"disk-{name}")))
                with _CLUSTERS[name](folder / name, environ) as cluster:
                    said = compiled_there(folder / name, environ, cluster)
                    checked(folder / name, cluster, said)
            assert results(script, environ) == wanted
            print(
                f"{name}: {GRAPHS} results equal those of this machine ({time.perf_counter() - began:.0f} s)",
                flush=True,
            )
    return 0


def compiled_there(folder: Path, environ: dict[str, str], cluster: Cluster) -> str:
    """What the command said, and what became of the node that was killed."""
    killer = threading.Thread(target=_kill_in_the_middle, args=(folder, cluster))
    killer.start()
    done = jobs.compile_command(["--compile-only", *cluster.arguments], environ, folder)
    killer.join()
    print(done.stderr, flush=True)
    assert done.returncode == 0, done.returncode
    assert f"{GRAPHS} of {GRAPHS} graphs: {GRAPHS} done" in done.stderr
    return done.stderr


def checked(folder: Path, cluster: Cluster, said: str) -> None:
    """Each graph has an artifact, and its one successful compile is in a log; no lock is left."""
    entries = {mark.parent.name for mark in jobs.files(folder, "model.done")}
    assert len(entries) == GRAPHS
    assert jobs.files(folder, "*.lock") == []
    told = Counter[str]()
    for log in cluster.logs():
        found = re.findall(
            r"Compilation Successfully Completed for model\.(MODULE_\S+?)\.", log.read_text(errors="replace")
        )
        told.update(found)
    print(f"successful compiles by graph: {sorted(told.values())}", flush=True)
    assert told == dict.fromkeys(entries, 1), told
    assert re.search(r"node \S+ is given no more compiles: PyTorch cannot be imported", said)


def results(script: Path, environ: Mapping[str, str]) -> list[str]:
    """What a job computes that must find every graph."""
    done = subprocess.run(
        [sys.executable, script],
        env={**environ, "NEURONTOP_ON_MISS": "error"},
        capture_output=True,
        text=True,
        timeout=jobs.TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [line for line in done.stdout.splitlines() if line.startswith("graph ")]
    assert len(found) == GRAPHS
    return found


def _own(folder: Path, name: str, collected: Path) -> dict[str, str]:
    (folder / name).mkdir()
    return {**jobs.copied(collected, folder / name), "PYTHONPATH": str(folder / name)}


@contextlib.contextmanager
def full_disk(place: Path) -> Iterator[None]:
    """A disk without room at `place`, where this user may make one; else there is none, which is said."""
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], capture_output=True, check=False)
    if made.returncode != 0:
        print("no full disk: only root may make one", flush=True)
        place.rmdir()
        yield
        return
    try:
        with contextlib.suppress(OSError):
            (place / "full").write_bytes(bytes(128 * 1024))
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=False)


def _kill_in_the_middle(folder: Path, cluster: Cluster) -> None:
    """Once something is compiled and the node compiles, kill -9 all of its processes."""
    held = list[str]()
    while not held:
        time.sleep(0.1)
        if jobs.files(folder, "model.done"):
            own = set(_processes(cluster))
            held = [graph for graph, pid in _locks(folder) if pid in own]
    dead = [pid for pid in _processes(cluster) if _killed(pid)]
    print(f"killed {len(dead)} processes of {cluster.killed}, which compiled {held}", flush=True)
    cluster.lost()


def _locks(folder: Path) -> list[tuple[str, int]]:
    """(graph, process) of each lock: the nodes share a host."""
    owners = [(lock, lock_owner.read_record(lock)) for lock in jobs.files(folder, "*.lock")]
    return [(lock.parent.name, owner.pid) for lock, owner in owners if owner is not None]


def _processes(cluster: Cluster) -> Iterator[int]:
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            with contextlib.suppress(OSError):
                command = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                words = (process / "environ").read_bytes().decode(errors="replace").split("\0")
                variables = {name: value for name, _, value in (word.partition("=") for word in words)}
                if cluster.belongs(cluster.killed, variables, command):
                    yield int(process.name)


def _killed(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def on_slurm(folder: Path, environ: dict[str, str]) -> Iterator[Cluster]:
    """Four nodes of one core."""
    with slurm_cluster(folder / "slurm", cpus=1) as slurm:
        environ |= {name: slurm.environment[name] for name in ("PATH", "SLURM_CONF")}
        own = slurm.environment["SLURM_CONF"]
        yield Cluster(
            ("--on", "slurm"),
            "n1",
            lambda node, variables, command: (
                variables.get("SLURM_CONF") == own and (node in command or variables.get("SLURMD_NODENAME") == node)
            ),
            lambda: print(slurm.run("scontrol", "update", "NodeName=n1", "State=DOWN", "Reason=killed"), end=""),
            lambda: folder.glob(".neurontop-jobs-*/**/*_log.*"),
        )


@contextlib.contextmanager
def on_ray(folder: Path, environ: dict[str, str]) -> Iterator[Cluster]:
    """Four nodes of one core, asked through Ray's client."""
    sessions = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))  # Ray's sockets want a short path
    environ |= {"RAY_TMPDIR": str(sessions)}
    with ray_cluster(environ, client=True) as address:
        own = environ["PYTHONPATH"]
        yield Cluster(
            ("--on", "ray", "--ray", address),
            "n4",
            lambda node, variables, command: (
                variables.get("PYTHONPATH") == own and variables.get("NEURONTOP_NODE") == node
            ),
            lambda: None,
            lambda: sessions.rglob("worker-*.*"),
        )


_CLUSTERS = {"slurm": on_slurm, "ray": on_ray}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
