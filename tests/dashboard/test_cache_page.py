"""The page of the caches: what many browsers and large caches cost, and what a listing may miss."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.dashboard import cache_figures
from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.plan_registry import Requester
from neuron_top.dashboard.space_panel import space_panel
from neuron_top.services.caches import CacheService, Verb
from neuron_top.settings import Settings
from tests.actions.caches import entry
from tests.dashboard.served import serving
from tests.dashboard.test_opening import ask, questions
from tests.tui.feeds import StillFeed, catalog, job

ACTOR = Requester("somebody", Permission.ACT)


def test_browsers_share_what_goes_through_all_entries_and_it_is_not_drawn_in_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn_in: list[threading.Thread] = []

    def treemap(*given: Any) -> Any:
        drawn_in.append(threading.current_thread())
        return original(*given)

    original = cache_figures.treemap
    monkeypatch.setattr(cache_figures, "treemap", treemap)
    root = tmp_path / "cache"
    entry(root, 1, blocks=8)
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),)) as served:
        body = questions(served)["cache"]
        for given in (*body["inputs"], *body["state"]):
            if given["id"] == "cache-color":
                given["value"] = "age"
        assert [ask(served, body) for _browser in range(4)] == [200] * 4
        listings = served.caches.version
    assert 1 <= len(drawn_in) <= listings
    assert all(thread.name.startswith("asyncio") for thread in drawn_in), "a thread of the pool"


def test_an_empty_cache_is_among_those_whose_space_is_shown(tmp_path: Path) -> None:
    full, empty = tmp_path / "full", tmp_path / "empty"
    entry(full, 1, blocks=8)
    empty.mkdir()
    caches = DashboardCaches(Settings(state_dir=str(tmp_path / "state")), (str(empty), str(full)), lambda: None)
    view = caches.table(fresh=True)
    assert list(view.bytes_by_root) == [str(full), str(empty)]
    assert view.bytes_by_root[str(empty)] == 0
    table, *_ = space_panel(view, caches.disks, None)
    (one, other) = table.children.children[2].children
    assert [cell.children for cell in other.children][:2] == [str(empty), "0 B"]
    assert other.children[2].children == one.children[2].children, "the disk, too"


def test_each_part_of_the_treemap_is_the_sum_of_its_parts() -> None:
    rows = list(catalog().rows)
    (trace,) = cache_figures.treemap(rows, DARK)["data"]
    values = dict(zip(trace["ids"], trace["values"], strict=True))
    for whole, value in values.items():
        parts = [values[part] for part, parent in zip(trace["ids"], trace["parents"], strict=True) if parent == whole]
        assert not parts or value == sum(parts)
    tops = [value for part, value in values.items() if "\t" not in part]
    assert sum(tops) >= sum(row.bytes for row in rows)


class SlowListing(CacheService):
    """Executes a plan while a listing is made, after the entries were read."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.meanwhile: list[Any] = []

    def snapshot(self, root: str) -> Snapshot:
        found = super().snapshot(root)
        if self.meanwhile:
            self.meanwhile.pop()()
        return found


def test_a_listing_that_was_begun_before_a_change_is_made_again(tmp_path: Path) -> None:
    root, settings = tmp_path / "cache", Settings(state_dir=str(tmp_path / "state"))
    entry(root, 1, blocks=8)
    entry(root, 2, blocks=8)
    service = SlowListing(settings)
    caches = DashboardCaches(settings, [str(root)], service=service)
    (plan,) = caches.plan(Verb.EVICT, [caches.table().rows[0].key], ACTOR)
    identity = plan.plan.identity

    def execute() -> None:
        caches.execute(identity, ACTOR, plan.typed)
        for thread in threading.enumerate():
            if thread.name == f"plan {identity}":
                thread.join()

    service.meanwhile.append(execute)
    assert len(caches.table(fresh=True).rows) == 2, "it was read before"
    assert len(caches.table().rows) == 1
