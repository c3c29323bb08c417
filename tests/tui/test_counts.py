"""The terminal's screens, `status` and the report count graphs and lookups of a run alike, at any moment of it."""

from __future__ import annotations

import re

import pytest
from textual.strip import Strip

from neuron_top.cli.plain import overview_text
from neuron_top.events import AnyEvent
from neuron_top.ingest.recordings import find_recording
from neuron_top.run.graph import GraphState
from neuron_top.run.model import Run
from neuron_top.services.demo import demo_settings
from neuron_top.settings import Settings
from neuron_top.store.location import location_of
from neuron_top.tui.panels.compiling import compile_panel
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.graphs import graph_table
from neuron_top.views.overview import overview
from neuron_top.views.report import report
from neuron_top.views.summary import summary

LOOK = Theme(DARK, UNICODE)


def events_of_the_demo() -> list[AnyEvent]:
    with demo_settings(Settings()) as settings, location_of(settings).open() as store:
        return [event for _, batch in store.batches(find_recording(store, "last").id) for event in batch]


def text_of(strips: list[Strip]) -> str:
    return "\n".join(strip.text for strip in strips)


def count(words: str, text: str) -> int:
    """The number in front of these words; 0 where they are not said."""
    found = re.search(rf"(\d+) {words}", text)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 1.0])
def test_overview_compile_runs_status_and_report_agree(share: float) -> None:
    events, run = events_of_the_demo(), Run()
    for event in events[: int(len(events) * share)]:
        run.apply(event)
    now = run.last_time or 0.0
    view, table, whole = overview(run, now), graph_table(run, now), summary(run, now)
    panel, status = text_of(compile_panel(LOOK, view.compile, view.cache, 120, 20)), overview_text(view)
    states = [row.state for row in table.rows]
    assert count("graph", panel) == view.compile.total == len(states) == whole.graphs > 0
    assert count("compiled", panel.splitlines()[1]) == count("compiled", status) == states.count(GraphState.COMPILED)
    asked = panel.rpartition("lookups:")[2]
    assert (count("hits?", asked), count("misses", asked)) == (view.cache.hits, view.cache.misses)
    assert count("after another's compile", asked) == view.cache.hits_after_compile
    told = {metric.name: metric.value for metric in report(run, now).metrics}
    assert (told["graphs"], told["hits"], told["misses"]) == (view.compile.total, view.cache.hits, view.cache.misses)
    assert told["hit_rate"] == view.cache.hit_rate == whole.hit_rate
