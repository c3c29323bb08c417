"""The compile card: what failed is said first and whole, whatever the width; what ended is spoken of as ended."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.run.model import Run
from neuron_top.run.state import JobState
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.panels import graphs
from neuron_top.tui.panels.compiling import compile_panel
from neuron_top.tui.theme import ASCII, DARK, UNICODE, Glyphs, Theme
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.table import Table
from neuron_top.views.graphs import graph_table
from neuron_top.views.missing import missing_text
from neuron_top.views.overview import overview
from tests.tui import feeds
from tests.tui.test_alert_page import until

VIEW = overview(Run(), 0.0)
COUNT = st.integers(0, 99_999)


@given(st.integers(40, 200), st.integers(1, 99_999), COUNT, COUNT, st.sampled_from([UNICODE, ASCII]))
def test_cached_failures_are_never_what_is_cut(
    width: int, failures: int, hits: int, misses: int, glyphs: Glyphs
) -> None:
    cache = msgspec.structs.replace(
        VIEW.cache,
        failures_met=failures,
        graphs_hit=hits,
        graphs_asked=failures + hits + misses,
        hits=hits,
        misses=misses,
        hits_after_compile=hits // 2,
        hit_rate=0.5,
        size=10**12,
        free=10**11,
    )
    theme = Theme(DARK, glyphs)
    line = compile_panel(theme, VIEW.compile, cache, width, 3)[2]
    assert line.cell_length == width
    assert f"{theme.glyphs.failed} {failures} cached failure" in line.text


def test_an_ended_job_is_not_said_to_have_no_graph_or_step_yet() -> None:
    theme = Theme(DARK, UNICODE)
    over = msgspec.structs.replace(VIEW.compile, over=True)
    header = msgspec.structs.replace(VIEW.header, active=False, state=JobState.FINISHED)
    ended = msgspec.structs.replace(VIEW, header=header, compile=over)
    text = "\n".join(strip.text for strip in compile_panel(theme, over, VIEW.cache, 120, 3)) + missing_text(ended)
    assert "No graph: none was compiled" in text
    assert "no step was printed" in text
    assert " yet" not in text


def test_one_graph_is_not_several() -> None:
    cache = msgspec.structs.replace(VIEW.cache, graphs_hit=1, graphs_asked=1, hits=1, misses=0)
    text = "\n".join(strip.text for strip in compile_panel(Theme(DARK, UNICODE), VIEW.compile, cache, 100, 3))
    assert "(1 of 1 graph)" in text


def test_the_table_begins_with_what_goes_on() -> None:
    table = feeds.full().read(graph_table)
    states = [graphs.STATE_ORDER.index(row.state) for row in graphs.active_first(table.rows)]
    assert states == sorted(states)
    assert states[0] < states[-1]


@pytest.mark.parametrize("size", [(40, 12), (80, 14)])
async def test_a_small_window_keeps_rows_of_graphs_and_the_keys(size: tuple[int, int]) -> None:
    app = TopApp(feeds.full(), Settings(), services=feeds.StillServices())
    async with app.run_test(size=size) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: bool(app.screen.query("#graphs")) and app.screen.query_one(Table).size.height >= 3)
        assert app.screen.query_one(KeyBar).region.bottom == size[1]
