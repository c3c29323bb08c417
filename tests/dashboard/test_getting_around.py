"""Getting around on the pages: palette, keys, titles, the address, wrong addresses, the way back after signing in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from neuron_top.views.overview import overview
from tests.actions.caches import entry
from tests.dashboard.browser import Watched
from tests.dashboard.served import ACT, READ, serving
from tests.tui.feeds import START, StillFeed, samples


def opened(browser: Any, address: str) -> Watched:
    seen = Watched(browser)
    seen.page.goto(address)
    seen.page.wait_for_selector("#connection.up")
    return seen


def test_the_palette_finds_pages_graphs_and_cores_and_closes(browser: Any, feed: StillFeed, tmp_path: Path) -> None:
    with serving(feed, tmp_path) as served:
        seen = opened(browser, served.address)
        seen.until("#live-step", "60")
        seen.titled("● ")
        seen.page.keyboard.press("Control+k")
        seen.until("#palette-list", "Cores")
        seen.page.keyboard.type("graph MODULE_")
        seen.until("#palette-list", "MODULE_")
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_function("() => location.pathname === '/' && location.search.includes('graph=MODULE_')")
        seen.page.keyboard.press("Control+k")
        seen.page.keyboard.type("core trn1/neuron/3")
        seen.until("#palette-list", "trn1/neuron/3")
        seen.page.keyboard.press("Enter")
        seen.until("#live-core-words", "Core 3")
        seen.page.keyboard.press("Control+k")
        seen.page.keyboard.type("no such name anywhere")
        seen.until("#palette-count", "Nothing has that name")
        seen.page.keyboard.press("Escape")
        seen.page.wait_for_function("() => !document.querySelector('#palette').open")
        seen.page.keyboard.press("?")
        seen.until("#keys", "ctrl K")
        seen.until("#keys", "1 … 6")  # there is no page of a fleet
        seen.page.keyboard.press("Escape")
        moment = datetime.fromtimestamp(feed.read(overview).header.last_event or 0.0, UTC) - timedelta(minutes=2)
        seen.page.keyboard.press("Control+k")
        seen.page.keyboard.type(f"{moment:%H:%M}")
        seen.until("#palette-list", f"{moment:%H:%M}:00 UTC")
        seen.page.keyboard.press("Enter")
        wanted = f"at={moment:%Y-%m-%dT%H%%3A%M}%3A00"
        seen.page.wait_for_function(f"() => location.pathname === '/logs' && location.search.includes('{wanted}')")
        assert (seen.complaints, seen.foreign, seen.alerts) == ([], [], [])


def test_keys_are_for_the_page_unless_a_dialog_is_open(browser: Any, feed: StillFeed, tmp_path: Path) -> None:
    focus_after_closing = "() => { document.querySelector('#palette').close(); return document.activeElement.tagName; }"
    with serving(feed, tmp_path) as served:
        seen = opened(browser, served.address)
        seen.page.keyboard.press("Control+k")
        seen.until("#palette-list", "Cores")
        assert seen.page.evaluate(focus_after_closing) == "BODY"
        seen.page.keyboard.press("?")
        seen.until("#keys", "ctrl K")
        seen.page.keyboard.press("2")
        seen.page.keyboard.press("Escape")
        seen.page.wait_for_function("() => !document.querySelector('#keys').open")
        assert seen.page.evaluate("() => location.pathname") == "/"
        seen.page.keyboard.press("2")
        seen.page.wait_for_function("() => location.pathname !== '/'")
        assert (seen.complaints, seen.foreign, seen.alerts) == ([], [], [])


def test_one_range_of_time_holds_for_all_charts_and_stands_in_the_address(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    dates = """() => [...document.querySelectorAll('#page .js-plotly-plot')]
        .filter((one) => one._fullLayout?.xaxis?.type === 'date')"""
    with serving(feed, tmp_path) as served:
        seen = opened(browser, served.address)
        seen.until("#live-step", "60")
        seen.page.wait_for_function(f"() => ({dates})().length >= 2")
        seen.page.select_option("#range", "5")
        seen.page.wait_for_function("() => location.search.includes('from=')")
        ranges = f"() => new Set(({dates})().map((one) => String(one._fullLayout.xaxis.range))).size === 1"
        seen.page.wait_for_function(ranges)
        seen.page.reload()
        seen.until("#live-step", "60")
        seen.page.wait_for_function(f"() => ({dates})().length >= 2")
        seen.page.wait_for_function(ranges)
        seen.page.select_option("#range", "")
        seen.page.wait_for_function("() => !location.search.includes('from=')")
        assert (seen.complaints, seen.foreign) == ([], [])


def test_a_wrong_address_gets_a_page_and_a_program_gets_json(feed: StillFeed, tmp_path: Path) -> None:
    with serving(feed, tmp_path) as served:
        page = served.ask("/no-such-page", Accept="text/html,*/*")
        assert page.status == 404
        assert page.headers["content-type"].startswith("text/html")
        assert b"There is nothing at this address" in page.body
        assert served.ask("/no-such-page").json == {"error": "this path is not served"}


def test_signing_in_returns_to_where_one_was_and_never_to_another_site(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    with serving(feed, tmp_path, read=READ) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}logs?q=line")
        assert "NEURONTOP_READ_TOKEN" in seen.text("main"), "it says where the token is found"
        seen.page.fill("#token", READ)
        seen.page.click("button[type=submit]")
        seen.page.wait_for_url("**/logs?q=line")
        for elsewhere in ("//evil.example/", "https://evil.example/", "/no-such-page", "/logs\r\nX: y"):
            form = f"token={READ}&to={elsewhere}".encode()
            answer = served.ask(
                "/sign-in",
                method="POST",
                body=form,
                Content_Type="application/x-www-form-urlencoded",
                Origin=f"http://127.0.0.1:{served.port}",
            )
            assert (answer.status, answer.headers["location"]) == (303, "/"), elsewhere


def test_the_frame_offers_to_sign_in_again_once_the_session_has_ended(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        for page in ("", "logs"):
            seen.page.goto(f"{served.address}sign-in?to=/{page}")
            seen.page.fill("#token", ACT)
            seen.page.click("button[type=submit]")
            seen.until("#sign", "Sign out")
            seen.page.context.clear_cookies()  # as a browser does with one that has expired
            seen.until("#sign", "Sign in")
        assert seen.complaints == []


def test_the_newest_minutes_go_on_with_the_job_and_the_choice_says_which_range_is_shown(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    to = "() => new URLSearchParams(location.search).get('to')"
    choice = "document.querySelector('#range').value"
    with serving(feed, tmp_path) as served:
        seen = opened(browser, served.address)
        seen.until("#live-step", "60")
        seen.page.wait_for_function("() => document.querySelector('#live-core .js-plotly-plot')?._fullLayout")
        seen.page.focus("#range")
        seen.page.keyboard.press("ArrowDown")
        seen.page.wait_for_function(to)
        assert seen.page.evaluate("document.activeElement.id") == "range"
        before = seen.page.evaluate(to)
        feed.push(*samples(32, 40, at=START + 90), now=START + 130)
        seen.page.wait_for_function(f"before => ({to})() > before", arg=before)
        assert seen.page.evaluate(choice) == "5"
        seen.page.reload()
        seen.until("#live-step", "60")
        seen.page.wait_for_function(f"() => {choice} === 'chosen'")
        seen.page.select_option("#range", "")
        seen.page.wait_for_function("() => !location.search.includes('to=')")
        assert (seen.complaints, seen.foreign) == ([], [])


def test_a_menu_closes_by_escape_by_a_click_elsewhere_and_by_a_choice(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    with serving(feed, tmp_path) as served:
        seen = opened(browser, served.address)
        seen.drawn("#live-step", "60")
        menu, opened_menus = seen.page.locator(".menu summary").first, seen.page.locator("details.menu[open]")
        menu.click()
        opened_menus.wait_for()
        seen.page.keyboard.press("Tab")
        seen.page.keyboard.press("Escape")
        opened_menus.wait_for(state="detached")
        assert seen.page.evaluate("document.activeElement.tagName") == "SUMMARY"
        menu.click()
        seen.page.click("#live-reason")
        opened_menus.wait_for(state="detached")
        menu.click()
        with seen.page.expect_download():
            opened_menus.get_by_role("button").first.click()
        opened_menus.wait_for(state="detached")
        assert (seen.complaints, seen.foreign) == ([], [])


def test_enter_opens_the_row_of_a_grid_as_a_click_does(browser: Any, tmp_path: Path) -> None:
    entry(tmp_path / "cache", 1)
    with serving(StillFeed(), tmp_path / "state", roots=(str(tmp_path / "cache"),)) as served:
        seen = opened(browser, f"{served.address}cache")
        cell = seen.page.locator("#cache-grid .ag-cell[col-id=module]").first
        seen.until("#cache-grid", "0001+")  # cells of rows that are still to come cannot be opened
        cell.focus()
        seen.page.keyboard.press("Enter")
        seen.until("#drawer-title", "MODULE_")
        seen.page.keyboard.press("Escape")
        seen.page.wait_for_selector("#detail", state="hidden")
        seen.page.click("#cache-group")
        seen.page.get_by_text("compiler", exact=True).last.click()
        group = seen.page.locator("#cache-grid .group-row .ag-cell[col-id=module]")
        group.focus()
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_function("() => location.search.includes('open=')")
        assert seen.complaints == []
