"""A replay on a terminal: its end is told on every screen, and its moment has room in 80 columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from neuron_top import events as ev
from neuron_top import units
from neuron_top.run.model import Run
from neuron_top.services.demo import demo_feed, demo_settings
from neuron_top.settings import Settings
from neuron_top.store.errors import StoreCorrupt
from neuron_top.tui.app import TopApp
from neuron_top.tui.keys import SCREENS, ScreenSpec

from .feeds import START, Clock, StillFeed, StillServices, job
from .test_fleet import until

View = TypeVar("View")


async def test_the_end_is_reported_though_the_recorded_time_stands_still() -> None:
    feed = StillFeed([*job(), ev.StepReported(step=3, loss=2.0, at=START)], now=START + 1)
    app = TopApp(feed, Settings(), "runs")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(app, pilot, lambda text: "TRAINING" in text)
        feed.push(ev.RunFinished(run="r", exit_code=0, at=START + 1), now=START + 1)
        await until(app, pilot, lambda text: "COMPLETED" in text)


class Damaged(StillFeed):
    """A recording of which only the beginning can be read."""

    def read(self, view: Callable[[Run, float], View]) -> View:
        raise StoreCorrupt("batch 7 cannot be read")


async def test_a_recording_that_cannot_be_read_ends_the_program_with_its_sentence() -> None:
    app = TopApp(Damaged([], now=START), Settings())
    async with app.run_test() as pilot:
        await until(app, pilot, lambda _text: app.problem is not None)
    assert str(app.problem) == "batch 7 cannot be read"
    assert app.return_code == 1


async def test_what_was_shown_before_a_recording_that_cannot_be_read_is_shown_again() -> None:
    app = TopApp(StillFeed(job(), now=START + 1), Settings(), "runs")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        app.playback.play(Damaged([], now=START))
        app.announce()
        await until(app, pilot, lambda text: "batch 7 cannot be read" in text)
        assert app.playback.feed is app.playback.first
        assert app.problem is None


@pytest.mark.parametrize("width", [80, 96, 120])
async def test_the_second_line_says_that_it_is_a_replay(width: int) -> None:
    with demo_settings(Settings()) as settings:
        feed = demo_feed(settings)
        feed.clock.pause()
        feed.clock.speed = 8
        length = units.clock_text(feed.clock.end - feed.clock.start)
        app = TopApp(feed, settings, caches=None)
        async with app.run_test(size=(width, 24)) as pilot:
            text = await until(app, pilot, lambda text: "replay 00:0" in text)
        assert (f"of {length} at 8×" in text) is (width > 80)


@pytest.mark.parametrize("place", SCREENS, ids=lambda place: place.name)
async def test_that_it_is_paused_and_where_has_room_in_80_columns(place: ScreenSpec) -> None:
    feed = StillFeed(job())
    feed.clock = Clock()
    app = TopApp(feed, Settings(), services=StillServices())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("space", place.key)
        text = await until(app, pilot, lambda text: "1 Overview" in text)
        assert text.splitlines()[1].endswith(" PAUSED 00:00:30 ")


@pytest.mark.parametrize("width", [64, 40, 24])
async def test_on_a_narrow_screen_the_names_of_screens_give_way_to_the_pause(width: int) -> None:
    feed = StillFeed(job())
    feed.clock = Clock()
    app = TopApp(feed, Settings(), services=StillServices())
    async with app.run_test(size=(width, 24)) as pilot:
        await pilot.press("space")
        second = (await until(app, pilot, lambda text: "PAUSED" in text)).splitlines()[1]
        assert second.startswith(" 1 Over")
        assert second.endswith(" PAUSED ")
        await pilot.press("space")
        await until(app, pilot, lambda text: "replay" in text.splitlines()[1] or "00:00:30" in text.splitlines()[1])


@pytest.mark.parametrize(("clock", "words"), [(None, "PAUSED"), (Clock(), "PAUSED"), (Clock(), "00:00:30")])
async def test_beside_the_screen_of_the_fleet_the_shortest_wording_has_room(clock: Clock | None, words: str) -> None:
    feed = StillFeed(job())
    if clock is not None:
        feed.clock = clock
    app = TopApp(feed, Settings(store="postgresql://127.0.0.1:1/none"), services=StillServices())
    async with app.run_test(size=(80, 24)) as pilot:
        if words == "PAUSED":
            await pilot.press("space")
        text = await until(app, pilot, lambda text: "7 Fleet" in text)
        assert text.splitlines()[1].endswith(f" {words} ")
