"""TorchNeuron's cache: listed, verified, evicted, undone. Laid out by the text of a public copy of the back end; no
capture of a real one was at hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from neuron_top.actions import plan as plans
from neuron_top.actions.backends import BackendKind, BackendOptions, open_backend
from neuron_top.actions.journal import trash_contents
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.actions.reasons import ReasonCode
from neuron_top.cache import torch_neuron
from neuron_top.cache.model.entry import Entry, is_entry_path
from neuron_top.cache.model.states import Holder, State
from neuron_top.cache.processes import CacheProcess
from neuron_top.cache.use import CacheUse
from neuron_top.errors import NothingToShow, RefusedForSafety, UsageError
from neuron_top.services.caches import CacheService, EvictCriteria
from neuron_top.settings import Settings
from tests import builders
from tests.actions import caches

KEYS = [f"{number:02x}{number:02x}{'0' * 28}" for number in range(1, 6)]


def store(root: Path, key: str, data: bytes | None = None, days: float = 10.0) -> Path:
    path = root / key[:2] / key[2:4] / f"{key}.neff"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(caches.neff(4096 - 1024) if data is None else data)
    then = time.time() - days * 86400
    os.utime(path, (then, then))
    return path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five hits of 50 to 10 days; the local tier has a lock file of each, which nobody holds."""
    place, local = tmp_path / "neff", tmp_path / "local"
    (local / "locks").mkdir(parents=True)
    for number, key in enumerate(KEYS):
        store(place, key, days=50 - 10 * number)
        (local / "locks" / f"{key}.lock").touch()
    monkeypatch.setenv(torch_neuron.SHARED, str(place))
    monkeypatch.setenv(torch_neuron.LOCAL, str(local))
    return place


@pytest.fixture
def service(tmp_path: Path) -> CacheService:
    return CacheService(Settings(state_dir=str(tmp_path / "state")), in_use=lambda root: None)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Callable[[str], int]]:
    """Has another process hold the lock of a key; gives its number."""
    holders = []

    def hold(key: str) -> int:
        script = (
            "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
            "print('x', flush=True); time.sleep(600)"
        )
        path = str(tmp_path / "local" / "locks" / f"{key}.lock")
        holder = subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE)
        holders.append(holder)
        assert holder.stdout is not None
        holder.stdout.readline()
        return holder.pid

    yield hold
    for holder in holders:
        holder.kill()
        holder.communicate()


def entries(root: Path) -> dict[str, Entry]:
    return {entry.module: entry for entry in torch_neuron.scan(str(root)).entries}


def evicted(service: CacheService, root: Path, **criteria: object) -> plans.Plan:
    look = service.look(str(root))
    quiet = msgspec.structs.replace(look.context, in_use=None)  # compilers of other tests count as use
    return look._replace(context=quiet).plan_eviction(EvictCriteria(**criteria))  # type: ignore[arg-type]


def test_an_entry_has_its_state_size_age_and_lock(root: Path) -> None:
    store(root, KEYS[0], b"short")
    found = entries(root)
    assert {key: entry.state for key, entry in found.items()} == {
        key: State.CORRUPT if key == KEYS[0] else State.HIT for key in KEYS
    }
    whole = found[KEYS[4]]
    assert (whole.neff_bytes, whole.allocated, whole.compiler) == (4096, 4096, "torch-neuronx")
    assert whole.compiled_at == pytest.approx(time.time() - 10 * 86400, abs=60)
    assert whole.lock is not None
    assert whole.lock.verdict is Holder.DEAD
    assert (root / whole.path).is_file()


@pytest.mark.parametrize("force", [False, True])
def test_a_lock_file_that_nobody_holds_is_nothing_to_unlock(
    root: Path, held: Callable[[str], int], force: bool
) -> None:
    """Each of them was planned as the lock of a dead holder, and the step then refused, with status 1."""
    held(KEYS[1])
    snapshot = torch_neuron.scan(str(root))
    assert [entry.lock is not None for entry in snapshot.entries] == [True] * len(KEYS)
    plan = plan_unlock(snapshot.entries, str(root), caches.context(snapshot), force=force)
    assert plan.steps == ()
    assert [(KEYS[1] in each.path, each.cause.code) for each in plan.exclusions] == [(True, ReasonCode.HOLDER_ALIVE)]


def test_a_lock_that_a_process_holds_is_a_compile_with_or_without_an_artifact(
    root: Path, held: Callable[[str], int]
) -> None:
    new = "ff" * 16
    pids = [held(KEYS[0]), held(new)]
    found = entries(root)
    for key, pid in zip((KEYS[0], new), pids, strict=True):
        lock = found[key].lock
        assert found[key].state is State.COMPILING
        assert lock is not None
        assert (lock.verdict, lock.owner) == (Holder.ALIVE, f"pid {pid}")
    assert found[new].allocated == 0


