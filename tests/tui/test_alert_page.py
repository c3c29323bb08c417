"""The page of alerts: what is acknowledged or muted there no longer counts anywhere, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable

from textual.pilot import Pilot

from neuron_top.services.alerts import AlertAct
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.alerts import AlertsPage
from neuron_top.tui.widgets.header import HeaderLine
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.lines import Lines
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


async def test_without_an_alert_its_keys_say_so_and_lead_nowhere() -> None:
    app = TopApp(feeds.StillFeed(feeds.job(), now=feeds.START + 1), Settings(), services=feeds.StillServices())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AlertsPage) and "No alerts" in text(app))
        for key in ("enter", "w", "L"):
            await pilot.press(key)
            await pilot.pause()
            assert isinstance(app.screen, AlertsPage), key
            assert "there is no alert" in app.screen.query_one(KeyBar).draw(120, 1)[0].text, key
            app.screen.notice("")


async def test_the_page_says_how_to_leave_it_and_what_opens_an_alert() -> None:
    async with TopApp(feeds.full(), Settings(), services=feeds.StillServices()).run_test(size=(80, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, TopApp)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AlertsPage) and "Alerts" in text(app))
        keys = app.screen.query_one(KeyBar).draw(80, 1)[0].text
        assert all(
            words in keys for words in ("enter open", "L log lines", "m mute", "a acknowledge", "esc back", "q quit")
        )


async def test_a_muted_alert_leaves_the_panel_of_the_overview_too() -> None:
    app = TopApp(feeds.full(), Settings(), services=feeds.StillServices())
    async with app.run_test(size=(120, 60)) as pilot:
        await until(pilot, lambda: "compile killed" in panel(app))
        app.alert_keeper.act(AlertAct.MUTE, [alert.key for alert in app.alert_keeper._found])
        await until(pilot, lambda: "acknowledged or muted" in panel(app))
        assert "compile killed" not in panel(app)


async def test_the_first_line_and_the_panels_show_the_same_moment() -> None:
    feed = feeds.StillFeed([*feeds.job(), *feeds.steps(45)], now=feeds.START + 50)
    app = TopApp(feed, Settings(), services=feeds.StillServices())
    async with app.run_test(size=(120, 60)) as pilot:
        await until(pilot, lambda: app._verdict is not None)
        for step in (46, 47):  # two within the second for which a verdict may stand on other screens
            feed.push(*feeds.steps(step)[-1:], now=feeds.START + 50)
            app.draw()
            header, training = app.screen.query_one(HeaderLine), app.screen.query_one("#training", Lines)
            assert f"step {step} of" in header.draw(120, 1)[0].text
            assert f"step {step}" in training.draw(60, 4)[1].text


def panel(app: TopApp) -> str:
    return "\n".join(strip.text for strip in app.screen.query_one("#alerts", Lines).draw(60, 20))


def text(app: TopApp) -> str:
    return app.screen.query_one(Page).text


def shown_count(app: TopApp) -> int:
    return app._verdict[2].alerts if app._verdict is not None else -1
