"""The timeline of the overview is drawn whatever its lanes hold, and all panels at each moment of a real run."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.dashboard.chart_colors import DARK as WEB_DARK
from neuron_top.dashboard.pages import compile as compile_page
from neuron_top.events import ArtifactLoaded, CompileEnded, LockWaited
from neuron_top.ingest.recordings import find_recording
from neuron_top.run.model import Run
from neuron_top.run.spans import SpanKind
from neuron_top.services.demo import demo_settings
from neuron_top.settings import Settings
from neuron_top.store.location import location_of
from neuron_top.tui.arrange import arrange
from neuron_top.tui.panels.timeline import timeline_lines, timeline_panel
from neuron_top.tui.screens.overview import PANELS, Shown, requests
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.cache_lookups import CacheLookup, LookupResult, cache_lookups
from neuron_top.views.graphs import graph_table
from neuron_top.views.main_panel import details, main_panels
from neuron_top.views.overview import overview
from neuron_top.views.timeline import Bar, Lane, Timeline, whole_timeline

LOOK = Theme(DARK, UNICODE)
MODULE = "MODULE_0123456789abcdef0123+d7517139"
MOMENTS = st.floats(0.0, 100.0)
BARS = st.builds(
    lambda start, length: Bar(
        graph=MODULE,
        kind=SpanKind.COMPILE,
        start=start,
        end=None if length is None else start + length,
        outcome="done",
        exact=True,
    ),
    MOMENTS,
    st.none() | MOMENTS,
)
LANES = st.lists(BARS, max_size=4).map(
    lambda bars: Lane(worker="w", rank=0, pid=1, bars=tuple(sorted(bars, key=lambda bar: bar.start)))
)


@given(st.lists(LANES, min_size=1, max_size=4), st.integers(20, 200), st.integers(3, 20))
def test_lanes_of_any_bars_are_drawn_one_without_any_too(lanes: list[Lane], width: int, height: int) -> None:
    """A worker that found all its graphs has no bar; two compiles at the same time overlap."""
    view = Timeline(now=200.0, start=0.0, end=200.0, lanes=(*lanes, Lane(worker="x", rank=1, pid=2, bars=())))
    strips = timeline_panel(LOOK, view, width, height)
    assert all(strip.cell_length <= width for strip in strips)
    assert len(strips) <= height


def bar(start: float, end: float | None, outcome: str = "done", graph: str = MODULE) -> Bar:
    return Bar(graph=graph, kind=SpanKind.COMPILE, start=start, end=end, outcome=outcome, exact=True)


def drawn(bars: list[Bar], width: int = 110, height: int = 4, hits: tuple[CacheLookup, ...] = ()) -> list[str]:
    view = Timeline(now=100.0, start=0.0, end=100.0, lanes=(Lane(worker="w", rank=0, pid=1, bars=tuple(bars)),))
    return [strip.text for strip in timeline_panel(LOOK, view, width, height, hits)]


def hit(time: float) -> CacheLookup:
    return CacheLookup(time=time, kind=LookupResult.HIT, graph=MODULE, worker="w", rank=0, pid=1)


def test_a_compile_that_was_killed_or_failed_is_not_drawn_as_compiled() -> None:
    head, lane, *_ = drawn([bar(0, 10, "interrupted"), bar(20, 30, "failed"), bar(40, 50), bar(60, None)])
    assert lane.count(UNICODE.note) == 1
    assert lane.count(UNICODE.failed) == 1
    for words in ("■ compiling", "■ compiled", "✗ failed", "• interrupted"):
        assert words in head
    assert "waiting" not in head  # nothing waited


def test_a_bar_ends_before_the_next_one_begins() -> None:
    _head, lane, *_ = drawn([bar(0, 50), bar(50, 100)])
    assert lane[10:] == "■" * 49 + "·" + "■" * 50


def test_names_have_a_blank_between_them() -> None:
    first, second = "MODULE_4510872989281049088+4d19ac67", "MODULE_1272456567061898854+4d19ac67"
    _head, _lane, names, _clock = drawn([bar(0, 9, graph=first), bar(9, 18, graph=second), bar(18.5, 30)], width=140)
    for name in names.split():
        assert len(name) <= 24
    _head, _lane, names, _clock = drawn([bar(0, 10, graph=first), bar(10, 60, graph=second)])
    assert names.split() == ["45108729…", "1272456567061898854…"[:14] + "…+4d19ac67"]


def test_a_hit_before_the_first_compile_is_neither_drawn_nor_in_the_legend() -> None:
    for width in (60, 120, 200):
        head, lane, *_ = drawn([bar(0, 10)], width, hits=(hit(-0.4),))
        assert UNICODE.hit not in head + lane
        head, lane, *_ = drawn([bar(0, 10)], width, hits=(hit(-0.4), hit(50.0)))
        assert head.count(UNICODE.hit) == lane.count(UNICODE.hit) == 1


@pytest.mark.parametrize(
    ("zone", "hours", "clock"),
    [
        ("UTC", 1, ["00:00:00", "00:30:00", "01:00:00"]),
        ("EST5", 1, ["EST", "19:00:00", "19:30:00", "20:00:00"]),
        ("UTC", 48, ["01-01", "00:00", "01-02", "00:00", "01-03", "00:00"]),
    ],
)
def test_the_clock_has_days_where_there_are_several_and_a_zone_where_logs_have_another(
    monkeypatch: pytest.MonkeyPatch, zone: str, hours: int, clock: list[str]
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        end = hours * 3600.0
        lane = Lane(worker="w", rank=0, pid=1, bars=(bar(0, end),))
        view = Timeline(now=end, start=0.0, end=end, lanes=(lane,))
        assert timeline_panel(LOOK, view, 110, 4)[-1].text.split() == clock
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_compile_screen_has_room_for_the_clock() -> None:
    view = Timeline(now=100.0, start=0.0, end=100.0, lanes=(Lane(worker="w", rank=0, pid=1, bars=(bar(0, 10),)),))
    *_, clock = timeline_panel(LOOK, view, 110, timeline_lines(view))
    assert clock.text.count(":") == 6


@pytest.mark.parametrize("seconds", [1e300, -1e300, 3e11, -1.0])
def test_a_compile_that_took_longer_than_calendars_reach_is_drawn_nowhere(seconds: float) -> None:
    """A recording may hold any length; when it began is then no time."""
    run = Run()
    for start, length in ((100.0, 5.0), (120.0, seconds)):
        run.apply(CompileEnded(module=MODULE, pid=7, at=1.7e9 + start, seconds=length, ok=True))
    now = 1.7e9 + 130.0
    shown = Shown(overview(run, now), details(run, now))
    for name, (draw, *_) in PANELS.items():
        assert all(strip.cell_length <= 100 for strip in draw(LOOK, shown, 100, 20)), name
    view = whole_timeline(run, now)
    assert all(is_in_calendar(bar.start) for lane in view.lanes for bar in lane.bars)
    sections = compile_page.render(graph_table(run, now), view, cache_lookups(run, now), shown.view.cache, WEB_DARK)
    assert sections["compile-grid"]


def test_every_panel_is_drawn_at_each_moment_of_a_real_run() -> None:
    """One worker is read without its waits: it only finds what the others compiled."""
    run, drawn = Run(), set[str]()
    with demo_settings(Settings()) as settings, location_of(settings).open() as store:
        events = [event for _, batch in store.batches(find_recording(store, "last").id) for event in batch]
    finder = next(event.pid for event in events if isinstance(event, ArtifactLoaded) and event.rank == 0)
    for number, event in enumerate(events):
        if not isinstance(event, LockWaited | ArtifactLoaded) or event.pid != finder:
            run.apply(event)
        if number % 7:
            continue
        now = event.at or event.seen
        shown = Shown(overview(run, now), details(run, now))
        for width, height in ((80, 20), (120, 36)):
            boxes = arrange(width, height, requests(shown, width, height), main_panels(shown.view))
            for name in PANELS.keys() & boxes.keys():
                drawn |= {name} if PANELS[name][0](LOOK, shown, boxes[name].width, boxes[name].height) else set()
    assert {"cores", "compile", "timeline", "training"} <= drawn
    assert any(not lane.bars for lane in details(run, now).timeline.lanes)
