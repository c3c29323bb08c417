"""A program that is left at any moment ends without a word."""

from __future__ import annotations

import pytest

from neuron_top.tui.app import TopApp
from tests.tui import feeds


async def test_it_can_be_left_while_its_first_screen_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    app = TopApp(feeds.StillFeed())
    monkeypatch.setattr(app, "compose", lambda: app.leave() or ())
    async with app.run_test() as pilot:
        await pilot.pause()
    assert app.return_code == 0


async def test_nothing_is_drawn_on_a_screen_that_is_being_taken_down() -> None:
    app = TopApp(feeds.StillFeed())
    async with app.run_test() as pilot:
        await pilot.pause()
        app.exit(0)
        await app.screen.query("*").remove()
        app.draw()
    assert app.return_code == 0
