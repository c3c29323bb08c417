"""Metrics of a core, declared once: the tables of the terminal and the web and `/metrics` are made from these rows.

A new metric is a field of `CoreSample` that its parser fills, the same field of `CoreRow`, and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from neuron_top.views.core_rows import CoreRow
from neuron_top.views.metric import Unit, value_text


class CoreMetric(NamedTuple):
    """One metric of a core."""

    name: str
    """Its key in JSON and CSV: a field of `CoreRow`."""
    title: str
    """Its name beside a value, in a legend and at the head of a column."""
    unit: Unit
    value: Callable[[CoreRow], float | None]
    prometheus: str = ""
    """The metric's name in `/metrics`, behind `neurontop_core_`; "" for one that Prometheus can compute."""
    help: str = ""
    column: str = ""
    """The head of its column in the terminal; "" where it has none."""
    column_width: int = 9
    least_width: int = 0
    """Cells that the terminal's table must have before the column is shown."""
    is_sorted: bool = True
    share: Callable[[CoreRow], float | None] | None = None
    """Its share of the most that there can be, 0…1: what a heat map shows. None where there is no such limit."""
    is_optional: bool = False
    """Shown only where a core reports it: some sources never do."""

    def text(self, row: CoreRow) -> str:
        """The value of a core, for people."""
        return value_text(self.value(row), self.unit)


def _memory_share(row: CoreRow) -> float | None:
    """The used share of the bank; memory of the bank's other cores is not free either."""
    return None if row.headroom is None else 1 - row.headroom


UTILIZATION = CoreMetric(
    "utilization", "utilization", Unit.SHARE, lambda row: row.utilization,
    "utilization_ratio", "Share of time a core was busy", column="%", column_width=6,
    share=lambda row: row.utilization,
)  # fmt: skip
MEMORY = CoreMetric(
    "memory", "memory", Unit.BYTES, lambda row: row.memory,
    "memory_used_bytes", "Device memory in use", column="Used", share=_memory_share,
)  # fmt: skip
CAPACITY = CoreMetric(
    "capacity", "capacity", Unit.BYTES, lambda row: row.capacity,
    "memory_capacity_bytes", "Device memory of a core", column="Of", least_width=110, is_sorted=False,
)  # fmt: skip
PEAK = CoreMetric(
    "peak", "peak", Unit.BYTES, lambda row: row.peak,
    "memory_peak_bytes", "Highest device memory seen", column="Peak", least_width=90,
)  # fmt: skip
HEADROOM = CoreMetric("headroom", "free", Unit.SHARE, lambda row: row.headroom)
POWER = CoreMetric(
    "power", "power", Unit.SHARE, lambda row: row.power,
    "power_ratio", "Share of the maximum power of the core's device, the mean of a minute",
    column="Power", column_width=6, least_width=90, share=lambda row: row.power, is_optional=True,
)  # fmt: skip
FLOPS = CoreMetric(
    "flops", "compute", Unit.FLOPS, lambda row: row.flops,
    "flops_per_second", "Floating-point operations per second",
    column="FLOP/s", column_width=13, least_width=100, is_optional=True,
)  # fmt: skip

CORE_METRICS = (UTILIZATION, MEMORY, CAPACITY, PEAK, HEADROOM, POWER, FLOPS)
"""All metrics, in the order in which they are shown."""
SHARES = tuple(metric for metric in CORE_METRICS if metric.share is not None)
"""Metrics for a heat map; by default the first one that a core reports is shown."""


def reported(metrics: Sequence[CoreMetric], rows: Sequence[CoreRow]) -> list[CoreMetric]:
    """The metrics to show for these cores: without the optional ones that none of them reports."""
    return [
        metric for metric in metrics if not metric.is_optional or any(metric.value(row) is not None for row in rows)
    ]
