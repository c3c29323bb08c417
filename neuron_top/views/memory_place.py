"""Names the place of a core's memory: the host, a GPU, a Neuron device. Only equal places can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from neuron_top.events import CoreKind
from neuron_top.run.cores import Core


class MemoryPlace(StrEnum):
    """Where it lies, as words of a sentence."""

    HOST = "the host"
    GPU = "GPUs"
    NEURON = "Neuron devices"


def memory_place(core: Core) -> MemoryPlace:
    """The place of the memory in a core's samples."""
    if core.kind is CoreKind.NEURON:
        return MemoryPlace.NEURON
    return MemoryPlace.HOST if core.gpu is None else MemoryPlace.GPU


def gpu_text(core: Core) -> str:
    """The GPU that a local worker computes on: `GPU 0 (NVIDIA H100 80GB HBM3)`; "" where it has none."""
    return "" if core.gpu is None else f"GPU {core.gpu.index} ({core.gpu.name})"


def places_text(places: Iterable[MemoryPlace]) -> str:
    """Each one once: `GPUs`, `GPUs and the host`; "" for none."""
    return " and ".join(dict.fromkeys(sorted(places)))


def places_differ(one: str, other: str) -> bool:
    """Whether two such texts are of memory that cannot be compared: both are known, and they are not the same."""
    return bool(one and other) and one != other
