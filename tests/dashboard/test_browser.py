"""The pages in a real browser: what a person sees, does, and is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neuron_top import events as ev
from neuron_top.events.diagnosis import Diagnosis
from tests.actions.caches import entry, module
from tests.dashboard.browser import Watched
from tests.dashboard.conftest import SCRIPT
from tests.dashboard.served import ACT, READ, serving
from tests.tui.feeds import START, StillFeed, failed_log, job

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
DASH_OWN = ("dash-dropdown-focus-target", "dash-options-list-option")
"""Inside Dash 4.4's own Dropdown and RadioItems: a hidden focus target, and inputs in options. Not ours to change."""
OTHER_TRACES = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) => plot._fullData
    .filter((trace) => trace.type !== (trace._input.type ?? 'scatter')).map((trace) => trace._input.type))"""
"""Kinds of charts that the library in assets/web/plotly does not hold: plotly draws something else then."""
PAGES = {"": ("#live-step", "60"), "compile": ("#compile-summary", "7 graphs"), "cache": ("#cache-summary", "cache"),
         "cores": ("#cores-summary", " "), "runs": ("#runs-note", "No recording yet"),
         "logs": ("#logs-lines", "line 39")}  # fmt: skip
"""Each page, and what it says once its numbers have come."""


def open_page(browser: Any, address: str, **options: Any) -> Watched:
    watched = Watched(browser, **options)
    watched.page.goto(address)
    watched.page.wait_for_selector("#connection.up")
    return watched


def turn_to(seen: Watched, page: str) -> None:
    """Another page by its link in the head, which does not load what all pages share once more."""
    link = f"to-{page or 'live'}"
    seen.page.click(f"#{link}")
    seen.page.wait_for_function("p => document.querySelector('.top nav a[aria-current]')?.id === p", arg=link)


def test_values_move_without_asking_and_zoom_and_choice_stay(browser: Any, feed: StillFeed, tmp_path: Path) -> None:
    with serving(feed, tmp_path) as served:
        seen = open_page(browser, f"{served.address}?core=trn1/neuron/3")
        seen.until("#live-core-words", "Core 3")
        seen.page.wait_for_function("() => document.querySelector('#live-losses .js-plotly-plot')?.data?.length === 1")
        seen.page.locator("#live-losses").scroll_into_view_if_needed()  # out of sight it is not drawn again
        seen.page.evaluate("""Plotly.relayout(document.querySelector('#live-losses .js-plotly-plot'),
                              {'yaxis.range': [1, 5], 'yaxis.autorange': false})""")
        before = seen.page.evaluate("document.querySelector('#live-losses .js-plotly-plot').data[0].x.length")
        feed.push(
            ev.StepReported(step=61, total_steps=200, loss=2.0, at=START + 91, rank=0, node="trn1"), now=START + 91
        )
        seen.until("#live-step", "61")
        seen.page.wait_for_function(
            f"() => document.querySelector('#live-losses .js-plotly-plot').data[0].x.length === {before + 1}"
        )
        zoom = seen.page.evaluate("document.querySelector('#live-losses .js-plotly-plot').layout.yaxis.range")
        assert zoom == [1, 5], "the zoom is kept"
        assert "Core 3" in seen.text("#live-core-words")
        assert (seen.complaints, seen.foreign, seen.alerts) == ([], [], [])


def test_every_page_opens_without_a_complaint_and_no_text_becomes_markup(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    with serving(feed, tmp_path) as served:
        seen = open_page(browser, served.address)
        for page, drawn in PAGES.items():
            turn_to(seen, page)
            seen.drawn(*drawn)
            assert seen.page.evaluate("document.querySelectorAll('#page img, #page script').length") == 0, page
            assert seen.page.evaluate(OTHER_TRACES) == [], page
        assert SCRIPT in seen.text("#logs-lines")
        assert (seen.complaints, seen.foreign, seen.alerts) == ([], [], [])


def test_two_browsers_follow_a_server_that_is_killed_and_comes_back(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    with serving(feed, tmp_path) as served:
        port = served.port
        one, two = open_page(browser, served.address), open_page(browser, served.address)
        one.until("#live-step", "60")
        two.until("#live-step", "60")
    one.until("#connection", "disconnected for")
    feed.push(ev.StepReported(step=77, total_steps=200, loss=1.5, at=START + 99, rank=0, node="trn1"), now=START + 99)
    with serving(feed, tmp_path, port=port):
        one.until("#live-step", "77")
        two.until("#live-step", "77")
        one.page.wait_for_selector("#connection.up")


def test_a_page_that_was_chosen_while_the_server_was_away_is_shown_once_it_is_back(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    with serving(feed, tmp_path) as served:
        port, seen = served.port, open_page(browser, served.address)
        seen.until("#live-step", "60")
    seen.until("#connection", "disconnected for")
    seen.page.click("#to-compile")
    with serving(feed, tmp_path, port=port):
        seen.until("#compile-summary", "lookups")
        assert seen.page.evaluate("location.pathname").endswith("/compile")


def test_entries_that_were_searched_while_the_server_was_away_are_listed_once_it_is_back(
    browser: Any, tmp_path: Path
) -> None:
    root = tmp_path / "cache"
    for number in range(1, 4):
        entry(root, number)
    with serving(StillFeed(), tmp_path / "state", roots=(str(root),)) as served:
        port, seen = served.port, open_page(browser, f"{served.address}cache")
        seen.until("#cache-grid", module(1).removeprefix("MODULE_"))
    seen.until("#connection", "disconnected for")
    seen.page.fill("#cache-query", module(2))
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_function("() => location.search.includes('q=')")
    with serving(StillFeed(), tmp_path / "state", roots=(str(root),), port=port):
        seen.until("#cache-grid", module(2).removeprefix("MODULE_"))
        seen.until("#cache-shown", "1 entry")
        assert module(1).removeprefix("MODULE_") not in seen.text("#cache-grid")


def test_a_plan_of_a_server_that_was_started_again_is_said_to_be_gone(browser: Any, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    entry(root, 1)
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),)) as served:
        seen = open_page(browser, f"{served.address}cache?q=compiler:2.21&plan=0123456789")
        seen.until("#cache-plans", "this plan is no longer kept; make a new one")
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        assert "no longer kept" not in seen.until("#cache-plans", "before → after")


def test_an_entry_is_evicted_after_a_preview_and_brought_back(browser: Any, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    gone = entry(root, 1, blocks=8)
    entry(root, 2, compiler="neuronxcc-2.22.1.0+00000000")
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),)) as served:
        seen = open_page(browser, f"{served.address}cache?q=compiler:2.21")
        seen.until("#cache-shown", "1 entry")
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        seen.until("#cache-plans", "before → after")
        assert seen.page.is_disabled("#cache-plans button.danger"), "looking does not allow acting"
        seen.page.click("text=Sign in to act")
        seen.page.fill("#token", ACT)
        seen.page.click("button[type=submit]")
        seen.page.wait_for_selector("#connection.up")
        seen.page.goto(f"{served.address}cache?q=compiler:2.21")
        seen.until("#cache-shown", "1 entry")
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        seen.until("#cache-plans", "before → after")
        seen.page.focus("#cache-plans input")
        seen.page.keyboard.press("Escape")
        seen.page.wait_for_selector("#cache-plans .drawer", state="detached")
        seen.page.click("#cache-evict")
        seen.until("#cache-plans", "before → after")
        seen.page.fill("#cache-plans input", "evict")
        seen.page.press("#cache-plans input", "Tab")
        seen.page.click("#cache-plans button.danger")
        seen.until("#cache-plans", "done: 1 step")
        assert not gone.exists()
        seen.page.get_by_role("button", name="Undo", exact=True).click()
        seen.until("#cache-plans", "1 brought back")
        assert gone.exists()


def test_a_wrong_token_is_refused_and_a_right_one_opens_the_page(browser: Any, feed: StillFeed, tmp_path: Path) -> None:
    with serving(feed, tmp_path, read=READ) as served:
        seen = Watched(browser)
        seen.page.goto(served.address)
        assert seen.page.url.endswith("/sign-in?to=/")
        seen.page.fill("#token", "wrong")
        seen.page.click("button[type=submit]")
        assert "not valid" in seen.text("[role=alert]")
        seen.page.fill("#token", READ)
        seen.page.click("button[type=submit]")
        seen.page.wait_for_selector("#connection.up")
        seen.until("#live-step", "60")
        assert seen.page.evaluate("document.cookie") == ""


LISTS_ARE_NAMED = "() => ! document.querySelector('.dash-options-list:not([aria-label])')"
"""Dash draws its lists without a name; the page gives them one as soon as it sees them."""


@pytest.mark.parametrize(("theme", "width"), [("dark", 1440), ("light", 1440), ("dark", 360)])
def test_axe_finds_nothing_on_any_page(browser: Any, feed: StillFeed, tmp_path: Path, theme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found: dict[str, list[str]] = {}
    with serving(feed, tmp_path) as served:
        options = {"color_scheme": theme, "viewport": {"width": width, "height": 900}, "bypass_csp": True}
        seen = open_page(browser, served.address, **options)
        for page, drawn in PAGES.items():
            turn_to(seen, page)
            seen.drawn(*drawn)
            seen.page.wait_for_function(LISTS_ARE_NAMED)
            results = axe.Axe().run(seen.page)
            found[page] = [
                f"{one['id']}: {node['html'][:160]}"
                for one in results.response["violations"]
                for node in one["nodes"]
                if not any(part in node["html"] for part in DASH_OWN)
            ]
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, f"{page} scrolls sideways"
    assert found == {page: [] for page in PAGES}


def test_without_a_socket_the_page_says_that_it_polls_and_its_values_move_all_the_same(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    with serving(feed, tmp_path) as served:
        seen = Watched(browser)
        seen.page.add_init_script("""window.WebSocket = class extends EventTarget {
            constructor() { super(); setTimeout(() => this.onclose && this.onclose(), 0); } close() {} };""")
        seen.page.goto(served.address)
        seen.until("#connection", "polling")
        seen.until("#live-step", "60")
        feed.push(ev.StepReported(step=83, loss=1.5, at=START + 99, rank=0, node="trn1"), now=START + 99)
        seen.until("#live-step", "83")


def test_a_chart_is_saved_as_a_picture_and_a_table_as_csv_and_parquet(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    import pyarrow.parquet as parquet

    with serving(feed, tmp_path) as served:
        seen = open_page(browser, f"{served.address}compile")
        seen.until("#compile-summary", "7 graphs")
        for kind, beginning in (("png", b"\x89PNG"), ("svg", b"<svg")):
            with seen.page.expect_download() as saved:
                seen.page.evaluate(
                    "document.querySelectorAll('#page details.menu').forEach((one) => { one.open = true; })"
                )
                seen.page.click(f"button[data-chart=compile-timeline][data-format={kind}]")
            assert saved.value.suggested_filename.endswith(f".{kind}")
            assert Path(saved.value.path()).read_bytes().startswith(beginning)
        tables = {}
        for kind in ("csv", "parquet"):
            with seen.page.expect_download() as saved:
                seen.page.click(f"a[data-export='api/graphs.{kind}']")
            tables[kind] = Path(saved.value.path())
        assert tables["csv"].read_text().count("\n") == 8
        assert parquet.read_table(tables["parquet"]).num_rows == 7
        assert (seen.complaints, seen.foreign) == ([], [])


def test_a_wall_screen_is_filled_and_a_theme_is_kept(browser: Any, feed: StillFeed, tmp_path: Path) -> None:
    with serving(feed, tmp_path) as served:
        seen = open_page(browser, served.address, viewport={"width": 3840, "height": 2160}, color_scheme="dark")
        seen.until("#live-step", "60")
        widths = seen.page.evaluate("""['.panel.wide:not(.pinned)', '.panel.pinned'].map(
            panel => document.querySelector('#page ' + panel).getBoundingClientRect().width)""")
        assert min(widths) > 500
        assert sum(widths) > 3600  # the widest panel, and beside it the log
        seen.page.click("#theme-switch")
        seen.page.wait_for_function("() => document.documentElement.dataset.theme === 'light'")
        seen.page.reload()
        seen.page.wait_for_function("() => document.documentElement.dataset.theme === 'light'")


def test_the_first_panel_of_a_failed_log_is_the_reason_and_goes_when_it_is_overcome(
    browser: Any, tmp_path: Path
) -> None:
    stands_first = """() => { const reason = document.querySelector('#live-reason .reason').getBoundingClientRect();
        return reason.height > 0 && reason.bottom <= document.querySelector('.tiles').getBoundingClientRect().top }"""
    with serving(failed_log(), tmp_path) as served:
        seen = open_page(browser, served.address)
        seen.until("#live-reason h2", "FAILED")
        assert "the compiler rejected a graph: [NCC_EVRF031]" in seen.text("#live-reason .band-reason")
        seen.until("#connection", "ended")
        seen.titled("✗ failed")
        assert seen.page.evaluate(stands_first)
        assert "FAILED" in seen.text("#live-reason")
        assert "sort is not supported" in served.ask("/report").body.decode()
        served.feed.push(ev.JobDiagnosed(diagnosis=Diagnosis(), source="log:/jobs/train.log", seen=START + 7201))
        seen.page.wait_for_function("() => !document.querySelector('#live-reason').innerText.includes('FAILED')")
        assert (seen.complaints, seen.foreign, seen.alerts) == ([], [], [])
