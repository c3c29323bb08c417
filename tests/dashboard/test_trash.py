"""What lies in the trash, on the page of the caches: acts of anybody, each brought back from there; and how it grew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import plotly
import pytest

from neuron_top.dashboard import cache_figures
from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.guard import current_permission
from neuron_top.dashboard.pages.logs import moment_of
from neuron_top.dashboard.plan_registry import NotPermitted, Requester
from neuron_top.dashboard.trash_panel import trash_panel
from neuron_top.errors import NothingToShow
from neuron_top.services.caches import CacheService, Verb
from neuron_top.settings import Settings
from neuron_top.views.growth import MOST_POINTS, growth, growth_curve
from tests.actions.caches import entry
from tests.dashboard.browser import Watched
from tests.dashboard.served import ACT, serving
from tests.tui.feeds import StillFeed, catalog, job

ACTOR = Requester("somebody", Permission.ACT)


def evicted(root: Path, state: Path) -> tuple[CacheService, str]:
    """Another program has evicted the entries of one compiler; the service, and the name of its plan."""
    service = CacheService(Settings(state_dir=str(state)))
    path = next(one.path for one in service.snapshot(str(root)).entries if "2.22" in one.compiler)
    (plan,) = service.plan_together(Verb.EVICT, str(root), [[path]])
    service.execute(plan)
    return service, plan.identity


def cache(tmp_path: Path) -> tuple[Path, Path]:
    root = tmp_path / "cache"
    entry(root, 1, blocks=8)
    return root, entry(root, 2, blocks=8, compiler="neuronxcc-2.22.1.0+00000000")


def test_an_act_of_another_program_is_listed_and_undone(tmp_path: Path) -> None:
    root, gone = cache(tmp_path)
    _service, plan = evicted(root, tmp_path / "state")
    assert not gone.exists()
    caches = DashboardCaches(Settings(state_dir=str(tmp_path / "state")), [str(root)])
    caches.table()
    (past,) = caches.trash
    assert (past.begun.plan, past.begun.root) == (plan, str(root))
    token = current_permission.set(Permission.READ)
    try:
        told = json.dumps(trash_panel(caches.trash), cls=plotly.utils.PlotlyJSONEncoder)
    finally:
        current_permission.reset(token)
    assert plan in told
    assert '"disabled": true' in told
    with pytest.raises(NotPermitted, match="act token"):
        caches.undo_from_trash(plan, Requester("reader", Permission.READ))
    assert not gone.exists()
    assert caches.undo_from_trash(plan, ACTOR) == "1 brought back"
    assert gone.exists()
    caches.table()
    assert caches.trash == ()
    assert trash_panel(caches.trash) is None
    with pytest.raises(NothingToShow, match="no longer in the trash"):
        caches.undo_from_trash(plan, ACTOR)


def test_only_caches_that_are_listed_are_undone(tmp_path: Path) -> None:
    root, gone = cache(tmp_path)
    _service, plan = evicted(root, tmp_path / "state")
    other = DashboardCaches(Settings(state_dir=str(tmp_path / "state")), [str(tmp_path)])
    with pytest.raises(NothingToShow):
        other.undo_from_trash(plan, ACTOR)
    assert not gone.exists()


def test_times_that_no_calendar_has_are_unknown(tmp_path: Path) -> None:
    """Anybody may have written them: into the journal, or as times of files."""
    root, _gone = cache(tmp_path)
    service, _plan = evicted(root, tmp_path / "state")
    (past,) = service.trash.restorable([str(root)])
    past.begun = msgspec.structs.replace(past.begun, at=1e300)
    token = current_permission.set(Permission.READ)
    try:
        assert "—" in str(trash_panel((past,)))
    finally:
        current_permission.reset(token)
    rows = catalog().rows
    dated = [msgspec.structs.replace(row, changed=1000.0 if row is rows[0] else 9e15) for row in rows]
    points = growth_curve(dated, 1000.0)
    assert points == [(1000.0, rows[0].bytes)]
    assert [one.entries for one in growth(dated, 1000.0)] == [1, 1, 1]
    assert len(cache_figures.growth_chart(points, (past,), DARK)["data"]) == 1


@pytest.mark.parametrize(
    ("text", "is_moment"),
    [("2026-11-29T10:00:00+00:00", True), ("0001-01-01T00:00:00+14:00", False), ("9999-12-31T23:59:59", False)],
)
def test_an_address_may_ask_for_any_moment(text: str, is_moment: bool) -> None:
    assert (moment_of({"at": text}) is not None) == is_moment


def test_what_is_dated_ahead_of_the_clock_was_not_written_lately() -> None:
    now = 1_800_000_000.0
    ages = (-400 * 86400.0, -60.0, 3600.0, 8 * 86400.0)
    rows = [msgspec.structs.replace(catalog().rows[0], changed=now - age) for age in ages]
    assert [one.entries for one in growth(rows, now)] == [2, 2, 3]
    assert growth(rows[:1], now) == []
    assert growth_curve(rows, now)[-1][0] == now + 60.0
    assert growth_curve(rows[:1], now) == []


def test_growth_adds_up_what_lies_there_in_the_order_it_was_written() -> None:
    rows = [msgspec.structs.replace(row, changed=1000.0 - n) for n, row in enumerate(catalog().rows)]
    points = growth_curve(rows, 1000.0)
    assert [time for time, _ in points] == sorted(1000.0 - n for n in range(len(rows)))
    assert points[-1][1] == sum(row.bytes for row in rows)
    many = [msgspec.structs.replace(rows[0], changed=float(n), bytes=1) for n in range(5 * MOST_POINTS + 3)]
    assert len(growth_curve(many, 1e9)) <= MOST_POINTS + 1
    assert growth_curve(many, 1e9)[-1] == (float(len(many) - 1), len(many))
    assert cache_figures.growth_chart(points, (), DARK)["data"][0]["y"][-1] > 0
    assert cache_figures.growth_chart([], (), DARK)["data"] == []
    axis = cache_figures.growth_chart(points, (), DARK)["layout"]["xaxis"]
    assert axis["type"] == "date", "charts.js gives axes of dates as many words as have room, before it draws them"
    assert "nticks" not in axis


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_the_trash_is_undone_from_the_page(browser: Any, tmp_path: Path) -> None:
    root, gone = cache(tmp_path)
    evicted(root, tmp_path / "state")
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),)) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}sign-in?to=/cache")
        seen.page.fill("#token", ACT)
        seen.page.click("button[type=submit]")
        seen.until("#cache-trash", "Trash")
        seen.page.wait_for_function("() => document.querySelector('#cache-growth .js-plotly-plot')?.data?.length === 2")
        seen.page.click("#cache-trash button")
        seen.until("#cache-undone", "1 brought back")
        seen.page.wait_for_function("() => !document.querySelector('#cache-trash').innerText")
        assert gone.exists()
        assert (seen.complaints, seen.alerts) == ([], [])
        seen.page.close()
