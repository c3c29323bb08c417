"""Full disk, read-only disk, permission denied half-way, hostile plans, two maintainers: a whole cache, clear words."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions import plan as plans
from neuron_top.actions import plan_context
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Plan
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.cache.use import CacheUse
from neuron_top.errors import RefusedForSafety
from tests.actions import caches

NOBODY = 65534


def planned(root: Path, **facts: object) -> Plan:
    snapshot = caches.looked_at(root)
    return plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=0.0), caches.context(snapshot, **facts))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four megabytes, of our own."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system needs root and the right to mount")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill_up(path: Path) -> None:
    """Write until there is no room left."""
    with open(path, "ab", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(b"x" * 512):
            pass


def test_on_a_full_disk_space_is_freed_from_the_reserve_that_the_trash_kept(small_disk: Path) -> None:
    root = small_disk / "cache"
    caches.entry(root, 1, blocks=20)
    before, plan, trash = caches.everything(root), planned(root), Trash(root)
    trash.prepare()
    fill_up(small_disk / "filler")
    assert free(small_disk) == 0
    assert caches.carried_out(plan, trash).done == 1
    assert trash.history_of(plan.identity).state == "done"
    restore(plan.identity, trash)
    assert caches.everything(root) == before
    again = planned(root)
    assert caches.carried_out(again, trash).done == 1
    with trash.exclusively():
        assert trash.purge(trash.history_of(again.identity)).freed >= 20 * 4096
    assert free(small_disk) >= 20 * 4096


def free(place: Path) -> int:
    facts = os.statvfs(place)
    return facts.f_bavail * facts.f_frsize


def test_on_a_full_disk_where_nothing_was_ever_done_nothing_is_done_and_the_reason_is_reported(
    small_disk: Path,
) -> None:
    root = small_disk / "cache"
    caches.entry(root, 1)
    plan = planned(root)
    before = caches.everything(root)
    fill_up(small_disk / "filler")
    with pytest.raises(RefusedForSafety, match=r"No space left.*purge.*, or delete something else on its disk first"):
        caches.carried_out(plan, Trash(root))
    assert caches.everything(root) == before
    (small_disk / "filler").unlink()
    assert caches.carried_out(plan, Trash(root)).done == 1


def test_a_disk_that_fills_up_half_way_stops_the_plan_where_it_can_be_undone(small_disk: Path) -> None:
    root = small_disk / "cache"
    for number in range(3):
        caches.entry(root, number)
    before, plan, trash = caches.everything(root), planned(root), Trash(root)

    def fill(progress: plans.Progress) -> bool:
        fill_up(small_disk / "filler")
        return True

    outcome = caches.carried_out(plan, trash, watch=fill)
    assert outcome.done + len(outcome.refused) == 3
    (small_disk / "filler").unlink()
    restore(plan.identity, trash)
    assert caches.everything(root) == before


@pytest.mark.parametrize("has_trash", [False, True])
def test_a_read_only_file_system_is_refused_with_words(small_disk: Path, has_trash: bool) -> None:
    root = small_disk / "cache"
    caches.entry(root, 1)
    if has_trash:
        Trash(root).prepare()
    plan = planned(root)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(RefusedForSafety, match=r"\(Read-only file system\): mount its disk writable first"):
        caches.carried_out(plan, Trash(root))


def test_a_folder_of_a_containers_image_is_reported_as_such(tmp_path: Path) -> None:
    place = tmp_path / "merged"
    for folder in (place, tmp_path / "upper", tmp_path / "work"):
        folder.mkdir()
    caches.entry(tmp_path / "image" / "cache", 1)
    layers = f"lowerdir={tmp_path}/image,upperdir={tmp_path}/upper,workdir={tmp_path}/work,redirect_dir=off"
    command = ["mount", "-t", "overlay", "-o", layers, "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting layers needs root and the right to mount")
    try:
        root = place / "cache"
        outcome = caches.carried_out(planned(root, shared=None), Trash(root))
        assert outcome.done == 0
        assert "it lies in a container's image" in caches.reasons(outcome)[0]
        assert len(caches.looked_at(root).entries) == 1
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_permission_denied_half_way_stops_only_those_steps(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("becoming another user needs root")
    root = tmp_path / "cache"
    mine, theirs = caches.entry(root, 1), caches.entry(root, 2, compiler="neuronxcc-2.20.1.0+aaaaaaaa")
    for path in (tmp_path, root, mine.parent, *root.glob("*/*"), *root.glob("*/*/*")):
        os.chown(path, NOBODY, NOBODY)
    theirs.parent.chmod(0o755)
    for folder in tmp_path.parents:
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o001)
    trash = tmp_path / "trash"
    trash.mkdir()
    os.chown(trash, NOBODY, NOBODY)
    plan = planned(root)
    assert as_nobody(plan, trash) == (1, "Permission denied")
    assert not mine.exists()
    assert (theirs / "model.neff").exists()


def as_nobody(plan: Plan, folder: Path) -> tuple[int, str]:
    """Execute in a process of an unprivileged user; (steps done, why the first of the others was not)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            outcome = caches.carried_out(plan, Trash(plan.root, folder))
            os.write(writer, msgspec.json.encode((outcome.done, caches.reasons(outcome)[0])))
        except BaseException as problem:
            os.write(writer, msgspec.json.encode((0, repr(problem))))
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answer:
        done, reason = msgspec.json.decode(answer.read(), type=tuple[int, str])
    os.waitpid(child, 0)
    return done, reason


