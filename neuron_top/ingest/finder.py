"""Worker processes that nobody records: found by the place a launcher gave them in their environment."""

from __future__ import annotations

import os

from neuron_top.identity import NODE_VARIABLES, node_name
from neuron_top.processes import proc
from neuron_top.processes.proc import Stat
from neuron_top.processes.variables import RUN_VARIABLE
from neuron_top.telemetry.worker_placement import VISIBLE_CORES

_TELLING = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", VISIBLE_CORES)
"""Not all that name a place: a batch system sets its variables in every shell it opens."""


class WorkerFinder:
    """Workers of this user's, outside of recordings: those of the newest job, where several run at a time."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, float], bool] = {}
        self._found: list[int] = []
        self.jobs = 0
        """How many jobs the last look saw: workers that were started by one process are one job."""

    def pids(self) -> list[int]:
        """As of the last look."""
        return self._found

    def look(self) -> list[int]:
        """Look at all processes; an environment is read once per process."""
        seen: dict[tuple[int, float], bool] = {}
        workers: dict[int, Stat] = {}
        for pid in proc.process_ids():
            stat = proc.stat_of(pid)
            if stat is not None and stat.state != "Z":
                key = (pid, stat.started)
                seen[key] = self._known[key] if key in self._known else _is_worker(pid)
                if seen[key]:
                    workers[pid] = stat
        self._known = seen
        # A worker's own children inherit its variables: they stand below a worker, and are none.
        jobs: dict[int, list[Stat]] = {}
        for stat in workers.values():
            if stat.parent not in workers:
                jobs.setdefault(stat.parent, []).append(stat)
        self.jobs = len(jobs)
        newest = max(jobs.values(), key=lambda job: max(stat.started for stat in job), default=[])
        self._found = [stat.pid for stat in newest]
        return self._found


def _is_worker(pid: int) -> bool:
    if pid == os.getpid():
        return False
    environment = proc.environment_of(pid) or {}
    if any(environment.get(name) for name in NODE_VARIABLES) and node_name(environment).value != node_name().value:
        return False  # of another Slurm node on this host
    return RUN_VARIABLE not in environment and any(environment.get(name) for name in _TELLING)
