"""Every key of the table does what the table says, on the screens it names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
import pytest
from textual import events
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from neuron_top import events as ev
from neuron_top.cache.model.states import State
from neuron_top.run.model import Run
from neuron_top.services.fleet_actions import FLEET_ACTIONS, FleetRequest
from neuron_top.settings import Settings
from neuron_top.tui import theme
from neuron_top.tui.app import TopApp
from neuron_top.tui.keys import EVERYWHERE, SCREENS, ScreenSpec, keys_for
from neuron_top.tui.panels import entry_rows
from neuron_top.tui.screens import poller
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.screens.fleet_request import FleetRequestPage
from neuron_top.tui.screens.help import HelpPage
from neuron_top.tui.screens.runs import DeleteRunPage
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.log_view import LogView
from neuron_top.tui.widgets.page import Page
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.tui.widgets.table import Table
from neuron_top.views.entries import EntryRow
from neuron_top.views.miss_explanation import questions

from . import feeds
from .test_fleet import text_of


@asynccontextmanager
async def running(
    first: str = "overview", feed: feeds.StillFeed | None = None, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[TopApp, Pilot[int]]]:
    services = feeds.StillServices(feeds.recordings(), feeds.catalog())
    app = TopApp(feed or feeds.full(), Settings(), first=first, services=services)
    async with app.run_test(size=size) as pilot:
        await drawn(app, pilot)
        yield app, pilot


async def drawn(app: TopApp, pilot: Pilot[int]) -> None:
    """Until the screen in front has taken a view and its rows have come."""
    app.draw()
    await app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


def front(app: TopApp) -> LiveScreen:
    assert app.front is not None
    return app.front


def table(app: TopApp) -> Table[object]:
    found = front(app).table
    assert found is not None
    return found


@pytest.mark.parametrize("place", SCREENS, ids=lambda place: place.name)
async def test_a_digit_goes_to_its_screen(place: object) -> None:
    async with running("logs" if place.key == "1" else "overview") as (app, pilot):
        await pilot.press(place.key)
        assert app.current_mode == place.name


async def test_tab_goes_round_all_screens_and_back() -> None:
    async with running() as (app, pilot):
        seen = []
        for _ in SCREENS:
            await pilot.press("tab")
            seen.append(app.current_mode)
        assert seen == ["cores", "compile", "cache", "logs", "runs", "overview"]
        await pilot.press("shift+tab")
        assert app.current_mode == "runs"


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("down", 1),
        ("j", 1),
        ("up", 0),
        ("k", 0),
        ("pagedown", 5),
        ("G", 5),
        ("end", 5),
        ("g", 0),
        ("home", 0),
        ("pageup", 0),
        ("ctrl+f", 5),
        ("ctrl+b", 0),
    ],
)
async def test_moving_keys_move_the_cursor(key: str, line: int) -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("down", key)
        assert table(app).order.index == line


@pytest.mark.parametrize("place", ["compile", "cores", "cache"])
async def test_enter_opens_a_page_and_escape_closes_it(place: str) -> None:
    async with running(place) as (app, pilot):
        await pilot.press("down", "down", "enter")
        await drawn(app, pilot)
        assert isinstance(app.screen, DetailPage)
        assert len(app.screen.query_one(Page).text) > 100
        await pilot.press("escape")
        assert app.screen is front(app)
        assert app.current_mode == place
        assert table(app).order.index == 1


async def test_enter_on_a_recording_plays_it_and_escape_comes_back() -> None:
    async with running("runs") as (app, pilot):
        live = app.feed
        await pilot.press("down", "down", "enter")
        assert app.current_mode == "overview"
        assert app.services.runs.played == ["20260920-090000-bbbb"]
        assert app.feed is not live
        replayed = app.feed
        await pilot.press("escape")
        assert app.feed is live
        assert replayed.stopped == 1
        assert live.stopped == 0


async def test_the_bottom_line_is_that_of_the_live_view_once_a_paused_recording_is_left() -> None:
    recording = feeds.full()
    recording.clock = feeds.Clock()
    async with running() as (app, pilot):
        app.playback.play(recording)
        app.announce()
        await pilot.press("space")
        assert "space continue" in app.screen.query_one(KeyBar).render_line(0).text
        await pilot.press("escape")
        assert app.playback.shows_first
        assert "space pause" in app.screen.query_one(KeyBar).render_line(0).text


async def test_deleting_a_recording_asks_first_and_the_choice_stands_on_cancel() -> None:
    async with running("runs") as (app, pilot):
        await pilot.press("down", "down", "d")
        await drawn(app, pilot)
        assert "20260920-090000-bbbb" in app.screen.query_one(Page).text
        await pilot.press("enter")
        assert app.services.runs.deleted == []
        await pilot.press("d", "right", "escape")
        assert app.services.runs.deleted == []
        await pilot.press("d", "4", "tab")  # only the keys of the question work
        assert "[ Delete ]" in app.screen.query_one("#choice").render_line(0).text
        await pilot.press("enter")
        await drawn(app, pilot)
        assert app.services.runs.deleted == ["20260920-090000-bbbb"]
        await drawn(app, pilot)
        assert len(table(app).order) == 2


@pytest.mark.parametrize("opened_first", [True, False], ids=["on its page", "on its row"])
async def test_w_reports_why_a_graph_missed(opened_first: bool) -> None:
    async with running("compile") as (app, pilot):
        await pilot.press(*["down"] * 4, *(["enter"] if opened_first else []), "w")
        await drawn(app, pilot)
        await drawn(app, pilot)
        assert [asked.module for asked in app.services.misses.asked] == [feeds.module(3)]
        assert "another batch size was compiled" in app.screen.query_one(Page).text


WAYS_TO_AN_ANSWER = {
    "the first screen": ("overview", ("w",), feeds.module(3)),
    "a line of the log": ("logs", ("home", *["down"] * 4, "w"), feeds.module(4)),
    "a recording": ("runs", ("down", "w"), f"{feeds.module(7)} of 20260921-101500-aaaa"),
    "a cache entry": ("cache", ("down", "down", "down", "w"), feeds.module(3)),
    "its page": ("cache", ("down", "down", "down", "enter", "w"), feeds.module(3)),
}


@pytest.mark.parametrize("way", WAYS_TO_AN_ANSWER)
async def test_every_place_that_shows_a_miss_leads_to_its_answer(way: str) -> None:
    place, keys, asked = WAYS_TO_AN_ANSWER[way]
    feed = feeds.full()
    feed.push(ev.CompileFailed(module=feeds.module(4), pid=4002, rank=1, node="trn1", source="job", offset=320))
    async with running(place, feed) as (app, pilot):
        await pilot.press(*keys)
        await drawn(app, pilot)
        await drawn(app, pilot)
        assert asked in [one.module for one in app.services.misses.asked]
        assert "another batch size was compiled" in app.screen.query_one(Page).text


async def test_w_on_the_first_screen_asks_for_every_miss_of_the_run() -> None:
    async with running("overview") as (app, pilot):
        wanted = app.feed.read(questions)
        await pilot.press("w")
        await drawn(app, pilot)
        await drawn(app, pilot)
        assert [one.module for one in app.services.misses.asked] == [one.module for one in wanted[:2]]
        assert f"2 of {len(wanted)}" in app.screen.query_one(Page).text


async def test_w_says_what_keeps_it_from_an_answer() -> None:
    app = TopApp(feeds.full(), Settings(), first="overview", services=feeds.UnreadableServices())
    async with app.run_test(size=(120, 40)) as pilot:
        await drawn(app, pilot)
        await pilot.press("w")
        await drawn(app, pilot)
        await drawn(app, pilot)
        assert "The misses cannot be explained: " in app.screen.query_one(Page).text
        assert "permission denied" in app.screen.query_one(Page).text


async def test_w_without_a_miss_or_a_row_says_so() -> None:
    nothing = {"logs": "select a line first", "runs": "select a recording first", "cache": "select an entry first"}
    for place, words in nothing.items():
        async with running(place) as (app, pilot):
            await pilot.press("w")
            await pilot.pause()
            assert words in "".join(strip.text for strip in app.screen.query_one(KeyBar).draw(120, 1)), place
    async with running("overview", feed=feeds.StillFeed()) as (app, pilot):
        await pilot.press("w")
        await drawn(app, pilot)
        await drawn(app, pilot)
        assert "No graph missed" in app.screen.query_one(Page).text


async def test_w_on_a_graph_from_the_cache_says_that_it_did_not_miss() -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("end", "w")
        await drawn(app, pilot)
        assert app.services.misses.asked == []
        assert "did not miss" in "".join(strip.text for strip in app.screen.query_one(KeyBar).draw(120, 1))


async def test_what_deleting_a_recording_takes_is_not_cut() -> None:
    folder = "/mnt/shared/teams/language/experiments/state/neuron-top/runs/20260920-090000-bbbb"
    row = msgspec.structs.replace(feeds.recordings()[1], folder=folder)
    async with running("runs", size=(80, 24)) as (app, pilot):
        app.open(DeleteRunPage(row, lambda _row: None))
        await drawn(app, pilot)
        assert folder in "".join(line.strip() for line in app.screen.query_one(Page).text.splitlines())


async def test_a_recording_is_deleted_with_the_mouse_after_asking() -> None:
    async with running("runs") as (app, pilot):
        await pilot.press("G", "d")
        await drawn(app, pilot)
        at = app.screen.query_one("#choice", RenderWidget).render_line(0).text.index("Delete")
        await pilot.click("#choice", offset=(at, 0))
        assert app.services.runs.deleted == []
        await pilot.click("#choice", offset=(at, 0))
        await drawn(app, pilot)
        assert len(app.services.runs.deleted) == 1


async def test_the_form_for_nodes_is_filled_in_with_the_mouse() -> None:
    async with running() as (app, pilot):
        page = FleetRequestPage(["n1"])
        app.open(page)
        await drawn(app, pilot)
        at = page.query_one("#action", RenderWidget).render_line(1).text.index("pull")
        await pilot.click("#action", offset=(at, 1))
        await pilot.click("#exclusive", offset=(4, 0))
        await pilot.click("#source", offset=(4, 0))
        await pilot.press(*"/pool", "tab", *"/cache")
        assert page.request == FleetRequest(action="pull", source="/pool", root="/cache", assume_exclusive=True)


async def test_the_form_for_nodes_shows_all_of_it_on_a_small_terminal() -> None:
    async with running(size=(50, 15)) as (app, pilot):
        page = FleetRequestPage(["n1"])
        app.open(page)
        await drawn(app, pilot)
        seen = shown_on(page)
        assert all(action in seen for action in FLEET_ACTIONS)
        assert "Nodes: names or patterns with commas; * is all" in seen
        await pilot.press("up")  # to the last field
        await drawn(app, pilot)
        seen += shown_on(page)
        assert "enter asks for plans" in seen
        assert "…" not in "".join(line for line in seen.splitlines() if "Overview" not in line)


def shown_on(page: LiveScreen) -> str:
    return "\n".join("".join(part.text for part in line) for line in page._compositor.render_strips())


async def test_a_running_recording_is_never_deleted() -> None:
    async with running("runs") as (app, pilot):
        await pilot.press("down", "d")
        assert app.screen is front(app)
        assert app.services.runs.deleted == []


async def test_the_filter_keeps_matching_rows_while_typing_and_escape_drops_it() -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("slash", *"failed")
        assert len(table(app).order) == 1
        await pilot.press("enter", "down")
        assert table(app).order.index == 0
        await pilot.press("escape")
        assert len(table(app).order) == 6


async def test_cores_are_found_by_the_device_under_which_they_stand() -> None:
    async with running("cores", feeds.full(cores=32)) as (app, pilot):
        device = next(item.core.device for item in table(app).order.rows if item.core is not None)
        of_it = [item.key for item in table(app).order.rows if item.core is not None and item.core.device == device]
        assert len(of_it) > 1
        await pilot.press("slash", *f"device {device}")
        shown = [item.key for item in table(app).order.rows]
        assert set(of_it) <= set(shown)
        assert all(item.core is not None for item in table(app).order.rows)


async def test_letters_typed_into_the_filter_are_no_commands() -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("slash", *"q?s1")
        assert app.screen.query_one("#filter", Input).value == "q?s1"
        assert app.is_running
        assert app.current_mode == "compile"
        keys = app.screen.query_one(KeyBar)
        assert keys.render_line(0).text.split() == ["enter", "accept", "esc", "cancel", "ctrl+c", "quit"]
        await pilot.press("enter")
        assert keys.render_line(0).text.rstrip().endswith("? help  q quit")


async def test_the_cache_is_a_tree_by_compiler_that_folds_and_can_be_flat() -> None:
    async with running("cache") as (app, pilot):
        shown = [type(row).__name__ for row in table(app).order.rows]
        assert shown == ["CompilerRow", *["EntryRow"] * 4, "CompilerRow", "EntryRow"]
        assert table(app).order.rows[0].compiler.startswith("neuronxcc-2.21")
        await pilot.press("down", "enter")
        assert len(table(app).order) == 3
        assert table(app).order.index == 0
        await pilot.press("enter")
        assert [type(row).__name__ for row in table(app).order.rows] == shown
        await pilot.press("X")
        assert len(table(app).order) == 2
        await pilot.press("slash", *"failed", "enter")
        assert [type(row).__name__ for row in table(app).order.rows] == ["CompilerRow", "EntryRow"]
        await pilot.press("escape", "x")
        assert [type(row).__name__ for row in table(app).order.rows] == ["EntryRow"] * 5


async def test_a_mark_on_a_compiler_marks_all_its_entries_and_takes_them_off_again() -> None:
    async with running("cache") as (app, pilot):
        await pilot.press("down", "space")
        assert len(front(app).marked) == 4
        await pilot.press("up", "space")
        assert not front(app).marked


async def test_escape_takes_back_the_filter_then_marks_then_the_cursor_and_then_goes_to_the_overview() -> None:
    async with running("cache") as (app, pilot):
        await pilot.press("slash", *"2.21", "enter", "g", "down", "space")
        assert len(front(app).marked) == 1
        await pilot.press("escape")
        assert (front(app).close_filter(), len(front(app).marked)) == (False, 1)
        await pilot.press("escape")
        assert (len(front(app).marked), app.current_mode) == (0, "cache")
        assert table(app).order.current is not None
        await pilot.press("escape")
        assert (table(app).order.current, app.current_mode) == (None, "cache")
        await pilot.press("escape")
        assert app.current_mode == "overview"


@pytest.mark.parametrize("place", ["cache", "runs"])
async def test_a_mark_goes_on_to_the_next_row_and_needs_one_under_the_cursor(place: str) -> None:
    async with running(place) as (app, pilot):
        await pilot.press("space")
        assert (len(front(app).marked), table(app).order.index) == (0, None)
        assert "select a row first" in front(app).noticed
        await pilot.press("down", "down", "space")
        assert (len(front(app).marked), table(app).order.index) == (1, 2)


async def test_escape_removes_the_marks_of_recordings() -> None:
    async with running("runs") as (app, pilot):
        await pilot.press("down", "space", "space")
        assert len(front(app).marked) == 2
        await pilot.press("escape")
        assert (front(app).marked, app.current_mode) == ([], "runs")


async def test_a_mark_has_a_sign_that_no_state_has() -> None:
    async with running("cache") as (app, pilot):
        await pilot.press("down", "down", "space")
        text = "\n".join(strip.text for strip in table(app).draw(120, 12))
        assert text.count(app.render_theme.glyphs.mark) == 1
    for glyphs in (theme.UNICODE, theme.ASCII):
        drawn_with = theme.Theme(theme.DARK, glyphs)
        assert glyphs.mark not in {entry_rows.state_sign(drawn_with, state)[0] for state in State}


async def test_the_cache_filter_understands_fields_sizes_and_ages() -> None:
    async with running("cache") as (app, pilot):
        for query, count in (("state:failed", 1), ("size>1GB", 1), ("used>30d", 1), ("compiler:2.21 !state:failed", 3)):
            front(app).apply_filter(query)
            assert sum(isinstance(row, EntryRow) for row in table(app).order.rows) == count, query
        await pilot.pause()


async def test_what_is_wrong_with_a_filter_goes_as_soon_as_it_is_right() -> None:
    async with running("cache") as (app, pilot):
        bar = front(app).query_one(KeyBar)
        await pilot.press("slash", *"used>")
        assert "used>: a number is missing" in bar.draw(120, 1)[0].text
        await pilot.press(*"30d")
        assert "missing" not in bar.draw(120, 1)[0].text
        await pilot.press("backspace", "backspace", "backspace")
        assert "used>: a number is missing" in bar.draw(120, 1)[0].text
        await pilot.press("escape")
        assert "missing" not in bar.draw(120, 1)[0].text


def told(app: TopApp) -> str:
    """The key bar as it stands on the screen."""
    bar = front(app).query_one(KeyBar)
    return " ".join(bar.render_line(line).text.strip() for line in range(bar.size.height))


@pytest.mark.parametrize("width", [80, 40, 24])
async def test_a_notice_that_is_longer_than_the_line_is_shown_whole(width: int) -> None:
    sentence = "foo: is not a field to filter by; fields: state:, compiler:, used>"
    async with running("cache", size=(width, 24)) as (app, pilot):
        front(app).notice(sentence)
        await pilot.pause()
        assert told(app).startswith(sentence)
        assert front(app).query_one(KeyBar).region.bottom == 24
        front(app).notice("")
        await pilot.pause()
        assert front(app).query_one(KeyBar).size.height == 1
        assert "q quit" in told(app)


async def test_a_notice_without_end_leaves_the_rows_most_of_the_screen() -> None:
    async with running("cache", size=(80, 24)) as (app, pilot):
        front(app).notice("a very long reason " * 100)
        await pilot.pause()
        assert front(app).query_one(KeyBar).size.height == 4
        assert told(app).endswith("…")
        await pilot.resize_terminal(160, 24)
        await pilot.pause()
        assert "a very long reason" in told(app)


async def test_slashes_of_an_expression_stay_where_they_were_typed_however_fast() -> None:
    async with running("logs") as (app, pilot):
        await pilot.press("slash")
        for character in "rank:1 /a/b/":
            app.post_message(events.Key("slash" if character == "/" else character, character))
        await drawn(app, pilot)
        assert front(app).filter_input is not None
        assert front(app).filter_input.value == "rank:1 /a/b/"


async def test_a_filter_typed_fast_is_applied_once_and_the_keys_behind_enter_are_those_of_the_rows() -> None:
    async with running("compile") as (app, pilot):
        applied: list[str] = []
        await pilot.press("slash")
        line = await front(app).open_filter()
        line._typed, apply = lambda query: (applied.append(query), apply(query)), line._typed
        for character in "compiling":
            app.post_message(events.Key(character, character))
        app.post_message(events.Key("enter", None))
        app.post_message(events.Key("s", "s"))
        await drawn(app, pilot)
        assert line.value == applied[-1] == "compiling"
        assert len(applied) < 4
        assert table(app).sorted_title
        assert {row.state for row in table(app).order.rows} == {"compiling"}


async def test_sort_goes_through_the_columns_and_turns_round() -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("s")
        assert table(app).order.rows[0].state == "compiling"
        await pilot.press("S")
        assert table(app).order.rows[0].state == "hit"


async def test_pause_holds_the_screen_and_the_same_key_goes_on() -> None:
    feed = feeds.StillFeed(feeds.job(), now=feeds.START + 1)
    async with running("compile", feed) as (app, pilot):
        await pilot.press("space")
        feed.push(*feeds.compiles())
        app.draw()
        assert len(table(app).order) == 0
        await pilot.press("space")
        app.draw()
        assert len(table(app).order) == 6


@pytest.mark.parametrize("seen", [False, True], ids=["first opened while paused", "opened before"])
@pytest.mark.parametrize("place", SCREENS, ids=lambda place: place.name)
async def test_each_screen_shows_the_moment_of_the_pause(place: ScreenSpec, seen: bool) -> None:
    feed = feeds.StillFeed(feeds.job(), now=feeds.START + 1)
    other = "cores" if place.name == "overview" else "overview"
    async with running(place.name if seen else other, feed) as (app, pilot):
        app.go(other)
        await drawn(app, pilot)
        feed.lines = feeds.LINES[:4]
        feed.push(*feeds.compiles(), *feeds.steps(33), now=feeds.START + 43)
        await pilot.press("space")
        feed.lines = feeds.LINES
        feed.push(*feeds.steps(77)[33:], now=feeds.START + 78)
        await pilot.press(place.key)
        await drawn(app, pilot)
        text = text_of(app)
        assert "00:00:43" in text.splitlines()[0]
        if place.name in ("compile", "overview"):
            assert "6 graphs" in text
        if place.name == "logs":
            assert [line.text for line in app.screen.query_one(LogView).lines] == [line.text for line in feed.lines[:4]]


async def test_the_keys_of_a_screen_drawn_before_the_pause_say_how_to_continue() -> None:
    async with running("cores") as (app, pilot):
        await pilot.press("1")
        await drawn(app, pilot)
        for word in ("continue", "pause"):
            await pilot.press("space", "2")
            await drawn(app, pilot)
            assert f"space {word}" in text_of(app).splitlines()[-1]
            await pilot.press("1")


async def test_a_page_opened_while_paused_shows_the_moment_of_the_pause() -> None:
    feed = feeds.StillFeed([*feeds.job(), *feeds.compiles()], now=feeds.START + 43)
    async with running("compile", feed) as (app, pilot):
        await pilot.press("space")
        feed.push(ev.CompileEnded(module=feeds.module(5), at=feeds.START + 50, seconds=9.0, ok=True, pid=4003, rank=2))
        app.open_graph(feeds.module(5))
        await drawn(app, pilot)
        assert "compiling" in app.screen.query_one(Page).text


async def test_recordings_that_were_read_before_the_pause_are_read_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poller, "RECENT_SECONDS", 0.0)
    async with running("runs") as (app, pilot):
        assert len(table(app).order) == 3
        await pilot.press("1", "space")
        for deleted in (2, 1):  # the second visit reads nothing
            app.services.runs.delete(feeds.recordings()[deleted].id)
            await pilot.press("6")
            await drawn(app, pilot)
            assert len(table(app).order) == 2
            await pilot.press("1")


@pytest.mark.parametrize("place", ["cache", "runs"])
async def test_what_was_never_read_is_read_while_the_screen_is_held_still_too(place: str) -> None:
    async with running() as (app, pilot):
        await pilot.press("space", next(spec.key for spec in SCREENS if spec.name == place))
        await drawn(app, pilot)
        assert app.paused
        assert len(table(app).order) > 0


async def test_help_shows_the_keys_of_the_screen_and_closes_with_three_keys() -> None:
    async with running("logs") as (app, pilot):
        for key in ("escape", "q", "question_mark"):
            await pilot.press("question_mark")
            assert isinstance(app.screen, HelpPage)
            assert "the next error line" in app.screen.query_one(Page).text
            await pilot.press(key)
            assert not isinstance(app.screen, HelpPage)
            assert app.is_running


async def test_help_names_the_key_of_themes_only_where_there_are_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    for no_color in ("", "1"):
        monkeypatch.setenv("NO_COLOR", no_color)
        async with running() as (app, pilot):
            await pilot.press("question_mark")
            assert ("the next theme" in app.screen.query_one(Page).text) is not bool(no_color)


async def test_help_and_bottom_line_of_a_question_name_its_own_keys_alone() -> None:
    async with running("runs") as (app, pilot):
        await pilot.press("G", "d")
        await drawn(app, pilot)
        bottom = app.screen.query_one(KeyBar).draw(120, 1)[0].text
        assert "esc back" in bottom
        assert not any(word in bottom for word in ("pause", "log lines", "open"))
        await pilot.press("question_mark")
        text = " ".join(app.screen.query_one(Page).text.split())
        assert "do what is selected" in text
        assert not any(word in text for word in ("overview screen", "log lines", "long lines", "why it missed"))


async def test_alerts_are_shown_with_their_whole_text() -> None:
    async with running() as (app, pilot):
        await pilot.press("a")
        await drawn(app, pilot)
        assert "compile killed" in app.screen.query_one(Page).text


@pytest.mark.parametrize(("key", "title"), [("a", "Alerts"), ("J", "Jobs")])
async def test_alerts_and_jobs_open_from_a_page_too_and_lead_back_to_it(key: str, title: str) -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("down", "enter")
        graph = app.screen
        for _ in range(2):
            await pilot.press(key)
            await drawn(app, pilot)
            assert app.screen.query_one(Page).text.startswith(title)
        await pilot.press("escape")
        assert app.screen is graph


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
async def test_quitting_keys_leave_with_status_0_and_stop_the_feed(key: str) -> None:
    feed = feeds.full()
    async with running(feed=feed) as (app, pilot):
        await pilot.press(key)
        await pilot.pause()
    assert app.return_value == 0
    assert feed.stopped == 1


async def test_the_theme_key_goes_through_dark_light_and_high_contrast() -> None:
    async with running() as (app, pilot):
        seen = []
        for _ in range(3):
            await pilot.press("t")
            seen.append(app.render_theme.palette.name)
        assert seen == ["light", "high-contrast", "dark"]


async def test_copy_puts_the_row_on_the_clipboard_and_says_so_when_there_is_none() -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("y")
        assert app.clipboard == ""
        await pilot.press("down", "y")
        assert feeds.module(5) in app.clipboard


async def test_the_palette_opens_and_holds_our_actions() -> None:
    async with running() as (app, pilot):
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert {"Overview", "Compile", "Pause", "Theme: light", "Quit"} <= set(titles)
        await pilot.press("ctrl+p")
        assert isinstance(app.screen, CommandPalette)


async def test_the_bottom_line_names_the_keys_of_the_palette_while_it_is_open() -> None:
    async with running() as (app, pilot):
        before = text_of(app).splitlines()[-1]
        assert "q quit" in before
        await pilot.press("ctrl+p")
        await pilot.pause()
        last = text_of(app).splitlines()[-1].split("  ")
        assert [word.strip() for word in last if word.strip()] == ["enter accept", "esc cancel", "ctrl+c quit"]
        await pilot.press("escape")
        await pilot.pause()
        assert text_of(app).splitlines()[-1] == before


async def test_ctrl_c_quits_in_the_palette_too() -> None:
    async with running() as (app, pilot):
        await pilot.press("ctrl+p", *"qu", "ctrl+c")
        await pilot.pause()
        assert not app.is_running or app._exit


async def test_a_filter_that_the_palette_was_opened_over_names_its_keys_again() -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("/", *"a", "ctrl+p")
        await pilot.pause()
        assert isinstance(app.screen, CommandPalette)
        await pilot.press("escape")
        await pilot.pause()
        assert "ctrl+c quit" in "".join(text_of(app).splitlines()[-2:])


@pytest.mark.parametrize("key", ["1", "a"])
async def test_a_key_pressed_right_after_the_one_that_shows_log_lines_ends_nothing(key: str) -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("down")
        app.show_log_lines("level:error")
        for _ in range(2):
            app.post_message(events.Key(key, key))
        await drawn(app, pilot)
        await pilot.press("escape", "5")
        await drawn(app, pilot)
        assert app.screen.query_one(LogView).filtered


async def test_log_keys_hold_jump_shift_mark_and_follow() -> None:
    async with running("logs", size=(80, 24)) as (app, pilot):
        view = app.screen.query_one(LogView)
        assert view.following
        await pilot.press("up")
        assert not view.following
        assert view.cursor == len(view.rows) - 2
        await pilot.press("E")
        assert view.current.level == "error"
        await pilot.press("N", "n")
        assert view.current.level == "error"
        await pilot.press("l", "l", "h")
        assert view.skip == 8
        await pilot.press("m")
        assert view.marked_only
        await pilot.press("m", "g")
        assert view.cursor == 0
        await pilot.press("e")
        assert view.current.level == "error"
        await pilot.press("f")
        assert view.following
        await pilot.press("up", "G")
        assert view.following
        await pilot.press("slash", *"dynamic", "enter")
        assert "UserWarning" in "".join(line.text for line in view.lines)


async def test_escape_shows_the_lines_of_a_log_from_their_beginning_again() -> None:
    async with running("logs", size=(80, 24)) as (app, pilot):
        view = app.screen.query_one(LogView)
        await pilot.press("l")
        assert (view.following, view.skip) == (True, 8)
        await pilot.press("escape")
        assert (view.skip, app.current_mode) == (0, "logs")
        await pilot.press("up", "l", "escape")
        assert (view.following, view.skip) == (True, 0)
        await pilot.press("l")
        front(app).follow_other_feed()
        assert view.skip == 0


async def test_in_the_log_the_lines_that_matter_are_those_of_the_filter_in_sight() -> None:
    async with running("logs", size=(120, 30)) as (app, pilot):
        view = app.screen.query_one(LogView)

        def counts() -> tuple[int, int]:
            return len(view.lines), sum(line.level.is_marked or line.level == "event" for line in view.lines)

        await pilot.press("m")
        everything = counts()
        assert everything[0] == everything[1] > 0
        await pilot.press("slash", *"warning", "enter")
        matching = counts()
        assert 0 < matching[0] == matching[1] < everything[0]
        assert "marked lines only · 'warning'" in view.render_line(0).text
        await pilot.press("m")
        assert counts()[0] >= matching[0]
        assert all("warning" in line.text.lower() for line in view.lines)


async def test_lines_that_another_screen_leads_to_are_not_shown_below_an_old_filter() -> None:
    async with running("logs") as (app, pilot):
        view = app.screen.query_one(LogView)
        await pilot.press("slash", *"nothing of this", "enter")
        assert not view.lines
        await pilot.press("1")
        app.show_log_lines("level:error")
        await drawn(app, pilot)
        await drawn(app, pilot)
        assert front(app).filter_input.value == ""
        assert not front(app).filter_input.has_class("open")
        assert "'level:error'" in view.render_line(0).text
        assert view.lines


async def test_a_replay_is_paused_sought_and_sped_up() -> None:
    feed = feeds.full()
    feed.clock = feeds.Clock()
    async with running(feed=feed) as (app, pilot):
        await pilot.press(
            "right_square_bracket", "right_square_bracket", "left_square_bracket", "plus", "plus", "minus"
        )
        assert (feed.clock.now, feed.clock.speed) == (40.0, 2.0)
        assert app.time_texts[0] == "replay 00:00:40 of 00:01:40 at 2×"
        await pilot.press("space")
        assert feed.clock.paused
        await pilot.press("space")
        assert not feed.clock.paused


async def test_a_click_on_tab_row_title_and_key_works() -> None:
    async with running() as (app, pilot):
        await pilot.click("#tabs", offset=(24, 0))
        assert app.current_mode == "compile"
        await drawn(app, pilot)
        await pilot.click("#graphs", offset=(4, 0))
        assert table(app).sorted_by == 0
        await pilot.click("#graphs", offset=(4, 2))
        assert table(app).order.index == 1
        bar = app.screen.query_one(KeyBar)
        start = next(start for start, _stop, key in bar._spans if key.action == "app.help")
        await pilot.click(bar, offset=(start, 0))
        assert isinstance(app.screen, HelpPage)


async def test_a_click_on_a_panel_opens_its_screen() -> None:
    async with running() as (app, pilot):
        await pilot.click("#compile", offset=(3, 1))
        assert app.current_mode == "compile"


@pytest.mark.parametrize("place", EVERYWHERE)
def test_no_key_means_two_things_on_a_screen(place: str) -> None:
    keys = [name for row in keys_for(place) for name in row.keys.split(",")]
    assert len(keys) == len(set(keys))


async def test_every_action_of_the_table_exists_where_it_is_bound() -> None:
    async with running() as (app, pilot):
        for spec in SCREENS:
            app.go(spec.name)
            await drawn(app, pilot)
            for row in keys_for(spec.name):
                owner = app if row.action.startswith("app.") else front(app)
                assert hasattr(owner, "action_" + row.action.removeprefix("app.").partition("(")[0]), row.action


async def test_a_resize_at_any_moment_breaks_nothing() -> None:
    async with running() as (app, pilot):
        for size in ((20, 5), (300, 90), (80, 24), (1, 1), (120, 40)):
            for place in SCREENS:
                app.go(place.name)
                await pilot.resize_terminal(*size)
                app.draw()
                await pilot.pause()
        assert app.is_running


async def test_a_screen_reads_its_view_from_the_feed_alone() -> None:
    reads: list[Callable[[Run, float], object]] = []

    class Watched(feeds.StillFeed):
        def read(self, view: Callable[[Run, float], object]) -> object:
            reads.append(view)
            return super().read(view)

    async with running(feed=Watched(feeds.job())) as (app, _pilot):
        before = len(reads)
        app.draw()
        assert len(reads) == before + 1


async def test_a_device_folds_and_opens_again_in_its_own_place() -> None:
    async with running("cores", feeds.full(8)) as (app, pilot):
        before = [row.key for row in table(app).order.rows]
        await pilot.press("down", "enter")
        assert len(table(app).order) == len(before) - 2
        await pilot.press("enter")
        assert [row.key for row in table(app).order.rows] == before


@pytest.mark.parametrize("place", ["overview", "compile"])
async def test_a_click_on_a_timeline_opens_the_log_at_that_moment(place: str) -> None:
    asked: list[tuple[str, int]] = []
    feed = feeds.full()
    feed.push(ev.CompileFailed(module=feeds.module(9), at=feeds.START + 20, source="job", offset=160, message="no"))
    app = TopApp(feed, Settings(), first=place, services=feeds.StillServices())
    app.show_log_line = lambda source, offset: asked.append((source, offset))  # type: ignore[method-assign]
    async with app.run_test(size=(120, 40)) as pilot:
        app.draw()
        await pilot.pause()
        await pilot.click("#timeline", offset=(100, 1))
        await pilot.pause()
        assert asked == [("job", 160)]
        await pilot.click("#timeline", offset=(2, 1))  # in front of the lanes
        await pilot.pause()
        assert len(asked) == 1


async def test_a_page_says_how_much_is_below_and_shows_all_of_it_at_its_end() -> None:
    async with running("cache", size=(80, 24)) as (app, pilot):
        await pilot.press("question_mark")
        page = app.screen.query_one(Page)
        height = page.size.height
        lines = page.text.splitlines()
        shown = [strip.text.rstrip() for strip in page.draw(80, height)]
        assert shown[-1] == f"  ↓ {len(lines) - height + 1} more lines"
        await pilot.press("G")
        assert page.draw(80, height)[-1].text.rstrip() == lines[-1]


async def test_entries_that_nobody_sorted_come_by_size_behind_those_that_are_no_hits() -> None:
    async with running("cache") as (app, pilot):
        await pilot.press("x")
        states = [(row.state, row.bytes) for row in table(app).order.rows]
        assert states == [
            ("compiling", 40_000),
            ("failed", 9_000),
            ("hit", 2_500_000_000),
            ("hit", 700_000_000),
            ("hit", 3_400_000),
        ]


async def test_s_goes_through_the_columns_that_there_are_and_says_by_which() -> None:
    async with running("cache") as (app, pilot):
        said = []
        for _ in range(7):
            await pilot.press("s")
            said.append(app.screen.query_one(KeyBar).draw(300, 1)[0].text.rpartition("  ")[2].strip())
        assert said == [
            *(f"sorted by {title}" for title in ("State", "Size", "Used", "Compiled in", "Module", "Failure or lock")),
            "in the table's own order",
        ]


async def test_the_reverse_of_no_order_is_refused_in_words() -> None:
    async with running("compile") as (app, pilot):
        await pilot.press("S")
        assert "sort by a column first" in app.screen.query_one(KeyBar).draw(120, 1)[0].text
        await pilot.press("s", "S")
        assert table(app).reversed
