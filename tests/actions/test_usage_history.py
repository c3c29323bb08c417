"""Sums of a cache count the compile times that recordings know."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from neuron_top.actions.usage_history import NOTHING_RECORDED, UsageHistory
from neuron_top.cache.model.snapshot import total
from neuron_top.cache.scan.scanner import scan
from neuron_top.services.cache_listing import CacheListing
from neuron_top.services.caches import CacheService
from neuron_top.settings import Settings
from neuron_top.views.entries import entry_row
from tests.builders import HLO_NAME, neff, small_hlo, write_entry


def test_a_recorded_compile_time_is_in_the_sums_of_its_state_and_its_compiler(tmp_path: Path) -> None:
    files = {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}
    for number in range(3):
        write_entry(tmp_path, files, graph=f"{number:020x}")
    entries = scan(str(tmp_path)).entries
    past = UsageHistory(compiled={entries[0].module: 100.0, entries[1].module: 10.0, "MODULE_elsewhere": 1.0})
    sums = total(past.added_to(entries))
    assert sums.all.compile_seconds == sums.states["hit"].compile_seconds == 110.0
    assert [one.compile_seconds for one in sums.compilers.values()] == [110.0]
    assert total(NOTHING_RECORDED.added_to(entries)).all.compile_seconds is None


def test_what_an_entry_reports_itself_is_not_replaced(tmp_path: Path) -> None:
    stats = {"model.inductor": b"x" * 100, "model.done": b"", "model.stats.json": b'{"compile_seconds": 7.0}'}
    write_entry(tmp_path, {HLO_NAME: small_hlo(), **stats}, compiler="inductor-2.13.0+abcdef01")
    (entry,) = scan(str(tmp_path)).entries
    past = UsageHistory(compiled={entry.module: 100.0})
    assert [one.compile_seconds for one in past.added_to([entry])] == [entry.compile_seconds or 100.0]


def test_without_a_recording_no_store_is_opened(tmp_path: Path) -> None:
    assert UsageHistory.load(tmp_path) is NOTHING_RECORDED
    assert list(tmp_path.iterdir()) == []


def test_screens_list_the_last_use_and_the_compile_time_that_recordings_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "cache"
    write_entry(root, {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}, age=40 * 86_400.0)
    (entry,) = scan(str(root)).entries
    now = time.time()
    past = UsageHistory(used={entry.module: now - 60}, compiled={entry.module: 30.0})
    monkeypatch.setattr(CacheService, "usage_history", lambda _self: past)
    listing = CacheListing(Settings(state_dir=str(tmp_path / "state")), (str(root),))
    (row,) = [one for one in listing.entries().rows if one.root == str(root)]
    assert (row.used, row.compile_seconds) == (now - 60, 30.0)
    assert 60 <= row.age < 3600, "as evictions and `neurontop cache ls` have it"
    assert entry_row(str(root), entry, now).age > 39 * 86_400, "by its own files alone"
