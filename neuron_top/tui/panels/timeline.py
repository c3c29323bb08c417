"""Draws the timeline of compiles: the lanes of each worker, a bar per compile or wait, a sign per hit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import zip_longest

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.panels.compiling import ATTEMPT_STATES, short_key
from neuron_top.tui.theme import Theme
from neuron_top.units import duration_text
from neuron_top.views.cache_lookups import CacheLookup
from neuron_top.views.model import GraphState
from neuron_top.views.timeline import Bar, Lane, SpanKind, Timeline

LABEL = 10
"""Cells of a lane's name on the timeline, unless a name is longer."""


MOST_LANES = 16
_LEAST_NAME = 8
"""Least cells below a bar for the name of a graph."""
_LEAST_ENDED = 3
"""Least cells of a bar that leaves its last one empty to stay apart from the next bar."""
_SIGNED = (GraphState.FAILED, GraphState.INTERRUPTED)
"""Ends of compiles that get a sign in the last cell of their bar, as color alone would not do."""


def size_request(view: Timeline) -> SizeRequest:
    """Title, a lane per worker with the names of its graphs below it, the clock; nothing before the first compile."""
    lanes = min(MOST_LANES, len(view.lanes))
    return SizeRequest(1 + min(2, lanes), 2 + 2 * lanes) if view.start is not None else SizeRequest(0, 0)


def timeline_lines(view: Timeline) -> int:
    """Lines the timeline fills: title, lanes (eight at most) and the clock; none before the first compile."""
    return 2 + min(8, len(view.lanes)) if view.lanes else 0


def timeline_panel(
    theme: Theme, view: Timeline, width: int, height: int, hits: Sequence[CacheLookup] = ()
) -> list[Strip]:
    """A lane per worker, or for several that are alike; a bar per compile or wait, from the first compile to now.

    With room the names of the graphs stand below their bars, and a clock below all.
    """
    if view.start is None or view.end is None:
        return []
    span = max(view.end - view.start, 1e-3)
    hits = [hit for hit in hits if view.start <= hit.time <= view.end]
    strips = [rule(theme, width, "Timeline", [(f"{duration_text(span)} · ", theme.quiet), *_legend(theme, view, hits)])]
    has_clock, has_names = height > 1 + len(view.lanes), height > 1 + 2 * len(view.lanes)
    room = height - 1 - has_clock
    lanes = view.lanes if len(view.lanes) <= room else view.lanes[: room - 1]
    label = label_cells(view)
    for lane in lanes:
        found = [hit for hit in hits if hit.worker == lane.worker and not lane.track]
        strips.append(_lane(theme, lane, found, view.start, span, width, label))
        if has_names:
            strips.append(_names(theme, lane, view.start, span, width, label))
    if len(lanes) < len(view.lanes):
        strips.append(Line(theme, width).put(f"and {len(view.lanes) - len(lanes)} more", theme.quiet).strip())
    elif has_clock:
        strips.append(_clock(theme, view.start, view.end, width, label))
    return strips


def _legend(theme: Theme, view: Timeline, hits: Sequence[CacheLookup]) -> list[tuple[str, Style]]:
    """The sign and the word of each state that is drawn."""
    drawn = {_state(bar) for lane in view.lanes for bar in lane.bars}
    signs = dict.fromkeys(ATTEMPT_STATES.values(), theme.glyphs.bar)
    signs |= {state: theme.graph_sign(state)[0] for state in _SIGNED}
    signs |= {GraphState.WAITING: theme.glyphs.hollow, GraphState.HIT: theme.glyphs.hit}
    states = [state for state in signs if state in drawn or (state is GraphState.HIT and hits)]
    pieces = [[(signs[state], theme.state(state)), (f" {state}", theme.quiet)] for state in states]
    return [piece for number, pair in enumerate(pieces) for piece in ([("  ", theme.quiet)] if number else []) + pair]


def label_cells(view: Timeline) -> int:
    """Cells in front of the lanes."""
    return max([LABEL, *(len(_name(lane)) + 1 for lane in view.lanes)])


def moment_at(view: Timeline, x: int, width: int) -> float | None:
    """The time at a column of the lanes; None left of them."""
    label = label_cells(view)
    if view.start is None or view.end is None or x < label or width <= label:
        return None
    return view.start + (x - label) / (width - label) * max(view.end - view.start, 1e-3)


