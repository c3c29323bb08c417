"""Pages on which one of several things is chosen: the choice stays with its thing, and no key acts unseen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

from textual.pilot import Pilot

from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.alerts import AlertsPage
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.screens.fleet_changes import FleetChangesPage
from neuron_top.tui.screens.graph_detail import GraphDetail
from neuron_top.tui.screens.jobs import NO_JOBS, jobs_lines
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.tui.widgets.page import Page
from neuron_top.views.fleet_plan import FleetPlan
from tests.tui import feeds

from .test_alert_page import until


def change(number: int) -> FleetPlan:
    return FleetPlan(
        batch=f"batch{number:03d}", asked_by="ann", action="evict", nodes=(), steps=1, frees=1, copies=0, done=0,
        moved_bytes=0, word="",
    )  # fmt: skip


@asynccontextmanager
async def changes(count: int) -> AsyncIterator[tuple[FleetChangesPage, Pilot[int], list[FleetPlan]]]:
    plans = [change(number) for number in reversed(range(count))]
    services = feeds.StillServices()
    services.fleet_actions = SimpleNamespace(newest=lambda: tuple(plans))  # type: ignore[attr-defined]
    app, page = TopApp(feeds.full(), Settings(), services=services), FleetChangesPage()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.open(page)
        await until(pilot, lambda: page.is_mounted and bool(page.choices))
        yield page, pilot, plans


def under_the_cursor(page: DetailPage) -> str:
    """The line with the cursor, of those that are on the screen."""
    lines = [strip.text for strip in page.query_one(Page)._strips]
    return next((line for line in lines if line.startswith("› ")), "")


async def test_without_jobs_or_changes_it_is_said_where_they_come_from() -> None:
    assert [strip.text.strip(" ─") for strip in jobs_lines(Theme(DARK, UNICODE), ((), ""), 200)] == ["Jobs", NO_JOBS]
    services = feeds.StillServices()
    services.fleet_actions = SimpleNamespace(newest=tuple)  # type: ignore[attr-defined]
    app, page = TopApp(feeds.full(), Settings(), services=services), FleetChangesPage()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.open(page)
        await until(pilot, lambda: page.is_mounted and "A on the Fleet screen asks nodes" in page.copied())


async def test_the_cursor_stays_with_its_change_when_another_is_asked_for() -> None:
    async with changes(3) as (page, pilot, plans):
        await pilot.press("down")
        assert "batch001" in under_the_cursor(page)
        plans.insert(0, change(3))
        page._poller.poll()
        await until(pilot, lambda: len(page.choices) == 4)
        assert "batch001" in under_the_cursor(page)


async def test_what_the_page_keys_scroll_out_of_sight_is_not_chosen_any_longer() -> None:
    async with changes(60) as (page, pilot, _plans):
        assert "batch059" in under_the_cursor(page)
        await pilot.press("pagedown")
        assert under_the_cursor(page)
        assert "batch059" not in under_the_cursor(page)
        await pilot.press("G")
        assert "batch000" in under_the_cursor(page)
        await pilot.press("pageup")
        assert under_the_cursor(page)
        assert "batch000" not in under_the_cursor(page)
        await pilot.press("g")
        assert "batch059" in under_the_cursor(page)
        await pilot.click(Page, offset=(4, 6))
        assert "batch054" in under_the_cursor(page)


async def test_alerts_are_chosen_by_page_keys_and_by_mouse() -> None:
    services = feeds.StillServices()
    app = TopApp(feeds.full(), Settings(), services=services)
    async with app.run_test(size=(80, 12)) as pilot:
        await until(pilot, lambda: bool(services.alerts.kept.past))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AlertsPage) and len(app.screen.choices) > 2)
        page = app.screen
        assert isinstance(page, AlertsPage)
        first, *_others, last = page.choices
        await pilot.press("pagedown", "pagedown")
        assert page.chosen is not None
        assert page.chosen.key != first
        assert under_the_cursor(page)
        await pilot.press("G")
        assert page.chosen.key == last
        await pilot.press("g")
        await pilot.click(Page, offset=(4, 2))
        assert page.chosen.key == first


async def test_a_click_chooses_and_a_second_one_opens_what_is_chosen() -> None:
    app = TopApp(feeds.full(), Settings(), services=feeds.StillServices())
    page = AlertsPage(app.limits)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.open(page)
        await until(pilot, lambda: page.is_mounted and len(page.choices) > 2)
        at = next(alert.key for alert in page._shown if alert.graph is not None)
        await pilot.press("G")
        row = page._line_of(at) - page.page.first
        assert at != page.choices[-1]
        assert row >= 0
        await pilot.click(Page, offset=(4, row))
        assert (app.screen, page.chosen and page.chosen.key) == (page, at)
        await pilot.click(Page, offset=(4, row))
        await until(pilot, lambda: isinstance(app.screen, GraphDetail))
        await pilot.press("escape")
        assert app.screen is page
