"""The address holds what a page's controls hold: typed, chosen, sent to somebody else, and gone back through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.actions import caches
from tests.dashboard.browser import Watched
from tests.dashboard.served import serving
from tests.dashboard.test_browser import open_page
from tests.tui.feeds import StillFeed, job

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
LATE = "const own = setTimeout; window.setTimeout = (call, wait, ...rest) => own(call, wait || 300, ...rest);"
"""What a busy machine does to work that is put off until after a key: the next keys overtake it."""
LOGS = """([count, words]) => document.querySelectorAll('#logs-lines li').length === count
    && document.getElementById('logs-search').value === words"""
ROWS = """([count, words]) => count ===
    document.querySelectorAll('#cache-grid .ag-center-cols-container .ag-row').length
    && document.getElementById('cache-query').value === words"""


def test_fast_keys_stay_in_order_narrow_the_lines_and_stand_in_the_address(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        seen.page.add_init_script(LATE)
        seen.page.goto(served.address)
        seen.page.wait_for_selector("#connection.up")
        seen.page.keyboard.press("5")
        seen.until("#logs-lines", "line 39")
        seen.page.keyboard.press("/")
        seen.page.keyboard.type("line 17", delay=100)
        assert seen.page.input_value("#logs-search") == "line 17"
        seen.page.wait_for_function(LOGS, arg=[1, "line 17"])
        assert seen.page.url.endswith("/logs?q=line+17")
        other = open_page(browser, seen.page.url)
        other.page.wait_for_function(LOGS, arg=[1, "line 17"])
        assert other.text("#logs-lines").strip() == "line 17"
        assert (seen.complaints, other.complaints) == ([], [])


def test_going_back_and_forth_takes_search_and_level_along(browser: Any, feed: StillFeed, tmp_path: Path) -> None:
    with serving(feed, tmp_path) as served:
        seen = open_page(browser, f"{served.address}logs")
        seen.page.wait_for_function(LOGS, arg=[40, ""])
        seen.page.fill("#logs-search", "7")
        seen.page.wait_for_function(LOGS, arg=[4, "7"])
        seen.page.fill("#logs-search", "line 3")
        seen.page.wait_for_function(LOGS, arg=[13, "line 3"])
        seen.page.click("#logs-level")
        seen.page.get_by_role("option", name="errors", exact=True).click()
        seen.page.wait_for_function(LOGS, arg=[1, "line 3"])
        assert "q=line+3" in seen.page.url
        assert "level=error" in seen.page.url
        seen.page.go_back()
        seen.page.wait_for_function(LOGS, arg=[13, "line 3"])
        assert "all lines" in seen.text("#logs-level")
        seen.page.go_back()
        seen.page.wait_for_function(LOGS, arg=[40, ""])
        seen.page.go_forward()
        seen.page.go_forward()
        seen.page.wait_for_function(LOGS, arg=[1, "line 3"])
        assert "errors" in seen.text("#logs-level")
        seen.page.click("#to-logs")
        seen.page.wait_for_function(LOGS, arg=[40, ""])
        assert seen.complaints == []


def test_going_back_brings_the_rows_and_groups_of_the_cache_back(browser: Any, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    for number in range(3):
        caches.entry(root, number)
    caches.entry(root, 3, compiler="neuronxcc-2.22.1.0+00000000")
    everything, fewer = f"root:{root}", f"root:{root} compiler:2.22"
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),)) as served:
        seen = open_page(browser, f"{served.address}cache?q={everything}")
        seen.page.wait_for_function(ROWS, arg=[4, everything])
        seen.page.fill("#cache-query", "colour:red")
        seen.until("#cache-shown", "colour: is not a field to filter by")
        seen.until("#cache-grid", "no rows")
        seen.page.go_back()
        seen.page.wait_for_function(ROWS, arg=[4, everything])
        seen.page.fill("#cache-query", fewer)
        seen.page.wait_for_function(ROWS, arg=[1, fewer])
        seen.page.click("#cache-group")
        seen.page.get_by_role("option", name="compiler", exact=True).click()
        seen.until("#cache-grid", "▸ neuronxcc-2.22.1.0+00000000: 1 entr")
        seen.page.go_back()
        seen.page.wait_for_function("() => !document.querySelector('#cache-grid').innerText.includes('▸')")
        seen.page.wait_for_function(ROWS, arg=[1, fewer])
        assert "no groups" in seen.text("#cache-group")
        seen.page.go_back()
        seen.page.wait_for_function(ROWS, arg=[4, everything])
        assert seen.complaints == []
