"""Entries dated by a clock that was ahead: never old by their times, yet not kept for ever, and not taken too early."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions.dated_ahead import FILE_NAME, first_seen
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Plan
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.actions.reasons import NotDone, NotDoneCode, ReasonCode, UseSource
from neuron_top.cache import filesystem
from neuron_top.cache.use import DAY, CacheUse, is_ahead
from neuron_top.views.plan import plan_lines, reason_text
from tests.actions import caches

NOW = time.time()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def planned(root: Path, criteria: EvictCriteria, *, seen: dict[str, float] | None = None, **facts: object) -> Plan:
    snapshot = caches.looked_at(root)
    context = caches.context(snapshot, first_seen=seen or {}, **facts)
    return plan_with_reads(snapshot, snapshot.entries, str(root), criteria, context)


def seen_ago(root: Path, days: float) -> dict[str, float]:
    return {entry.path: NOW - days * DAY for entry in caches.looked_at(root).entries}


@pytest.mark.parametrize("criteria", [EvictCriteria(older_than=30 * DAY), EvictCriteria(max_bytes=0)])
def test_an_entry_that_is_dated_ahead_is_as_old_as_it_has_been_seen(root: Path, criteria: EvictCriteria) -> None:
    caches.entry(root, 1, age_days=-400)
    assert planned(root, criteria).steps == ()
    assert planned(root, criteria, seen=seen_ago(root, 0.5)).steps == ()
    plan = planned(root, criteria, seen=seen_ago(root, 31))
    assert [step.last_used_from for step in plan.steps] == [UseSource.SEEN]
    text = "\n".join(line.text for line in plan_lines(plan))
    assert "dated ahead of the clock, first seen 31 d ago" in text
    assert "no use known for 31 d" in text
    assert caches.carried_out(plan, Trash(root)).done == 1


@pytest.mark.parametrize("which", ["model.neff", "compile_flags.json", ""])
def test_one_time_ahead_protects_for_a_day_and_says_why(root: Path, which: str) -> None:
    place = caches.entry(root, 1, age_days=40)
    os.utime(place / which, (NOW + 400 * DAY, NOW + 400 * DAY))
    fresh = planned(root, EvictCriteria(max_bytes=0))
    assert [one.cause.code for one in fresh.exclusions] == [ReasonCode.DATED_AHEAD]
    assert "a day after it was first seen" in reason_text(fresh.exclusions[0])
    plan = planned(root, EvictCriteria(max_bytes=0), seen=seen_ago(root, 2))
    assert len(plan.steps) == 1
    assert caches.carried_out(plan, Trash(root)).done == 1


def test_a_time_that_lies_a_little_ahead_is_one_of_now(root: Path) -> None:
    caches.entry(root, 1, age_days=-0.5)
    assert not is_ahead(NOW + 0.5 * DAY, NOW)
    plan = planned(root, EvictCriteria(max_bytes=0), seen=seen_ago(root, 31))
    assert [one.cause.code for one in plan.exclusions] == [ReasonCode.CHANGED_RECENTLY]


def test_what_was_read_since_it_was_seen_first_stays(root: Path) -> None:
    if filesystem.describe(str(root)).access_times == "noatime":
        pytest.skip("this mount keeps no access times")
    artifact = caches.entry(root, 1, age_days=-400) / "model.neff"
    criteria, seen = EvictCriteria(max_bytes=0), seen_ago(root, 31)
    plan = planned(root, criteria, seen=seen)
    os.utime(artifact, (NOW - 3600, artifact.stat().st_mtime))  # as a mount with `relatime` has it after a read
    assert [one.cause.code for one in planned(root, criteria, seen=seen).exclusions] == [ReasonCode.USED_RECENTLY]
    assert [why for _, why in caches.carried_out(plan, Trash(root)).refused] == [NotDone(NotDoneCode.USED_LATER)]


def test_where_reads_do_not_show_an_entry_stays_while_a_job_runs(root: Path) -> None:
    artifact = caches.entry(root, 1, age_days=40) / "model.neff"
    os.utime(artifact, (NOW + 400 * DAY, artifact.stat().st_mtime))  # no read of today changes such an access time
    use = CacheUse(why="a job", since=NOW - 3600)
    plan = planned(root, EvictCriteria(max_bytes=0), seen=seen_ago(root, 31), in_use=use, has_access_times=True)
    assert [one.cause.code for one in plan.exclusions] == [ReasonCode.IN_USE]
    alone = planned(root, EvictCriteria(max_bytes=0), seen=seen_ago(root, 31))
    assert [step.last_used_from for step in alone.steps] == [UseSource.SEEN_ONLY]
    assert caches.carried_out(alone, Trash(root)).done == 1


def test_first_sight_is_kept_until_the_entry_changes_or_the_clock_has_passed_it(root: Path, tmp_path: Path) -> None:
    place, state = caches.entry(root, 1, age_days=-400), tmp_path / "state"

    def seen(now: float) -> dict[str, float]:
        return first_seen(state, str(root), caches.looked_at(root).entries, now)

    assert list(seen(NOW).values()) == [NOW]
    assert list(seen(NOW + 5 * DAY).values()) == [NOW]
    assert list(seen(NOW - 5 * DAY).values()) == [NOW - 5 * DAY], "the clock was set back"
    (place / "model.done").write_bytes(b"again")
    os.utime(place, (NOW + 500 * DAY, NOW + 500 * DAY))
    assert list(seen(NOW + 6 * DAY).values()) == [NOW + 6 * DAY]
    assert seen(NOW + 600 * DAY) == {}
    assert msgspec.json.decode((state / FILE_NAME).read_bytes()) == {}


def test_a_state_folder_that_cannot_be_written_takes_nothing_too_early(root: Path, tmp_path: Path) -> None:
    caches.entry(root, 1, age_days=-400)
    (tmp_path / "state").write_bytes(b"a file")
    assert list(first_seen(tmp_path / "state", str(root), caches.looked_at(root).entries, NOW).values()) == [NOW]


def test_an_entry_of_any_date_that_a_disk_keeps_is_evicted_and_brought_back() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:  # memory keeps any time, most disks do not
        root = Path(place) / "cache"
        folder = caches.entry(root, 1)
        for path in (*folder.iterdir(), folder):
            os.utime(path, (9e15, 9e15))
        before, trash = caches.everything(root), Trash(root)
        plan = planned(root, EvictCriteria(older_than=30 * DAY), seen=seen_ago(root, 31))
        assert caches.carried_out(plan, trash).done == 1
        assert trash.holds(trash.history_of(plan.identity)), "a restore that names no plan finds it"
        assert restore(plan.identity, trash).restored == 1
        assert caches.everything(root) == before
        assert folder.stat().st_mtime == 9e15
