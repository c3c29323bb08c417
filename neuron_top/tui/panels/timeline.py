"""The timeline of the compile screen, as lines: a lane per worker, a bar per compile or wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.theme import Theme
from neuron_top.units import duration_text
from neuron_top.views.model import AttemptOutcome
from neuron_top.views.timeline import Bar, Lane, SpanKind, Timeline

LABEL = 10
"""Cells of a lane's name on the timeline, unless a name is longer."""


def timeline_lines(view: Timeline) -> int:
    """Lines the timeline fills: title and lanes, eight at most; none before the first compile."""
    return 1 + min(8, len(view.lanes)) if view.lanes else 0


def timeline_panel(theme: Theme, view: Timeline, width: int, height: int) -> list[Strip]:
    """A lane per worker, or for several that are alike; a bar per compile or wait, from the first compile to now."""
    if view.start is None or view.end is None:
        return []
    span = max(view.end - view.start, 1e-3)
    strips = [
        rule(
            theme,
            width,
            "Timeline",
            f"{duration_text(span)} · {theme.glyphs.bar} compiling  {theme.glyphs.hollow} waiting",
        )
    ]
    room = height - 1
    lanes = view.lanes if len(view.lanes) <= room else view.lanes[: room - 1]
    label = max([LABEL, *(len(_name(lane)) + 1 for lane in lanes)])
    strips += [_lane(theme, lane, view.start, span, width, label) for lane in lanes]
    if len(lanes) < len(view.lanes):
        strips.append(Line(theme, width).put(f"and {len(view.lanes) - len(lanes)} more", theme.quiet).strip())
    return strips


def _name(lane: Lane) -> str:
    name = f"rank {lane.rank}" if lane.rank is not None else f"pid {lane.pid}" if lane.pid is not None else "unknown"
    return f"{name} +{lane.alike} alike" if lane.alike else name


def _lane(theme: Theme, lane: Lane, start: float, span: float, width: int, label: int) -> Strip:
    line = Line(theme, width).put(_name(lane), theme.quiet, label)
    cells: list[tuple[str, Style]] = [(theme.glyphs.track, theme.faint)] * line.left
    for bar in lane.bars:
        _place(theme, bar, start, span, cells)
    return line.add(list(_joined(cells))).strip()


def _place(theme: Theme, bar: Bar, start: float, span: float, cells: list[tuple[str, Style]]) -> None:
    first = int((bar.start - start) / span * len(cells))
    end = (bar.end - start) / span * len(cells) if bar.end is not None else len(cells)
    state = "compiling" if bar.end is None else bar.outcome if bar.outcome == AttemptOutcome.FAILED else "compiled"
    style = theme.state(state)
    cell = (theme.glyphs.hollow, theme.state("waiting")) if bar.kind is SpanKind.WAIT else (theme.glyphs.bar, style)
    for index in range(max(0, first), min(len(cells), max(first + 1, round(end)))):
        cells[index] = cell


def _joined(cells: Sequence[tuple[str, Style]]) -> Iterator[tuple[str, Style]]:
    """Neighbors of one style as one piece."""
    text, style = "", cells[0][1] if cells else Style()
    for glyph, its_style in cells:
        if its_style is not style:
            yield text, style
            text, style = "", its_style
        text += glyph
    yield text, style
