"""ECC errors of devices, as several sources count them."""

from __future__ import annotations

from neuron_top.events import HardwareErrorsCounted

_DRIVER = "sysfs"
"""Source of the events that hold the driver's own counters."""


class HardwareErrors:
    """The newest counts. What the driver itself counts stays where others, which know fewer kinds, count anew: it is
    read seldom."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, int], dict[str, int]] = {}
        """By node and device: errors by kind."""
        self._of_driver: dict[tuple[str, int], dict[str, int]] = {}

    def add(self, event: HardwareErrorsCounted) -> dict[str, int]:
        """Take a device's counts; gives those of all sources together."""
        device = event.node, event.device
        if event.source == _DRIVER:
            self._of_driver[device] = event.counts
        self.counts[device] = {**event.counts, **self._of_driver.get(device, {})}
        return self.counts[device]
