"""One node of a fleet in full: its cores now, their last hour where a Prometheus has it, and its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from neuron_top.views.fleet import NodeRow


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
