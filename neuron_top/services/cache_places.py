"""Finds this machine's compile caches: where they are, what they hold, who uses them; and compiles' work folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from neuron_top.cache import inductor, roots, torch_artifacts, torch_neuron, vllm_neuron, work_dirs
from neuron_top.cache.below import caches_below
from neuron_top.cache.inductor import InductorEntry
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.processes import CacheProcess, bystanders, read_processes
from neuron_top.cache.roots import Root
from neuron_top.cache.torch_artifacts import TorchArtifact
from neuron_top.cache.tree import TreeSize, measure
from neuron_top.cache.vllm_neuron import VllmEntry, VllmState
from neuron_top.cache.work_dirs import WorkDir
from neuron_top.errors import NothingToShow

__all__ = [
    "CachePlace",
    "CachePlaces",
    "InductorEntry",
    "Root",
    "TorchArtifact",
    "TreeSize",
    "VllmEntry",
    "VllmState",
    "WorkDir",
    "cache_places",
    "caches_below",
    "other_neuron_caches",
]


class CachePlace(NamedTuple):
    """One cache that may exist. Fields that were not read, or do not exist, are None."""

    root: Root
    size: TreeSize | None = None
    vllm: list[VllmEntry] | None = None
    """Entries of a cache of vLLM-Neuron."""
    inductor: list[InductorEntry] | None = None
    """Entries of Inductor's cache."""
    torch_neuron: tuple[Entry, ...] | None = None
    """Entries of TorchNeuron's cache."""


class CachePlaces(NamedTuple):
    """Every compile cache of this machine."""

    caches: list[CachePlace]
    work_dirs: list[WorkDir]
    artifacts: list[TorchArtifact] = []
    """Compiled artifacts that PyTorch wrote into files."""

    @property
    def abandoned(self) -> list[WorkDir]:
        """Work folders of dead compiles."""
        return [each for each in self.work_dirs if each.alive is False]


def cache_places(*, sizes: bool, artifacts_in: Sequence[str] = ()) -> CachePlaces:
    """The caches named by defaults, our environment and running processes; `sizes`: measure each by a walk.

    PyTorch's artifacts are looked for in these files and folders, or, without any, in vLLM's folder and here.
    """
    processes = read_processes()
    found = roots.find(processes=processes, bystanders=bystanders(processes))
    caches = [_place(root, processes, sizes=sizes) for root in found]
    return CachePlaces(caches, work_dirs.find(processes), _artifacts(artifacts_in, [place.root for place in caches]))


def torch_neuron_root() -> str:
    """TorchNeuron's cache that a job started here would use."""
    return torch_neuron.tiers(os.environ)[0]


def _place(root: Root, processes: list[CacheProcess], *, sizes: bool) -> CachePlace:
    if not root.exists:
        return CachePlace(root)
    return CachePlace(
        root,
        size=measure(root.path) if sizes else None,
        vllm=vllm_neuron.entries(root.path) if root.kind is roots.CacheKind.VLLM_NEURON else None,
        torch_neuron=_torch_neuron(root.path, processes) if root.kind is roots.CacheKind.TORCH_NEURON else None,
        inductor=inductor.entries(root.path) if sizes and root.kind is roots.CacheKind.INDUCTOR else None,
    )


def _artifacts(given: Sequence[str], caches: Iterable[Root]) -> list[TorchArtifact]:
    if given:
        return torch_artifacts.find(given)
    here = [entry.path for entry in os.scandir(".") if entry.is_file(follow_symlinks=False)]
    of_vllm = [f"{root.path}/torch_aot_compile" for root in caches if root.kind is roots.CacheKind.VLLM and root.exists]
    return torch_artifacts.find([*here[: torch_artifacts.MOST_FILES], *of_vllm])


def _torch_neuron(root: str, processes: list[CacheProcess]) -> tuple[Entry, ...] | None:
    try:
        return torch_neuron.scan(root, processes=processes).entries
    except NothingToShow:
        return None


def other_neuron_caches(root: str) -> list[Root]:
    """The Neuron caches that exist here besides `root`."""
    own = os.path.realpath(root)
    return [
        other
        for other in roots.find()
        if other.kind is roots.CacheKind.NEURON and other.exists and os.path.realpath(other.path) != own
    ]
