"""A line that did not change is not sent again, and a change is on the screen soon."""

from __future__ import annotations

import time
from typing import Any

from textual.geometry import Region
from textual.strip import Strip

from neuron_top.ingest.log_line import LogLine
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.drawing import Line
from neuron_top.tui.widgets.lines import Lines
from neuron_top.tui.widgets.log import LogTail

from . import feeds


class Counted(Lines):
    """Three lines; remembers which regions it asked to be drawn."""

    def __init__(self) -> None:
        super().__init__(id="counted")
        self.texts = ["one", "two", "three"]
        self.asked: list[Region] = []

    def draw(self, width: int, height: int) -> list[Strip]:
        return [Line(self.theme, width).put(text).strip() for text in self.texts]

    def refresh(self, *regions: Region, **options: Any) -> Any:
        self.asked += regions
        return super().refresh(*regions, **options)


async def test_only_lines_that_changed_are_drawn_again() -> None:
    app = TopApp(feeds.full(), Settings(), services=feeds.StillServices())
    async with app.run_test(size=(80, 24)) as pilot:
        widget = Counted()
        await app.screen.mount(widget)
        widget.styles.height = 3
        await pilot.pause()
        widget.asked.clear()
        widget.redraw()
        assert widget.asked == []
        widget.texts[1] = "two!"
        widget.redraw()
        assert [(region.y, region.height) for region in widget.asked] == [(1, 1)]


async def test_the_same_view_again_draws_nothing() -> None:
    app = TopApp(feeds.full(32), Settings(), services=feeds.StillServices())
    async with app.run_test(size=(120, 40)) as pilot:
        app.draw()
        await pilot.pause()
        before = {widget: widget._strips for widget in app.screen.query(Lines)}
        app.draw()
        for widget, strips in before.items():
            assert widget._strips == strips


async def test_the_log_of_a_job_that_comes_is_read_as_soon_as_there_is_room_for_it() -> None:
    feed = feeds.StillFeed()
    app = TopApp(feed, Settings(), services=feeds.StillServices())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        log = app.screen.query_one(LogTail)
        assert log.wanted == 0, "the welcome has the whole screen"
        feed.lines = [LogLine(source="log:a", offset=0, end=10, text="the first")]
        feed.push(*feeds.job())
        while log.wanted == 0:
            await pilot.pause(0.005)
        await pilot.pause()
        assert "the first" in "".join(strip.text for strip in log._strips)


async def test_a_change_is_drawn_within_a_quarter_of_a_second() -> None:
    feed = feeds.StillFeed()
    app = TopApp(feed, Settings(), services=feeds.StillServices())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.draw()
        begun = time.perf_counter()
        feed.push(*feeds.job(), *feeds.compiles(), now=feeds.START + 50)
        while "6 graphs" not in "".join(strip.text for strip in app.screen.query_one("#compile", Lines)._strips):
            assert time.perf_counter() - begun < 5.0
            await pilot.pause(0.005)
        assert time.perf_counter() - begun < 1.0  # 250 ms is the aim; a machine that tests in parallel is slower
