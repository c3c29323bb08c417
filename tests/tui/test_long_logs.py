"""The log screen on files that are longer than what is kept of them, and the way from rows to their lines and back."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from neuron_top import events as ev
from neuron_top.ingest.assembly import paths_feed
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.alerts import AlertsPage
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.log_view import LogView
from neuron_top.tui.widgets.page import Page

from . import feeds

LINES = 30_000
MODULE = "MODULE_3728712391728612345+d41d8cd9"
HEADER = "2026-02-14 09:30:11.000123:  4711  "
SPECIAL = {
    10: "[rank1]: ValueError: the first of all",
    2000: f"{HEADER}ERROR ||NEURON_CC_WRAPPER||: Got a cached failed neff at /cache/neuronxcc-2.21.1+ab/{MODULE}/"
    "model.neff. Will skip compilation, please set --retry_failed_compilation for recompilation: ",
    20_000: "torch.OutOfMemoryError: a needle in the hay",
}


@asynccontextmanager
async def following(tmp_path: Path) -> AsyncIterator[tuple[TopApp, Pilot[int], LogView]]:
    log = tmp_path / "train.log"
    log.write_text("".join(SPECIAL.get(number, f"line {number}") + "\n" for number in range(LINES)))
    settings = Settings(state_dir=str(tmp_path / "state"))
    app = TopApp(
        paths_feed(settings, [str(log)]), settings, first="logs", services=feeds.StillServices((), feeds.catalog())
    )
    async with app.run_test(size=(100, 30)) as pilot:
        view = app.screen.query_one(LogView)
        await until(pilot, lambda: bool(view.lines) and view.lines[-1].text == f"line {LINES - 1}")
        yield app, pilot, view


async def until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    """Let the program work until something holds; the test's own time limit is the patience."""
    for _ in range(800):
        if holds():
            return
        await pilot.pause(0.01)
    raise AssertionError("it never came")


def here(view: LogView) -> str:
    return view.current.text if view.current is not None else ""


async def test_it_scrolls_back_line_by_line_past_what_is_kept_and_forward_again(tmp_path: Path) -> None:
    async with following(tmp_path) as (_app, _pilot, view):
        seen = []
        for _ in range(60):
            view.move(-400)
            seen.append(here(view))
        numbers = [int(text.split()[1]) for text in seen if text.startswith("line")]
        assert numbers == sorted(numbers, reverse=True)
        assert numbers[-1] < LINES - 8000
        before = numbers[-1]
        for _ in range(10):
            view.move(1)
        assert here(view) == f"line {before + 10}"
        for _ in range(LINES):
            if here(view) == f"line {LINES - 1}":
                break
            view.move(300)
        assert here(view) == f"line {LINES - 1}"


