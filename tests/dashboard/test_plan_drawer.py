"""One act is one drawer: the sum first, a line for each plan, one confirmation for all."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import plotly
import pytest

from neuron_top import events as ev
from neuron_top.actions.plan import Exclusion
from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.plan_panel import plan_drawer
from neuron_top.dashboard.plan_registry import Requester
from neuron_top.errors import RefusedForSafety
from neuron_top.services.caches import CacheService, Verb
from neuron_top.services.plan_execution import PlanExecution, PlanState
from neuron_top.settings import Settings
from neuron_top.views.miss_explanation import known_roots
from neuron_top.views.plan import act_choice, act_sum
from neuron_top.views.plan_sentences import goal_missed_text
from tests.actions.caches import entry
from tests.dashboard.browser import Watched
from tests.dashboard.served import ACT, serving
from tests.tui.feeds import START, StillFeed

ACTOR = Requester("somebody", Permission.ACT)


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


def test_a_plan_is_undone_only_once_its_undo_has_ended(tmp_path: Path) -> None:
    both = executions(tmp_path)
    for one in both:
        one.state = PlanState.UNDONE
    both[0].message = "3 brought back"
    assert '"Evict: undone, being undone"' in written(plan_drawer(both))
    both[1].message = "3 brought back"
    assert '"Evict: undone"' in written(plan_drawer(both))


def test_a_plan_with_nothing_to_do_is_no_part_of_the_state_of_its_act(tmp_path: Path) -> None:
    both = executions(tmp_path)
    both[0].plan = msgspec.structs.replace(both[0].plan, steps=())
    assert "nothing is changed yet" in written(plan_drawer(both))
    both[1].state = PlanState.DONE
    text = written(plan_drawer(both))
    assert '"Evict: done"' in text
    assert '"not executed"' in text
    assert "nothing is changed yet" not in text
    assert '"Cancel"' not in text


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


def test_a_plan_that_misses_its_aim_says_so_above_its_steps(tmp_path: Path) -> None:
    two_versions(tmp_path / "cache")
    service = CacheService(Settings(), trash=tmp_path / "trash")
    (plan,) = service.plan_room([str(tmp_path / "cache")], 2**60)
    missed = goal_missed_text(plan)
    text = written(plan_drawer([PlanExecution(plan=plan)]))
    assert missed
    assert text.count(missed) == 1
    assert text.index(missed) < text.index('"steps"')


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


def two_versions(root: Path) -> None:
    """A cache of two compiler versions that nobody has used for days, so that every entry may go."""
    for number in range(6):
        entry(root, number, blocks=8, age_days=9, compiler=f"neuronxcc-2.{15 + number % 2}.0.0+00000000")
    for folder in sorted((Path(folder) for folder, _folders, _files in os.walk(root)), reverse=True):
        os.utime(folder, (0, 0))


def test_one_confirmation_executes_every_plan_of_an_action(browser: Any, tmp_path: Path) -> None:
    two_versions(tmp_path / "cache")
    with serving(StillFeed(), tmp_path / "state", roots=(str(tmp_path / "cache"),)) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}sign-in?to=/cache")
        seen.page.fill("input[type=password]", ACT)
        seen.page.keyboard.press("Enter")
        seen.until("#cache-shown", "6 entries")
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        word = seen.page.get_by_label("type evict to confirm")
        word.fill("evikt")
        seen.page.click(".drawer-buttons .danger")
        seen.until(".drawer #cache-action", "type evict to confirm")
        word.fill("evict")
        seen.page.click(".drawer-buttons .danger")
        said = seen.until("#cache-plans .drawer", "Evict: done\n")
        assert said.count("done: 3 steps") == 2, "what became of each plan is shown"
        assert not list((tmp_path / "cache").glob("*/MODULE_*"))
        seen.page.click(".drawer-buttons >> text=Undo")
        said = seen.until("#cache-plans .drawer", "Evict: undone\n")
        assert said.count("3 brought back") == 2
        assert "in the trash" not in said
        assert len(list((tmp_path / "cache").glob("*/MODULE_*"))) == 6
        assert seen.complaints == []


def two_plans(
    tmp_path: Path, changed: Callable[[], None] = lambda: None
) -> tuple[DashboardCaches, list[PlanExecution]]:
    """Plans that evict one entry of each of two compiler versions."""
    root = tmp_path / "cache"
    two_versions(root)
    caches = DashboardCaches(Settings(state_dir=str(tmp_path / "state")), [str(root)], changed)
    keys = {row.compiler: row.key for row in caches.table().rows}
    return caches, caches.plan(Verb.EVICT, keys.values(), ACTOR)


def test_each_plan_of_an_action_counts_its_own_entries(tmp_path: Path) -> None:
    _caches, both = two_plans(tmp_path)
    assert [one.plan.policy for one in both] == ["1 entry selected in the dashboard"] * 2


def test_a_wrong_word_begins_no_plan_of_an_action(tmp_path: Path) -> None:
    caches, (plain, typed) = two_plans(tmp_path)
    typed.plan = msgspec.structs.replace(typed.plan, emptied=("neuronxcc-2.16.0.0+00000000",))
    assert (plain.typed, typed.typed) == ("", "evict")
    with pytest.raises(RefusedForSafety, match="type evict"):
        caches.execute_together([plain.plan.identity, typed.plan.identity], ACTOR, "evikt")
    assert [plain.state, typed.state] == [PlanState.PLANNED, PlanState.PLANNED]


def test_a_plan_that_waits_for_its_turn_can_be_stopped(tmp_path: Path) -> None:
    drawn: list[str] = []

    def stop_second() -> None:
        if not drawn:
            drawn.append(written(plan_drawer([first, second])))
            caches.stop(second.plan.identity, ACTOR)

    caches, (first, second) = two_plans(tmp_path, stop_second)
    caches.execute_together([first.plan.identity, second.plan.identity], ACTOR, "")
    for thread in threading.enumerate():
        if thread.name.startswith("plan "):
            thread.join()
    both = f"{first.plan.identity},{second.plan.identity}"
    assert f'"id": {{"type": "plan-stop", "plan": "{both}"}}' in drawn[0]
    assert (first.state, second.state) == (PlanState.DONE, PlanState.DONE)
    assert first.outcome is not None
    assert second.outcome is not None
    assert (first.outcome.done, second.outcome.done) == (1, 0)
    assert "Evict: done, stopped" in written(plan_drawer([first, second]))


def test_long_paths_leave_room_for_what_a_plan_costs(browser: Any, tmp_path: Path) -> None:
    roots = [tmp_path / f"{'shared-compile-caches-of-a-team-' * 2}{number}" for number in (1, 2)]
    for root in roots:
        two_versions(root)
    with serving(StillFeed(), tmp_path / "state", roots=tuple(map(str, roots))) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}cache")
        seen.until("#cache-shown", "12 entries")
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        table = seen.page.locator("#cache-plans .table-scroll")
        table.wait_for()
        assert table.locator("tbody tr").count() == 4
        assert table.evaluate("one => one.scrollWidth <= one.clientWidth"), "no column is cut off"
