"""The graphs that failed, then the slowest ones: what compiling cost, and where."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.panels.compiling import short_key
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, duration_text
from neuron_top.views.graphs import GraphRow
from neuron_top.views.model import Precision


def slowest_panel(theme: Theme, rows: Sequence[GraphRow], width: int, height: int) -> list[Strip]:
    """As many as there is room for."""
    title = rule(theme, width, "Failed and slowest graphs", "3 shows all")
    return [title, *(_line(theme, row, width) for row in rows[: height - 1])]


def _line(theme: Theme, row: GraphRow, width: int) -> Strip:
    sign, style = theme.graph_sign(row.state)
    bound = "≤" if row.precision is Precision.BRACKETED and row.seconds is not None else ""
    line = Line(theme, width).put(f"{sign} {row.state}", style, 16).gap()
    line.put(bound + duration_text(row.seconds), theme.text, 9, right=True).gap()
    line.put(f"r{row.rank}" if row.rank is not None else "", theme.quiet, 4).gap()
    line.put(bytes_text(row.artifact_bytes) if row.artifact_bytes is not None else "", theme.quiet, 9, right=True)
    room = min(len(row.key), 30 if row.message else 60)
    line.gap(2).put(short_key(row.key, room, theme.glyphs.more), theme.text)
    return line.gap(2).put(row.message, theme.bad).strip()
