"""Worker processes that nobody records: found by the place a launcher gave them in their environment."""

from __future__ import annotations

import os

from neuron_top.runtime import processes
from neuron_top.runtime.places import VISIBLE_CORES
from neuron_top.runtime.variables import RUN_VARIABLE

_TELLING = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", VISIBLE_CORES)
"""Not all that name a place: a batch system sets its variables in every shell it opens."""


class WorkerFinder:
    """Processes of this user's that a launcher gave a place to, outside of recordings."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, float], bool] = {}
        self._found: list[int] = []

    def pids(self) -> list[int]:
        """As of the last look."""
        return self._found

    def look(self) -> list[int]:
        """Look at all processes; an environment is read once per process."""
        seen: dict[tuple[int, float], bool] = {}
        for pid in processes.process_ids():
            stat = processes.stat_of(pid)
            if stat is not None:
                key = (pid, stat.started)
                seen[key] = self._known[key] if key in self._known else _is_worker(pid)
        self._known = seen
        self._found = [pid for (pid, _), worker in seen.items() if worker]
        return self._found


def _is_worker(pid: int) -> bool:
    if pid == os.getpid():
        return False
    environment = processes.environment_of(pid) or {}
    return RUN_VARIABLE not in environment and any(environment.get(name) for name in _TELLING)
