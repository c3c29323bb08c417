"""What a screen costs to paint: once for each change, nothing while nothing is sent, at once after a key."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neuron_top import tui
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.widgets.log_window import NEAR_LINES, TAIL_LINES, LogWindow

from . import feeds


class Counting(TopApp):
    """Remembers what was handed on to be sent."""

    CSS_PATH = Path(tui.__file__).with_name("app.tcss")

    def __init__(self) -> None:
        super().__init__(feeds.full(), Settings(), services=feeds.StillServices())
        self.sent: list[Any] = []

    def _display(self, screen: Any, renderable: Any) -> None:
        if renderable is not None and not self._batch_count:
            self.sent.append(renderable)
        super()._display(screen, renderable)


async def test_a_new_layout_and_a_line_that_changed_are_painted_together() -> None:
    app = Counting()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        app.sent.clear()
        app.screen.refresh(layout=True)
        app.screen.refresh()
        app.screen._on_timer_update()
        assert len(app.sent) == 1


async def test_while_nothing_is_sent_nothing_is_made_and_nothing_is_forgotten() -> None:
    app = Counting()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        app.sent.clear()
        compositor = app.screen._compositor
        with app.batch_update():
            compositor._dirty_regions.add(app.size.region)
            app.screen._compositor_refresh()
            assert app.sent == []
        app.screen._compositor_refresh()
        assert len(app.sent) == 1


def test_what_changed_is_sent_within_a_few_milliseconds() -> None:
    """In a process of its own: Textual takes the number of frames a second when it is imported."""
    code = "import neuron_top.tui.app, textual.screen as screen; print(screen.UPDATE_PERIOD)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) <= 0.005


class Kept:
    """A log of which the last lines are kept and nothing else can be read: a pipe without a copy."""

    def __init__(self, count: int) -> None:
        self.lines = [
            LogLine(source="log:-", offset=at * 10, end=at * 10 + 10, text=f"line {at}") for at in range(count)
        ]

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        return self.lines[-count:]

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        return LogPage(lines=(), at={}, ended=True)

    log_newer = log_older

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        return []

    def log_state(self) -> str:
        return ""

    def log_chains(self) -> list[LogChain]:
        return []


def test_a_window_that_stands_still_begins_small_and_still_reaches_every_line_that_is_kept() -> None:
    window = LogWindow(Kept(TAIL_LINES))
    window.take_tail(NEAR_LINES)
    assert len(window.lines) == NEAR_LINES
    assert window.lengthen_up() == TAIL_LINES - NEAR_LINES
    assert [line.text for line in window.lines] == [f"line {at}" for at in range(TAIL_LINES)]
    assert window.lengthen_up() == 0
    assert window.at_start
