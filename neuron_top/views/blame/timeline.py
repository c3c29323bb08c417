"""Nodes over time: what each did in each stretch, who spent most first; nodes that did the same share a row."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from neuron_top.run.spans import SpanKind
from neuron_top.views.blame.records import Blame, NodeBar, NodeBlame


class Doing(StrEnum):
    """What a node did in a stretch of time; the values are what plain text draws."""

    NOTHING = "·"
    COMPILING = "C"
    WAITING = "w"


class TimelineRow(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that did the same: one, or hundreds that waited for one."""

    nodes: tuple[str, ...]
    seconds: float
    """Of the ranks of the node that spent most."""
    cells: tuple[Doing, ...]


class BlameTimeline(msgspec.Struct, frozen=True, kw_only=True):
    """Rows from `start` to `end`, cut into as many stretches as each row has cells."""

    start: float
    end: float
    rows: tuple[TimelineRow, ...]


def blame_timeline(blame: Blame, columns: int) -> BlameTimeline | None:
    """Every node in some row; None where nobody compiled or waited at a known time."""
    start, end = blame.start, blame.end
    if start is None or end is None or columns < 1:
        return None
    groups: dict[tuple[Doing, ...], list[NodeBlame]] = {}
    for node in blame.nodes:
        groups.setdefault(_cells(node.bars, start, end, columns), []).append(node)
    rows = (
        TimelineRow(nodes=tuple(node.node for node in nodes), seconds=nodes[0].seconds, cells=cells)
        for cells, nodes in groups.items()
    )
    return BlameTimeline(start=start, end=end, rows=tuple(sorted(rows, key=lambda row: -row.seconds)))


def _cells(bars: Sequence[NodeBar], start: float, end: float, columns: int) -> tuple[Doing, ...]:
    """What a node did in each stretch; a compile hides a wait, as others waited for it."""
    cells = [Doing.NOTHING] * columns
    width = (end - start) / columns
    for kind, doing in ((SpanKind.WAIT, Doing.WAITING), (SpanKind.COMPILE, Doing.COMPILING)):
        for bar in bars:
            if bar.kind is kind:
                first = int((bar.start - start) / width) if width else 0
                last = int((bar.end - start) / width) if width else 0
                for column in range(min(first, columns - 1), min(last, columns - 1) + 1):
                    cells[column] = doing
    return tuple(cells)
