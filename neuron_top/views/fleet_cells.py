"""Nodes as cells: for each the worst, median and best of its cores as levels, so that shape says what color says."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from neuron_top.views.fleet import FleetMetric, NodeReporting, NodeRow
from neuron_top.views.metric import Unit


class CellMark(StrEnum):
    """What a cell says by its shape, whatever its level."""

    NONE = ""
    SILENT = "silent"
    SLOW = "slow"


class FleetCell(msgspec.Struct, frozen=True, kw_only=True):
    """A node as a cell. Levels are shares of the scale, 0…1; None unknown."""

    node: str
    worst: float | None
    median: float | None
    low: float | None
    high: float | None
    mark: CellMark


class FleetCells(msgspec.Struct, frozen=True, kw_only=True):
    """All cells with the scale that their levels are shares of."""

    metric: FleetMetric
    top: float
    """What a level of 1 stands for."""
    cells: tuple[FleetCell, ...]


def fleet_cells(nodes: Sequence[NodeRow], metric: FleetMetric) -> FleetCells:
    """A cell for each node, in the order given."""
    spreads = [node.metrics.get(metric.name) for node in nodes]
    top = (
        len(metric.words) - 1.0
        if metric.words
        else 1.0
        if metric.unit == Unit.SHARE
        else max((spread.high for spread in spreads if spread is not None), default=0.0) or 1.0
    )

    def level(value: float | None) -> float | None:
        return None if value is None else round(min(1.0, max(0.0, value / top)), 3)

    cells = [
        FleetCell(
            node=node.node,
            worst=level(one.worst) if one is not None else None,
            median=level(one.median) if one is not None else None,
            low=level(one.low) if one is not None else None,
            high=level(one.high) if one is not None else None,
            mark=cell_mark(node),
        )
        for node, one in zip(nodes, spreads, strict=True)
    ]
    return FleetCells(metric=metric, top=top, cells=tuple(cells))


def cell_mark(node: NodeRow) -> CellMark:
    """What a node's cell says besides its level."""
    if node.state is NodeReporting.SILENT:
        return CellMark.SILENT
    return CellMark.SLOW if node.slow else CellMark.NONE
