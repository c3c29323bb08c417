"""ECC errors of devices, as several sources count them."""

from __future__ import annotations

from neuron_top.events import HardwareErrorsCounted

_DRIVER = "sysfs"
"""Source of the events with the driver's own counters."""


class HardwareErrors:
    """The newest counts. The driver's own counts are kept when other sources, which know fewer kinds, report new ones:
    the driver's are read rarely."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, int], dict[str, int]] = {}
        """By node and device: errors by kind."""
        self._of_driver: dict[tuple[str, int], dict[str, int]] = {}

    def add(self, event: HardwareErrorsCounted) -> dict[str, int]:
        """Take a device's counts; returns those of all sources together."""
        device = event.node, event.device
        if event.source == _DRIVER:
            self._of_driver[device] = event.counts
        self.counts[device] = {**event.counts, **self._of_driver.get(device, {})}
        return self.counts[device]
