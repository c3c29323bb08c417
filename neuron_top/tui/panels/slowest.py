"""The graphs that failed, then the slowest ones: what compiling cost, and where."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.panels.compiling import short_key
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, duration_text
from neuron_top.views.counts import GRAPH_FAILED
from neuron_top.views.graphs import GraphRow
from neuron_top.views.model import Precision


def slowest_panel(theme: Theme, rows: Sequence[GraphRow], width: int, height: int) -> list[Strip]:
    """As many as there is room for."""
    shown = rows[: height - 1]
    words = "Failed and slowest graphs" if any(row.state in GRAPH_FAILED for row in shown) else "Slowest graphs"
    title = rule(theme, width, words, "3 shows all")
    who = max((len(_who(row)) for row in shown), default=0)
    size = 9 * any(row.artifact_bytes is not None for row in shown)
    key = min(max((len(row.key) for row in shown), default=0), 30 if any(row.message for row in shown) else 60)
    return [title, *(_line(theme, row, width, who, size, key) for row in shown)]


def _who(row: GraphRow) -> str:
    return f"r{row.rank}" if row.rank is not None else f"pid {row.pid}" if row.pid is not None else ""


def _line(theme: Theme, row: GraphRow, width: int, who: int, size: int, key: int) -> Strip:
    """One graph. `who`, `size`, `key`: cells of those columns; 0 where no row has any."""
    sign, style = theme.graph_sign(row.state)
    bound = "≤" if row.precision is Precision.BRACKETED and row.seconds is not None else ""
    line = Line(theme, width).put(f"{sign} {row.state}", style, 16).gap()
    line.put(bound + duration_text(row.seconds), theme.text, 9, right=True).gap()
    line.gap().put(_who(row), theme.quiet, who).gap(bool(who))
    line.put(bytes_text(row.artifact_bytes) if row.artifact_bytes is not None else "", theme.quiet, size, right=True)
    line.gap(2 * bool(size))
    line.put(short_key(row.key, min(key, line.left), theme.glyphs.more), theme.text)
    return line.gap(2).put(row.message, theme.bad).strip()
