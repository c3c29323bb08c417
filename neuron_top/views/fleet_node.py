"""A node of a fleet in full, and one of its cores: values now, the last hour where a Prometheus has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from neuron_top.errors import NothingToShow
from neuron_top.units import number_text
from neuron_top.views.core_metrics import CORE_METRICS
from neuron_top.views.fleet import NodeRow
from neuron_top.views.metric import value_text
from neuron_top.views.spread import median_of


class NodeHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The worst, median and best core of a node over time, as shares; or why there is none."""

    low: tuple[tuple[float, float], ...] = ()
    median: tuple[tuple[float, float], ...] = ()
    high: tuple[tuple[float, float], ...] = ()
    missing: str = ""
    """What it needs, where there is none."""


class NodePage(msgspec.Struct, frozen=True, kw_only=True):
    """A node."""

    now: float
    row: NodeRow
    cores: dict[str, tuple[float | None, ...]]
    """By metric: a value for every core, None unknown."""
    history: NodeHistory


def node_page(now: float, row: NodeRow, cores: Mapping[str, Sequence[float | None]], history: NodeHistory) -> NodePage:
    """The page of a node."""
    return NodePage(
        now=now, row=row, cores={name: tuple(values) for name, values in sorted(cores.items())}, history=history
    )


class CoreValue(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of the core."""

    metric: str
    value: float | None
    text: str
    """The value, for people."""
    median: str
    """Of the node's cores, for people."""
    place: int | None
    """1 is the highest of the node's cores."""


class CoreHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The last hour of a core by metric; or why there is none."""

    utilization: tuple[tuple[float, float], ...] = ()
    memory: tuple[tuple[float, float], ...] = ()
    missing: str = ""
    """What it needs, where there is none."""


class FleetCorePage(msgspec.Struct, frozen=True, kw_only=True):
    """A core."""

    row: NodeRow
    core: int
    cores: int
    """How many cores the node reports."""
    values: tuple[CoreValue, ...]
    history: CoreHistory


def core_count(cores: Mapping[str, Sequence[float | None]]) -> int:
    """How many cores a node reports."""
    return max(map(len, cores.values()), default=0)


def core_page(
    row: NodeRow, cores: Mapping[str, Sequence[float | None]], core: int, history: CoreHistory
) -> FleetCorePage:
    """The page of a core. Raises NothingToShow for a core that the node does not report."""
    count = core_count(cores)
    if not 0 <= core < count:
        range_text = f"its agent reports cores 0 to {count - 1}" if count else "its agent reports none"
        raise NothingToShow(f"node {row.node} has no core {core}: {range_text}")
    values = tuple(_value(name, cores[name], core) for name in sorted(cores))
    return FleetCorePage(row=row, core=core, cores=count, values=values, history=history)


def _value(name: str, values: Sequence[float | None], core: int) -> CoreValue:
    value = values[core] if core < len(values) else None
    known = [one for one in values if one is not None]
    unit = next((metric.unit for metric in CORE_METRICS if metric.name == name), None)

    def text(number: float | None) -> str:
        return value_text(number, unit) if unit is not None else number_text(number)

    return CoreValue(
        metric=name,
        value=value,
        text=text(value),
        median=text(median_of(known) if known else None),
        place=None if value is None else 1 + sum(one > value for one in known),
    )
