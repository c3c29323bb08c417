"""Allocations on devices that failed, by core: a job of 64 cores that runs out of memory says so 64 times. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from neuron_top.events import DeviceMemoryExhausted

CORES_KEPT = 4096
"""Most cores that are kept apart; an UltraServer has 1,152."""


class CoreExhaustion(msgspec.Struct, kw_only=True):
    """The failures of one core, or, for first-generation devices, whose messages name no core, of a node."""

    count: int
    first: float | None
    last: DeviceMemoryExhausted
    """The newest with a breakdown of the memory; if none has one, the newest."""


class Exhaustions:
    """Failures by (node, device, core), in the order in which the cores first failed."""

    def __init__(self) -> None:
        self.count = 0
        self.first: float | None = None
        self.newest: DeviceMemoryExhausted | None = None
        self._cores: dict[tuple[str, int | None, int | None], CoreExhaustion] = {}

    def add(self, event: DeviceMemoryExhausted) -> None:
        """Take one failure into account."""
        if not self.count:
            self.first = event.time
        self.count += 1
        self.newest = event
        key = event.node, event.device, event.core
        known = self._cores.get(key)
        if known is not None:
            known.count += 1
            known.last = event if event.rows or not known.last.rows else known.last
        elif len(self._cores) < CORES_KEPT:
            self._cores[key] = CoreExhaustion(count=1, first=event.time, last=event)

    def __iter__(self) -> Iterator[CoreExhaustion]:
        return iter(self._cores.values())
