"""One act is one drawer: the sum first, a line for each plan, one confirmation for all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import plotly
import pytest

from neuron_top import events as ev
from neuron_top.actions.plan import Exclusion
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.plan_panel import plan_drawer
from neuron_top.services.caches import CacheService, Verb
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.settings import Settings
from neuron_top.views.miss_explanation import known_roots
from neuron_top.views.plan import act_choice, act_sum
from tests.actions.caches import entry
from tests.dashboard.browser import Watched
from tests.dashboard.served import serving
from tests.tui.feeds import START, StillFeed


def executions(tmp_path: Path) -> list[PlanExecution]:
    """Plans that empty two compiler versions."""
    root = tmp_path / "cache"
    for number in range(6):
        entry(root, number, blocks=8, compiler=f"neuronxcc-2.{15 + number % 2}.0.0+00000000")
    service = CacheService(Settings(), trash=tmp_path / "trash")
    found = service.snapshot(str(root)).entries
    groups = [[one.path for one in found if one.compiler.startswith(f"neuronxcc-2.{minor}")] for minor in (15, 16)]
    return [PlanExecution(plan=plan) for plan in service.plan_together(Verb.EVICT, str(root), groups)]


def written(component: Any) -> str:
    return json.dumps(component, cls=plotly.utils.PlotlyJSONEncoder, ensure_ascii=False)


def test_two_plans_of_one_act_have_one_sum_and_one_button(tmp_path: Path) -> None:
    both = executions(tmp_path)
    plans = [one.plan for one in both]
    text = written(plan_drawer(both))
    assert act_sum(plans).startswith("6 entries · ")
    assert "6 compiles of unknown duration" in act_sum(plans)
    assert act_sum(plans) in text
    assert act_choice(plans).startswith("Evict: 6 entries, ")
    assert text.count('"plan-confirm"') == 1
    assert ",".join(plan.identity for plan in plans) in text
    assert text.index('"plan-close"') < text.index('"plan-confirm"'), "the keyboard meets Cancel first"


def test_a_plan_says_what_it_is_and_why_entries_are_skipped(tmp_path: Path) -> None:
    both = executions(tmp_path)
    skipped = Exclusion(path="neuronxcc-2.15.0.0+00000000/x", size=1, state="hit", reason="it is pinned")
    both[0].plan = msgspec.structs.replace(both[0].plan, exclusions=(skipped,))
    text = written(plan_drawer(both))
    assert "Evict: a plan, nothing is changed yet" in text
    assert "1 skipped: it is pinned" in text
    assert "3 steps, 1 skipped: neuronxcc-2.15" in text
    assert "3 of unknown duration" in text
    assert '"compiler"' in text
    assert '"state"' not in text, "all are in one state, which the heading says"


def test_free_space_counts_one_disk_once(tmp_path: Path) -> None:
    plans = [one.plan for one in executions(tmp_path)]
    free = {plan.before.free for plan in plans}
    assert len(free) == 1, "both lie on one disk, looked at once"
    assert "free once purged" in act_sum(plans)


def test_room_is_made_on_a_disk_once(tmp_path: Path) -> None:
    executions(tmp_path)
    service = CacheService(Settings(), trash=tmp_path / "trash")
    (plan,) = service.plan_room([str(tmp_path / "cache")], 1)
    assert plan.steps == (), "a byte is free already"


def test_the_cache_that_a_job_names_is_listed_wherever_it_is(tmp_path: Path) -> None:
    root = tmp_path / "of-the-job"
    entry(root, 1)
    feed = StillFeed([ev.CachePathAnnounced(pid=1, path=str(root), at=START)])
    feeds, caches = FeedRegistry(Settings(state_dir=str(tmp_path / "state")), feed), DashboardCaches(Settings())
    assert str(root) not in {row.root for row in caches.table().rows}
    caches.use(feeds.cache_roots(LIVE))
    assert str(root) in {row.root for row in caches.table().rows}


def test_every_cache_that_the_first_page_names_is_listed(tmp_path: Path) -> None:
    root = tmp_path / "of-another-process"
    entry(root, 1)
    feed = StillFeed([ev.CacheScanned(root=str(root), states={"hit": 1}, size=4096, free=2**30, at=START)])
    feeds = FeedRegistry(Settings(state_dir=str(tmp_path / "state")), feed)
    assert str(root) not in feeds.cache_roots(LIVE), "no job asked it"
    assert str(root) in feeds.listed_roots(LIVE)
    assert str(root) in known_roots(feed.run)


def test_nothing_selected_plans_nothing(browser: Any, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    for number in range(3):
        entry(root, number)
    with serving(StillFeed(), tmp_path / "state", roots=(str(root),)) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}cache")
        seen.until("#cache-shown", "entries")
        seen.page.click("#cache-evict")
        seen.until("#cache-refused", "Nothing is selected: tick entries, or “all that match the filter”")
        assert "plan=" not in seen.page.evaluate("location.search")
        assert seen.page.evaluate("document.querySelector('#cache-plans').innerText") == ""


@pytest.mark.parametrize("width", [768, 1024, 1440])
def test_a_drawer_begins_under_the_head_of_the_page(browser: Any, tmp_path: Path, width: int) -> None:
    for number in range(3):
        entry(tmp_path / "cache", number)
    with serving(StillFeed(), tmp_path / "state", roots=(str(tmp_path / "cache"),)) as served:
        seen = Watched(browser, viewport={"width": width, "height": 900})
        seen.page.goto(f"{served.address}cache")
        seen.until("#cache-shown", "entries")
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        seen.page.locator("#cache-plans", has_text="before → after").wait_for(state="attached")
        head, drawer = (
            seen.page.locator(".top").bounding_box(),
            seen.page.locator("#cache-plans .drawer").bounding_box(),
        )
        assert drawer["y"] >= head["y"] + head["height"] - 1
        assert head["height"] < 100, "no third row for one button"


def test_the_focus_stays_in_a_plan_until_it_closes_and_then_goes_back(browser: Any, tmp_path: Path) -> None:
    for number in range(3):
        entry(tmp_path / "cache", number)
    with serving(StillFeed(), tmp_path / "state", roots=(str(tmp_path / "cache"),)) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}cache")
        seen.until("#cache-shown", "entries")
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        seen.page.locator("#cache-plans", has_text="before → after").wait_for(state="attached")
        inside = "document.querySelector('#cache-plans .drawer').contains(document.activeElement)"
        seen.page.wait_for_function(inside)
        for key in ["Tab"] * 12 + ["Shift+Tab"] * 12:
            seen.page.keyboard.press(key)
            assert seen.page.evaluate(inside), seen.page.evaluate("document.activeElement.outerHTML")
        seen.page.evaluate("document.activeElement.blur()")
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate(inside), "it comes back from the page behind"
        seen.page.keyboard.press("2")
        assert seen.page.evaluate("location.pathname").endswith("/cache"), "a digit leaves no question unanswered"
        seen.page.keyboard.press("Escape")
        seen.page.wait_for_selector("#cache-plans .drawer", state="detached")
        seen.page.wait_for_function("document.activeElement.id === 'cache-evict'")
        assert seen.complaints == []
