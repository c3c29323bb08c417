"""What a screen costs to paint: once for each change, nothing while nothing is sent, at once after a key."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from neuron_top import tui
from neuron_top.events import AnyEvent, OutputGrew, StepReported
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.widgets.log_window import NEAR_LINES, TAIL_LINES, LogWindow

from . import feeds
from .test_fleet import until


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


class Drawings(TopApp):
    """Counts how often a view is read and drawn as a whole."""

    CSS_PATH = Path(tui.__file__).with_name("app.tcss")
    whole = 0

    def draw(self) -> None:
        self.whole += 1
        super().draw()


async def test_while_logs_alone_grow_only_their_lines_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neuron_top.tui.refresh.WHOLE_SECONDS", 1e9)
    feed = feeds.full()
    app = Drawings(feed, Settings(), services=feeds.StillServices())

    def grow(text: str, *more: AnyEvent) -> None:
        end = feed.lines[-1].end
        feed.lines.append(LogLine(source="log:train.log", offset=end, end=end + 10, text=text))
        feed.push(OutputGrew(path="train.log", end=end + 10, lines=1, at=feed.now), *more)

    async with app.run_test(size=(120, 40)) as pilot:
        await until(app, pilot, lambda text: "Training" in text)
        await pilot.pause(0.3)
        before = app.whole
        grow("a line that came later")
        await until(app, pilot, lambda text: "a line that came later" in text)
        assert app.whole == before
        grow("its step", StepReported(step=77, loss=1.25, at=feed.now, source="log:train.log"))
        await until(app, pilot, lambda text: "its step" in text and "77" in text)
        assert app.whole == before + 1
        app.announce()
        await until(app, pilot, lambda _: app.whole == before + 2)


async def test_the_first_line_of_a_job_changes_more_than_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neuron_top.tui.refresh.WHOLE_SECONDS", 1e9)
    monkeypatch.setattr("neuron_top.tui.screens.overview.RECENT_PERIOD", 1e9)
    feed = feeds.StillFeed()
    app = Drawings(feed, Settings(), services=feeds.StillServices())
    async with app.run_test(size=(120, 40)) as pilot:
        await until(app, pilot, lambda text: "neurontop" in text)
        await pilot.pause(0.3)
        feed.lines.append(LogLine(source="log:train.log", offset=0, end=10, text="the first line"))
        feed.push(OutputGrew(path="train.log", end=10, lines=1, at=feed.now, source="log:train.log"))
        await until(app, pilot, lambda text: "the first line" in text)


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