async def test_what_came_through_a_pipe_is_scrolled_back_through_to_its_first_line(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    writer = threading.Thread(target=_write_all, args=(theirs, "".join(f"line {n}\n" for n in range(LINES))))
    writer.start()
    settings = Settings(state_dir=str(tmp_path / "state"))
    app = TopApp(paths_feed(settings, ["-"], ours), settings, first="logs")
    async with app.run_test(size=(100, 30)) as pilot:
        view = app.screen.query_one(LogView)
        await until(pilot, lambda: bool(view.lines) and view.lines[-1].text == f"line {LINES - 1}")
        for _ in range(120):
            view.move(-100)
        assert here(view) == f"line {LINES - 1 - 120 * 100}"
        await pilot.press("g")
        assert here(view) == "line 0"
        await pilot.press("slash", *"line 1234", "enter")
        await until(pilot, lambda: "line 1234" in [line.text for line in view.lines])
    writer.join()
    os.close(ours)


def _write_all(number: int, text: str) -> None:
    with os.fdopen(number, "w") as out:
        out.write(text)


async def test_a_rotated_log_is_scrolled_back_through_into_its_earlier_files(tmp_path: Path) -> None:
    for name, word in (("train.log.2", "oldest"), ("train.log.1", "older")):
        (tmp_path / name).write_text("".join(f"{word} {number}\n" for number in range(1000)))
    async with following(tmp_path) as (_app, pilot, view):
        await pilot.press("g")
        assert here(view) == "oldest 0"
        assert "train.log.2" in view.lines[0].source
        seen = []
        for by in [100] * 25 + [-100] * 25:
            view.move(by)
            seen.append(here(view))
        down = [f"{word} {number}" for word in ("oldest", "older", "line") for number in range(0, 1000, 100)]
        assert seen[:25] == down[1:26]
        assert seen[25:] == down[24::-1]


def _renamed(log: Path) -> None:
    log.rename(f"{log}.1")
    log.write_text("fresh 0\nfresh 1\n")


def _copied_and_cut(log: Path) -> None:
    shutil.copy(log, f"{log}.1")
    log.write_text("fresh 0\nfresh 1\n")


@pytest.mark.parametrize("rotate", [_renamed, _copied_and_cut])
async def test_a_window_that_stands_still_goes_on_where_it_was_when_its_log_is_rotated(
    tmp_path: Path, rotate: Callable[[Path], None]
) -> None:
    async with following(tmp_path) as (app, pilot, view):
        view.move(-100)
        assert here(view) == f"line {LINES - 101}"
        rotate(tmp_path / "train.log")
        await until(pilot, lambda: [line.text for line in app.feed.log_tail(1)] == ["fresh 1"])
        assert here(view) == f"line {LINES - 101}"
        for _ in range(60):
            view.move(-100)
        assert here(view) == f"line {LINES - 6101}"
        assert view.current is not None
        assert view.current.source.endswith("train.log.1")
        for _ in range(62):
            view.move(100)
        assert here(view) == "fresh 1"
        view.move(-2)
        assert here(view) == f"line {LINES - 1}"


async def test_where_the_history_ends_because_older_files_are_compressed_is_reported(tmp_path: Path) -> None:
    (tmp_path / "train.log.2.gz").write_bytes(b"not read")
    (tmp_path / "other.log.1.gz").write_bytes(b"not its")
    async with following(tmp_path) as (_app, pilot, view):
        await pilot.press("g")
        assert here(view) == "line 0"
        title = view.draw(100, 10)[0].text
        assert "older lines are in train.log.2.gz, which is not read" in title


async def test_g_is_the_first_line_of_the_file_and_capital_g_follows_again(tmp_path: Path) -> None:
    async with following(tmp_path) as (_app, pilot, view):
        await pilot.press("g")
        assert here(view) == "line 0"
        await pilot.press("down")
        assert here(view) == "line 1"
        await pilot.press("G")
        assert view.following


async def test_e_jumps_to_errors_however_far_they_are(tmp_path: Path) -> None:
    async with following(tmp_path) as (_app, pilot, view):
        found = []
        for _ in range(3):
            before = here(view)
            await pilot.press("E")
            await until(pilot, lambda before=before: here(view) != before and view.current.level == "error")
            found.append(here(view))
        assert [SPECIAL[number] for number in (20_000, 2000, 10)] == found
        await pilot.press("e")
        await until(pilot, lambda: here(view) == SPECIAL[2000])


async def test_errors_go_round_and_it_is_reported(tmp_path: Path) -> None:
    async with following(tmp_path) as (app, pilot, view):
        said = lambda: app.screen.query_one(KeyBar).draw(100, 1)[0].text  # noqa: E731
        await pilot.press("e")
        await until(pilot, lambda: here(view) == SPECIAL[10])
        assert "from the top again" in said()
        await pilot.press("E")
        await until(pilot, lambda: here(view) == SPECIAL[20_000])
        assert "from the end again" in said()
        await pilot.press("e")
        await until(pilot, lambda: here(view) == SPECIAL[10])
        await pilot.press("slash", *"needle", "enter")
        await until(pilot, lambda: here(view) == SPECIAL[20_000])
        await pilot.press("e")
        await until(pilot, lambda: "no other error" in said())
        assert here(view) == SPECIAL[20_000]
        await pilot.press("slash", *"hay!", "enter", "e")
        await until(pilot, lambda: "no error" in said())


async def test_n_goes_through_the_lines_that_the_filter_finds_and_round(tmp_path: Path) -> None:
    async with following(tmp_path) as (app, pilot, view):
        await pilot.press("slash", *"line 2999", "enter", "n")
        await until(pilot, lambda: here(view) == "line 2999")
        assert "from the top again" in app.screen.query_one(KeyBar).draw(100, 1)[0].text
        await pilot.press("n")
        assert here(view) == "line 12999"
        await pilot.press("N", "N")
        await until(pilot, lambda: here(view) == f"line {LINES - 1}")
        assert "from the end again" in app.screen.query_one(KeyBar).draw(100, 1)[0].text


async def test_the_last_line_is_the_first_that_a_jump_back_finds(tmp_path: Path) -> None:
    async with following(tmp_path) as (_app, pilot, view):
        with (tmp_path / "train.log").open("a") as log:
            log.write("[rank1]: ValueError: the last of all\n")
        await until(pilot, lambda: view.lines[-1].text.endswith("of all"))
        await pilot.press("E")
        assert here(view) == "[rank1]: ValueError: the last of all"


async def test_a_filter_finds_lines_that_nobody_kept(tmp_path: Path) -> None:
    async with following(tmp_path) as (_app, pilot, view):
        await pilot.press("slash", *"needle", "enter")
        await until(pilot, lambda: [line.text for line in view.lines] == [SPECIAL[20_000]])
        await pilot.press("escape")
        await pilot.press("slash", *"rank:1", "enter")
        await until(pilot, lambda: [line.text for line in view.lines] == [SPECIAL[10]])


async def test_what_matters_is_found_and_then_read_among_the_lines_around_it(tmp_path: Path) -> None:
    async with following(tmp_path) as (_app, pilot, view):
        await pilot.press("m")
        await until(pilot, lambda: len(view.lines) == len(SPECIAL))
        await pilot.press("up")
        assert here(view) == SPECIAL[2000]
        await pilot.press("m")
        assert here(view) == SPECIAL[2000]
        at = view.lines.index(view.current)
        assert [line.text for line in view.lines[at - 1 : at + 2]] == ["line 1999", SPECIAL[2000], "line 2001"]
        await pilot.press("m")
        assert here(view) == SPECIAL[2000]


async def test_a_filter_looks_around_the_line_under_the_cursor_and_leads_back_to_it(tmp_path: Path) -> None:
    async with following(tmp_path) as (_app, pilot, view):
        await pilot.press("g", *["down"] * 5)
        before = view.lines
        await pilot.press("slash", *"line 19")
        await until(pilot, lambda: here(view) == "line 19")
        await pilot.press("escape")
        assert (here(view), view.lines) == ("line 5", before)
        await pilot.press("slash", *"needle")
        await until(pilot, lambda: here(view) == SPECIAL[20_000])
        await pilot.press("backspace", "escape")
        assert (here(view), view.lines) == ("line 5", before)
        await pilot.press("slash", *"line 19", "enter", "down")
        assert here(view) == "line 119"
        await pilot.press("escape")
        assert here(view) == "line 119"
        assert [line.text for line in view.lines][:3] == ["line 0", "line 1", "line 2"]
        await pilot.press("f", "slash", *"line 29999", "enter", "escape")
        await until(pilot, lambda: view.following and view.lines[-1].text == f"line {LINES - 1}")


async def test_lines_are_shifted_no_further_than_the_longest_one_reaches(tmp_path: Path) -> None:
    async with following(tmp_path) as (_app, pilot, view):
        await pilot.press(*["right"] * 9)
        assert view.skip == 8, "`line 29999` has ten characters"
        await pilot.press("left")
        assert view.skip == 0


async def test_the_lines_around_one_of_several_logs_are_those_of_its_own(tmp_path: Path) -> None:
    paths = [tmp_path / "rank0.log", tmp_path / "rank1.log"]
    for path in paths:
        path.write_text("".join(f"{path.name} {number}\n" for number in range(50)) + "ValueError: x\n" + "after\n" * 3)
    settings = Settings(state_dir=str(tmp_path / "state"))
    app = TopApp(paths_feed(settings, [str(path) for path in paths]), settings, first="logs")
    async with app.run_test(size=(100, 30)) as pilot:
        view = app.screen.query_one(LogView)
        await until(pilot, lambda: len(view.lines) > 20)
        await pilot.press("slash", *"Value", "enter", "up", "down", "up")
        assert here(view) == "ValueError: x"
        source = view.current.source
        await pilot.press("escape")
        assert {line.source for line in view.lines} == {source}
        assert here(view) == "ValueError: x"
        await pilot.press("escape")
        await until(pilot, lambda: view.following and len({line.source for line in view.lines}) == 2)


async def test_from_a_graph_to_its_log_line_and_back(tmp_path: Path) -> None:
    async with following(tmp_path) as (app, pilot, view):
        await pilot.press("3")
        await until(pilot, lambda: app.front.table is not None and len(app.front.table.order) == 1)
        await pilot.press("down", "L")
        await until(pilot, lambda: app.current_mode == "logs" and here(view) == SPECIAL[2000])
        assert view.lines[0].text == f"line {2000 - 200}"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, DetailPage) and MODULE in app.screen.query_one(Page).text)
        assert "Got a cached failed neff" in app.screen.query_one(Page).text
        await pilot.press("escape", "escape")
        assert app.current_mode == "compile"


async def test_from_an_alert_to_its_log_line_and_back() -> None:
    feed = feeds.full()
    feed.push(ev.CompileFailed(module=feeds.module(4), pid=4002, rank=1, node="trn1", source="job", offset=320))
    app = TopApp(feed, Settings(), services=feeds.StillServices((), feeds.catalog()))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("a")
        app.draw()
        await pilot.pause()
        page = app.screen
        assert isinstance(page, AlertsPage)
        first = page.chosen
        await pilot.press("down")
        assert page.chosen is not first
        await pilot.press("up")
        assert page.chosen == first
        await pilot.press("L")
        await until(pilot, lambda: app.current_mode == "logs")
        await pilot.pause()
        await pilot.press("escape")
        assert app.current_mode == "overview"
        assert app.screen is page
