"""Sums of a cache count the compile times that recordings know."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from neuron_top.actions import recorded_uses
from neuron_top.actions.usage_history import NOTHING_RECORDED, UsageHistory
from neuron_top.cache.model.snapshot import total
from neuron_top.cache.scan.scanner import scan
from neuron_top.events import AnyEvent, ArtifactLoaded, CacheHit, CompileCompleted, EntryChanged, RunStarted
from neuron_top.services.cache_listing import CacheListing
from neuron_top.services.caches import CacheService
from neuron_top.settings import Settings
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
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
    assert UsageHistory.load(tmp_path, str(tmp_path)) is NOTHING_RECORDED
    assert list(tmp_path.iterdir()) == []


def test_screens_list_the_last_use_and_the_compile_time_that_recordings_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "cache"
    write_entry(root, {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}, age=40 * 86_400.0)
    (entry,) = scan(str(root)).entries
    now = time.time()
    past = UsageHistory(used={entry.module: now - 60}, compiled={entry.module: 30.0})
    monkeypatch.setattr(CacheService, "usage_history", lambda _self, _root: past)
    listing = CacheListing(Settings(state_dir=str(tmp_path / "state")), (str(root),))
    (row,) = [one for one in listing.entries().rows if one.root == str(root)]
    assert (row.used, row.compile_seconds) == (now - 60, 30.0)
    assert 60 <= row.age < 3600, "as evictions and `neurontop cache ls` have it"
    assert entry_row(str(root), entry, now).age > 39 * 86_400, "by its own files alone"


def test_a_compile_time_says_what_it_is_of(tmp_path: Path) -> None:
    stats = {"model.inductor": b"x", "model.done": b"", "model.stats.json": b'{"compile_seconds": 7.0}'}
    write_entry(tmp_path, {HLO_NAME: small_hlo(), **stats}, compiler="inductor-2.13.0+abcdef01", graph="a" * 20)
    write_entry(tmp_path, {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}, graph="b" * 20)
    ours, sdk = sorted(scan(str(tmp_path)).entries, key=lambda entry: entry.module)
    past = UsageHistory(compiled={ours.module: 7.4, sdk.module: 12.2})
    assert entry_row("r", ours, 0.0, past).compile_text == "7.0 s in the compiler alone"
    assert entry_row("r", sdk, 0.0, past).compile_text == "12.2 s in a recorded run"
    assert entry_row("r", sdk, 0.0).compile_text == "—"


MODULE = "MODULE_0123456789abcdef+d7517139"


def caches(tmp_path: Path) -> tuple[Path, Path]:
    """Two caches that are there, with a copy of the module in each."""
    both = tmp_path / "one", tmp_path / "other"
    for root in both:
        root.mkdir()
    return both


def record(tmp_path: Path, run: str, *events: AnyEvent) -> None:
    with SqliteStore(tmp_path / FILE_NAME) as store:
        store.begin(RunStarted(run=run, at=1.0))
        store.append(run, events)


def last_use(tmp_path: Path, root: Path | str) -> float | None:
    return UsageHistory.load(tmp_path, str(root)).used.get(MODULE)


def test_a_hit_counts_in_the_cache_that_it_came_from(tmp_path: Path) -> None:
    one, other = caches(tmp_path)
    record(tmp_path, "r1", CacheHit(at=100.0, module=MODULE, root=str(one)))
    assert (last_use(tmp_path, one), last_use(tmp_path, other)) == (100.0, None)
    (tmp_path / "link").symlink_to(one)
    assert last_use(tmp_path, tmp_path / "link") == 100.0, "another name of the same folder"


def test_a_use_without_a_cache_is_of_the_one_that_its_recording_names(tmp_path: Path) -> None:
    one, other = caches(tmp_path)
    loaded = ArtifactLoaded(at=90.0, module=MODULE, seconds=1.0)
    created = EntryChanged(root=str(one), compiler="c", module=MODULE, state="hit")
    record(tmp_path, "r1", loaded, created)
    assert (last_use(tmp_path, one), last_use(tmp_path, other)) == (90.0, None)
    with SqliteStore(tmp_path / FILE_NAME) as store:  # the recording goes on; what was read of it is not read again
        store.append("r1", [ArtifactLoaded(at=95.0, module=MODULE, seconds=1.0)])
    assert (last_use(tmp_path, one), last_use(tmp_path, other)) == (95.0, None)


def test_a_use_counts_everywhere_where_its_cache_is_not_known_here(tmp_path: Path) -> None:
    one, other = caches(tmp_path)
    record(tmp_path, "r1", CompileCompleted(at=70.0, module=MODULE))
    assert last_use(tmp_path, one) == last_use(tmp_path, other) == 70.0
    record(tmp_path, "r2", CacheHit(at=80.0, module=MODULE, root="/a/path/in/a/container"))
    assert last_use(tmp_path, one) == last_use(tmp_path, other) == 80.0
    record(tmp_path, "r3", CacheHit(at=85.0, module=MODULE, root="s3://bucket/cache"))
    assert (last_use(tmp_path, one), last_use(tmp_path, "s3://bucket/cache/")) == (80.0, 85.0)


@pytest.mark.parametrize("named", ["/a\0b", f"/{'x' * 300}"], ids=["no path", "a path that cannot be looked at"])
def test_a_use_counts_everywhere_where_its_log_names_the_cache_oddly(tmp_path: Path, named: str) -> None:
    one, _other = caches(tmp_path)
    record(tmp_path, "r1", CacheHit(at=80.0, module=MODULE, root=named))
    assert last_use(tmp_path, one) == 80.0


def test_a_damaged_batch_of_one_recording_hides_no_other_use(tmp_path: Path) -> None:
    one, _other = caches(tmp_path)
    record(tmp_path, "r1", CacheHit(at=70.0, module=MODULE, root=str(one)))
    record(tmp_path, "r2", CacheHit(at=80.0, module=MODULE, root=str(one)))
    record(tmp_path, "r3", CacheHit(at=90.0, module=MODULE, root=str(one)))
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
        connection.execute("UPDATE events SET data = x'00' WHERE run = 'r3'")
    for _ in range(2):
        assert last_use(tmp_path, one) == 80.0


def test_what_was_kept_before_caches_were_told_apart_still_counts(tmp_path: Path) -> None:
    one, _other = caches(tmp_path)
    record(tmp_path, "r1")
    (tmp_path / recorded_uses.USES).write_text(f'{{"read":{{"gone":3}},"used":{{"{MODULE}":60.0}}}}')
    assert last_use(tmp_path, one) == 60.0
