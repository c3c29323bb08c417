"""The command palette finds things by name, and draws ASCII only where nothing else may be drawn."""

from __future__ import annotations

import pytest
from textual import events
from textual.widgets import Input

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
        await pilot.press("ctrl+p")
        app.open_graph(next(iter(feeds.full().run.compiles.graphs)))  # late, as a plan does that took long to make
        await pilot.pause()
        assert isinstance(app.screen, GraphDetail)
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


async def test_letters_typed_right_behind_the_key_are_searched_for() -> None:
    app = TopApp(feeds.full(), Settings(), services=feeds.StillServices(feeds.recordings(), feeds.catalog()))
    async with app.run_test(size=(100, 40)) as pilot:
        for key in ("ctrl+p", "l", "o", "g", "s"):  # in one burst
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        while not isinstance(app.screen, CommandFinder) or app.screen.focused is None:
            await pilot.pause(0.05)
        await pilot.pause()
        assert app.screen.query_one(Input).value == "logs"
