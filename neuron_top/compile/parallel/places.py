"""Where compiles run, as a person asks for it, and the executor for that."""

from __future__ import annotations

import hashlib
import os
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from neuron_top.cache import trust
from neuron_top.compile.parallel.slurm_options import SlurmOptions
from neuron_top.errors import UsageError

if TYPE_CHECKING:
    from neuron_top.compile.parallel.executor import Executor
    from neuron_top.compile.parallel.staging import Staging

JOBS = f".neurontop-jobs-{os.getuid()}"
"""Folder beside a cache root, so that all nodes see it; one per user."""
_FOLDER_MODE = 0o700


class ExecutorKind(StrEnum):
    """The kind of executor that runs compiles."""

    LOCAL = "local"
    SLURM = "slurm"
    RAY = "ray"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where compiles run, and the resources of each."""

    kind: ExecutorKind = ExecutorKind.LOCAL
    cores: int = 1
    logs: str = ""
    """Folder that all nodes see, for the output of tasks; empty: beside the cache root, for a bucket in this folder."""
    slurm: SlurmOptions = SlurmOptions()
    ray: str = ""
    """Address of a cluster, `ray://host:port` or `host:port`; empty: the one that runs here."""


def scheduler(place: Place, root: Path, staging: Staging | None = None) -> Executor:
    """The executor that submits the graphs in `root` to a site's scheduler. `staging`: set if `root` stages a bucket.

    Raises UsageError where it cannot be reached, or its package is not installed; RefusedForSafety where somebody else
    could exchange the folder of its tasks.
    """
    from neuron_top.compile.parallel.medium import BucketMedium, SharedFolder

    medium = SharedFolder() if staging is None else BucketMedium(staging.bucket, staging.root)
    if place.kind is ExecutorKind.SLURM:
        from neuron_top.compile.parallel.slurm import SlurmExecutor

        return SlurmExecutor(place.slurm, _logs(place, root if staging is None else Path.cwd() / root.name), medium)
    if place.kind is ExecutorKind.RAY:
        from neuron_top.compile.parallel.ray_cluster import RayExecutor

        return RayExecutor(place.ray, medium)
    raise AssertionError("this machine needs no scheduler")


def _logs(place: Place, root: Path) -> Path:
    """Make a folder for this call and this user alone, as the results of tasks are unpickled from it.

    Raises RefusedForSafety where somebody else could exchange it, UsageError where it cannot be made.
    """
    name = f"{root.name}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:8]}"
    above = (Path(place.logs).absolute() if place.logs else root.parent / JOBS) / name
    folder = above / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
    try:
        with trust.open_folder(str(above), make=True, mode=_FOLDER_MODE):
            folder.mkdir(mode=_FOLDER_MODE)
    except trust.Untrusted as reason:
        raise trust.refusal(reason, "Name a folder of your own that every node sees with --logs") from None
    except OSError as problem:
        raise UsageError(
            f"the output of tasks cannot be written to {folder} ({problem.strerror}): name a folder that every node "
            "sees with --logs"
        ) from None
    return folder
