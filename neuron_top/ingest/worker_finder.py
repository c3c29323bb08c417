"""Finds worker processes that are not recorded, by the place that a launcher gave them in their environment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import msgspec

from neuron_top.events import JobFound
from neuron_top.identity import NODE_VARIABLES, node_name
from neuron_top.parsers.secrets import without_secrets
from neuron_top.process_stat import ProcessStat, stat_of
from neuron_top.processes import proc
from neuron_top.processes.launch import RUN_VARIABLE
from neuron_top.telemetry.worker_placement import VISIBLE_CORES

_TELLING = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", VISIBLE_CORES)
"""Variables that show a worker. Others name a place too, but a batch system sets those in every shell it opens."""
_YOUNG_SECONDS = 3.0
"""For this long a new process is read again: between fork and exec it still has its parent's environment."""
_AGAIN_SECONDS = 30.0
"""After this long an older one is read again: its process id may have been reused between two looks."""


class _Known(msgspec.Struct):
    """What is remembered of a process, so that a look costs a list of ids and not a file for each process."""

    first_seen: float
    due: float
    is_worker: bool = False


class WorkerFinder:
    """The workers of one job of this user that is not recorded: at first the newest job, and that one until it ends."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[int, _Known] = {}
        self._found: list[int] = []
        self.job: int | None = None
        """What started the job that the last look found: a launcher, or a shell."""
        self.jobs = 0
        """How many jobs the last look found: workers that were started by one process are one job."""

    def pids(self) -> list[int]:
        """Process ids of the workers, as of the last `look`."""
        return self._found

    def look(self) -> list[int]:
        """Look for processes that are new, and at the workers that are known."""
        now = self._clock()
        self._known = {pid: self._looked_at(pid, now) for pid in proc.process_ids()}
        stats = (stat_of(pid) for pid, known in self._known.items() if known.is_worker)
        workers = {stat.pid: stat for stat in stats if stat is not None and stat.state != "Z"}
        # A worker's own children inherit its variables, but are not workers.
        jobs: dict[int, list[ProcessStat]] = {}
        for stat in workers.values():
            if stat.parent not in workers:
                jobs.setdefault(stat.parent, []).append(stat)
        self.jobs = len(jobs)
        if self.job not in jobs:  # a job is shown until it ends, whatever begins meanwhile
            self.job = max(jobs, key=lambda parent: max(stat.started for stat in jobs[parent]), default=None)
        self._found = [stat.pid for stat in jobs[self.job]] if self.job is not None else []
        return self._found

    def _looked_at(self, pid: int, now: float) -> _Known:
        known = self._known.get(pid) or _Known(first_seen=now, due=now)
        if now >= known.due:
            known.is_worker = _is_worker(pid)
            known.due = now if now - known.first_seen < _YOUNG_SECONDS else now + _AGAIN_SECONDS
        return known


def job_found(pids: Sequence[int]) -> JobFound:
    """The job of these workers, by the command of the first one."""
    command = without_secrets(proc.command_of(pids[0]) or "")
    return JobFound(command=tuple(command.split()), directory=proc.directory_of(pids[0]) or "")


def _is_worker(pid: int) -> bool:
    if pid == os.getpid():
        return False
    environment = proc.environment_of(pid, with_any=_TELLING) or {}
    if any(environment.get(name) for name in NODE_VARIABLES) and node_name(environment).value != node_name().value:
        return False  # of another Slurm node on this host
    return RUN_VARIABLE not in environment and any(environment.get(name) for name in _TELLING)
