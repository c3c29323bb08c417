"""A read changes no folder: the catalog does not see it, and the plan and its execution ask the disk once more."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.cache import filesystem
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import scanner
from neuron_top.views.plan import reason_text
from tests.actions import caches


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def seen_before(root: Path) -> Snapshot:
    """Two entries, the first unused for longer, as an index holds them; the mount keeps access times."""
    for number, age in ((1, 40.0), (2, 20.0)):
        caches.entry(root, number, age_days=age)
    before = caches.looked_at(root)
    return msgspec.structs.replace(
        before, filesystem=msgspec.structs.replace(before.filesystem, access_times="relatime")
    )


def read(root: Path, number: int, at: float) -> Path:
    """A client loads an artifact: nothing but its access time changes."""
    place = root / caches.COMPILER / caches.module(number)
    artifact = place / "model.neff"
    os.utime(artifact, (at, artifact.stat().st_mtime))
    return place


def test_what_was_read_since_the_catalog_looked_stays_and_the_next_goes(root: Path) -> None:
    before = seen_before(root)
    context = caches.context(before)
    used = read(root, 1, context.now - 3600)
    again = scanner.refresh(before)
    assert again.entries == before.entries, "the catalog cannot see it"
    policy = EvictCriteria(max_bytes=before.totals().all.bytes - 4096)
    plan = plan_with_reads(before, before.entries, str(root), policy, context)
    assert [step.path for step in plan.steps] == [f"{caches.COMPILER}/{caches.module(2)}"]
    assert [(one.path.rpartition("/")[2], reason_text(one)) for one in plan.exclusions] == [
        (used.name, "used within a day (known from: access time); make the plan again a day after its last use")
    ]


@pytest.mark.parametrize("slim", [False, True])
def test_the_executor_refuses_what_was_read_within_a_day_and_later_than_the_plan_says(root: Path, slim: bool) -> None:
    if filesystem.describe(str(root)).access_times == "noatime":
        pytest.skip("this mount keeps no access times: the hand does not believe them")
    before = seen_before(root)
    context = caches.context(before)
    plan = plan_eviction(before.entries, str(root), EvictCriteria(older_than=0.0, keep_graph=slim), context)
    used = read(root, 1, plan.made_at - 3600)
    outcome = caches.carried_out(plan, Trash(root))
    assert [path.rpartition("/")[2] for path, _ in outcome.refused] == [used.name]
    assert caches.reasons(outcome) == ["it was used within a day, and later than the plan says"]
    assert (used / "model.neff").exists()
    assert outcome.done == 1


def test_the_executor_refuses_what_was_read_since_a_plan_that_a_clock_which_was_ahead_has_dated(root: Path) -> None:
    if filesystem.describe(str(root)).access_times == "noatime":
        pytest.skip("this mount keeps no access times")
    before = seen_before(root)
    context = msgspec.structs.replace(caches.context(before), now=time.time() + 300 * caches.DAY)
    plan = plan_eviction(before.entries, str(root), EvictCriteria(older_than=0.0), context)
    used = read(root, 1, time.time() - 60)
    outcome = caches.carried_out(plan, Trash(root))
    assert [path.rpartition("/")[2] for path, _ in outcome.refused] == [used.name]
    assert outcome.done == 1


@pytest.mark.parametrize("where", ["in the cache", "in a hub"])
def test_an_artifact_that_is_a_link_ages_and_is_used_by_the_file_that_it_leads_to(root: Path, where: str) -> None:
    """Each look follows the link, which counts as a read of the link itself: no such entry was ever old enough."""
    pool = root / "pool" if where == "in the cache" else root.parent / "models--x" / "blobs"
    pool.mkdir(parents=True)
    entries = [caches.entry(root, number, age_days=40.0) for number in range(3)]
    for place in entries[:2]:
        artifact = place / "model.neff"
        target = artifact.rename(pool / place.name)
        artifact.symlink_to(target)
        caches.grow_old(place, 40.0)
        os.utime(artifact, (time.time(), target.stat().st_mtime), follow_symlinks=False)
    before = caches.looked_at(root)
    before = msgspec.structs.replace(
        before, filesystem=msgspec.structs.replace(before.filesystem, access_times="relatime")
    )
    context, criteria, trash = caches.context(before), EvictCriteria(older_than=30 * caches.DAY), Trash(root)
    plan = plan_with_reads(before, before.entries, str(root), criteria, context)
    assert {step.path.rpartition("/")[2] for step in plan.steps} == {place.name for place in entries}
    used = pool / entries[0].name
    os.utime(used, (context.now - 3600, used.stat().st_mtime))  # a client reads it through the link
    again = plan_with_reads(before, before.entries, str(root), criteria, context)
    assert {step.path.rpartition("/")[2] for step in again.steps} == {place.name for place in entries[1:]}
    outcome = caches.carried_out(plan, trash)
    assert [path.rpartition("/")[2] for path, _ in outcome.refused] == [entries[0].name]
    assert outcome.done == 2
    assert restore(plan.identity, trash).kept == ()
    assert {entry.path for entry in caches.looked_at(root).entries} == {entry.path for entry in before.entries}
