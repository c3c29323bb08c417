"""A cache that was named to be watched is on the cache screen, whatever this machine has configured."""

from __future__ import annotations

from pathlib import Path

from neuron_top.ingest.assembly import is_cache_root, paths_feed
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.cache import CacheScreen
from neuron_top.views.entries import EntryRow
from tests import builders


async def test_a_cache_that_is_watched_is_listed_by_its_own_name(tmp_path: Path) -> None:
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
        assert [row.module for row in rows if row.root == str(root)] == [entry.name], "beside what this machine has"
        assert screen._view.roots[0] == (str(root), "named on the command line", True)
