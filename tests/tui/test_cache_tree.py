"""The tree of cache entries: what stays where it is while a person looks at it, and what a filter does to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from textual.pilot import Pilot

from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.cache import CacheScreen
from neuron_top.views.entries import EntryTable
from tests.tui import feeds

from .test_cache_acts import press, said, screen, settled

NEW, OLD = "2.21.18209.0+043b1bf7", "2.15.128.0+56dc5a86"


@asynccontextmanager
async def tree(entries: EntryTable) -> AsyncIterator[tuple[TopApp, Pilot[int], feeds.StillCacheListing]]:
    services = feeds.StillServices((), entries)
    app = TopApp(feeds.full(), Settings(), first="cache", services=services)
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(app, pilot)
        yield app, pilot, services.cache_listing


def shown(app: TopApp) -> list[str]:
    return [row.key.rpartition("/")[2] for row in screen(app).table.order.rows]


async def read_again(app: TopApp, pilot: Pilot[int]) -> None:
    screen(app)._reread()
    await settled(app, pilot)


async def test_a_new_entry_stands_below_the_others_as_long_as_one_is_chosen() -> None:
    entries = feeds.catalog()
    largest = max(entries.rows, key=lambda row: row.bytes)
    async with tree(msgspec.structs.replace(entries, rows=tuple(row for row in entries.rows if row != largest))) as (
        app,
        pilot,
        listing,
    ):
        await press(app, pilot, "down", "down")
        chosen = screen(app).table.order.current
        before = shown(app)
        listing._entries = entries
        for _reading in range(2):
            await read_again(app, pilot)
            there = before.index(f"neuronxcc-{OLD}")
            assert shown(app) == [*before[:there], largest.module, *before[there:]]
            assert screen(app).table.order.current == chosen
        await press(app, pilot, "escape")
        assert shown(app).index(largest.module) < there


async def test_a_filter_asks_once_per_entry_what_is_kept() -> None:
    entries = feeds.catalog()
    async with tree(entries) as (app, pilot, _listing):
        asked: list[str] = []
        page: CacheScreen = screen(app)
        page.apply_filter("hit")
        keep = page._keep
        assert keep is not None
        page._keep = lambda row: asked.append(row.key) is None and keep(row)
        await read_again(app, pilot)
        assert sorted(asked) == sorted(row.key for row in entries.rows)
        assert len(shown(app)) == 5, "three hits below two versions"


async def test_versions_do_not_fold_unseen_behind_a_filter() -> None:
    async with tree(feeds.catalog()) as (app, pilot, _listing):
        before = shown(app)
        screen(app).apply_filter("state:hit")
        for key in ("X", "enter"):
            await press(app, pilot, "g", key)
            assert "a filter shows all versions open: esc drops it" in said(app)
        screen(app).apply_filter("")
        await settled(app, pilot)
        assert shown(app) == before


async def test_the_cursor_is_on_the_version_into_which_its_entry_was_folded() -> None:
    async with tree(feeds.catalog()) as (app, pilot, _listing):
        await press(app, pilot, "G", "X")
        current = screen(app).table.order.current
        assert current is not None
        assert current.key.endswith(OLD)
        await press(app, pilot, "enter")
        assert len(shown(app)) == 3, "the other version stays folded"