def _name(lane: Lane) -> str:
    if lane.track:
        return ""  # a second lane of the same worker
    name = f"rank {lane.rank}" if lane.rank is not None else f"pid {lane.pid}" if lane.pid is not None else "unknown"
    return f"{name} +{lane.alike} alike" if lane.alike else name


def _lane(
    theme: Theme, lane: Lane, hits: Sequence[CacheLookup], start: float, span: float, width: int, label: int
) -> Strip:
    line = Line(theme, width).put(_name(lane), theme.quiet, label)
    cells: list[tuple[str, Style]] = [(theme.glyphs.track, theme.faint)] * line.left
    for bar, following in zip_longest(lane.bars, [bar.start for bar in lane.bars[1:]]):
        _place(theme, bar, following, start, span, cells)
    for hit in hits:
        at = math.floor((hit.time - start) / span * len(cells))
        if cells:
            cells[min(at, len(cells) - 1)] = theme.glyphs.hit, theme.state("hit")
    return line.add(list(_joined(cells))).strip()


def _names(theme: Theme, lane: Lane, start: float, span: float, width: int, label: int) -> Strip:
    """The graphs of a lane's bars, each where its bar begins, where the next one leaves room for it."""
    line = Line(theme, width).gap(label)
    room = line.left
    places = [label + int((bar.start - start) / span * room) for bar in lane.bars]
    for bar, at, end in zip(lane.bars, places, [*places, width][1:], strict=True):
        is_free = at > line.used or at == line.used == label  # leave a blank between two names
        if is_free and end - at > _LEAST_NAME:
            line.to(at).put(short_key(bar.graph, min(24, end - at - 1), theme.glyphs.more), theme.quiet)
    return line.strip()


def _clock(theme: Theme, start: float, end: float, width: int, label: int) -> Strip:
    """The local times at both ends of the lanes, and in their middle: with days where there are several. The time zone
    is named where it is not UTC, in which the SDK stamps its logs."""
    moments = [datetime.fromtimestamp(start + (end - start) * share).astimezone() for share in (0.0, 0.5, 1.0)]
    form = "%H:%M:%S" if moments[0].date() == moments[-1].date() else "%m-%d %H:%M"
    line, room = Line(theme, width), width - label
    if moments[-1].utcoffset():
        line.put(f"{moments[-1]:%Z}", theme.quiet, label - 1)
    for share, moment in zip((0.0, 0.5, 1.0), moments, strict=True):
        text = moment.strftime(form)
        at = label + round(share * room) - round(share * len(text))
        if at >= line.used:
            line.to(at).put(text, theme.quiet)
    return line.strip()


def _state(bar: Bar) -> GraphState:
    """What a bar shows: waiting, compiling, or how the compile ended."""
    if bar.kind is SpanKind.WAIT:
        return GraphState.WAITING
    return ATTEMPT_STATES.get(bar.outcome, GraphState.COMPILED) if bar.end is not None else GraphState.COMPILING


def _place(
    theme: Theme, bar: Bar, following: float | None, start: float, span: float, cells: list[tuple[str, Style]]
) -> None:
    """Draw a bar. `following`: when the next bar begins; if that is at once, the last cell stays empty."""
    first = max(0, math.floor((bar.start - start) / span * len(cells)))
    end = (bar.end - start) / span * len(cells) if bar.end is not None else len(cells)
    last = min(len(cells), max(first + 1, round(end)))
    is_followed = following is not None and math.floor((following - start) / span * len(cells)) == last
    last -= is_followed and last - first >= _LEAST_ENDED
    state = _state(bar)
    cell = (theme.glyphs.hollow if state is GraphState.WAITING else theme.glyphs.bar, theme.state(state))
    for index in range(first, last):
        cells[index] = cell
    if state in _SIGNED and first < last:
        cells[last - 1] = theme.graph_sign(state)[0], theme.state(state)


def _joined(cells: Sequence[tuple[str, Style]]) -> Iterator[tuple[str, Style]]:
    """Neighbors of one style as one piece."""
    text, style = "", cells[0][1] if cells else Style()
    for glyph, its_style in cells:
        if its_style is not style:
            yield text, style
            text, style = "", its_style
        text += glyph
    yield text, style
