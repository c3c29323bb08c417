"""The page of recordings in a real browser: labels, and curves of several over one axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neuron_top.cache.model.states import State
from neuron_top.dashboard.pages.runs import row
from neuron_top.events import AnyEvent, RunFinished, RunStarted, StepReported
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.store.records import RunRecord
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.runs import run_row
from tests.actions.states import entry_in
from tests.dashboard.browser import Watched
from tests.dashboard.conftest import SCRIPT
from tests.dashboard.served import ACT, serving
from tests.tui.feeds import START, StillFeed, job

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
RUNS = ("20260101-000000-aaaa", "20260101-010000-bbbb", "20260101-020000-cccc")


def record(state: Path) -> None:
    """Three recordings with losses."""
    with SqliteStore(Settings(state_dir=str(state)).state_path / "neurontop.db") as store:
        for number, (run, name) in enumerate(zip(RUNS, ("tp1", "tp2", SCRIPT), strict=True)):
            at = 1_767_225_600.0 + 3600 * number
            steps: list[AnyEvent] = [
                StepReported(step=step, loss=5.0 - step - number, at=at + 10 + step, seen=at) for step in range(1, 4)
            ]
            first = RunStarted(run=run, name=name, at=at, seen=at)
            store.begin(first)
            store.append(run, [first, *steps, RunFinished(run=run, exit_code=0, at=at + 20, seen=at)], at)
            store.finish(run, 0, at + 20)


def opened(browser: Any, address: str) -> Watched:
    seen = Watched(browser)
    seen.page.goto(address)
    seen.page.wait_for_selector("#connection.up")
    return seen


def test_labels_are_kept_and_curves_of_three_runs_are_laid_over_one_axis(browser: Any, tmp_path: Path) -> None:
    record(tmp_path)
    with serving(StillFeed(job()), tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}sign-in")
        seen.page.fill("#token", ACT)
        seen.page.click("button[type=submit]")
        seen.page.wait_for_selector("#connection.up")
        seen.page.goto(f"{served.address}runs?run={RUNS[0]}&with={RUNS[1]},{RUNS[2]}")
        seen.until("#runs-laid", "3 runs")
        seen.page.wait_for_function("() => document.querySelector('#runs-loss .js-plotly-plot')?.data?.length === 3")
        assert seen.page.get_by_text("Compare all 3").count() == 1
        seen.page.wait_for_function("() => document.querySelector('#runs-name')?.value === 'tp1'")
        seen.page.fill("#runs-name", "wide")
        seen.page.fill("#runs-tags", "sweep, bf16")
        seen.page.fill("#runs-text", f"a note {SCRIPT}")
        seen.page.check("#runs-star input")
        seen.page.click("#runs-save")
        seen.until("#runs-labeled", "Saved.")
        seen.until("#runs-grid", "wide")
        one = next(row for row in RunService(Settings(state_dir=str(tmp_path))).rows() if row.id == RUNS[0])
        assert (one.name, one.tags, one.starred, one.note) == ("wide", ("sweep", "bf16"), True, f"a note {SCRIPT}")
        assert (seen.complaints, seen.foreign, seen.alerts) == ([], [], [])


def test_without_a_token_labels_are_shown_and_not_changed(browser: Any, tmp_path: Path) -> None:
    record(tmp_path)
    with serving(StillFeed(job()), tmp_path) as served:
        seen = opened(browser, f"{served.address}runs?run={RUNS[1]}")
        seen.page.wait_for_function("() => document.querySelector('#runs-name')?.value === 'tp2'")
        seen.until("#runs-labeled", "Sign in")
        assert seen.page.is_disabled("#runs-save")
        assert not seen.page.is_visible(".panel.overlay"), "curves are there when several runs are chosen"
        assert seen.page.is_visible(".panel.labels")
        seen.page.goto(f"{served.address}runs")
        seen.until("#runs-grid", "tp2")
        seen.page.wait_for_selector(".panel.labels", state="hidden")
        several = served.ask(f"/comparison?a={RUNS[0]}&b={RUNS[1]}&b={RUNS[2]}")
        assert several.status == 200
        assert b"tp1" in several.body
        assert b"tp2" in several.body


@pytest.mark.parametrize("page", ["", "cores", "compile", "cache", "runs"])
def test_the_page_of_a_run_that_does_not_exist_is_a_notice_alone_and_not_live(
    browser: Any, tmp_path: Path, page: str
) -> None:
    record(tmp_path)
    with serving(StillFeed(job()), tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}{page}?run=nosuch")
        seen.until("#problem .panel", "no recording 'nosuch'")
        assert not seen.page.locator("main").is_visible()
        assert seen.page.locator("#problem .panel").bounding_box()["x"] > 0
        seen.until("#connection", "no data")
        assert "live" not in str(seen.page.get_attribute("#connection", "class"))
        seen.page.click("#run")
        seen.page.locator(".dash-options-list-option", has_text=RUNS[1]).first.click()
        seen.page.wait_for_selector("main", state="visible")
        seen.until("#connection", "ended")
        assert seen.text("#problem") == ""


def test_a_notice_about_a_run_is_gone_on_the_next_page(browser: Any, tmp_path: Path) -> None:
    record(tmp_path)
    with serving(StillFeed(job()), tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}?run=nosuch")
        seen.until("#problem", "no recording 'nosuch'")
        seen.page.click("#to-logs")
        seen.page.wait_for_selector("#logs-lines", state="visible")
        assert seen.text("#problem") == ""


def test_a_run_that_is_not_offered_stays_chosen_and_another_one_begins_with_all_of_its_time(
    browser: Any, tmp_path: Path
) -> None:
    record(tmp_path)
    with serving(StillFeed(job()), tmp_path) as served:
        seen = opened(browser, f"{served.address}?run=nosuch")
        seen.until("#problem", "no recording 'nosuch'")
        assert "run=nosuch" in seen.page.url, "the page of this machine is no answer"
        seen.page.goto(f"{served.address}?run={RUNS[0]}&from=2026-01-01T00:00:00&to=2026-01-01T00:05:00")
        seen.page.wait_for_selector("#connection.up")
        seen.page.evaluate("document.querySelector('#range').value = '5'")
        seen.page.wait_for_timeout(1500)  # until the page has seen the range of its address
        seen.page.click("#run")
        seen.page.locator(".dash-options-list-option", has_text=RUNS[1]).first.click()
        seen.page.wait_for_function("(run) => location.search === `?run=${run}`", arg=RUNS[1])
        seen.page.wait_for_function("() => document.querySelector('#range').value === ''")
        assert seen.alerts == []


def test_a_run_is_not_compared_with_itself(browser: Any, tmp_path: Path) -> None:
    record(tmp_path)
    with serving(StillFeed(job()), tmp_path) as served:
        seen = opened(browser, f"{served.address}runs?run={RUNS[0]}&with={RUNS[0]},{RUNS[1]}")
        seen.until("#runs-laid", "2 runs")
        seen.until("#runs-documents", "Compare with it")
        seen.page.click("#runs-with")
        seen.page.wait_for_selector(".dash-dropdown-content")
        offered = seen.text(".dash-dropdown-content")
        assert RUNS[0] not in offered
        assert RUNS[1] in offered
        seen.page.keyboard.press("Escape")
        seen.page.click(f'#runs-grid [row-id="{RUNS[1]}"] [col-id="name"]')
        seen.until("#runs-documents", "Choose further runs")


def test_the_list_of_runs_is_asked_for_again_when_the_job_ends(browser: Any, tmp_path: Path) -> None:
    feed = StillFeed(job())
    with serving(feed, tmp_path) as served:
        seen = opened(browser, served.address)
        with seen.page.expect_request(lambda request: '"..run.options...run.value.."' in (request.post_data or "")):
            feed.push(RunFinished(run="r", exit_code=1, at=START + 99), now=START + 99)


def test_a_row_names_every_run_and_keeps_its_milliseconds() -> None:
    record = RunRecord("r", "", "", ("/usr/bin/true",), "", None, 100.0, 100.13, 0, 100.13, 2, 0, "", "")
    cells = row(run_row(record, 200.0, recorder_alive=False))
    assert (cells["name"], cells["seconds"]) == ("true", pytest.approx(0.13))


def test_the_selected_recording_is_that_of_the_address_and_can_be_chosen_again(browser: Any, tmp_path: Path) -> None:
    record(tmp_path)
    selected = "#runs-grid .ag-row-selected"
    with serving(StillFeed(job()), tmp_path) as served:
        seen = opened(browser, f"{served.address}runs")
        cell = seen.page.locator(f"#runs-grid .ag-row[row-id='{RUNS[1]}'] .ag-cell[col-id=state]")
        cell.click()
        seen.page.wait_for_function("run => location.search === `?run=${run}`", arg=RUNS[1])
        seen.page.go_back()
        seen.page.wait_for_selector(selected, state="detached")
        cell.click()
        seen.page.wait_for_function("run => location.search === `?run=${run}`", arg=RUNS[1])
        seen.page.wait_for_selector(selected)
        assert seen.complaints == []


def test_the_recording_that_a_link_opens_is_selected_in_the_list(browser: Any, tmp_path: Path) -> None:
    record(tmp_path)
    with serving(StillFeed(job()), tmp_path) as served:
        seen = opened(browser, f"{served.address}runs?run={RUNS[1]}")
        seen.page.wait_for_selector("#runs-grid .ag-row-selected:has-text('tp2')")
        seen.page.click("#runs-grid .ag-row:has-text('tp1') .ag-cell >> nth=0")
        seen.page.wait_for_function("run => location.search.includes(run)", arg=RUNS[0])
        assert seen.page.locator("#runs-grid .ag-row-selected:has-text('tp1')").count() == 1
        assert seen.complaints == []


def test_a_link_that_filters_entries_keeps_the_run_and_the_groups(browser: Any, tmp_path: Path) -> None:
    record(tmp_path)
    entry_in(tmp_path / "cache", State.FAILED, number=1)
    with serving(StillFeed(job()), tmp_path, roots=(str(tmp_path / "cache"),)) as served:
        seen = opened(browser, f"{served.address}cache?run={RUNS[0]}&group=state")
        seen.page.get_by_role("link", name="failed compiles").click()
        seen.page.wait_for_function("() => document.querySelector('#cache-query').value === 'state:failed'")
        assert seen.page.evaluate("location.search") == f"?run={RUNS[0]}&group=state&q=state%3Afailed"