def test_what_is_no_entry_is_counted_beside_them(root: Path) -> None:
    (root / "01" / "01" / ".tmp.AbCdEf").write_bytes(b"x" * 5000)
    (root / "01" / "01" / f"{'ff' * 16}.neff").write_bytes(b"of another shard")
    (root / "readme").touch()
    (root / "02" / "02" / f"{'02' * 16}.neff").symlink_to("/etc/passwd")
    snapshot = torch_neuron.scan(str(root))
    assert len(snapshot.entries) == 5
    assert sum(other.files for other in snapshot.others) == 4


def test_a_processs_own_tiers_count_too(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "locks").mkdir(parents=True)
    process = CacheProcess(
        pid=7,
        command=("python",),
        cwd=str(tmp_path),
        environ={torch_neuron.SHARED: "neff", torch_neuron.LOCAL: "other"},
    )
    folders = torch_neuron.lock_folders(str(root), {}, [process])
    assert folders == [str(other / "locks")]


@pytest.mark.parametrize("made", ["neffs", "locks", "empty", "inductor", "neuron", "nothing"])
def test_a_folder_is_known_by_what_lies_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str) -> None:
    place = tmp_path / "a"
    place.mkdir()
    if made == "neffs":
        store(place, KEYS[0])
    elif made == "locks":
        (place / "locks").mkdir()
        (place / "locks" / f"{KEYS[0]}.lock").touch()
    elif made == "empty":
        monkeypatch.setenv(torch_neuron.SHARED, str(place))
    elif made == "inductor":
        (place / "ab").mkdir()
        (place / "ab" / "cabc.py").touch()
        (place / "fxgraph" / "ab").mkdir(parents=True)
    elif made == "neuron":
        caches.entry(place, 1)
    backend = open_backend(str(place), BackendOptions(state=tmp_path))
    assert backend.kind is BackendKind.FOLDER
    assert backend.keeps_graphs is (made not in ("neffs", "locks", "empty"))


def test_eviction_takes_the_longest_unused_and_undo_gives_it_back(root: Path, service: CacheService) -> None:
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in root.rglob("*.neff")}
    plan = evicted(service, root, max_bytes=3 * 4096)
    assert [step.path for step in plan.steps] == [f"{key[:2]}/{key[2:4]}/{key}.neff" for key in KEYS[:2]]
    assert (plan.after.free_inodes or 0) - (plan.before.free_inodes or 0) == 2, "files, no folders"
    outcome = service.execute(plan)
    assert (outcome.done, outcome.refused, outcome.moved_bytes) == (2, (), 2 * 4096)
    assert list(entries(root)) == KEYS[2:]
    assert service.trash.undo(str(root), plan.identity).record.restored == 2
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in root.rglob("*.neff")} == before


def test_what_a_killed_journal_lost_is_found_and_given_back(root: Path, service: CacheService) -> None:
    plan = evicted(service, root, older_than=0.0)
    service.execute(plan)
    journal = open_backend(str(root), BackendOptions(state=root)).journal()
    journal.journal.unlink()
    lying = trash_contents.moves_found(journal.folder / plan.identity, root, None)
    assert sorted(move.path for move in lying) == sorted(step.path for step in plan.steps)
    assert service.trash.undo(str(root), plan.identity).record.restored == 5
    assert len(entries(root)) == 5


def test_purge_frees_what_was_taken(root: Path, service: CacheService) -> None:
    service.execute(evicted(service, root, older_than=0.0))
    purge = service.trash.purge(str(root), service.trash.purgeable(str(root)))
    assert purge.files >= 5
    with pytest.raises(RefusedForSafety):
        service.trash.undo(str(root), purge.records[0].plan)


def test_a_held_entry_stays_in_the_plan_and_when_it_is_taken_later(
    root: Path, service: CacheService, held: Callable[[str], int]
) -> None:
    plan = evicted(service, root, older_than=0.0)
    assert len(plan.steps) == 5
    held(KEYS[1])
    again = evicted(service, root, older_than=0.0)
    assert [(each.path[6:38], each.state) for each in again.exclusions] == [(KEYS[1], State.COMPILING)]
    outcome = service.execute(plan)
    assert [path[6:38] for path, _ in outcome.refused] == [KEYS[1]]
    assert "flock" in caches.reasons(outcome)[0]
    assert list(entries(root)) == [KEYS[1]]


