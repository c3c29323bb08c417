"""A Slurm of one machine: a real slurmctld and several real slurmd, each a node with a name of its own.

Debian and Ubuntu: `apt-get install slurm-wlm`. Only Python's own library is needed, so that `make fleet` starts it too.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.ending import ended_with_us
from tests.servers.ports import free_ports

PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "sinfo", "scancel")
_STARTED_SECONDS = 120.0
_ENDED_SECONDS = 30.0
_CONFIGURATION = """\
ClusterName={cluster}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerParameters=batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
Prolog={folder}/prolog
SlurmdParameters=config_overrides
SlurmdTimeout=300
KillWait=5
MinJobAge=300
TreeWidth=4
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NO_PROLOG = "#!/bin/sh\nexit 0\n"


class SlurmMissing(Exception):
    """No Slurm can be had here; says why."""


@dataclass(frozen=True)
class SlurmCluster:
    """A running cluster; `environment` is what a client's process needs."""

    folder: Path
    nodes: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def prolog(self) -> Path:
        """What each node runs before the first step of a job; it does nothing unless a test writes another one."""
        return self.folder / "prolog"

    def log(self, node: str) -> str:
        """The newest lines of a node's slurmd, for the message of a test that fails."""
        return (self.folder / "log" / f"{node}.log").read_text(errors="replace")[-2000:]

    def run(self, *command: str, timeout: float = 120, **variables: str) -> str:
        """What a client command printed. Raises CalledProcessError with its output."""
        return subprocess.run(
            command,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=True,
            stdin=subprocess.DEVNULL,
        ).stdout


@contextmanager
def slurm_cluster(
    folder: Path, nodes: Sequence[str] = ("n1", "n2", "n3", "n4"), cpus: int = 2
) -> Iterator[SlurmCluster]:
    """A controller and a slurmd for each of `nodes`, idle; ended with their jobs at the end. Raises SlurmMissing."""
    folder = folder.resolve()
    programs = _programs()
    for name in ("state", "run", "log", *(f"spool/{node}" for node in nodes)):
        (folder / name).mkdir(parents=True, exist_ok=True)
    write_program(folder / "prolog", NO_PROLOG)
    configuration = folder / "slurm.conf"
    configuration.write_text(_configuration(folder, nodes, cpus))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "SBATCH_"))}
    environment |= {"SLURM_CONF": str(configuration), "PATH": _path()}
    cluster = SlurmCluster(folder, tuple(nodes), environment)
    commands = [[programs["slurmctld"], "-D", "-f", str(configuration)]]
    commands += [[programs["slurmd"], "-D", "-N", node, "-f", str(configuration)] for node in nodes]
    servers: list[subprocess.Popen[bytes]] = []
    try:
        for number, command in enumerate(commands):
            with open(folder / "log" / f"{number}.out", "wb") as output:
                servers.append(
                    subprocess.Popen(
                        [*ended_with_us(), *command],
                        env=environment,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=output,
                        start_new_session=True,
                    )
                )
        _wait(cluster, servers)
        yield cluster
    finally:
        _end(cluster, servers)


def write_program(place: Path, text: str) -> None:
    """A script that can be called; whole from its first instant."""
    unfinished = place.with_name(f"{place.name}.new")
    unfinished.write_text(text)
    unfinished.chmod(0o755)
    unfinished.rename(place)


def _user() -> str:
    """The account's name; variables such as LOGNAME may name another one."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        raise SlurmMissing(f"user id {os.getuid()} has no name on this machine, and Slurm wants one") from None


def _path() -> str:
    return os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/usr/bin"))


def _programs() -> dict[str, str]:
    found = {name: shutil.which(name, path=_path()) for name in PROGRAMS}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise SlurmMissing(f"no {', '.join(missing)} on this machine (Debian: apt-get install slurm-wlm)")
    return {name: path for name, path in found.items() if path is not None}


def _configuration(folder: Path, nodes: Sequence[str], cpus: int) -> str:
    host = socket.gethostname()
    controller_port, *ports = free_ports(1 + len(nodes))
    rows = [
        f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory=500 State=UNKNOWN"
        for node, port in zip(nodes, ports, strict=True)
    ]
    return _CONFIGURATION.format(
        cluster=f"neurontop{controller_port}",
        host=host,
        controller_port=controller_port,
        user=_user(),
        folder=folder,
        nodes="\n".join(rows),
    )


def _wait(cluster: SlurmCluster, servers: Sequence[subprocess.Popen[bytes]]) -> None:
    """Until every node is idle."""
    deadline = time.monotonic() + _STARTED_SECONDS
    while time.monotonic() < deadline:
        if any(server.poll() is not None for server in servers):
            break
        try:
            states = cluster.run("sinfo", "--noheader", "--Node", "--format=%N %t", timeout=30).split("\n")
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            states = []
        if sum(state.endswith(" idle") for state in states) == len(cluster.nodes):
            return
        time.sleep(0.2)
    logs = "\n".join(path.read_text(errors="replace")[-600:] for path in sorted((cluster.folder / "log").iterdir()))
    raise SlurmMissing(f"Slurm did not start on this machine: {logs.strip()}")


def _end(cluster: SlurmCluster, servers: Sequence[subprocess.Popen[bytes]]) -> None:
    """Cancel what still runs and wait until it ended: steps would outlive their node. Then end the servers."""
    try:
        cluster.run("scancel", f"--user={_user()}", "--signal=KILL", "--full", timeout=20)
        cluster.run("scancel", f"--user={_user()}", timeout=20)
        deadline = time.monotonic() + _ENDED_SECONDS
        while cluster.run("squeue", "--noheader", timeout=20).strip() and time.monotonic() < deadline:
            time.sleep(0.2)
    except (subprocess.SubprocessError, OSError):
        pass  # the controller is gone already
    for server in reversed(servers):
        server.terminate()
    for server in reversed(servers):
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
