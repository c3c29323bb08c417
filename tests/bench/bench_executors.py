"""Pre-compile of 12 graphs of 20 s on four Slurm nodes ÷ on this machine with -j 2; then with nodes that fail.

The nodes share two cores, on which four compiles at a time take twice as long each: 40 s there, 20 s here. The
compiler is a script that sleeps, so a busy machine disturbs neither: what is measured is the executor's own time, from
the first submission to the last artifact. Then, with claims in PostgreSQL where that is installed: in the middle a node
is killed (kill -9 of its slurmd and all it runs), another has no compiler and a third no room on its disks.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from neuron_top.cache.model.record import Stats
from neuron_top.cache.model.states import State
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.migration import migrate
from tests.actions import states
from tests.bench.figures import Figure, report
from tests.compile.parallel.scheduled import FIRST, Site
from tests.servers.postgresql import PostgresMissing, running
from tests.servers.slurm import SlurmCluster, slurm_cluster

GRAPHS = 12
SECONDS = 20
NODES = 4
AT_ONCE = 2
"""Cores that all of them share."""


def measure() -> list[Figure]:
    """Both ways once: each takes two minutes of sleeping, which do not vary."""
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above)
        with slurm_cluster(folder / "slurm", cpus=1) as cluster:
            shared = SECONDS * NODES // AT_ONCE
            slurm = _seconds(_site(folder / "on-slurm", cluster, seconds=shared), "--on", "slurm")
            here = _seconds(_with_history(_site(folder / "here", cluster)), "-j", str(AT_ONCE))
            faults(folder / "faults", cluster)
    return [
        Figure(f"{GRAPHS} graphs of {SECONDS} s on {NODES} Slurm nodes", f"here, -j {AT_ONCE}", [slurm], [here], 1.15)
    ]


def faults(folder: Path, cluster: SlurmCluster) -> None:
    """Every graph is compiled exactly once, whatever becomes of three nodes of four."""
    site = _site(folder, cluster, seconds=5)
    site.mark("no-compiler-on-n2")
    site.mark("full-on-n3")
    with fleet_database() as url:
        site.environ |= {"NEURONTOP_STORE": url, "NEURONTOP_CLAIM_LEASE": "6s"} if url else {}
        killer = threading.Thread(target=_kill_in_the_middle, args=(site, cluster))
        killer.start()
        done = site.compile("--on", "slurm")
        killer.join()
    print(done.stderr)
    assert done.returncode == 0, done.returncode
    site.check_each_compiled_once()
    nodes = {node for _, node in site.lines("compiled")}
    print(f"{GRAPHS} graphs, each compiled once, on {sorted(nodes)}; begun {len(site.lines('begun'))} times")
    assert not nodes & {"n2", "n3"}


def _site(folder: Path, cluster: SlurmCluster, seconds: int = SECONDS) -> Site:
    folder.mkdir()
    site = Site(folder, cluster.environment, GRAPHS)
    (folder / "seconds").write_text(str(seconds))
    return site


def _with_history(site: Site) -> Site:
    """With a finished compile that took little memory: without one, one of the SDK's compiles runs here at a time."""
    entry = states.entry_in(site.root, State.HIT, number=FIRST - 1)
    (entry / "model.stats.json").write_bytes(msgspec.json.encode(Stats(module=entry.name, peak_rss_bytes=1 << 20)))
    return site


def _seconds(site: Site, *arguments: str) -> float:
    began = time.perf_counter()
    done = site.compile(*arguments)
    assert done.returncode == 0, done.stderr
    site.check_each_compiled_once()
    return time.perf_counter() - began


def _kill_in_the_middle(site: Site, cluster: SlurmCluster) -> None:
    """Once n1 compiles, kill -9 its slurmd and everything it runs; its death is then told to the controller."""
    while not any(line[1] == "n1" for line in site.lines("begun")):
        time.sleep(0.1)
    time.sleep(1)
    for pid in _of_node("n1", cluster.environment["SLURM_CONF"]):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    cluster.run("scontrol", "update", "NodeName=n1", "State=DOWN", "Reason=killed")


def _of_node(node: str, configuration: str) -> Iterator[int]:
    """Processes of a node: its slurmd by its command, what it runs by the variable that names it."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                command = (folder / "cmdline").read_bytes().split(b"\0")
                variables = (folder / "environ").read_bytes().split(b"\0")
                if f"SLURM_CONF={configuration}".encode() not in variables:
                    continue
                if node.encode() in command or f"SLURMD_NODENAME={node}".encode() in variables:
                    yield int(folder.name)


@contextlib.contextmanager
def fleet_database() -> Iterator[str]:
    """A fleet's database; "" without PostgreSQL."""
    try:
        with running(settings="fsync = off") as server:
            url = server.url(server.new_database())
            with Database(url, prepared=False) as database:
                migrate(database)
            yield url
    except PostgresMissing as reason:
        print(f"without claims: {reason}")
        yield ""


if __name__ == "__main__":
    sys.exit(report(measure()))
