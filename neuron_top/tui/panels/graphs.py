"""The compile screen's table, as lines."""

from __future__ import annotations

from rich.style import Style

from neuron_top.tui.look import Theme
from neuron_top.tui.panels.compiling import left_text, lock_text, short_key
from neuron_top.tui.widgets.table import Cell, Column
from neuron_top.units import bytes_text, clock_text, count_text, duration_text
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


def state_sign(look: Theme, state: GraphState) -> tuple[str, Style]:
    """Symbol and color of a graph's state."""
    glyphs = look.glyphs
    return {
        GraphState.COMPILING: (glyphs.running, look.kinds[0]),
        GraphState.WAITING: (glyphs.waiting, look.warn),
        GraphState.HIT: (glyphs.done, look.accent),
        GraphState.COMPILED: (glyphs.done, look.good),
        GraphState.FAILED: (glyphs.failed, look.bad),
        GraphState.CACHED_FAILURE: (glyphs.failed, look.bad),
        GraphState.INTERRUPTED: (glyphs.note, look.warn),
    }.get(state, (glyphs.queued, look.quiet))


def _state(row: GraphRow, look: Theme, width: int) -> Cell:
    sign, style = state_sign(look, row.state)
    return [(f"{sign} {row.state}", style)]


def _who(row: GraphRow, look: Theme, width: int) -> Cell:
    if len(row.ranks) > 1:
        return [
            (f"r{row.ranks[0]}" if row.rank is None else f"r{row.rank}", look.text),
            (f"+{len(row.ranks) - 1}", look.quiet),
        ]
    if row.rank is not None:
        return [(f"r{row.rank}", look.text)]
    return [(f"{row.pid}" if row.pid is not None else look.glyphs.unknown, look.quiet)]


def _time(row: GraphRow, look: Theme, width: int) -> Cell:
    if row.elapsed is not None:
        return [(clock_text(row.elapsed), look.strong)]
    bound = "≤" if row.known is Precision.BRACKETED else ""
    return [(bound + duration_text(row.seconds), look.text if row.seconds is not None else look.faint)]


def _left(row: GraphRow, look: Theme, width: int) -> Cell:
    return [(left_text(row.left), look.accent)] if row.left is not None else [("", look.quiet)]


def _name(row: GraphRow, look: Theme, width: int) -> Cell:
    return [(short_key(row.key, width, look.glyphs.more), look.text)]


def _message(row: GraphRow, look: Theme, width: int) -> Cell:
    told = lock_text(row.lock)
    behind = f"{row.waiters} wait" if row.waiters else ""
    return [(row.message, look.bad)] if row.message else [("; ".join(one for one in (told, behind) if one), look.warn)]


def _count(value: int | None, look: Theme) -> Cell:
    return [(count_text(value), look.text if value else look.faint)]


COLUMNS = (
    Column("State", 16, _state, lambda row: STATE_ORDER.index(row.state)),
    Column("Rank", 7, _who, lambda row: row.rank),
    Column("Time", 9, _time, lambda row: row.elapsed if row.elapsed is not None else row.seconds, True, down=True),
    Column("Left", 12, _left, lambda row: row.left.high if row.left is not None else None, True, least=96, down=True),
    Column("Hits", 5, lambda row, look, width: _count(row.hits, look), lambda row: row.hits, True, down=True),
    Column("Tries", 5, lambda row, look, width: _count(row.attempts, look), lambda row: row.attempts, True, down=True),
    Column("Ops", 6, lambda row, look, width: _count(row.operators, look), lambda row: row.operators, True, least=150,
           down=True),
    Column("Artifact", 9, lambda row, look, width: [(bytes_text(row.artifact_bytes), look.text)],
           lambda row: row.artifact_bytes, True, least=132, down=True),
    Column("Waited", 9, lambda row, look, width: [(duration_text(row.wait_seconds), look.text)],
           lambda row: row.wait_seconds, True, least=136, down=True),
    Column("Part", 9, lambda row, look, width: [(row.direction, look.quiet)], lambda row: row.direction, least=160),
    Column("Graph", 28, _name, lambda row: row.key),
    Column("Message or lock", 10, _message, None, grow=1, least=92),
)  # fmt: skip


def filter_text(row: GraphRow) -> str:
    """What a filter looks at, and what `y` copies."""
    ranks = " ".join(f"r{rank}" for rank in row.ranks)
    return f"{row.key} {row.state} {ranks} {row.direction} {row.compiler or ''} {row.message}".strip()
