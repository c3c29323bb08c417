"""The cache page on a bucket: listed, planned for, executed and undone as a folder is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("moto", reason="moto is not installed")
boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")

from neuron_top.cache import s3  # noqa: E402
from neuron_top.cache.model.states import State  # noqa: E402
from neuron_top.dashboard.access import Permission  # noqa: E402
from neuron_top.dashboard.caches import DashboardCaches  # noqa: E402
from neuron_top.dashboard.plan_registry import NotPermitted, Requester  # noqa: E402
from neuron_top.services.cache_look import CacheLook  # noqa: E402
from neuron_top.services.caches import CacheService, Verb  # noqa: E402
from neuron_top.settings import Settings  # noqa: E402
from tests import s3_server  # noqa: E402
from tests.actions import caches, states  # noqa: E402
from tests.dashboard.browser import Watched  # noqa: E402
from tests.dashboard.served import ACT, READ, serving  # noqa: E402
from tests.tui.feeds import StillFeed, job  # noqa: E402


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[s3.Bucket]:
    """A cache of two usable entries and a failed one."""
    caches.entry(tmp_path / "here", 1, blocks=8)
    caches.entry(tmp_path / "here", 2, compiler="neuronxcc-2.22.1.0+00000000")
    states.entry_in(tmp_path / "here", State.FAILED, number=3)
    with s3_server.served(versioned=True) as url:
        found = s3.connect(url)
        for path in (tmp_path / "here").rglob("*"):
            if path.is_file():
                key = f"{found.prefix}{path.relative_to(tmp_path / 'here')}"
                found.client.put_object(Bucket=found.name, Key=key, Body=path.read_bytes())
        yield found


class Service(CacheService):
    """The service, with readers that need no minute to finish, and entries that were not uploaded just now."""

    def __init__(self, state: Path) -> None:
        super().__init__(Settings(state_dir=str(state)), grace_seconds=0.1)

    def look(self, root: str, *, causes: bool = False, assume_exclusive: bool = False) -> CacheLook:
        look = super().look(root, causes=causes, assume_exclusive=assume_exclusive)
        return look._replace(context=msgspec.structs.replace(look.context, protect_seconds=0.0))


def names(bucket: s3.Bucket) -> set[str]:
    return {record["Key"].rpartition("/")[2] for record in bucket.objects() if "00001+" in record["Key"]}


def test_entries_of_a_bucket_are_evicted_after_a_preview_and_brought_back(
    browser: Any, bucket: s3.Bucket, tmp_path: Path
) -> None:
    state, before = tmp_path / "state", names(bucket)
    query = f"cache?q=root:{bucket.url}+compiler:2.21.18209+state:hit"
    with serving(StillFeed(job()), state, roots=(bucket.url,), service=Service(state)) as served:
        seen = Watched(browser)
        seen.page.goto(f"{served.address}sign-in")
        seen.page.fill("#token", ACT)
        seen.page.click("button[type=submit]")
        seen.page.wait_for_selector("#connection.up")
        seen.page.goto(f"{served.address}{query}")
        seen.until("#cache-shown", "1 entry")
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        seen.until("#cache-plans", "refused:")
        assert seen.page.locator("#cache-plans button.danger").count() == 0
        seen.page.get_by_label("no other host or container uses these caches").check()
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        seen.until("#cache-plans", "before → after")
        if seen.page.locator("#cache-plans input").count():
            seen.page.fill("#cache-plans input", "evict")
            seen.page.press("#cache-plans input", "Tab")
        seen.page.screenshot(path=tmp_path / "planned.png", full_page=True)
        seen.page.click("#cache-plans button.danger")
        seen.until("#cache-plans", "done: 1 step")
        assert not names(bucket)
        seen.page.get_by_role("button", name="Undo", exact=True).click()
        seen.until("#cache-plans", "brought back")
        assert names(bucket) == before
        seen.page.screenshot(path=tmp_path / "undone.png", full_page=True)
        assert seen.complaints == []


def test_a_plan_for_a_bucket_goes_its_whole_way_through_the_api(bucket: s3.Bucket, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with serving(StillFeed(job()), state, roots=(bucket.url,), service=Service(state)) as served:
        table = served.ask("/api/cache").json
        rows = [row for row in table["rows"] if row["root"] == bucket.url]
        assert sorted(row["state"] for row in rows) == ["failed", "hit", "hit"]
        (failed,) = (row["key"] for row in rows if row["state"] == "failed")
        refused = served.post("/api/cache/plans", {"verb": "compile", "keys": [failed]})
        assert (refused.status, "not possible in a bucket" in refused.json["error"]) == (400, True)
        wanted = {"verb": "retry", "keys": [failed], "assume_exclusive": True}
        (planned,) = served.post("/api/cache/plans", wanted).json
        path = f"/api/cache/plans/{planned['plan']['identity']}"
        assert served.post(f"{path}/execute", {}).status == 200
        for _attempt in range(600):
            done = served.ask(path).json
            if done["state"] not in ("planned", "confirmed", "running"):
                break
            served.ask("/alive")
        assert (done["state"], done["outcome"]["done"]) == ("done", 1)
        assert served.post(f"{path}/undo", {}).json["state"] == "undone"


def test_what_went_from_a_bucket_is_listed_in_the_trash_and_undone_by_whoever_may(
    bucket: s3.Bucket, tmp_path: Path
) -> None:
    service, before = Service(tmp_path / "state"), names(bucket)
    path = next(entry.path for entry in service.snapshot(bucket.url).entries if "00001+" in entry.path)
    (plan,) = service.plan_together(Verb.EVICT, bucket.url, [[path]], assume_exclusive=True)
    service.execute(plan)
    assert not names(bucket)
    page = DashboardCaches(Settings(), [bucket.url], service=Service(tmp_path / "state"))
    page.table()
    (past,) = page.trash
    assert (past.begun.plan, past.begun.root) == (plan.identity, bucket.url)
    with pytest.raises(NotPermitted):
        page.undo_from_trash(plan.identity, Requester("reader", Permission.READ))
    assert "brought back" in page.undo_from_trash(plan.identity, Requester("operator", Permission.ACT))
    assert names(bucket) == before


def test_a_reader_cannot_state_that_nobody_else_uses_a_cache(tmp_path: Path) -> None:
    caches.entry(tmp_path / "cache", 1)
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(tmp_path / "cache"),), read=READ) as served:
        key = served.ask("/api/cache", token=READ).json["rows"][0]["key"]
        wanted = {"verb": "evict", "keys": [key], "assume_exclusive": True}
        refused = served.post("/api/cache/plans", wanted, token=READ)
        assert (refused.status, "act token" in refused.json["error"]) == (400, True)


def test_a_bucket_that_cannot_be_listed_is_named_with_the_reason(bucket: s3.Bucket, tmp_path: Path) -> None:
    with serving(StillFeed(job()), tmp_path / "state", roots=("s3://no-such-bucket/cache",)) as served:
        table = served.ask("/api/cache").json
    (problem,) = table["problems"]
    assert problem.startswith("s3://no-such-bucket/cache cannot be listed: ")
