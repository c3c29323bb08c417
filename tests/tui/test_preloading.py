"""What is loaded while nobody waits, so that the first press of a key is answered like the tenth."""

from __future__ import annotations

import asyncio

from neuron_top.tui import preload
from neuron_top.tui.app import TopApp
from neuron_top.tui.keys import SCREENS
from neuron_top.tui.screens.base import LiveScreen
from tests.tui import feeds


async def test_all_screens_are_made_ahead_and_are_the_ones_that_keys_go_to() -> None:
    app = TopApp(feeds.StillFeed(), first="compile")
    async with app.run_test(size=(120, 40)) as pilot:
        assert await asyncio.to_thread(app.begun.wait, 60)
        await asyncio.to_thread(preload.load, app)
        await pilot.pause()
        assert app.current_mode == "compile", "loading ahead went somewhere"
        made = {spec.name: app._screen_stacks[spec.name][0] for spec in SCREENS}
        for spec in SCREENS:
            await pilot.press(spec.key)
            assert app.screen is made[spec.name]
            assert isinstance(app.screen, LiveScreen)
            assert spec.name == app.screen.NAME


async def test_a_program_that_was_left_meanwhile_is_loaded_for_no_more() -> None:
    app = TopApp(feeds.StillFeed())
    async with app.run_test():
        pass
    before = dict(app._screen_stacks)
    await asyncio.to_thread(preload.load, app)
    assert app._screen_stacks == before
