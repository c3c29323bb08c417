"""How the pages conduct themselves in a browser: what a person chose stays, and what was done shows."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from neuron_top import events as ev
from neuron_top.cache.model.states import State
from neuron_top.ingest.log_line import LogLine, LogPage
from tests.actions import caches, states
from tests.actions.test_compile_now import sdk_compiler
from tests.dashboard.browser import Watched
from tests.dashboard.served import ACT, serving
from tests.dashboard.test_browser import OTHER_TRACES, PAGES, open_page
from tests.tui.feeds import START, StillFeed, job, module, samples

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
VIEWPORT = "#compile-grid .ag-body-viewport"


def hits(first: int, last: int) -> list[ev.AnyEvent]:
    """Graphs that came from the cache."""
    return [ev.CacheHit(module=module(n), at=START + n, pid=4001, rank=0, node="trn1") for n in range(first, last)]


def test_a_grid_keeps_its_selection_and_its_place_while_rows_come_in(browser: Any, tmp_path: Path) -> None:
    feed = StillFeed([*job(), *hits(0, 120)], now=START + 200)
    with serving(feed, tmp_path) as served:
        seen = open_page(browser, f"{served.address}compile")
        seen.drawn("#compile-summary", "120 graphs")
        seen.page.click("#compile-grid .ag-center-cols-container .ag-row >> nth=2")
        chosen = "#compile-grid .ag-row-selected"
        seen.page.wait_for_selector(chosen)
        key = seen.page.get_attribute(chosen, "row-id")
        seen.until("#drawer-title", str(key))
        seen.page.evaluate(f"document.querySelector('{VIEWPORT}').scrollTop = 30")
        feed.push(*hits(120, 125), now=START + 300)
        seen.until("#compile-summary", "125 graphs")
        seen.page.wait_for_function("() => document.querySelector('#compile-grid [aria-rowcount]').ariaRowCount >= 126")
        assert seen.page.evaluate(f"document.querySelector('{VIEWPORT}').scrollTop") == 30
        assert seen.page.get_attribute(chosen, "row-id") == key
        assert seen.complaints == []


def test_a_page_that_a_returned_server_does_not_answer_is_loaded_anew(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    questions, alive, sockets = "**/_dash-update-component*", "**/alive*", []
    away = threading.Event()

    def pushed(socket: Any) -> None:
        sockets.append(socket)
        socket.close() if away.is_set() else socket.connect_to_server()

    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        seen.page.route_web_socket("**/push**", pushed)
        seen.page.goto(served.address)
        seen.drawn("#live-step", "60")
        seen.page.evaluate("window.before = true")
        away.set()
        seen.page.route(questions, lambda _question: None)  # never answered
        seen.page.route(alive, lambda asked: asked.abort())
        sockets[0].close()
        seen.page.wait_for_selector("#connection.lost")
        seen.page.unroute(alive)
        seen.page.wait_for_function("() => window.before === undefined")
        seen.page.unroute(questions)
        away.clear()
        seen.page.reload()
        seen.drawn("#live-step", "60")


def test_at_twice_the_size_no_page_scrolls_sideways(browser: Any, feed: StillFeed, tmp_path: Path) -> None:
    # What a browser's zoom of 200 % does to a window of 1280 × 900: half the room, twice the pixels.
    options = {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2}
    with serving(feed, tmp_path) as served:
        seen = open_page(browser, served.address, **options)
        for page, drawn in PAGES.items():
            seen.page.click(f"#to-{page or 'live'}")
            seen.drawn(*drawn)
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 640, page
        assert seen.complaints == []


class Paged(StillFeed):
    """A log whose last lines are at hand, and one older one in its file."""

    def log_older(self, before: Any, count: int, query: Any = None) -> LogPage:
        line = LogLine(source="log:a", offset=3, text="the line that explains it")
        found = (line,) if before["log:a"] > 3 and (query is None or query.keep(line)) else ()
        return LogPage(lines=found, at={"log:a": 0}, ended=True)


def test_searching_further_back_puts_older_lines_above_and_says_where_it_is(browser: Any, tmp_path: Path) -> None:
    feed = Paged(job(), lines=[LogLine(source="log:a", offset=100, text="the last line")])
    with serving(feed, tmp_path) as served:
        seen = open_page(browser, f"{served.address}logs")
        seen.until("#logs-lines", "the last line")
        seen.page.click("#logs-older")
        seen.until("#logs-lines", "the line that explains it")
        assert seen.text("#logs-lines li >> nth=0") == "the line that explains it"
        seen.until("#logs-searched", "1 older found; the beginning is reached")
        assert seen.complaints == []


def test_a_log_that_is_shown_from_its_beginning_is_not_searched_further_back(browser: Any, tmp_path: Path) -> None:
    feed = Paged(job(), lines=[LogLine(source="log:a", offset=0, text="the first line")])
    with serving(feed, tmp_path) as served:
        seen = open_page(browser, f"{served.address}logs")
        seen.until("#logs-lines", "the first line")
        seen.page.wait_for_selector("#logs-older", state="hidden")


def test_groups_fold_in_the_grid_stand_in_the_address_and_are_selected_as_a_whole(browser: Any, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    for number in range(3):
        caches.entry(root, number)
    caches.entry(root, 3, compiler="neuronxcc-2.22.1.0+00000000")
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),)) as served:
        seen = open_page(browser, f"{served.address}cache?q=root:{root}&group=compiler")
        rows, three = "#cache-grid .ag-center-cols-container .ag-row", f"{caches.COMPILER}: 3 entries"
        seen.until("#cache-grid", f"▸ {three}")
        assert seen.page.locator(rows).count() == 2
        seen.page.click(f"text={three}")
        seen.until("#cache-grid", f"▾ {three}")
        seen.page.wait_for_function("s => document.querySelectorAll(s).length === 5", arg=rows)
        other = open_page(browser, seen.page.url)
        other.until("#cache-grid", f"▾ {three}")
        seen.page.locator("#cache-grid .group-row", has_text=three).locator("[col-id=module]").press("Enter")
        seen.page.wait_for_function("s => document.querySelectorAll(s).length === 2", arg=rows)
        seen.page.locator("#cache-grid .group-row", has_text=three).locator("input[type=checkbox]").click()
        seen.page.click("#cache-evict")
        seen.until("#cache-plans", "3 entries")
        seen.drawn("#cache-shown", "4 entries")
        assert seen.page.evaluate(OTHER_TRACES) == []
        assert (seen.complaints, other.complaints) == ([], [])


def test_a_failure_is_compiled_now_and_its_row_changes(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdk_compiler(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    root = tmp_path / "cache"
    failed = states.entry_in(root, State.FAILED, number=1)
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),)) as served:
        seen = open_page(browser, f"{served.address}cache?q=root:{root}")
        seen.until("#cache-shown", "1 entry")
        seen.until("#cache-grid", "failed")
        (row,) = (one for one in served.ask("/api/cache").json["rows"] if one["root"] == str(root))
        (work,) = served.post("/api/cache/plans", {"verb": "compile", "keys": [row["key"]]}).json
        identity = work["plan"]["identity"]
        assert [step["action"] for step in work["plan"]["steps"]] == ["compile"]
        assert served.post(f"/api/cache/plans/{identity}/stop", {}).status == 409, "it does not run yet"
        seen.page.goto(f"{served.address}cache?q=root:{root}&plan={identity}")
        seen.until("#cache-plans", "Compile now: 1 graph")
        assert served.post(f"/api/cache/plans/{identity}/execute", {}, token=ACT).status == 200
        seen.until("#cache-plans", "Compile again now: done")
        seen.page.wait_for_function("() => !document.querySelector('#cache-grid').innerText.includes('failed')")
        assert (failed / "model.done").exists()
        assert (failed / "model.neff").read_bytes() == (failed / "model.hlo_module.pb").read_bytes()
        assert seen.page.get_by_role("button", name="Undo", exact=True).count() == 0
        assert served.post(f"/api/cache/plans/{identity}/undo", {}).status == 409
        assert caches.looked_at(root).entries[0].state is not State.FAILED


def test_a_plan_that_runs_is_stopped_by_its_button(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = tmp_path / "go"
    sdk_compiler(tmp_path, f'while [ ! -e "{go}" ]; do sleep 0.1; done; cp "$3" "$5"')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    root = tmp_path / "cache"
    states.entry_in(root, State.FAILED, number=1)
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),)) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}sign-in")
        seen.page.fill("#token", ACT)
        seen.page.click("button[type=submit]")
        seen.page.wait_for_selector("#connection.up")
        seen.page.goto(f"{served.address}cache?q=root:{root}")
        seen.until("#cache-shown", "1 entry")
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-compile")
        seen.page.click("#cache-plans button.danger")
        seen.page.get_by_role("button", name="Stop", exact=True).click()
        seen.until("#cache-plans", "Stopping …")
        seen.until("#cache-plans", "interrupted after 0 steps")
        seen.until("#cache-plans", "Compile again now: stopped")
        assert [one.state for one in caches.looked_at(root).entries] == [State.FAILED]
        assert seen.complaints == []
    go.touch()  # whatever became of the compiler


def test_the_focus_and_the_place_in_a_table_stay_while_its_section_is_made_anew(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    table = "document.querySelector('#cores-rows .table-scroll')"
    with serving(feed, tmp_path) as served:
        seen = open_page(browser, f"{served.address}cores")
        seen.until("#cores-rows", "core 31")
        seen.page.add_style_tag(content="#cores-rows .table-scroll { max-height: 200px !important; }")
        seen.page.evaluate(f"{table}.scrollTop = 80")
        seen.page.locator("#cores-rows a", has_text="core 5").focus(timeout=60_000)
        place = seen.page.evaluate(f"{table}.scrollTop")
        seen.page.evaluate(f"window.before = {table}")
        feed.push(*samples(32, 5, at=START + 90), now=START + 95)
        seen.page.wait_for_function("() => !window.before.isConnected")
        seen.page.wait_for_function("() => document.activeElement.textContent === 'core 5'")
        assert seen.page.evaluate(f"{table}.scrollTop") == place > 0
        seen.page.keyboard.press("Enter")
        seen.until("#cores-core-words", "Core 5")
        seen.page.wait_for_function("() => document.activeElement.textContent === 'core 5'")
        assert seen.complaints == []
