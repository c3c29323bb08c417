"""Workers that did the same share a lane of the terminal's timeline."""

from __future__ import annotations

from neuron_top.run.spans import SpanKind
from neuron_top.tui.panels.timeline import timeline_lines, timeline_panel
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.timeline import Bar, Lane, Timeline, folded


def bar(graph: str, start: float, end: float | None, kind: SpanKind = SpanKind.COMPILE) -> Bar:
    return Bar(graph=graph, kind=kind, start=start, end=end, outcome="done" if end else "", exact=True)


def lane(rank: int, *bars: Bar) -> Lane:
    return Lane(worker=f"n/{rank}", rank=rank, pid=rank, bars=bars)


def test_127_ranks_that_wait_for_the_first_are_one_lane_beside_it() -> None:
    waits = [lane(rank, bar("g", 1.0 + rank / 1000, 90.0, SpanKind.WAIT)) for rank in range(1, 128)]
    whole = Timeline(now=100.0, start=0.0, end=100.0, lanes=(lane(0, bar("g", 0.0, 90.0)), *waits))
    view, _lookups = folded(whole, ())
    assert timeline_lines(view) == 4, "title, two lanes and the clock"
    shown = [strip.text.rstrip() for strip in timeline_panel(Theme(DARK, UNICODE), view, 80, 3)]
    assert shown[1].startswith("rank 0 ")
    assert "alike" not in shown[1]
    assert shown[2].startswith("rank 1 +126 alike")
