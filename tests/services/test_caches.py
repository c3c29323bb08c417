"""The cache service on a folder and on a bucket: the same calls list, plan, execute, undo and copy on both."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("boto3")

from neuron_top.actions.backends import BackendKind
from neuron_top.actions.journal.plan_history import HistoryState
from neuron_top.actions.journal.records import PlanEnded
from neuron_top.actions.planners.evict import EvictCriteria
from neuron_top.actions.reasons import NotDone, NotDoneCode, ReasonCode, RefusalCode
from neuron_top.actions.registry import ACTIONS, action_of
from neuron_top.actions.verb import Verb
from neuron_top.cache import s3
from neuron_top.cache.model.states import State
from neuron_top.errors import NothingToShow, RefusedForSafety, UsageError
from neuron_top.events import CacheHit, RunStarted, StepReported
from neuron_top.services.cache_look import CacheLook
from neuron_top.services.caches import CacheService
from neuron_top.services.confirmation import needs_statement
from neuron_top.services.named_modules import modules_needed, modules_of_run
from neuron_top.services.plan_execution import PlanExecution, PlanState
from neuron_top.settings import Settings
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from tests import s3_server
from tests.actions import caches, states

Make = Callable[[Path], str]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server.served(versioned=True) as url:
        yield url


@pytest.fixture(params=list(BackendKind))
def kind(request: pytest.FixtureRequest) -> BackendKind:
    found: BackendKind = request.param
    return found


@pytest.fixture
def store(kind: BackendKind, request: pytest.FixtureRequest) -> Make:
    """A folder as it is, or uploaded to a prefix of its own; gives the root."""

    def made(folder: Path) -> str:
        if kind is BackendKind.FOLDER:
            return str(folder)
        url = f"{request.getfixturevalue('server')}/{abs(hash(str(folder)))}"
        bucket = s3.connect(url)
        for path in folder.rglob("*"):
            if path.is_file():
                key = f"{bucket.prefix}{path.relative_to(folder)}"
                bucket.client.put_object(Bucket=bucket.name, Key=key, Body=path.read_bytes())
        return url

    return made


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CacheService:
    """Nobody uses a cache, and what was uploaded a moment ago is ten days old."""
    later = time.time() + 10 * caches.DAY
    taken = s3.take
    monkeypatch.setattr(s3, "take", lambda bucket: taken(bucket, later))
    return CacheService(
        Settings(state_dir=str(tmp_path / "state")), assume_exclusive=True, grace_seconds=0.0, in_use=lambda root: None
    )


def paths(service: CacheService, root: str, *wanted: State) -> list[str]:
    return [entry.path for entry in service.snapshot(root).entries if not wanted or entry.state in wanted]


def test_a_plan_is_made_confirmed_executed_and_undone(service: CacheService, store: Make, tmp_path: Path) -> None:
    for number in range(3):
        caches.entry(tmp_path / "cache", number)
    root = store(tmp_path / "cache")
    before = paths(service, root)
    execution = PlanExecution(plan=service.plan(Verb.EVICT, root, before))
    assert (execution.state, len(execution.plan.steps)) == (PlanState.PLANNED, 3)
    assert execution.typed == "evict", "a whole compiler version goes"
    with pytest.raises(RefusedForSafety, match="type evict"):
        execution.confirm()
    with pytest.raises(RefusedForSafety, match="planned"):
        service.run(execution)
    execution.confirm("evict")
    moved: list[int] = []
    service.run(execution, lambda: moved.append(1))
    assert (execution.state, execution.outcome and execution.outcome.done) == (PlanState.DONE, 3), execution.message
    assert moved
    assert paths(service, root) == []
    assert [history.state for history in service.trash.histories(root)] == [HistoryState.DONE]
    assert service.trash.last_restorable(root).begun.plan == execution.plan.identity
    service.trash.undo_execution(execution)
    assert (execution.state, execution.can_undo) == (PlanState.UNDONE, False)
    assert paths(service, root) == before
    with pytest.raises(NothingToShow, match="can be undone"):
        service.trash.last_restorable(root)


def test_every_action_that_a_storage_allows_can_be_planned(
    service: CacheService, store: Make, kind: BackendKind, tmp_path: Path
) -> None:
    for number, state in enumerate((State.HIT, State.FAILED, State.LOCKED_UNKNOWN, State.CORRUPT)):
        states.entry_in(tmp_path / "cache", state, number=number)
    root = store(tmp_path / "cache")
    everything = paths(service, root)
    for row in ACTIONS:
        if row.planner is None:
            continue
        if kind is BackendKind.BUCKET and row.folders_only:
            with pytest.raises(UsageError, match="folder of this machine"):
                service.plan(row.verb, root, everything)
        else:
            assert service.plan(row.verb, root, everything).root == root
    causes = service.plan(Verb.RETRY, root, paths(service, root, State.FAILED))
    assert [step.cause.code for step in causes.steps] == [ReasonCode.FAILED_ENVIRONMENT], "the log is read on both"


def test_alternatives_leave_out_what_the_storage_cannot_do(
    service: CacheService, store: Make, kind: BackendKind, tmp_path: Path
) -> None:
    rejected = states.entry_in(tmp_path / "cache", State.FAILED)
    (rejected / "model.log").write_text("Failed compilation with ['neuronx-cc']: [NCC_EOOM002] too large")
    root = store(tmp_path / "cache")
    plans = service.alternatives(Verb.RETRY, root, paths(service, root))
    expected = [Verb.COMPILE, Verb.RETRY, Verb.RETRY] if kind is BackendKind.FOLDER else [Verb.RETRY, Verb.RETRY]
    assert [plan.verb for plan in plans] == expected
    assert [step.is_risky for step in plans[-1].steps] == [True], "what is bound to fail again is offered last"


def test_copies_go_from_either_to_either(service: CacheService, store: Make, tmp_path: Path) -> None:
    caches.entry(tmp_path / "cache", 1)
    states.entry_in(tmp_path / "cache", State.FAILED, number=2)
    source, target = store(tmp_path / "cache"), str(tmp_path / "other")
    plan = service.plan_copy(source, target)
    assert [each.cause.code for each in plan.exclusions] == [ReasonCode.NOT_A_HIT]
    assert service.execute(plan).done == 1
    assert [entry.state for entry in service.snapshot(target).entries] == [State.HIT]
    with pytest.raises(UsageError, match="same cache"):
        service.plan_copy(source, source)


def test_verification_finds_what_is_broken(service: CacheService, store: Make, tmp_path: Path) -> None:
    broken = states.entry_in(tmp_path / "cache", State.CORRUPT, number=1)
    root = store(tmp_path / "cache")
    plan = service.plan(Verb.VERIFY, root, paths(service, root))
    assert [step.path.rpartition("/")[2] for step in plan.steps] == [broken.name]


def test_shared_storage_needs_the_statement_that_nobody_uses_it(store: Make, kind: BackendKind, tmp_path: Path) -> None:
    if kind is BackendKind.FOLDER:
        pytest.skip("a local disk is nobody else's")
    states.entry_in(tmp_path / "cache", State.FAILED, number=1)
    root = store(tmp_path / "cache")
    service = CacheService(Settings(state_dir=str(tmp_path / "state")))
    plan = service.plan(Verb.RETRY, root, paths(service, root))
    assert plan.refusal is not None
    assert plan.refusal.code is RefusalCode.SHARED
    assert needs_statement(plan)
    refused = PlanExecution(plan=plan)
    assert not refused.can_confirm
    with pytest.raises(RefusedForSafety, match="no other host"):
        refused.confirm()
    stated = service.plan(Verb.RETRY, root, paths(service, root), assume_exclusive=True)
    execution = PlanExecution(plan=stated)
    assert not needs_statement(stated)
    execution.confirm(execution.typed)
    service.run(execution)
    assert (execution.state, execution.outcome and execution.outcome.done) == (PlanState.DONE, 1), execution.message


def test_read_only_refuses_everything(store: Make, tmp_path: Path) -> None:
    states.entry_in(tmp_path / "cache", State.FAILED, number=1)
    root = store(tmp_path / "cache")
    service = CacheService(Settings(state_dir=str(tmp_path / "state"), read_only=True), assume_exclusive=True)
    plan = service.plan(Verb.RETRY, root, paths(service, root))
    assert plan.refusal is not None
    assert plan.refusal.code is RefusalCode.READ_ONLY
    execution = PlanExecution(plan=plan)
    assert not execution.can_confirm
    with pytest.raises(RefusedForSafety, match="read-only"):
        execution.confirm()
    for refused in (
        lambda: service.execute(plan),
        lambda: service.trash.undo(root, "ab"),
        lambda: service.trash.purge(root, ()),
        lambda: service.pins.toggle(["MODULE_1"]),
    ):
        with pytest.raises(RefusedForSafety, match="read-only"):
            refused()


@pytest.mark.parametrize(
    ("verb", "state"),
    [(Verb.RETRY, State.FAILED), (Verb.RETRY, State.FAILED_LEGACY), (Verb.SLIM, State.HIT)],
)
def test_what_was_of_another_artifact_stays_away_from_one_that_was_compiled_since(
    service: CacheService, store: Make, kind: BackendKind, tmp_path: Path, verb: Verb, state: State
) -> None:
    place = states.entry_in(tmp_path / "cache", state)
    if state is State.HIT:
        (place / "wrapped_neff.hlo").write_bytes(b"of the old artifact")
        caches.grow_old(place, 10)
    root = store(tmp_path / "cache")
    (path,) = paths(service, root)

    def files() -> dict[str, int]:
        if kind is BackendKind.FOLDER:
            return {file.name: file.stat().st_size for file in (Path(root) / path).iterdir()}
        return {each.name: each.size for each in s3.objects_of(s3.connect(root), path)}

    before, plan = files(), service.plan(verb, root, [path])
    assert service.execute(plan).done == 1
    gone, neff = before.keys() - files().keys(), caches.neff(5000)
    if kind is BackendKind.FOLDER:
        (Path(root) / path / "model.neff").write_bytes(neff)
    else:
        bucket = s3.connect(root)
        bucket.client.put_object(Bucket=bucket.name, Key=f"{bucket.prefix}{path}/model.neff", Body=neff)
    now, record = files(), service.trash.undo(root, plan.identity).record
    assert (record.restored, {each.rpartition("/")[2] for each, _ in record.kept}, files()) == (0, gone, now)


def test_verify_tells_an_artifact_that_is_not_there_from_one_that_is_empty(
    service: CacheService, store: Make, tmp_path: Path
) -> None:
    for number, state in enumerate((State.CORRUPT, State.INCONSISTENT)):
        (states.entry_in(tmp_path / "cache", state, number=number) / "model.log").symlink_to("nowhere")
    local = caches.entry(tmp_path / "cache", 2, files={"model.inductor": b"", "model.done": b"", "fx_graph": b"g"})
    root = store(tmp_path / "cache")
    look = service.look(root)
    found = {one.entry.module: one.what for one in look.backend.verify(look.snapshot.entries, deep=False)}
    assert ("no artifact" in found[caches.module(1)], "0 bytes" in found[caches.module(0)]) == (True, True), found
    assert "0 bytes" in found[local.name]


def test_what_was_taken_is_purged_from_a_folder_and_never_from_a_bucket(
    service: CacheService, store: Make, kind: BackendKind, tmp_path: Path
) -> None:
    states.entry_in(tmp_path / "cache", State.FAILED, number=1)
    root = store(tmp_path / "cache")
    plan = service.plan(Verb.RETRY, root, paths(service, root))
    service.execute(plan)
    if kind is BackendKind.BUCKET:
        with pytest.raises(UsageError, match="lifecycle rule"):
            service.trash.purgeable(root)
        return
    service.backend(root).journal().write(
        PlanEnded(plan=plan.identity, at=time.time() + 400 * 86400, done=1, refused=0, moved_bytes=0)
    )  # as if the clock had been ahead
    assert service.trash.purgeable(root, older_than=1.0) == []
    purge = service.trash.purge(root, service.trash.purgeable(root))
    assert ([record.plan for record in purge.records], purge.failed) == ([plan.identity], ())
    assert purge.freed > 0
    with pytest.raises(RefusedForSafety, match="purged"):
        service.trash.undo(root, plan.identity)


def test_the_newest_plan_to_undo_is_one_that_took_something(service: CacheService, store: Make, tmp_path: Path) -> None:
    for number in range(2):
        states.entry_in(tmp_path / "cache", State.FAILED, number=number)
    root = store(tmp_path / "cache")
    first, second = paths(service, root)
    taken, outdated = (service.plan(Verb.EVICT, root, [path]) for path in (first, second))
    assert service.execute(taken).done == 1
    other = msgspec.structs.replace(outdated.steps[0].fingerprint, folder_inode=1)
    outdated = msgspec.structs.replace(outdated, steps=(msgspec.structs.replace(outdated.steps[0], fingerprint=other),))
    assert [path for path, _ in service.execute(outdated).refused] == [second]
    assert service.trash.last_restorable(root).begun.plan == taken.identity
    assert [history.begun.plan for history in service.trash.restorable([root])] == [taken.identity]


def test_a_look_serves_several_plans_and_criteria_take_what_they_name(
    service: CacheService, store: Make, tmp_path: Path
) -> None:
    for number in range(2):
        caches.entry(tmp_path / "cache", number)
    root = store(tmp_path / "cache")
    first, second = service.plan_together(Verb.EVICT, root, [[path] for path in paths(service, root)])
    assert first.steps[0].path != second.steps[0].path
    assert first.identity != second.identity
    plan = service.look(root).plan_eviction(EvictCriteria(modules=("MODULE_*1+*",)))
    assert len(plan.steps) == 1


class SmallDisk(CacheService):
    """A service that takes all disks for one that has 100 MiB free, whatever else writes to it meanwhile."""

    def look(self, root: str, *, causes: bool = False, assume_exclusive: bool = False) -> CacheLook:
        look = super().look(root, causes=causes, assume_exclusive=assume_exclusive)
        before = msgspec.structs.replace(look.context.before, free=100 << 20)
        return look._replace(context=msgspec.structs.replace(look.context, before=before))


def test_a_second_cache_of_a_disk_frees_only_what_the_first_and_the_trashes_do_not(tmp_path: Path) -> None:
    roots = [str(tmp_path / name / "cache") for name in "ab"]
    for root, count in zip(roots, (3, 6), strict=True):
        for number in range(count):
            caches.entry(Path(root), number, blocks=256, age_days=40)
    service = SmallDisk(Settings(state_dir=str(tmp_path / "state")), in_use=lambda root: None)
    first, second = service.plan_room(roots, 105 << 20)
    assert (len(first.steps), len(second.steps)) == (3, 2)
    (alone,) = service.plan_room([str(tmp_path / "gone"), *roots[::-1]], 105 << 20)
    assert len(alone.steps) == 5
    service.execute(first)
    assert [len(plan.steps) for plan in service.plan_room(roots, 105 << 20)] == [0, 2]
    assert [len(plan.steps) for plan in service.plan_room(roots, 103 << 20)] == [0]
    assert [len(plan.steps) for plan in service.plan_room(roots[::-1], 103 << 20)] == [0]


def test_a_log_names_modules_and_not_the_graphs_of_old_clients(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text(
        "Compile of MODULE_0_SyncTensorsGraph.12_3456_host-a-1-b\n"
        f"Using a cached neff at /cache/{caches.COMPILER}/{caches.module(1)}/model.neff\n"
        f"HEAD https://hub.example/resolve/main/{caches.module(2).replace('+', '%2B')}/model.done 404\n"
        f"model.{caches.module(1)}.hlo_module.pb; MODULE_0123456789abcdef0123\n"
    )
    names = (caches.module(1), caches.module(2), "MODULE_0123456789abcdef0123")
    assert modules_needed(Settings(), str(log)) == names


def test_names_are_distinguished_in_one_place(service: CacheService, tmp_path: Path) -> None:
    assert service.backend("s3://bucket//prefix/").root == "s3://bucket/prefix"
    assert service.backend(f"file://{tmp_path}").root == os.path.realpath(tmp_path)
    for wrong in ("gs://bucket", "s3://user:secret@bucket", "s3://"):
        with pytest.raises(UsageError) as reported:
            service.backend(wrong)
        assert "secret" not in str(reported.value)
    with pytest.raises(UsageError, match="not a folder of this machine"):
        service.resolve("s3://bucket/prefix", folder=True)


def test_what_is_pinned_after_the_plan_was_made_stays(service: CacheService, store: Make, tmp_path: Path) -> None:
    for number in (1, 2):
        states.entry_in(tmp_path / "cache", State.HIT, number=number)
    root = store(tmp_path / "cache")
    plan = service.plan(Verb.EVICT, root, paths(service, root))
    service.pins.toggle([caches.module(1)])
    outcome = service.execute(plan)
    assert outcome.done == 1
    [(path, why)] = outcome.refused
    assert (path.rpartition("/")[2], why) == (caches.module(1), NotDone(NotDoneCode.PINNED))
    assert paths(service, root) == [path]


def test_pins_are_set_and_taken_back(service: CacheService) -> None:
    assert service.pins.toggle(["MODULE_1"]) == "1 pinned"
    assert service.pins.patterns() == ("MODULE_1",)
    assert service.pins.toggle(["MODULE_1"]) == "1 unpinned"


def test_the_scheme_of_a_bucket_is_compared_in_one_place() -> None:
    """A storage back end is added in one place, because nobody else asks by its name what storage a root is."""
    package = Path(next(iter(__import__("neuron_top").__path__)))
    compares = re.compile(r"""(startswith|removeprefix|==|\bin)\W*['"]s3:""")
    asks = {str(path.relative_to(package)) for path in package.rglob("*.py") if compares.search(path.read_text())}
    assert asks == set()
    backends = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"\b(S3Backend|LocalBackend)\(", path.read_text())
    }
    assert backends == {"actions/backends/__init__.py"}


def test_each_verb_has_one_row_and_an_unknown_one_does_nothing() -> None:
    assert len({row.verb for row in ACTIONS}) == len(ACTIONS)
    assert {row.verb for row in ACTIONS} == set(Verb) - {Verb.UNKNOWN}
    keys = [row.key for row in ACTIONS if row.key]
    assert len(set(keys)) == len(keys)
    assert "w" not in keys, "w is why, on every screen"
    assert action_of(Verb("transmute")).planner is None


def test_a_run_without_graphs_does_not_stand_for_all(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / FILE_NAME) as recordings:
        recordings.begin(RunStarted(run="r1", name="bert", at=1.0))
        recordings.append("r1", [StepReported(at=2.0, step=1)])
    settings = Settings(state_dir=str(tmp_path))
    with pytest.raises(NothingToShow, match="recording last used no graph"):
        modules_needed(settings, "last")
    with SqliteStore(tmp_path / FILE_NAME) as recordings:
        recordings.append("r1", [CacheHit(at=3.0, module=f"MODULE_{1:020d}+a1b2c3d4", pid=1)])
    for name in ("last", "bert", "r1"):
        assert modules_of_run(settings, name) == modules_needed(settings, name) == (f"MODULE_{1:020d}+a1b2c3d4",)
