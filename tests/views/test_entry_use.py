"""When an entry was used last: where that is unknown, its time of writing counts, and is never called a use."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.usage_history import UsageHistory
from neuron_top.cache.model.entry import Lock
from neuron_top.cache.model.states import Holder
from neuron_top.dashboard import entry_rows as web
from neuron_top.dashboard.cache_figures import treemap
from neuron_top.dashboard.chart_colors import LIGHT
from neuron_top.tui.panels.entry_rows import Item, columns, head
from neuron_top.tui.panels.graph_page import entry_facts
from neuron_top.tui.theme import choose
from neuron_top.views.entries import EntryRow, EntryTable, entry_filter, entry_row, youngest
from neuron_top.views.entry_tree import compiler_rows
from neuron_top.views.plan import reason_text
from neuron_top.views.reclaim import reclaimable
from tests.actions import caches

DAY = 86400.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An entry that was compiled 50 days ago and never read; its folder changed two days ago, as after an unlock."""
    entry = caches.entry(tmp_path / "cache", 1, age_days=50)
    then = time.time() - 2 * DAY
    os.utime(entry, (then, then))
    return tmp_path / "cache"


def row_of(root: Path, used: float | None = None) -> EntryRow:
    [entry] = caches.looked_at(root).entries
    past = UsageHistory(used={} if used is None else {entry.module: used})
    return entry_row(str(root), entry, time.time(), past)


def test_the_filter_and_the_eviction_agree_where_no_use_is_known(root: Path) -> None:
    snapshot, row = caches.looked_at(root), row_of(root)
    assert row.used is None
    for days, goes in ((40, True), (60, False)):
        assert entry_filter(f"used>{days}d")(row) is goes
        plan = plan_eviction(
            snapshot.entries, str(root), EvictCriteria(older_than=days * DAY), caches.context(snapshot)
        )
        assert [reason_text(step) for step in plan.steps] == ["no use known for 50 d"] * goes
        assert plan.policy == f"no use known for {days} d"


def test_what_proves_the_state_of_a_lock_stands_behind_a_colon(root: Path) -> None:
    [entry] = caches.looked_at(root).entries
    locks = (
        Lock(since=1.0, verdict=Holder.DEAD, proof="it is old"),
        Lock(since=1.0, verdict=Holder.ALIVE, owner="pid 7", proof="process 7 holds it"),
        Lock(since=1.0, verdict=Holder.UNKNOWN),
    )
    said = [entry_row(str(root), msgspec.structs.replace(entry, lock=lock), time.time()).lock for lock in locks]
    assert said == ["dead: it is old", "alive: pid 7, process 7 holds it", "unknown"]


def test_a_use_that_a_recording_saw_is_reported_as_one(root: Path) -> None:
    snapshot, used = caches.looked_at(root), time.time() - 45 * DAY
    row = row_of(root, used)
    assert (row.used, row.used_text) == (used, "45 d ago")
    context = caches.context(snapshot, used={row.module: used})
    [step] = plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=40 * DAY), context).steps
    assert reason_text(step) == "unused for 45 d"


def shown(item: Item, title: str) -> str:
    theme = choose("dark", False, "utf-8", None)
    [column] = [one for one in columns(lambda key: False, lambda: 1, tree=True) if one.title == title]
    return "".join(text for text, _style in column.cell(item, theme, column.width))


def test_every_screen_says_written_where_no_use_is_known(root: Path) -> None:
    theme = choose("dark", False, "utf-8", None)
    for used, cell, fact, group in (
        (None, "written 50 d", "unknown; written 50 d ago", "written 50 d ago"),
        (time.time() - 3.2 * DAY, "3 d", "3 d 04 h ago", "used 3 d ago"),
    ):
        row = row_of(root, used)
        assert shown(row, "Used") == cell
        assert dict(entry_facts(row))["last used"] == fact
        [compiler] = compiler_rows(EntryTable(roots=((str(root), "", True),), rows=(row,)))
        line = head(compiler, theme, 120, folded=False, roots=1)
        assert line is not None
        assert group in [text.strip() for text, _style in line]
        [group_row] = web.grouped([row], "state", [], [])
        assert [web.row(one)["used"] for one in (row, group_row)] == [used, used]


def test_what_is_dated_ahead_of_the_clock_has_no_age(tmp_path: Path) -> None:
    for number, days in ((1, 20.0), (2, -400.0)):
        caches.entry(tmp_path / "cache", number, age_days=days)
    entries = caches.looked_at(tmp_path / "cache").entries
    rows = tuple(entry_row("/c", entry, time.time()) for entry in entries)
    old, ahead = sorted(rows, key=lambda row: row.module)
    assert (ahead.age, ahead.used_text) == (None, "unknown; dated ahead of the clock")
    for text, kept in (("used>7d", [old]), ("used<7d", [])):
        keep = entry_filter(text)
        assert [row for row in rows if keep(row)] == kept
    [compiler] = compiler_rows(EntryTable(roots=(), rows=rows))
    assert compiler.age == youngest(rows).age == old.age
    assert {part.entries for part in reclaimable(rows) if "no use known" in part.title} == {1}
    assert "dated ahead" in str(treemap(rows, LIGHT)["data"])
