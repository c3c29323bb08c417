"""Tells which core a process stands for and its role in a job, from its environment and command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

LOCAL_RANK_NAMES = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
RANK_NAMES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
WORLD_NAMES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
VISIBLE_CORES = "NEURON_RT_VISIBLE_CORES"

_COMPILER = re.compile(r"(?:^|[/ ])neuronx?-cc(?: |$)|neuron_top[./]compile[./]\S*(?:child|worker|server)")
_LAUNCHER = re.compile(
    r"(?:^|[/ ])(?:torchrun|accelerate|mpirun|mpiexec|srun|deepspeed|neuron_parallel_compile)(?: |$)"
    r"|torch\.distributed\.(?:run|launch)|neuron_top\S* compile"
)
_MODULE = re.compile(r"MODULE_\w+(?:\+\w+)?")


class WorkerPlacement(NamedTuple):
    """The placement of a worker. `core` is its local rank, or the first core it was given."""

    core: int
    rank: int | None
    local_rank: int | None
    world_size: int | None


LONE = WorkerPlacement(core=0, rank=None, local_rank=None, world_size=None)
"""The placement of the only process of a job without a launcher."""


def place_of(environment: Mapping[str, str]) -> WorkerPlacement | None:
    """The place a launcher gave this process; None when it gave none. `NEURON_RT_VISIBLE_CORES=4-7` is core 4."""
    local_rank = _number(environment, LOCAL_RANK_NAMES)
    rank = _number(environment, RANK_NAMES)
    visible = re.match(r"\d+", environment.get(VISIBLE_CORES, ""))
    core = local_rank if local_rank is not None else int(visible.group()) if visible else rank
    return None if core is None else WorkerPlacement(core, rank, local_rank, _number(environment, WORLD_NAMES))


def is_compiler(command: str) -> bool:
    """Whether a process is the Neuron compiler, or a compile process of our own compile component."""
    return _COMPILER.search(command) is not None


def is_launcher(command: str) -> bool:
    """Whether a process is a program that starts workers and does not train itself."""
    return _LAUNCHER.search(command) is not None


def module_in(command: str) -> str | None:
    """The cache key a compiler's command line names, through the paths it was given."""
    match = _MODULE.search(command)
    return match.group() if match else None


def _number(environment: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    return next((int(value) for name in names if (value := environment.get(name, "")).isdecimal()), None)
