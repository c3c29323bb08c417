"""How a page is left stands once: on the bottom line, not in its title too."""

from __future__ import annotations

import pytest

from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.page import Page
from tests.tui import feeds
from tests.tui.test_alert_page import until


@pytest.mark.parametrize(
    ("screen", "keys"),
    [
        ("compile", ("down", "enter")),
        ("cores", ("down", "enter")),
        ("overview", ("w",)),
        ("overview", ("a",)),
        ("overview", ("J",)),
        ("runs", ("down", "space", "space", "c")),
        ("runs", ("down", "space", "space", "space", "c")),
        ("runs", ("down", "space", "o")),
    ],
)
async def test_the_bottom_line_alone_says_how_a_page_is_left(screen: str, keys: tuple[str, ...]) -> None:
    services = feeds.StillServices(feeds.recordings())
    app = TopApp(feeds.full(), Settings(), first=screen, services=services)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: not app.screen.query("#runs") or len(app.screen.query_one("#runs").order) > 0)
        await pilot.press("down", *keys)
        await until(pilot, lambda: isinstance(app.screen, DetailPage) and bool(app.screen.query_one(Page).text))
        assert "esc" not in app.screen.query_one(Page).text.splitlines()[0]
        assert "esc back" in app.screen.query_one(KeyBar).draw(120, 1)[0].text
