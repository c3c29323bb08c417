"""A cache in S3 on the cache screen: listed, planned for, changed and undone as a folder is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import boto3
import msgspec
import pytest
from textual.pilot import Pilot

from neuron_top.cache.model.states import State
from neuron_top.services.cache_look import CacheLook
from neuron_top.services.caches import CacheService
from neuron_top.services.plan_execution import PlanState
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.cache import CacheScreen
from neuron_top.tui.screens.plan import PlanPage
from neuron_top.tui.services import Services
from neuron_top.views.entries import EntryRow
from tests import s3_server
from tests.actions import caches, states
from tests.tui import feeds


class TenDaysLater(CacheService):
    """Ten days after the last upload, since no clock of a bucket can be set; readers are given no time."""

    def look(self, root: str, *, causes: bool = False, assume_exclusive: bool = False) -> CacheLook:
        look = super().look(root, causes=causes, assume_exclusive=assume_exclusive)
        return look._replace(context=msgspec.structs.replace(look.context, now=look.context.now + 10 * caches.DAY))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with s3_server.served(versioned=True) as place:
        yield place


def put(root: Path) -> None:
    """Copy a folder into the bucket, object by object."""
    client = boto3.client("s3")
    for path in root.rglob("*"):
        if path.is_file():
            name = f"{s3_server.PREFIX}/{path.relative_to(root)}"
            client.put_object(Bucket=s3_server.BUCKET, Key=name, Body=path.read_bytes())


def keys() -> set[str]:
    listing = boto3.client("s3").list_objects_v2(Bucket=s3_server.BUCKET)
    return {record["Key"] for record in listing.get("Contents", ())}


async def press(app: TopApp, pilot: Pilot[int], *names: str) -> None:
    for name in names:
        await pilot.press(name)
        for _ in range(3):
            await app.workers.wait_for_complete()
            await pilot.pause()


def rows(app: TopApp, url: str) -> list[EntryRow]:
    screen = app.screen
    assert isinstance(screen, CacheScreen)
    return [row for row in screen.table.order.rows if isinstance(row, EntryRow) and row.root == url]


async def test_entries_of_a_bucket_are_listed_evicted_after_a_word_and_brought_back(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEURON_CC_FLAGS", raising=False)
    local = tmp_path / "cache"
    caches.entry(local, 1, blocks=700)
    states.entry_in(local, State.FAILED, number=2)
    put(local)
    before = keys()
    settings = Settings(state_dir=str(tmp_path / "state"))
    services = Services(settings, [url])
    services.caches = TenDaysLater(settings, grace_seconds=0.0)
    app = TopApp(feeds.full(), settings, first="cache", services=services)
    async with app.run_test(size=(140, 40)) as pilot:
        await press(app, pilot, "4")
        assert sorted(row.state for row in rows(app, url)) == ["failed", "hit"]
        screen = app.screen
        assert isinstance(screen, CacheScreen)
        screen.apply_filter("state:hit root:s3://")
        await press(app, pilot, "M", "e")
        page = app.screen
        assert isinstance(page, PlanPage)
        assert page.asks_exclusive
        await press(app, pilot, "right", "enter")
        assert app.screen is page, "nobody stated that the bucket is used by nobody else"
        await press(app, pilot, *"exclusive", "enter")
        page = app.screen
        assert isinstance(page, PlanPage)
        assert page.can_act
        assert keys() == before
        await press(app, pilot, "right", *page.word, "enter")
        assert page.execution.state is PlanState.DONE, page.execution.message
        assert not any(key.endswith("model.done") for key in keys())
        await press(app, pilot, "enter")
        assert [row.state for row in rows(app, url)] == []
        screen.apply_filter("")
        assert [row.state for row in rows(app, url)] == ["failed"]
        await press(app, pilot, "U", "U")
        assert sorted(row.state for row in rows(app, url)) == ["failed", "hit"]
    assert keys() == before


async def test_a_bucket_that_cannot_be_listed_is_named_with_the_reason(url: str, tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path / "state"))
    app = TopApp(feeds.full(), settings, first="cache", services=Services(settings, ["s3://no-such-bucket-here/x"]))
    async with app.run_test(size=(140, 40)) as pilot:
        await press(app, pilot, "4")
        text = app.screen.query_one("#problems").render_line(0).text
        assert "s3://no-such-bucket-here/x cannot be listed" in text
        assert "NoSuchBucket" in text
