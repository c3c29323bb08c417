"""Measures what this process holds of the GPU that it computes on, for its memory account (`worker_memory`).

PyTorch's allocator knows how much it holds and how much of that is in use; the driver knows how much is free on the
whole GPU. Both are asked in the job's own threads at moments when the tensors are known, so that the parts fit the
total, but never while a CUDA graph is recorded, as some calls would break that.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping

import torch

from neuron_top.events import GpuMemory

_PERIOD = 1.0
"""Least seconds between two requests to the driver, which takes longer to answer than the allocator."""


class GpuAccount:
    """The GPU at the moment of its highest use since the last report."""

    def __init__(self) -> None:
        self._asked = float("-inf")
        self._capacity, self._taken = 0, 0
        self._fullest: GpuMemory | None = None
        self._in_use = 0

    def look(self, known: Callable[[], Mapping[str, int]]) -> None:
        """Measure now, in a thread of the job; `known` gives the bytes of its tensors on the GPU, by kind.

        Does nothing in a process that uses no GPU.
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
        """The highest measurement; the next one counts afresh."""
        self._in_use = 0
        return self._fullest

    def _ask_driver(self, gpu: int) -> None:
        now = time.monotonic()
        if now - self._asked >= _PERIOD:
            self._asked = now
            free, self._capacity = torch.cuda.mem_get_info(gpu)
            self._taken = self._capacity - free


def _parts(known: Mapping[str, int], held: int, in_use: int) -> dict[str, int]:
    """All held memory by kind; without `known` if that exceeds what is in use, as some tensors are gone then."""
    if sum(known.values()) > in_use:
        known = {}
    return {**known, "rest": in_use - sum(known.values()), "reserved": held - in_use}
