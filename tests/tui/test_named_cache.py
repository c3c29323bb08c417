"""A cache that was named to be watched is alone on the cache screen, whatever this machine has configured."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.ingest.assembly import is_cache_root, paths_feed
from neuron_top.services.cache_listing import MOST_NAMED, CacheListing
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.cache import CacheScreen
from neuron_top.views.entries import EntryRow
from tests import builders


async def test_a_cache_that_is_watched_is_listed_by_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builders.write_entry(tmp_path / "configured", {"model.neff": builders.neff(), "model.done": b""})
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(tmp_path / "configured"))
    root = tmp_path / "elsewhere"
    entry = builders.write_entry(root, {"model.neff": builders.neff(), "model.done": b""})
    assert is_cache_root(root)
    settings = Settings(state_dir=str(tmp_path / "state"))
    app = TopApp(paths_feed(settings, [str(root)]), settings, first="cache", caches=[str(root)])
    async with app.run_test(size=(120, 40)) as pilot:
        screen = app.screen
        assert isinstance(screen, CacheScreen)
        await pilot.pause()
        await app.workers.wait_for_complete()
        await pilot.pause()
        rows = [row for row in screen.table.order.rows if isinstance(row, EntryRow)]
        assert [(row.root, row.module) for row in rows] == [(str(root), entry.name)]
        assert screen._view.roots == ((str(root), "named on the command line", True),)


def test_the_caches_that_the_job_uses_are_listed_beside_the_one_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("named", "of-job", "configured"):
        builders.write_entry(tmp_path / name, {"model.neff": builders.neff(), "model.done": b""})
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(tmp_path / "configured"))
    settings = Settings(state_dir=str(tmp_path / "state"))
    listing = CacheListing(settings, [str(tmp_path / "named")])
    assert listing.also([str(tmp_path / "of-job")])
    assert [row.root for row in listing.entries().rows] == [str(tmp_path / name) for name in ("named", "of-job")]
    assert str(tmp_path / "configured") in {row.root for row in CacheListing(settings).entries().rows}


def test_caches_beyond_the_limit_are_not_new_each_time(tmp_path: Path) -> None:
    """A listing is made again for every new one: a log that names many must not cost one for each page."""
    listing = CacheListing(Settings(state_dir=str(tmp_path / "state")), (str(tmp_path / "named"),))
    many = [str(tmp_path / f"cache{number}") for number in range(MOST_NAMED + 10)]
    assert listing.also(many)
    assert not listing.also(many)
