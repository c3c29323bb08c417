"""The page of alerts: what is acknowledged or muted there no longer counts anywhere, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable

from textual.pilot import Pilot

from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.alerts import AlertsPage
from neuron_top.tui.widgets.page import Page

from . import feeds


async def until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    for _ in range(800):
        if holds():
            return
        await pilot.pause(0.01)
    raise AssertionError("it never came")


async def test_a_acknowledges_m_mutes_and_both_take_it_back() -> None:
    services = feeds.StillServices()
    app = TopApp(feeds.full(), Settings(), services=services)
    async with app.run_test(size=(120, 60)) as pilot:
        await until(pilot, lambda: bool(services.alerts.kept.past))  # the history knows what holds
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AlertsPage) and "compile killed" in text(app))
        page = app.screen
        assert isinstance(page, AlertsPage)
        keys = [alert.key for alert in page._listed.active]
        await pilot.press("a")
        await until(pilot, lambda: [*services.alerts.kept.acknowledged] == keys[:1])
        await until(pilot, lambda: "Acknowledged" in text(app))
        await until(pilot, lambda: shown_count(app) == len(keys) - 1)
        assert page.chosen is not None
        assert page.chosen.key == keys[0]
        await pilot.press("a")
        await until(pilot, lambda: not services.alerts.kept.acknowledged)
        await until(pilot, lambda: "Acknowledged" not in text(app))
        await pilot.press("m")
        await until(pilot, lambda: "Muted" in text(app))
        await pilot.press("m")
        await until(pilot, lambda: "Muted" not in text(app))
        await until(pilot, lambda: shown_count(app) == len(keys))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, AlertsPage))


def text(app: TopApp) -> str:
    return app.screen.query_one(Page).text


def shown_count(app: TopApp) -> int:
    return app._verdict[2].alerts if app._verdict is not None else -1
