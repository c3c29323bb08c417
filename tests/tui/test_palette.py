"""The command palette finds things by name, and draws ASCII only where nothing else may be drawn."""

from __future__ import annotations

import pytest
from textual import events

from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.palette import CommandFinder
from neuron_top.tui.screens.graph_detail import GraphDetail

from . import feeds


@pytest.mark.parametrize("query", ["", "module", "up", "nothing of that name"])
async def test_with_ascii_the_palette_has_no_other_character(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURONTOP_ASCII", "1")
    services = feeds.StillServices(feeds.recordings(), feeds.catalog())
    app = TopApp(feeds.full(), Settings(ascii=True), services=services)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("ctrl+p", *query)
        for _ in range(40):
            await pilot.pause(0.05)
        assert isinstance(app.screen, CommandFinder)
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
    assert [line for line in lines if not line.isascii()] == []
    assert any("|" in line for line in lines), "it is drawn"


async def test_a_palette_in_front_of_which_a_page_has_opened_can_be_opened_again() -> None:
    app = TopApp(feeds.full(), Settings(), first="compile", services=feeds.StillServices())
    async with app.run_test(size=(100, 40)) as pilot:
        for key in ("enter", "ctrl+p"):  # in one burst: the row's page opens after the palette
            app.post_message(events.Key(key, None))
        while not isinstance(app.screen, GraphDetail):
            await pilot.pause(0.05)
        await pilot.press("ctrl+p")
        assert isinstance(app.screen, CommandFinder)
        await pilot.press("escape")
        assert isinstance(app.screen, GraphDetail)


async def test_the_palette_says_what_it_finds_and_opens_once() -> None:
    app = TopApp(feeds.full(), Settings(), services=feeds.StillServices(feeds.recordings(), feeds.catalog()))
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("ctrl+p", "ctrl+p")
        await pilot.pause()
        assert sum(isinstance(screen, CommandFinder) for screen in app.screen_stack) == 1
        shown = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
    assert "recordings, cache entries" in shown
