"""Changes of nodes from the terminal: one plan for the chosen nodes, one confirmation, undone on one node or all."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from tests.actions.caches import entry, module
from tests.fleet.workers import answering, modules
from tests.tui.feeds import StillFeed
from tests.tui.test_cache_acts import OneCache
from tests.tui.test_fleet import text_of, until

WHOLE = {module(number) for number in (1, 2, 3)}


@pytest.mark.parametrize("size", [(80, 24), (140, 50)])
async def test_marked_nodes_evict_after_one_confirmation_and_bring_it_back(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    with answering(postgres_url, tmp_path, monkeypatch) as caches:
        app = TopApp(StillFeed(), Settings(store=postgres_url))
        async with app.run_test(size=size) as pilot:
            await pilot.press("7")
            await until(app, pilot, lambda text: "n3" in text)
            await pilot.press("A")
            await until(app, pilot, lambda text: "enter asks for plans" in text)
            await pilot.press("enter")
            await until(app, pilot, lambda text: "name a node" in text)
            await pilot.press("escape", "down", "space", "space", "space", "A")
            text = await until(app, pilot, lambda text: "[ evict ]" in text)
            assert "n1,n2,n3" in text
            await pilot.press("down", "down", *module(1), "space", *module(2), "enter")

            # One plan with the sum, each node's exclusions, and who refused; nothing is done yet.
            text = await until(app, pilot, lambda text: "[ Cancel ]" in text and "3 steps on 2 of 3 nodes" in text)
            assert "skips 1: " in app.screen.copied()  # type: ignore[attr-defined]
            assert "its owner has not set fleet_actions" in " ".join(app.screen.copied().split())  # type: ignore[attr-defined]
            assert all(modules(cache) == WHOLE for cache in caches.values())
            await pilot.press("tab")
            await until(app, pilot, lambda text: "[ Evict: 3 steps on 2 of 3 nodes" in text)
            if "type evict to confirm" in text_of(app):
                await pilot.press("enter")
                await until(app, pilot, lambda text: "type evict first" in text)
                await pilot.press(*"evict")
            await pilot.press("enter")
            await until(app, pilot, lambda text: "3 steps done" in text)
            assert modules(caches["n1"]) == {module(3)}
            assert modules(caches["n2"]) == {module(2), module(3)}
            assert modules(caches["n3"]) == WHOLE

            # Undone on the node under the cursor, then from the list of changes on what is left.
            await pilot.press("tab")
            await until(app, pilot, lambda text: "[ Undo on 2 nodes ]" in text)
            await pilot.press("down", "tab")
            await until(app, pilot, lambda text: "[ Undo on n2 ]" in text)
            await pilot.press("enter")
            await until(app, pilot, lambda text: "n2: undone" in text)
            assert (modules(caches["n1"]), modules(caches["n2"])) == ({module(3)}, WHOLE)
            await pilot.press("escape", "C")
            await until(app, pilot, lambda text: "1 done, 1 undone, 1 refused" in text)
            await pilot.press("enter")
            await until(app, pilot, lambda text: "Undo on n1" in text)
            await pilot.press("tab", "enter")
            await until(app, pilot, lambda text: "n1: undone" in text)
            assert modules(caches["n1"]) == WHOLE


async def test_a_change_that_is_canceled_is_taken_back_and_a_wrong_one_is_reported(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(postgres_url, tmp_path, monkeypatch) as caches:
        app = TopApp(StillFeed(), Settings(store=postgres_url))
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("7")
            await until(app, pilot, lambda text: "n3" in text)
            await pilot.press("down", "A", "right", "right", "right", "right")
            await until(app, pilot, lambda text: "[ pull ]" in text)
            await pilot.press("enter")
            await until(app, pilot, lambda text: "name the source of the pull" in text)
            await pilot.press("left", "down", "ctrl+u", *"x*", "enter")
            await until(app, pilot, lambda text: "no node that reports now matches x*" in text)
            await pilot.press("escape", "A", "down", "down", *module(1), "enter")
            await until(app, pilot, lambda text: "1 step on 1 of 1 node" in text)
            await pilot.press("enter")
            await until(app, pilot, lambda text: "canceled" in text)
            assert modules(caches["n1"]) == WHOLE
            await pilot.press("escape")
            await until(app, pilot, lambda text: "Fleet" in text)


async def test_a_read_only_program_asks_for_nothing(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(postgres_url, tmp_path, monkeypatch):
        app = TopApp(StillFeed(), Settings(store=postgres_url, read_only=True))
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("7")
            await until(app, pilot, lambda text: "n3" in text)
            await pilot.press("down", "A", "enter")
            await until(app, pilot, lambda text: "read-only mode" in text)


async def test_the_marked_entries_of_the_cache_screen_are_what_nodes_are_asked_for(
    postgres_url: str, tmp_path: Path
) -> None:
    root = tmp_path / "cache"
    for number in (1, 2):
        entry(root, number)
    settings = Settings(state_dir=str(tmp_path / "state"), store=postgres_url)
    app = TopApp(StillFeed(), settings, first="cache", services=OneCache(root, settings))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(app, pilot, lambda text: "2 entries" in text or text.count(" hit ") == 2)
        await pilot.press("M", "A")
        text = await until(app, pilot, lambda text: "enter asks for plans" in text)
        assert module(1) in text
        assert module(2) in text
