"""Several jobs on the pages: a card each, the chosen one in the address, a new one offered and never switched to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neuron_top.ingest.assembly import paths_feed
from neuron_top.services.jobs import running_cards
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.views.verdict import VerdictState, freshness_text
from tests.dashboard.browser import Watched
from tests.dashboard.served import Served, serving
from tests.ingest.test_job_groups import log


@contextmanager
def two_jobs(folder: Path) -> Iterator[Served]:
    """A server of the logs of two jobs, in `folder/logs`."""
    logs = folder / "logs"
    logs.mkdir()
    for month in (3, 5):
        (logs / f"job{month}.log").write_text(log(month, 100 * month))
    feed = paths_feed(Settings(state_dir=str(folder / "state")), [str(logs)])
    with serving(feed, folder / "state") as served:  # type: ignore[arg-type]
        yield served


def test_several_logs_are_a_list_of_jobs_and_the_chosen_one_stays(browser: Any, tmp_path: Path) -> None:
    with two_jobs(tmp_path) as served:
        seen = Watched(browser)
        seen.page.goto(served.address)
        seen.until("#jobs", "job5.log")
        cards = seen.page.locator("#jobs .job-card")
        assert cards.count() == 2
        assert "▲ CUT OFF" in cards.first.inner_text()
        assert cards.first.get_attribute("class") == "job-card warning is-cut-off"
        boxes = [card.bounding_box() for card in cards.all()]
        assert {box["width"] for box in boxes if box} == {512}, "as wide as there is room, and no wider than reads well"
        seen.page.wait_for_function("() => location.search.includes('run=job')")
        assert "job3" in seen.page.url, "the first stands in the address"
        seen.until("#live-reason", "job3.log")
        cards.nth(1).click()
        seen.until("#live-reason", "job5.log")
        assert "job5" in seen.page.url
        seen.titled("▲ cut off job5.log")
        seen.until("#connection", "ended")
        seen.page.click("#to-logs")
        seen.until("#logs-lines", "of 500")
        assert "of 300" not in seen.text("#logs-lines")
        assert "job5" in seen.page.url, "another page shows the same job"
        (tmp_path / "logs" / "job6.log").write_text(log(6, 600))
        seen.until("#offer", "job6.log")
        assert "of 600" not in seen.text("#logs-lines"), "it is offered, not shown"
        seen.page.get_by_role("button", name="Show it").click()
        seen.until("#logs-lines", "of 600")
        assert (seen.complaints, seen.foreign, seen.alerts) == ([], [], [])


def test_a_job_of_several_logs_has_a_report_and_can_be_compared(tmp_path: Path) -> None:
    with two_jobs(tmp_path) as served:
        deadline = time.monotonic() + 60
        while len(served.feeds.jobs()) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        first, second = (card.id for card in served.feeds.jobs())
        report = served.ask(f"/report?run={first}")
        assert (report.status, b"job3.log" in report.body) == (200, True)
        compared = served.ask(f"/api/comparison?a={first}&b={second}")
        assert (compared.status, b"job5.log" in compared.body) == (200, True)
        missing = served.ask("/report?run=job:none")
        assert (missing.status, b"no job job:none" in missing.body) == (404, True)


def test_a_long_name_is_cut_so_that_the_words_of_every_job_are_in_sight(browser: Any, tmp_path: Path) -> None:
    name = f"{'pretraining-of-a-large-model-' * 6}.log"
    with two_jobs(tmp_path) as served:
        (tmp_path / "logs" / name).write_text(log(6, 600))
        seen = Watched(browser)
        seen.page.goto(served.address)
        card = seen.page.locator("#jobs .job-card", has_text=name)
        card.wait_for()
        assert card.locator(".job-name").get_attribute("title") == name
        assert card.bounding_box()["height"] < 150
        assert seen.complaints == []


def test_a_job_of_a_fleet_whose_agents_are_silent_is_not_said_to_run(postgres_url: str, tmp_path: Path) -> None:
    settings = Settings(store=postgres_url, state_dir=str(tmp_path))
    with FleetStore(postgres_url) as store:
        store.open_job("4711", name="bert")
        (heard,) = running_cards(RunService(settings).rows())
        with store._database.connection() as connection:
            connection.execute("UPDATE neurontop.runs SET touched = touched - 90")
        (row,) = RunService(settings).rows()
    (card,) = running_cards([row])
    assert (heard.verdict.state, freshness_text(heard.verdict)) == (VerdictState.RUNNING, "live")
    assert (card.verdict.state, freshness_text(card.verdict)) == (VerdictState.SILENT, "last heard 1 m ago")
    assert row.state_text == "running, silent"
