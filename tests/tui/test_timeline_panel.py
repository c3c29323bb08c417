"""The timeline of the overview is drawn whatever its lanes hold, and all panels at each moment of a real run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neuron_top.events import ArtifactLoaded, LockWaited
from neuron_top.ingest.recordings import find_recording
from neuron_top.run.model import Run
from neuron_top.run.spans import SpanKind
from neuron_top.services.demo import demo_settings
from neuron_top.settings import Settings
from neuron_top.store.location import location_of
from neuron_top.tui.arrange import arrange
from neuron_top.tui.panels.timeline import timeline_panel
from neuron_top.tui.screens.overview import PANELS, Shown, requests
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.main_panel import details, main_panels
from neuron_top.views.overview import overview
from neuron_top.views.timeline import Bar, Lane, Timeline

LOOK = Theme(DARK, UNICODE)
MOMENTS = st.floats(0.0, 100.0)
BARS = st.builds(
    lambda start, length: Bar(
        graph="MODULE_0123456789abcdef0123+d7517139",
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
            boxes = arrange(width, height, requests(shown, width), main_panels(shown.view))
            for name in PANELS.keys() & boxes.keys():
                drawn |= {name} if PANELS[name][0](LOOK, shown, boxes[name].width, boxes[name].height) else set()
    assert {"cores", "compile", "timeline", "training"} <= drawn
    assert any(not lane.bars for lane in details(run, now).timeline.lanes)
