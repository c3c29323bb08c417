"""What this process holds of the GPU that it computes on, for its account of memory (`worker_memory`).

PyTorch's allocator knows what it holds, and of that what is in use; the driver knows what is free on the whole GPU.
Both are asked in the job's own threads at moments when it is known what the tensors are, so that the parts belong to
the whole, and not while a CUDA graph is recorded, which some calls would break.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping

import torch

from neuron_top.events import GpuMemory

_PERIOD = 1.0
"""Seconds between two questions to the driver, at least: it takes longer to answer than the allocator."""


class GpuAccount:
    """The GPU at the fullest of the moments since the last report."""

    def __init__(self) -> None:
        self._asked = float("-inf")
        self._capacity, self._taken = 0, 0
        self._fullest: GpuMemory | None = None
        self._in_use = 0

    def look(self, known: Callable[[], Mapping[str, int]]) -> None:
        """Look at it now, in a thread of the job; `known` is asked for the bytes of its tensors there, by kind.

        In a process that uses no GPU nobody is asked anything.
        """
        if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            return
        with contextlib.suppress(RuntimeError):  # a failing GPU is the job's to report
            if torch.cuda.is_current_stream_capturing():
                return
            gpu = torch.cuda.current_device()
            statistics = torch.cuda.memory_stats(gpu)
            held, in_use = statistics["reserved_bytes.all.current"], statistics["allocated_bytes.all.current"]
            if not held or in_use < self._in_use:
                return
            self._ask_driver(gpu)
            self._in_use = in_use
            self._fullest = GpuMemory(
                name=torch.cuda.get_device_name(gpu),
                index=gpu,
                memory=held,
                peak=statistics["reserved_bytes.all.peak"],
                capacity=self._capacity,
                beside=max(0, self._taken - held),
                kinds=_parts(known(), held, in_use),
            )

    def report(self) -> GpuMemory | None:
        """What was found; from now on the next look counts, however full it is."""
        self._in_use = 0
        return self._fullest

    def _ask_driver(self, gpu: int) -> None:
        now = time.monotonic()
        if now - self._asked >= _PERIOD:
            self._asked = now
            free, self._capacity = torch.cuda.mem_get_info(gpu)
            self._taken = self._capacity - free


def _parts(known: Mapping[str, int], held: int, in_use: int) -> dict[str, int]:
    """All that is held, by kind; without `known` where that is more than is in use, so something of it has gone."""
    if sum(known.values()) > in_use:
        known = {}
    return {**known, "rest": in_use - sum(known.values()), "reserved": held - in_use}
