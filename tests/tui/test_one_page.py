"""A graph and a cache entry open the same page, from wherever they are named; the palette finds both, and ranks."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot

from neuron_top import events as ev
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.finder import Finder
from neuron_top.tui.screens.graph_detail import GraphDetail
from neuron_top.tui.widgets.log_view import LogView
from neuron_top.tui.widgets.page import Page
from neuron_top.views.entries import EntryTable
from neuron_top.views.words import entry_state_words, graph_state_words
from tests import builders

from . import feeds
from .test_keys import drawn, running, table


def page_text(app: TopApp) -> str:
    assert isinstance(app.screen, GraphDetail)
    return app.screen.query_one(Page).text


def has_both_halves(text: str) -> bool:
    """The run compiled the graph, and the catalog has its entry."""
    wanted = ("In the cache", "compiled in 12.0 s", "in the compiler alone", "Workers", "failed", "F137")
    return all(words in text for words in wanted)


def digits(key: str) -> str:
    """Those that tell it from others."""
    return key.removeprefix("MODULE_")[:12]


MODULE = feeds.module(3)
"""Compiled in the run, and a stored failure in the catalog."""


async def test_an_entry_shows_what_the_run_did_with_its_graph_too() -> None:
    async with running("cache") as (app, pilot):
        await pilot.press("slash", *digits(MODULE), "enter", "down", "down", "enter")
        await drawn(app, pilot)
        assert has_both_halves(page_text(app))


async def test_a_graph_shows_its_entry_too_from_every_screen_that_names_it() -> None:
    feed = feeds.StillFeed([*feeds.job(), *feeds.compiles()], now=feeds.START + 50)
    async with running("compile", feed, size=(120, 50)) as (app, pilot):
        await pilot.press("slash", *digits(MODULE), "enter", "down", "enter")
        await drawn(app, pilot)
        first = page_text(app)
        assert has_both_halves(first)
        await pilot.press("escape", "1")
        await drawn(app, pilot)
        lines = app.screen.query_one("#graphs")._strips
        row = next(index for index, strip in enumerate(lines) if MODULE.removeprefix("MODULE_")[:12] in strip.text)
        await pilot.click("#graphs", offset=(4, row))
        await drawn(app, pilot)
        assert page_text(app) == first


async def test_the_answer_to_why_it_missed_is_scrolled_to() -> None:
    async with running("cache", size=(80, 20)) as (app, pilot):
        await pilot.press("slash", *digits(MODULE), "enter", "down", "down", "enter")
        await drawn(app, pilot)
        page = app.screen.query_one(Page)
        in_sight = lambda: "\n".join(strip.text for strip in page.draw(page.size.width, page.size.height))  # noqa: E731
        await pilot.press("w")
        await drawn(app, pilot)
        why = page.text.splitlines().index(next(line for line in page.text.splitlines() if "Why it missed" in line))
        assert why + 3 >= page.size.height, "else it is in sight anyway"
        answer = page.text.splitlines()[why : why + 3]
        assert all(line.strip() in in_sight() for line in answer)
        await pilot.press("g")
        await drawn(app, pilot)
        assert page.first == 0, "it is scrolled to once"


async def test_a_click_on_a_graph_at_work_opens_its_page() -> None:
    async with running() as (app, pilot):
        lines = app.screen.query_one("#compile")._strips
        row = next(index for index, strip in enumerate(lines) if "waiting" in strip.text and ":" in strip.text)
        await pilot.click("#compile", offset=(4, row))
        await drawn(app, pilot)
        assert "waiting" in page_text(app)


async def test_a_click_on_a_line_of_a_page_opens_the_graph_that_it_names() -> None:
    feed = feeds.full()
    feed.push(ev.CacheMissed(module=MODULE, at=feeds.START + 3, pid=4001, rank=0, node="trn1", source="job", offset=80))
    async with running(feed=feed) as (app, pilot):
        await pilot.press("w")
        await drawn(app, pilot)
        lines = app.screen.query_one(Page)._strips
        row = next(index for index, strip in enumerate(lines) if "MODULE_" in strip.text)
        await pilot.click(Page, offset=(6, row))
        await drawn(app, pilot)
        assert isinstance(app.screen, GraphDetail)
        await pilot.press("escape")
        assert not isinstance(app.screen, GraphDetail)


async def test_an_entry_of_no_graph_of_the_run_says_so() -> None:
    catalog = feeds.catalog()
    other = msgspec.structs.replace(catalog.rows[-1], module=feeds.module(77))
    services = feeds.StillServices((), msgspec.structs.replace(catalog, rows=(other,)))
    app = TopApp(feeds.full(), Settings(), first="cache", services=services)
    async with app.run_test(size=(120, 40)) as pilot:
        await drawn(app, pilot)
        await pilot.press("down", "enter")
        await drawn(app, pilot)
        assert "no job that is shown has used it" in page_text(app)
        assert "w explains the miss" not in page_text(app)  # it is usable
        assert "neuronxcc-2.15" in page_text(app)


async def test_a_graph_in_no_cache_says_so() -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("slash", *digits(feeds.module(6)), "enter", "down", "enter")
        await drawn(app, pilot)
        assert "in no cache of this machine" in page_text(app)


async def test_states_mean_something_on_the_page() -> None:
    async with running("cache") as (app, pilot):
        await pilot.press("slash", *digits(MODULE), "enter", "down", "down", "enter")
        await drawn(app, pilot)
        words = " ".join(page_text(app).split())
        assert entry_state_words("failed") in words
        assert graph_state_words("compiled") in words


async def test_the_state_of_the_chosen_entry_is_explained_below_the_table() -> None:
    async with running("cache") as (app, pilot):
        last = lambda: " ".join(" ".join(strip.text.split()) for strip in table(app)._strips[-2:])  # noqa: E731
        assert "3 hit" in last()
        assert "1 failed" in last()
        await pilot.press("slash", *"state:failed", "enter", "down", "down")
        await pilot.pause()
        assert entry_state_words("failed") in last()
        assert "Compile fewer graphs at a time" in last()
        await pilot.press("escape", "slash", *"state:compiling", "enter", "g", "down")
        await pilot.pause()
        assert entry_state_words("compiling") in last()


async def found(pilot: Pilot[int], query: str) -> dict[str, str]:
    """What the palette's provider finds, with its kind."""
    app = pilot.app
    finder = Finder(app.screen)
    await finder.startup()
    return {str(hit.match_display): str(hit.help) async for hit in finder.search(query)}


