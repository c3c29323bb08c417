"""The drawer for graphs and cache entries, and the table of graphs, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.actions.caches import entry
from tests.dashboard.browser import Watched
from tests.dashboard.served import serving
from tests.tui.feeds import StillFeed, full, job, module

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
FIRST_ROW = "#compile-grid .ag-center-cols-container [row-index='0']"


def opened(browser: Any, address: str, **options: Any) -> Watched:
    seen = Watched(browser, **options)
    seen.page.goto(address)
    seen.page.wait_for_selector("#connection.up")
    return seen


def test_a_graph_opens_in_one_drawer_from_every_page_and_goes_with_escape(browser: Any, tmp_path: Path) -> None:
    with serving(full(4), tmp_path) as served:
        seen = opened(browser, served.address)
        seen.page.click(f"#live-alerts a[data-graph='{module(4)}'] >> nth=0")
        seen.until("#drawer-title", module(4))
        seen.until("#drawer-now", "[F137]")
        assert seen.page.evaluate("location.pathname") == "/", "one stays on the page"
        assert seen.page.evaluate("document.activeElement.id") == "drawer-title"
        seen.page.keyboard.press("Escape")
        seen.page.wait_for_selector("#detail", state="hidden")
        seen.page.wait_for_function("() => !location.search.includes('graph=')")
        seen.page.click("#to-compile")
        seen.page.click(f"#compile-grid .ag-row[row-id='{module(3)}'] .ag-cell >> nth=0")
        seen.until("#drawer-title", module(3))
        seen.page.click("#drawer-close")
        seen.page.wait_for_selector("#detail", state="hidden")
        seen.page.click(f"#compile-grid .ag-row[row-id='{module(3)}'] .ag-cell >> nth=0")
        seen.page.wait_for_selector("#detail", state="visible")
        assert (seen.complaints, seen.alerts) == ([], [])


def test_an_entry_opens_in_the_same_drawer_with_its_state_explained(browser: Any, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    one = entry(root, 1, blocks=8)
    shown = one.name.removeprefix("MODULE_")
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),)) as served:
        seen = opened(browser, f"{served.address}cache?q=root:{root}")
        seen.until("#cache-grid", shown)
        seen.page.click(f"#cache-grid .ag-cell >> text={shown}")
        seen.until("#drawer-title", one.name)
        seen.until("#drawer-depth", "hit: usable")
        seen.until("#drawer-depth", f"Why {one.name} missed")
        assert (seen.complaints, seen.alerts) == ([], [])


@pytest.mark.parametrize("width", [390, 1440])
def test_a_drawer_leaves_no_strip_of_the_page_above_it(browser: Any, tmp_path: Path, width: int) -> None:
    with serving(full(4), tmp_path) as served:
        viewport = {"width": width, "height": 844}
        seen = opened(browser, f"{served.address}compile?graph={module(4)}", viewport=viewport)
        seen.page.wait_for_selector("#detail", state="visible")
        top = "document.querySelector('#detail').getBoundingClientRect().top"
        head = "document.querySelector('.top')"
        end = f"getComputedStyle({head}).position === 'sticky' ? {head}.offsetHeight : 0"
        seen.page.wait_for_function(f"() => Math.abs({top} - ({end})) < 1")


def test_the_table_of_graphs_fits_and_is_sorted_by_what_is_asked(browser: Any, tmp_path: Path) -> None:
    with serving(full(4), tmp_path) as served:
        seen = opened(browser, f"{served.address}compile")
        seen.until("#compile-grid", module(4).removeprefix("MODULE_")[:12])
        view = "#compile-grid .ag-center-cols-viewport"
        seen.page.wait_for_function(
            "v => { const e = document.querySelector(v); return e && e.scrollWidth <= e.clientWidth + 1; }", arg=view
        )
        seen.until(FIRST_ROW, "compiling")
        seen.page.locator("#compile-order label", has_text="slowest").click()
        seen.until(FIRST_ROW, "failed")
        seen.page.locator("#compile-order label", has_text="largest").click()
        seen.until(FIRST_ROW, "compiled")
        seen.page.fill("#compile-search", "waiting")
        seen.until(FIRST_ROW, "waiting")
        seen.page.wait_for_function("() => location.search === '?order=largest&q=waiting'")
        seen.page.reload()
        seen.until(FIRST_ROW, "waiting")
        assert seen.page.is_checked("#compile-order input >> nth=2")
        seen.page.go_back()
        seen.until(FIRST_ROW, "compiled")
        assert seen.page.input_value("#compile-search") == ""
        seen.page.focus("#compile-summary .term >> nth=0")
        words = seen.page.evaluate(
            "getComputedStyle(document.querySelector('#compile-summary .term'), '::after').content"
        )
        assert "counts once" in words
        assert (seen.complaints, seen.alerts) == ([], [])
