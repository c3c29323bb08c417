"""What a page reads before it answers: nothing that only other pages, or browsers of long ago, have a use for."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from neuron_top import events as ev
from neuron_top.dashboard.app import PAGES
from tests.dashboard.browser import Watched
from tests.dashboard.picture_inputs import cache
from tests.dashboard.served import serving
from tests.dashboard.test_browser_state import hits
from tests.tui.feeds import START, StillFeed, job, module, steps

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
HEIGHT = "document.getElementById('compile-grid')?.clientHeight"
WATCH = """() => {
    window.moved = [];
    const news = (list) => window.moved.push(...list.getEntries().map((one) => one.value));
    new PerformanceObserver(news).observe({ type: 'layout-shift', buffered: true });
}"""
"""Counts what moves in a window, by the browser's own measure of it."""


def test_the_library_of_the_grids_is_read_where_there_is_one_and_a_grid_is_as_high_as_its_rows(
    browser: Any, tmp_path: Path
) -> None:
    feed = StillFeed([*job(), *hits(0, 3)], now=START + 200)
    asked: list[str] = []
    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        seen.page.on("request", lambda request: asked.append(request.url))
        seen.page.goto(served.address)
        seen.drawn("#live-graphs", "3")
        assert [url for url in asked if "ag_grid" in url or "polyfill" in url or "dash_table" in url] == []
        seen.page.click("#to-compile")
        seen.drawn("#compile-summary", "3 graphs")
        assert any("ag_grid" in url for url in asked)
        seen.page.wait_for_function(f"() => {HEIGHT} < 160")
        feed.push(*hits(3, 8), now=START + 300)
        seen.page.wait_for_function(f"() => {HEIGHT} > 260 && {HEIGHT} < 400")
        feed.push(*hits(8, 60), now=START + 400)
        seen.page.wait_for_function(f"() => {HEIGHT} === 420")
        assert seen.complaints == []


def heads(seen: Watched) -> dict[str, float]:
    """The columns of the grid of graphs that are there, and their width."""
    found = seen.page.evaluate("""() => [...document.querySelectorAll('#compile-grid .ag-header-cell')]
        .map((one) => [one.innerText.trim(), one.offsetWidth])""")
    return {name: width for name, width in found if name}


def test_a_column_without_any_value_gives_its_room_to_the_message_of_a_failure(browser: Any, tmp_path: Path) -> None:
    begun = ev.CompileBegan(module=module(1), at=START, pid=4100)
    failed = ev.CompileFailed(module=module(1), at=START + 9, pid=4100, message="[F137] neuronx-cc was forcibly killed")
    feed = StillFeed([begun], now=START + 5)
    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}compile")
        seen.drawn("#compile-summary", "1 graph")
        seen.until("#compile-grid", "Elapsed")  # the table is drawn by its own library, a moment after the rest
        assert "Failure" not in heads(seen)
        feed.push(failed, now=START + 10)
        seen.until("#compile-grid", "forcibly killed")
        assert "Elapsed" not in heads(seen)
        assert heads(seen)["Failure"] > 300


def test_the_size_of_an_entry_is_in_sight_on_a_phone(browser: Any, tmp_path: Path) -> None:
    cache(tmp_path / "cache", 3)
    with serving(StillFeed(now=START), tmp_path / "state", roots=(str(tmp_path / "cache"),)) as served:
        seen = Watched(browser, viewport={"width": 390, "height": 844})
        seen.page.goto(f"{served.address}cache")
        seen.drawn("#cache-shown", "entries")
        place = seen.page.locator("#cache-grid .ag-header-cell[col-id=bytes]").bounding_box()
        assert place["x"] + place["width"] <= 390


def test_the_frame_brings_the_page_that_the_browser_says_it_has_opened(feed: StillFeed, tmp_path: Path) -> None:
    with serving(feed, tmp_path, prefix="/top/") as served:

        def main_of(address: str) -> str:
            answer = served.ask("/top/_dash-layout", Referer=address)
            assert answer.status == 200
            (main,) = [one for one in answer.json["props"]["children"] if one["type"] == "Main"]
            return str(main["props"]["children"])

        own = f"http://127.0.0.1:{served.port}/top/"
        for page in PAGES:
            assert f"'{page.PATH or 'live'}-marks'" in main_of(f"{own}{page.PATH}?q=x%27y"), page.NAME
        assert "x'y" in main_of(f"{own}logs?q=x%27y")
        for other in ("", own[:-4], f"{own}nothing", f"{own}../etc", "http://[", "%00", f"{own}logs/../cache"):
            assert main_of(other) == "None", other


def test_a_page_that_waits_for_its_first_answer_asks_no_second_question(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    """Dash drops the answer to what was asked again before it came, and the socket says something each second."""
    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        later: list[Any] = []
        first: list[Any] = []

        def asked(route: Any) -> None:
            if "live-marks" not in route.request.post_data_json["output"]:
                route.continue_()
            elif first:
                later.append(route)  # not answered
            else:
                first.append(route)
                time.sleep(2.5)  # the socket sends something every second
                route.continue_()

        seen.page.route("**/_dash-update-component*", asked)
        seen.page.goto(served.address)
        seen.until("#live-step", "60", seconds=40)
        deadline = time.monotonic() + 40
        while not later and time.monotonic() < deadline:  # what the socket said meanwhile was not forgotten
            seen.page.wait_for_timeout(50)
        assert later
        seen.page.unroute_all(behavior="ignoreErrors")


def test_a_change_of_the_run_does_not_make_a_page_choose_its_node_again(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    asked: list[str] = []
    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(served.address)
        seen.until("#live-step", "60")
        seen.page.wait_for_timeout(1500)  # what follows upon the first answers
        is_question = "_dash-update-component"
        seen.page.on(
            "request",
            lambda request: asked.append(request.post_data_json["output"]) if is_question in request.url else None,
        )
        feed.push(*steps(90)[60:], now=START + 91)
        seen.until("#live-step", "90")
        seen.page.wait_for_timeout(500)
    assert any("live-marks" in output for output in asked)
    assert [output for output in asked if output.startswith("url.search")] == []


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_what_is_seen_of_a_page_stays_in_its_place_while_the_rest_comes(
    browser: Any, feed: StillFeed, tmp_path: Path, width: int, height: int
) -> None:
    cache(tmp_path / "cache", 5)
    with serving(feed, tmp_path / "state", roots=(str(tmp_path / "cache"),)) as served:
        for page in PAGES:
            seen = Watched(browser, viewport={"width": width, "height": height})
            seen.page.add_init_script(f"({WATCH})()")
            seen.page.goto(f"{served.address}{page.PATH}")
            seen.drawn("main", "")
            seen.page.wait_for_timeout(1000)  # what a library still draws
            assert sum(seen.page.evaluate("window.moved")) < 0.05, page.NAME
            assert seen.complaints == []
            seen.page.close()