async def test_the_palette_finds_ranks_and_entries() -> None:
    async with running() as (_app, pilot):
        kinds = await found(pilot, "rank 3")
        assert kinds["rank 3"] == "rank: its log lines"
        entries = await found(pilot, "2.15 hit")
        assert [kind.partition(",")[0] for kind in entries.values()] == ["cache entry"]
        both = await found(pilot, MODULE)
        assert sorted(kind.partition(",")[0] for kind in both.values()) == ["cache entry", "graph"]


async def test_the_palette_opens_a_rank_and_an_entry() -> None:
    async with running() as (app, pilot):
        for text, opened in (("rank 2", LogView), (f"{MODULE} neuronxcc", Page)):
            await pilot.press("ctrl+p")
            assert isinstance(app.screen, CommandPalette)
            await pilot.press(*text)
            for _ in range(200):
                await pilot.pause(0.02)
                options = app.screen.query("CommandList")
                if options and options.first().option_count:  # type: ignore[attr-defined]
                    break
            await pilot.press("enter", "enter")
            for _ in range(200):
                await pilot.pause(0.02)
                if not isinstance(app.screen, CommandPalette):
                    break
            await drawn(app, pilot)
            if opened is LogView:
                assert app.current_mode == "logs"
            else:
                assert has_both_halves(page_text(app))


async def test_what_cannot_be_read_is_left_out_of_the_palette() -> None:
    app = TopApp(feeds.full(), Settings(), services=feeds.UnreadableServices())
    async with app.run_test(size=(100, 30)) as pilot:
        assert "rank 1" in await found(pilot, "rank 1")


@pytest.mark.parametrize("count", [20_000])
async def test_the_palette_finds_the_last_of_many_entries(count: int) -> None:
    one = feeds.catalog().rows[0]
    rows = tuple(
        msgspec.structs.replace(one, key=f"{number}", module=f"MODULE_{number:020d}+a1b2c3d4")
        for number in range(count)
    )
    app = TopApp(feeds.full(), Settings(), services=feeds.StillServices((), EntryTable(roots=(), rows=rows)))
    async with app.run_test(size=(100, 30)) as pilot:
        names = await found(pilot, f"{count - 1:020d}")
        assert len(names) == 1


async def test_a_cache_that_only_the_log_names_is_listed(tmp_path: Path) -> None:
    root = tmp_path / "named-by-the-job"
    builders.write_entry(root, {"model.neff": builders.neff(), "model.done": b""})
    feed = feeds.StillFeed([ev.CachePathAnnounced(path=str(root), at=feeds.START + 1, pid=1)])
    app = TopApp(feed, Settings(state_dir=str(tmp_path / "state")), first="cache")
    async with app.run_test(size=(120, 40)) as pilot:
        await drawn(app, pilot)
        assert str(root) in {getattr(row, "root", "") for row in table(app).order.rows}
