"""The compile screen's table, as lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from neuron_top.tui.panels.compiling import lock_text, short_key
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.table import Cell, Column
from neuron_top.units import bytes_text, clock_text, count_text, duration_text, whole_seconds_text
from neuron_top.views.graphs import GraphRow
from neuron_top.views.model import GraphState, Precision

STATE_ORDER = (
    GraphState.COMPILING,
    GraphState.WAITING,
    GraphState.FAILED,
    GraphState.CACHED_FAILURE,
    GraphState.INTERRUPTED,
    GraphState.EXTRACTED,
    GraphState.KNOWN,
    GraphState.COMPILED,
    GraphState.HIT,
)


def active_first(rows: Sequence[GraphRow]) -> list[GraphRow]:
    """Graphs at work, then failed ones, then finished ones, each in the order in which they began."""
    return sorted(rows, key=lambda row: STATE_ORDER.index(row.state))


_PID_WITH_WORD = 11
"""Cells of a process, whatever its number."""


def _state(row: GraphRow, theme: Theme, width: int) -> Cell:
    sign, style = theme.graph_sign(row.state)
    return [(f"{sign} {row.state}", style)]


def _who(row: GraphRow, theme: Theme, width: int) -> Cell:
    if len(row.ranks) > 1:
        return [
            (f"r{row.ranks[0]}" if row.rank is None else f"r{row.rank}", theme.text),
            (f"+{len(row.ranks) - 1}", theme.quiet),
        ]
    if row.rank is not None:
        return [(f"r{row.rank}", theme.text)]
    return [(f"pid {row.pid}" if row.pid is not None else theme.glyphs.unknown, theme.quiet)]


def _time(row: GraphRow, theme: Theme, width: int) -> Cell:
    if row.elapsed is not None:
        return [(clock_text(row.elapsed), theme.strong)]
    bound = "≤" if row.precision is Precision.BRACKETED else ""
    return [(bound + duration_text(row.seconds), theme.text if row.seconds is not None else theme.faint)]


def _left(row: GraphRow, theme: Theme, width: int) -> Cell:
    if row.left is None:
        return [("", theme.quiet)]
    return [(f"≤{whole_seconds_text(row.left.high)}", theme.accent)]


def _name(row: GraphRow, theme: Theme, width: int) -> Cell:
    return [(short_key(row.key, width, theme.glyphs.more), theme.text)]


def _message(row: GraphRow, theme: Theme, width: int) -> Cell:
    if row.message:
        return [(row.message, theme.bad)]
    texts = (lock_text(row.lock), f"{row.waiters} wait" if row.waiters else "")
    return [("; ".join(text for text in texts if text), theme.warn)]


def _count(value: int | None, theme: Theme) -> Cell:
    return [(count_text(value), theme.text if value else theme.faint)]


COLUMNS = (
    Column("State", 16, _state, lambda row: STATE_ORDER.index(row.state)),
    Column("Worker", 7, _who, lambda row: row.rank),
    Column("Time", 9, _time, lambda row: row.elapsed if row.elapsed is not None else row.seconds, True, down=True),
    Column("Left", 12, _left, lambda row: row.left.high if row.left is not None else None, True, least=96, down=True),
    Column("Hits", 6, lambda row, theme, width: _count(row.hits, theme), lambda row: row.hits, True, least=66,
           down=True),
    Column("Tries", 6, lambda row, theme, width: _count(row.attempts, theme), lambda row: row.attempts, True, least=76,
           down=True),
    Column("Ops", 6, lambda row, theme, width: _count(row.operators, theme), lambda row: row.operators, True, least=150,
           down=True),
    Column("Artifact", 9, lambda row, theme, width: [(bytes_text(row.artifact_bytes), theme.text)],
           lambda row: row.artifact_bytes, True, least=132, down=True),
    Column("Waited", 9, lambda row, theme, width: [(duration_text(row.wait_seconds), theme.text)],
           lambda row: row.wait_seconds, True, least=136, down=True),
    Column("Part", 9, lambda row, theme, width: [(row.direction, theme.quiet)], lambda row: row.direction, least=160),
    Column("Graph", 28, _name, lambda row: row.key, grow=1),
    Column("Message or lock", 10, _message, None, grow=4, least=92),
)  # fmt: skip
_WITHOUT: dict[str, Callable[[GraphRow], bool]] = {
    "Left": lambda row: row.left is None,
    "Message or lock": lambda row: not (row.message or row.lock is not None or row.waiters),
}
"""Columns that are left out if no row has a value there."""


def columns(rows: Sequence[GraphRow]) -> tuple[Column, ...]:
    """The columns for these graphs. Where processes have no rank, the names of graphs give them room."""
    empty = {title for title, is_empty in _WITHOUT.items() if all(is_empty(row) for row in rows)}
    has_pids = any(row.rank is None and row.pid is not None for row in rows)
    widths = {"Worker": _PID_WITH_WORD, "Graph": 24} if has_pids else {}
    return tuple(
        column._replace(width=widths.get(column.title, column.width)) for column in COLUMNS if column.title not in empty
    )


def filter_text(row: GraphRow) -> str:
    """The text for filters, and for copying with `y`."""
    ranks = " ".join(f"r{rank}" for rank in row.ranks)
    return f"{row.key} {row.state} {ranks} {row.direction} {row.compiler or ''} {row.message}".strip()