def test_steps_are_checked_against_the_disk_again(root: Path, service: CacheService) -> None:
    plan = evicted(service, root, older_than=0.0)
    read, written, exchanged, linked = (root / step.path for step in plan.steps[:4])
    os.utime(read, (time.time() + 5, read.stat().st_mtime))
    written.write_bytes(caches.neff(9))
    exchanged.rename(exchanged.with_suffix(".old"))
    shutil.copy2(exchanged.with_suffix(".old"), exchanged)
    linked.unlink()
    linked.symlink_to("/etc/passwd")
    outcome = service.execute(plan)
    assert outcome.done == 1
    assert caches.reasons(outcome) == [
        "it was used since the plan was made",
        "it was written again since the plan was made",
        "another file has taken its place since the plan was made",
        f"{linked.name} is a link or not a file",
    ]
    assert Path("/etc/passwd").exists()


def test_a_job_that_uses_the_cache_stops_every_step(root: Path, tmp_path: Path, service: CacheService) -> None:
    plan = evicted(service, root, older_than=0.0)
    busy = CacheService(
        Settings(state_dir=str(tmp_path / "state")), in_use=lambda root: CacheUse(why="process 7 names it", since=0.0)
    )
    outcome = busy.execute(plan)
    assert (outcome.done, len(outcome.refused)) == (0, 5)


def test_graphs_cannot_be_kept_and_entries_not_be_copied_or_unlocked(
    root: Path, tmp_path: Path, service: CacheService
) -> None:
    with pytest.raises(UsageError, match="without --keep-graph"):
        evicted(service, root, older_than=0.0, keep_graph=True)
    with pytest.raises(UsageError, match="plain files"):
        service.plan_copy(str(tmp_path / "other"), str(root))
    plan = evicted(service, root, older_than=0.0)
    step = msgspec.structs.replace(plan.steps[0], action=plans.Action.UNLOCK)
    outcome = service.execute(msgspec.structs.replace(plan, steps=(step,)))
    assert outcome.done == 0
    assert "nothing to unlock" in caches.reasons(outcome)[0]


@pytest.mark.parametrize(
    "path", ["../x", "01/01/..", f"01/02/{KEYS[0]}.neff", f"01/01/{KEYS[0]}.hlo", f"{KEYS[0]}.neff"]
)
def test_a_plan_that_names_anything_else_is_refused(root: Path, service: CacheService, path: str) -> None:
    plan = evicted(service, root, older_than=0.0)
    forged = msgspec.structs.replace(plan, steps=(msgspec.structs.replace(plan.steps[0], path=path),))
    with pytest.raises(RefusedForSafety):
        service.execute(forged)
    assert len(entries(root)) == 5


@given(st.lists(st.sampled_from(["01", "ab", "..", "", KEYS[0], "x.neff", f"{KEYS[0]}.neff", "\0"]), max_size=5))
@hypothesis_settings(max_examples=200, deadline=None)
def test_only_paths_of_entries_look_like_entries(parts: list[str]) -> None:
    path = "/".join(parts)
    if is_entry_path(path):
        assert path == f"01/01/{KEYS[0]}.neff"


def test_a_root_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NothingToShow, match="does not exist"):
        torch_neuron.scan(str(tmp_path / "gone"))


def test_the_commands_read_it(root: Path, tmp_path: Path) -> None:
    """`cache ls`, `stats`, `show`, `verify`, `evict` and `restore`, as a user runs them."""
    store(root, KEYS[0], builders.neff())
    store(root, KEYS[1], b"broken")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "neuron_top", "cache", *words]
        environ = {**os.environ, "NEURONTOP_STATE_DIR": str(tmp_path / "state")}
        return subprocess.run(
            command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
        )

    listed = json.loads(run("ls", "--torch-neuron", "--json").stdout)
    assert {entry["module"]: entry["state"] for entry in listed["entries"]} == {
        key: "corrupt" if key == KEYS[1] else "hit" for key in KEYS
    }
    assert json.loads(run("stats", str(root), "--json").stdout)["totals"]["compilers"]["torch-neuronx"]["entries"] == 5
    shown = run("show", str(root), KEYS[0], "--payload")
    assert "package version" in shown.stdout
    assert f"{KEYS[0]}.neff" in shown.stdout
    verified = run("verify", str(root), "--deep", "--json")
    assert verified.returncode == 1
    assert KEYS[1] in {entry["module"] for entry in json.loads(verified.stdout)["entries"]}
    planned = run("verify", str(root), "--quarantine", "--dry-run", "--json")
    assert [step["path"] for step in json.loads(planned.stdout)["plans"][0]["steps"]] == [
        f"{KEYS[1][:2]}/{KEYS[1][2:4]}/{KEYS[1]}.neff"
    ]
    roots = json.loads(run("roots", "--json").stdout)["roots"]
    of_it = next(each for each in roots if each["path"] == str(root))
    assert (of_it["kind"], len(of_it["entries"])) == ("torch-neuronx", 5)