@pytest.mark.parametrize(
    "path", ["../../etc", "/etc/MODULE_1+00000000", "neuronxcc-1/../MODULE_1+00000000", "precious", "a//MODULE_1+0"]
)
def test_a_plan_file_cannot_name_what_is_no_entry(tmp_path: Path, path: str) -> None:
    caches.entry(tmp_path / "cache", 1)
    plan = planned(tmp_path / "cache")
    hostile = msgspec.structs.replace(plan, steps=(msgspec.structs.replace(plan.steps[0], path=path),))
    with pytest.raises(ValueError, match=r"leads out|is not the"):
        plans.decode(plans.encode(hostile))
    with pytest.raises(RefusedForSafety):
        caches.carried_out(hostile, Trash(tmp_path / "cache"))


@pytest.mark.skipif(not Path("/dev/shm").is_mount(), reason="no file system that a cache could be the top of")
def test_a_cache_that_is_a_whole_file_system_is_refused_with_a_way_out_and_nothing_is_made_elsewhere(
    tmp_path: Path,
) -> None:
    if tmp_path.stat().st_dev == Path("/dev/shm").stat().st_dev:
        pytest.skip("the folder of temporary files lies on that file system")
    with pytest.raises(RefusedForSafety, match=r"is the top of a file system.*such as /dev/shm/cache"):
        Trash("/dev/shm").prepare()
    elsewhere = Trash("/dev/shm", tmp_path / "trash")
    with pytest.raises(RefusedForSafety, match="is the top of a file system"):
        elsewhere.prepare()
    assert not (tmp_path / "trash").exists()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place, pytest.raises(RefusedForSafety, match="--trash"):
        Trash(place, tmp_path / "trash").prepare()
    assert not (tmp_path / "trash").exists()
    assert not Trash("/dev/shm").folder.exists()


def test_a_plan_file_cannot_choose_where_the_trash_lies(tmp_path: Path) -> None:
    caches.entry(tmp_path / "cache", 1)
    hostile = msgspec.structs.replace(planned(tmp_path / "cache"), identity="../../../x")
    with pytest.raises(RefusedForSafety):
        caches.carried_out(hostile, Trash(tmp_path / "cache"))


def test_the_trash_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("giving a folder to another user needs root")
    root = tmp_path / "cache"
    caches.entry(root, 1)
    trash = Trash(root)
    trash.folder.parent.mkdir()
    os.chown(trash.folder.parent, NOBODY, NOBODY)
    with pytest.raises(RefusedForSafety, match="another user"):
        caches.carried_out(planned(root), trash)


def test_a_job_that_starts_after_the_plan_was_made_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    place = caches.entry(root, 1)
    plan = planned(root)
    from neuron_top.actions.backends.base import ExecuteOptions
    from neuron_top.actions.execution.local import execute

    outcome = execute(plan, Trash(root), ExecuteOptions(in_use=lambda path: CacheUse(why=f"process 1 uses {path}")))
    assert outcome.done == 0
    assert "in use" in caches.reasons(outcome)[0]
    assert (place / "model.neff").exists()


MAINTAINER = """
import sys
from neuron_top.actions import plan_context
from neuron_top.actions import plan as plans
from neuron_top.actions.backends.base import ExecuteOptions
from neuron_top.actions.execution.local import execute
from neuron_top.actions.journal.trash import Trash
from neuron_top.errors import RefusedForSafety
plan = plans.decode(open(sys.argv[1], "rb").read())[0]
while True:
    try:
        print(execute(plan, Trash(plan.root), ExecuteOptions(in_use=lambda root: None)).done)
        break
    except RefusedForSafety as problem:
        assert "another neurontop" in str(problem), problem
"""


def test_two_maintainers_at_once_take_every_entry_once(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    for number in range(60):
        caches.entry(root, number)
    before = caches.everything(root)
    first = planned(root)
    second = msgspec.structs.replace(first, identity="0123456789")
    for name, plan in (("a", first), ("b", second)):
        (tmp_path / name).write_bytes(plans.encode(plan))
    both = [
        subprocess.Popen([sys.executable, "-c", MAINTAINER, str(tmp_path / name)], stdout=subprocess.PIPE, text=True)
        for name in ("a", "b")
    ]
    done = [int(process.communicate(timeout=60)[0]) for process in both]
    assert sum(done) == 60
    assert caches.looked_at(root).entries == ()
    for plan in (first, second):
        restore(plan.identity, Trash(root))
    assert caches.everything(root) == before


def test_the_shell_that_we_were_started_from_is_no_user_of_the_cache(tmp_path: Path) -> None:
    code = "import sys; from neuron_top.actions import plan_context; print(plan_context.in_use(sys.argv[1]))"
    inner = [sys.executable, "-c", code, str(tmp_path)]
    outer = [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:], check=True)", *inner]
    environ = {**os.environ, "NEURON_COMPILE_CACHE_URL": str(tmp_path)}
    shown = subprocess.run(outer, env=environ, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "its environment names it" not in shown


def test_another_process_whose_environment_names_the_cache_is_a_user(tmp_path: Path) -> None:
    environ = {**os.environ, "NEURON_COMPILE_CACHE_URL": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", "print(1, flush=True); input()"], env=environ, stdin=-1, stdout=-1
    ) as job:
        assert job.stdout is not None
        job.stdout.readline()
        assert plan_context.in_use(str(tmp_path)) is not None
        job.communicate(b"\n")
