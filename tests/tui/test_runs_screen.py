"""Recordings in the terminal: labeled, laid over each other, compared by name, with the reason of a failure."""

from __future__ import annotations

import msgspec
import pytest
from textual.pilot import Pilot

from neuron_top.events.diagnosis import CauseClass
from neuron_top.settings import Settings
from neuron_top.store.records import RunRecord
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.runs import COLUMNS, RunsScreen, filter_text
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.page import Page
from neuron_top.views.diagnosis import describe
from neuron_top.views.runs import RunRow, run_row

from . import feeds
from .test_alert_page import until


def app_with(services: feeds.StillServices) -> TopApp:
    return TopApp(feeds.full(), Settings(), first="runs", services=services)


async def opened(app: TopApp, pilot: Pilot[int]) -> RunsScreen:
    screen = app.screen
    assert isinstance(screen, RunsScreen)
    await until(pilot, lambda: len(screen.table.order) > 0)
    await pilot.press("down")
    return screen


def current(screen: RunsScreen) -> RunRow:
    row = screen.table.order.current
    assert row is not None
    return row


async def test_names_tags_notes_and_stars_are_given_by_key() -> None:
    services = feeds.StillServices(feeds.recordings())
    app = app_with(services)
    async with app.run_test(size=(160, 40)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press("asterisk")
        await until(pilot, lambda: current(screen).starred)
        await pilot.press("r", "end", *" of 1/2", "enter")
        await until(pilot, lambda: current(screen).name.endswith(" of 1/2"))
        await pilot.press("T", *"sweep bf16", "enter")
        await until(pilot, lambda: current(screen).tags == ("sweep", "bf16"))
        await pilot.press("T", *["backspace"] * 5, "enter")
        await until(pilot, lambda: current(screen).tags == ("sweep",))
        await pilot.press("n", *"q is no key here", "escape")
        assert app.is_running
        assert app.current_mode == "runs"
        assert current(screen).note == ""
        await pilot.press("n", *"too high", "enter")
        await until(pilot, lambda: current(screen).note == "too high")
        assert "too high" in filter_text(current(screen))
        assert "★" in "".join(strip.text for strip in screen.table.draw(160, 30))


async def test_in_a_narrow_window_names_stay_readable() -> None:
    app = app_with(feeds.StillServices(feeds.recordings()))
    async with app.run_test(size=(60, 20)) as pilot:
        screen = await opened(app, pilot)
        drawn = "\n".join(strip.text for strip in screen.table.draw(60, 15))
        assert current(screen).called[:10] in drawn
        assert "Took" not in drawn


async def test_marked_recordings_are_laid_over_each_other_and_compared() -> None:
    app = app_with(feeds.StillServices(feeds.recordings()))
    async with app.run_test(size=(160, 60)) as pilot:
        screen = await opened(app, pilot)
        ids = [row.id for row in screen.table.order.rows][:3]
        await pilot.press("space", "space", "space")
        assert screen.marked == ids
        await pilot.press("o")
        await until(pilot, lambda: "Loss by step" in text(app))
        assert all(name in text(app) for name in ids)
        await pilot.press("escape", "c")
        await until(pilot, lambda: "compared with the first" in text(app) and ids[2] in text(app))


@pytest.mark.parametrize("key", ["d", "asterisk", "r", "n", "T"])
async def test_in_the_demo_its_recording_is_not_changed_and_no_key_offers_it(key: str) -> None:
    app = TopApp(feeds.full(), Settings(), first="runs", services=feeds.StillServices(feeds.recordings()), is_demo=True)
    async with app.run_test(size=(160, 60)) as pilot:
        screen = await opened(app, pilot)
        keys = screen.query_one(KeyBar).draw(160, 1)[0].text
        assert "compare" in keys
        assert not any(word in keys for word in ("delete", "name"))
        await pilot.press(key)
        assert app.screen is screen
        assert screen.prompt is None
        assert "nothing about it can be changed" in screen.query_one(KeyBar).draw(160, 1)[0].text


async def test_a_ninth_mark_says_which_mark_it_takes_off() -> None:
    first = feeds.recordings()[0]
    rows = tuple(msgspec.structs.replace(first, id=f"20260101-00000{number}-aaaa") for number in range(9))
    app = app_with(feeds.StillServices(rows))
    async with app.run_test(size=(160, 60)) as pilot:
        screen = await opened(app, pilot)
        ids = [row.id for row in screen.table.order.rows]
        await pilot.press(*["space"] * 8)
        assert screen.marked == ids[:8]
        assert "can be marked" not in screen.query_one(KeyBar).draw(160, 1)[0].text
        await pilot.press("space")
        assert screen.marked == ids[1:]
        assert (
            f"8 can be marked: the mark of {ids[0]}, the oldest, is gone"
            in screen.query_one(KeyBar).draw(160, 1)[0].text
        )


def text(app: TopApp) -> str:
    found = app.screen.query(Page)
    return found.first().text if found else ""


async def test_why_the_chosen_recording_failed_is_shown_in_full_on_a_narrow_terminal() -> None:
    reason = "the program raised an error: ValueError: the batch of step 41 has labels beyond the vocabulary"
    running, finished, failed = feeds.recordings()
    rows = (running, finished, msgspec.structs.replace(failed, reason=reason))
    app = TopApp(feeds.full(), Settings(), first="runs", services=feeds.StillServices(rows))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        await until(pilot, lambda: len(screen.table.order) > 0)

        def below() -> str:
            return " ".join(" ".join(strip.text for strip in screen.table.draw(80, 20)[-2:]).split())

        assert below() == "▶ 1 running ✓ 1 completed ✗ 1 failed select a row: its reason is shown here"
        await pilot.press("down", "down", "down")
        assert current(screen).id == failed.id
        assert reason in below()


def test_the_reason_of_a_failure_stands_in_its_row() -> None:
    row = msgspec.structs.replace(feeds.recordings()[0], reason="out of device memory: no space")
    column = next(column for column in COLUMNS if column.title == "Why")
    assert column.cell(row, Theme(DARK, UNICODE), 30)[0][0] == "out of device memory: no space"
    assert "no space" in filter_text(row)


def test_the_reason_comes_from_the_closing_summary() -> None:
    def reason(summary: str) -> str:
        record = RunRecord(
            id="a", node="n", name="", command=(), directory="/", pid=None, started=1.0, finished=2.0, exit_code=1,
            touched=2.0, events=1, bytes=1, folder="a", summary=summary,
        )  # fmt: skip
        return run_row(record, 9.0, recorder_alive=False).reason

    cause = '{"class": "%s", "text": "no space left", "line": 3}'
    reported = '{"state": "failed", "diagnosis": {"failed": %s, "causes": [%s]}}'
    known = reason(reported % ("true", cause % CauseClass.COMPILE_KILLED.value))
    assert known == f"{describe(CauseClass.COMPILE_KILLED)}: no space left"
    assert reason(reported % ("true", cause % "of-next-year")) == "no space left"
    assert reason(reported % ("false", cause % CauseClass.COMPILE_KILLED.value)) == ""
    assert reason('{"state": "failed"}') == reason("") == ""
