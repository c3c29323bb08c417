"""Eviction on a real folder: what goes, what stays, what is freed, and that undo gives it back."""

import errno
import functools
import operator
import os
from pathlib import Path

import msgspec
import pytest

from neuron_top import units
from neuron_top.actions import plan as plans
from neuron_top.actions.journal.plan_history import HistoryState
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan_context import collect_context
from neuron_top.actions.planners.atime_recheck import plan_with_reads
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.planners.maintain import foreseen_plans
from neuron_top.actions.planners.quarantine import plan_quarantine
from neuron_top.actions.planners.retry import plan_retry
from neuron_top.actions.planners.unlock import plan_unlock
from neuron_top.actions.reasons import GoalCode, NotDone, NotDoneCode, ReasonCode
from neuron_top.cache.model.entry import Part
from neuron_top.cache.model.states import State
from neuron_top.cache.use import CacheUse
from neuron_top.errors import RefusedForSafety
from neuron_top.views.plan import plan_lines, reason_text
from neuron_top.views.plan_sentences import goal_met_text
from tests.actions import caches, states


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "cache"
    place.mkdir()
    return place


def planned(root: Path, policy: EvictCriteria, **facts: object) -> plans.Plan:
    snapshot = caches.looked_at(root)
    return plan_eviction(snapshot.entries, str(root), policy, caches.context(snapshot, **facts))


def test_sizes_spell_out_which_entries_go(root: Path) -> None:
    for number, (blocks, age) in enumerate([(1, 40), (10, 30), (100, 20), (1000, 10)]):
        caches.entry(root, number, blocks=blocks, age_days=age)
    everything = planned(root, EvictCriteria(older_than=0.0)).frees
    plan = planned(
        root,
        EvictCriteria(free_bytes=10 * 4096, older_than=0.0),
        before=plans.Totals(entries=4, files=16, size=everything, free=0),
    )
    blocks = [round(step.frees / 4096) for step in plan.steps]
    # The oldest first, and no more than the goal needs: 1 + 10 blocks and two small files each.
    assert blocks == [3, 12]
    assert [step.path[-12:-9] for step in plan.steps] == ["000", "001"]


def test_entries_in_the_root_itself_go_and_come_back(root: Path) -> None:
    for number in (1, 2):
        caches.entry(root, number, compiler=".", age_days=40)
    before = caches.everything(root)
    plan = planned(root, EvictCriteria(older_than=0.0))
    assert sorted(step.path for step in plan.steps) == [caches.module(1), caches.module(2)]
    trash = Trash(root)
    assert not caches.carried_out(plan, trash).refused
    assert list(root.glob("MODULE_*")) == []
    restore(plan.identity, trash)
    assert caches.everything(root) == before


@pytest.mark.parametrize("has_artifact", [True, False])
def test_what_lies_in_the_layout_of_2022_is_skipped_and_does_not_stop_the_rest(root: Path, has_artifact: bool) -> None:
    old = root / "neuron-compile-cache" / "USER_neuroncc-1.0.47218.0+162039557" / "MODULE_18200615679846498221"
    (old / "MODULE_0").mkdir(parents=True)
    if has_artifact:
        (old / "MODULE_0" / "MODULE_0.neff").write_bytes(caches.neff(4096))
    caches.grow_old(old / "MODULE_0", 400)
    caches.grow_old(old, 400)
    caches.entry(root, 1, age_days=40)
    plan = planned(root, EvictCriteria(older_than=0.0))
    assert [(each.path, each.cause.code) for each in plan.exclusions] == [
        (str(old.relative_to(root)), ReasonCode.OLD_LAYOUT)
    ]
    outcome = caches.carried_out(plan, Trash(root))
    assert (outcome.done, outcome.refused) == (1, ())
    assert old.is_dir()


@pytest.mark.parametrize("copy_of", ["model.neff", "model.hlo_module.pb"])
def test_what_stays_with_the_graph_is_not_counted_as_freed(root: Path, copy_of: str) -> None:
    place = caches.entry(root, 1, blocks=20)
    (place / "notes.txt").write_bytes(b"x" * 9000)
    (place / "dumps").mkdir()
    (place / "dumps" / "graph").write_bytes(b"x" * 5000)
    os.link(place / copy_of, place / "copy")
    caches.grow_old(place / "dumps", 40)
    caches.grow_old(place, 40)
    plan = planned(root, EvictCriteria(older_than=0.0, keep_graph=True))
    assert caches.carried_out(plan, Trash(root)).refused == ()
    assert {path.name for path in place.iterdir()} == {
        "compile_flags.json", "copy", "dumps", "model.hlo_module.pb", "notes.txt"
    }  # fmt: skip
    left = caches.context(caches.looked_at(root)).before
    assert (plan.after.size, plan.after.files, plan.after.entries) == (left.size, left.files, left.entries)
    assert plan.frees == plan.before.size - left.size


@pytest.mark.parametrize("below", ["", "snapshots/0123abcd", f"snapshots/0123abcd/{caches.COMPILER}"])
def test_no_plan_changes_a_hubs_local_copy_whatever_the_state_of_its_entries(
    root: Path, tmp_path: Path, below: str
) -> None:
    """Also where one commit of it, or a compiler's folder there, is given as the root."""
    wanted = (State.HIT, State.CORRUPT, State.FAILED, State.LOCKED_UNKNOWN)
    hub, blobs = tmp_path / "models--hub", tmp_path / "models--hub" / "blobs"
    blobs.mkdir(parents=True)
    for number, state in enumerate(wanted):
        source = states.entry_in(root, state, number=number)
        place = hub / "snapshots" / "0123abcd" / source.parent.name / source.name
        place.mkdir(parents=True)
        for path in source.iterdir():
            blob = blobs / f"{number}-{path.name}"
            blob.write_bytes(path.read_bytes())
            (place / path.name).symlink_to(blob)
    hub /= below
    snapshot = caches.looked_at(hub)
    context = caches.context(snapshot)
    assert {entry.state for entry in snapshot.entries} == set(wanted)
    every = EvictCriteria(states=frozenset(wanted))
    plans_made = [
        plan_eviction(snapshot.entries, str(hub), every, context),
        plan_quarantine(snapshot.entries, str(hub), context),
        plan_retry(snapshot.entries, str(hub), context, deterministic=True),
        plan_retry(snapshot.entries, str(hub), context, compilers={entry.compiler for entry in snapshot.entries}),
        plan_unlock(snapshot.entries, str(hub), context, force=True),
    ]
    assert [plan.steps for plan in plans_made] == [()] * len(plans_made)
    skipped = [each for plan in plans_made for each in plan.exclusions]
    assert {each.cause.code for each in skipped} == {ReasonCode.HUB, ReasonCode.LOCK_UNPROVED}
    assert [each.state for each in skipped if each.cause.code is ReasonCode.LOCK_UNPROVED] == [State.LOCKED_UNKNOWN]


def test_a_slim_eviction_takes_what_a_compile_made() -> None:
    assert functools.reduce(operator.or_, plans.FILES_REMOVED[plans.Action.SLIM]) == Part.OUTPUT


def test_what_cannot_come_back_of_a_plan_that_was_resumed_is_counted_once(root: Path) -> None:
    for number in range(4):
        caches.entry(root, number, age_days=40)
    plan, trash = planned(root, EvictCriteria(older_than=0.0)), Trash(root)
    assert caches.carried_out(plan, trash, watch=lambda progress: progress.done < 2).interrupted
    assert caches.carried_out(plan, trash).done == 2
    place = caches.entry(root, 3)
    record = restore(plan.identity, trash)
    assert record.restored == 3
    assert record.kept == ((str(place.relative_to(root)), NotDone(NotDoneCode.EXISTS_AGAIN)),)


def test_a_step_that_only_the_resumed_attempt_did_counts_as_taken_after_a_purge_too(root: Path) -> None:
    for number in range(3):
        caches.entry(root, number, age_days=40)
    plan, trash = planned(root, EvictCriteria(older_than=0.0)), Trash(root)
    first = root / plan.steps[0].path
    facts, lock = first.stat(), first / "model.hlo_module.pb.lock"
    lock.write_bytes(b"")
    assert len(caches.carried_out(plan, trash, watch=lambda progress: progress.done < 1).refused) == 1
    lock.unlink()
    os.utime(first, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert caches.carried_out(plan, trash).refused == ()
    trash.purge(trash.history_of(plan.identity))
    history = trash.history_of(plan.identity)
    assert (history.taken, history.refused) == (plan.frees, [])


@pytest.mark.parametrize("name", ["r" * 255, "é" * 127, "r" * 246])
def test_a_cache_whose_name_is_as_long_as_names_may_be_has_a_trash(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    caches.entry(root, 1)
    before, trash = caches.everything(root), Trash(root)
    plan = planned(root, EvictCriteria(older_than=0.0))
    assert caches.carried_out(plan, trash).done == 1
    assert restore(plan.identity, trash).kept == ()
    assert caches.everything(root) == before


def test_the_trash_of_a_compilers_folder_lies_outside_the_cache_that_it_is_of(root: Path) -> None:
    caches.entry(root, 1, age_days=40)
    compiler = root / caches.COMPILER
    plan = planned(compiler, EvictCriteria(older_than=0.0))
    trash = Trash(compiler)
    assert trash.folder.parent.parent == root.parent
    assert not caches.carried_out(plan, trash).refused
    assert [path.name for path in root.iterdir()] == [caches.COMPILER]


def test_of_copies_that_differ_in_a_log_path_the_one_used_last_is_no_leftover(root: Path) -> None:
    ages = {"a": 4, "b": 2, "c": 3}
    for name, age in ages.items():
        caches.entry(root, 1, age_days=age, flags=f'["--logfile=/{name}/log"]'.encode())
    caches.entry(root, 2, age_days=300)
    plan = planned(root, EvictCriteria(older_than=0.0))
    log_paths = [reason_text(step) for step in plan.steps if "only in a log path" in reason_text(step)]
    order = [caches.module(1, f'["--logfile=/{name}/log"]'.encode()) for name in "acb"]
    assert [step.path.rpartition("/")[2] for step in plan.steps] == [*order[:2], caches.module(2), order[2]]
    assert len(log_paths) == 2, log_paths


def test_what_took_an_hour_goes_after_what_took_seconds(root: Path) -> None:
    caches.entry(root, 1, age_days=20)
    caches.entry(root, 2, age_days=10)
    slow, quick = caches.module(1), caches.module(2)
    plan = planned(root, EvictCriteria(older_than=0.0), compiled={slow: 3600.0, quick: 4.0})
    assert [step.path.rpartition("/")[2] for step in plan.steps] == [quick, slow]
    assert plan.rebuild_seconds == 3604.0


@pytest.mark.parametrize(
    ("graph", "artifact", "mark", "seconds"),
    [
        (0, 3600, 3601, 3600.0),
        (0, 2, 2, None),  # a copy: all files within a moment
        (0, 3 * 86400, 3 * 86400, None),  # collected long before
        (0, 600, 9000, None),  # the mark is not of the same compile
        (600, 0, 601, None),  # the artifact is older than its graph
    ],
)
def test_what_nobody_measured_is_judged_by_file_times_where_they_can_be_of_one_compile(
    root: Path, graph: int, artifact: int, mark: int, seconds: float | None
) -> None:
    place = caches.entry(root, 1)
    begun = place.stat().st_mtime - 5 * caches.DAY
    for name, at in (("model.hlo_module.pb", graph), ("model.neff", artifact), ("model.done", mark)):
        os.utime(place / name, (begun + at, begun + at))
    step = planned(root, EvictCriteria(older_than=0.0)).steps[0]
    assert step.rebuild_seconds == (pytest.approx(seconds) if seconds is not None else None)
    assert step.rebuild_from == ("file times, at most" if seconds is not None else "")
    measured = planned(root, EvictCriteria(older_than=0.0), compiled={caches.module(1): 7.0}).steps[0]
    assert (measured.rebuild_seconds, measured.rebuild_from) == (7.0, "a recording")


def test_evicted_entries_come_back_byte_for_byte(root: Path) -> None:
    for number in range(5):
        caches.entry(root, number, age_days=5 + number)
    before = caches.everything(root)
    plan = planned(root, EvictCriteria(older_than=0.0))
    trash = Trash(root)
    outcome = caches.carried_out(plan, trash)
    assert (outcome.done, outcome.refused, outcome.moved_bytes) == (5, (), plan.frees)
    assert caches.looked_at(root).entries == ()
    record = restore(plan.identity, trash)
    assert (record.restored, record.kept) == (5, ())
    assert caches.everything(root) == before


def test_slim_keeps_what_a_rebuild_needs_and_undoes(root: Path) -> None:
    place = caches.entry(root, 7)
    before = caches.everything(root)
    plan = planned(root, EvictCriteria(older_than=0.0, keep_graph=True))
    caches.carried_out(plan, Trash(root))
    assert {path.name for path in place.iterdir()} == {"compile_flags.json", "model.hlo_module.pb"}
    assert [entry.state for entry in caches.looked_at(root).entries] == [State.EXTRACTED]
    restore(plan.identity[:4], Trash(root))
    assert caches.everything(root) == before


def test_the_mark_stays_in_the_trash_where_somebody_has_begun_to_store_another_artifact(root: Path) -> None:
    place = caches.entry(root, 7)
    plan = planned(root, EvictCriteria(older_than=0.0, keep_graph=True))
    caches.carried_out(plan, Trash(root))
    (place / "model.neff").write_bytes(b"half of it")
    record = restore(plan.identity, Trash(root))
    kept = {path.rpartition("/")[2]: why.code for path, why in record.kept if isinstance(why, NotDone)}
    assert kept == {"model.neff": NotDoneCode.EXISTS_AGAIN, "model.done": NotDoneCode.ARTIFACT_WRITTEN_AGAIN}
    assert not (place / "model.done").exists()
    assert [entry.state for entry in caches.looked_at(root).entries] == [State.PARTIAL]


def test_a_goal_that_is_met_already_says_so_and_removes_nothing(root: Path) -> None:
    snapshot = caches.looked_at(root)
    context = caches.context(snapshot)
    policy = EvictCriteria(max_bytes=1 << 40, free_bytes=1)
    plan = plan_eviction(snapshot.entries, str(root), policy, context)
    assert (plan.steps, plan.exclusions, plan.goal and plan.goal.code) == ((), (), GoalCode.MET)
    held, free = units.bytes_text(context.before.size), units.bytes_text(context.before.free)
    assert f"nothing to do: the cache holds {held} and {free} are free already" in [
        line.text for line in plan_lines(plan)
    ]


def test_what_is_in_the_trash_counts_for_a_goal_of_free_space_until_it_is_purged(root: Path) -> None:
    for number in range(4):
        caches.entry(root, number, blocks=10)
    trash = Trash(root)

    def wish(free: int) -> plans.Plan:
        snapshot = caches.looked_at(root)
        context = caches.context(snapshot, trash_bytes=trash.trash_bytes())
        disk = msgspec.structs.replace(context.before, free=1000)
        return plan_eviction(
            snapshot.entries, str(root), EvictCriteria(free_bytes=free), msgspec.structs.replace(context, before=disk)
        )

    first = wish(1000 + 2 * 10 * 4096)
    assert len(first.steps) == 2
    outcome = caches.carried_out(first, trash)
    again = wish(1000 + 2 * 10 * 4096)
    assert (again.steps, trash.trash_bytes()) == ((), outcome.moved_bytes), "a timer would empty the cache run by run"
    assert "more once the trash is purged" in goal_met_text(again)
    assert len(wish(2000 + outcome.moved_bytes).steps) == 1
    restore(first.identity, trash)
    assert trash.trash_bytes() == 0
    second = wish(1000 + 2 * 10 * 4096)
    caches.carried_out(second, trash)
    with trash.exclusively():
        trash.purge(trash.history_of(second.identity))
    assert trash.trash_bytes() == 0


@pytest.mark.parametrize(
    ("how", "lying"),
    [("stopped", 1), ("stopped and gone on with", 4), ("brought back in part", 1), ("brought back by hand", 0)],
)
def test_only_what_lies_in_the_trash_counts_as_space_that_a_purge_frees(root: Path, how: str, lying: int) -> None:
    first, *others = (caches.entry(root, number, blocks=10, age_days=40 - number) for number in range(4))
    plan, trash = planned(root, EvictCriteria(older_than=0.0)), Trash(root)
    each = plan.steps[0].frees
    if how.startswith("stopped"):
        caches.carried_out(plan, trash, watch=lambda progress: progress.done < 1)
    if how != "stopped":
        caches.carried_out(plan, trash)
    if how.startswith("brought back"):
        first.mkdir(parents=True)
        assert restore(plan.identity, trash).restored == len(others)
    if how == "brought back by hand":
        first.rmdir()
        (trash.folder / plan.identity / plan.steps[0].path).rename(first)
    history = trash.history_of(plan.identity)
    assert (trash.trash_bytes(), history.bytes_in_trash, trash.holds(history)) == (
        lying * each,
        lying * each,
        lying > 0,
    )
    assert history.taken == (each if how == "stopped" else 4 * each)


def test_the_purge_frees_exactly_what_the_outcome_said(root: Path) -> None:
    for number, blocks in enumerate([1, 10, 100]):
        caches.entry(root, number, blocks=blocks)
    trash = Trash(root)
    plan = planned(root, EvictCriteria(older_than=0.0))
    outcome = caches.carried_out(plan, trash)
    purged = trash.purge(trash.history_of(plan.identity))
    assert purged.freed == outcome.moved_bytes  # without the plan itself, which lies in the trash too
    assert trash.history_of(plan.identity).state == "purged"
    with pytest.raises(RefusedForSafety, match="purged"):
        restore(plan.identity, trash)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"in_use": CacheUse(why="process 1 names it")}, "in use"),
        ({"pins": ("MODULE_*",)}, "pinned"),
        ({"protect_seconds": 30 * caches.DAY}, "within a day"),
    ],
)
def test_what_is_protected_stays_and_says_why(root: Path, facts: dict[str, object], words: str) -> None:
    caches.entry(root, 1)
    plan = planned(root, EvictCriteria(older_than=0.0), **facts)
    assert not plan.steps
    assert words in reason_text(plan.exclusions[0])


def test_a_shared_file_system_is_refused_until_the_operator_says_so(root: Path) -> None:
    caches.entry(root, 1)
    plan = planned(root, EvictCriteria(older_than=0.0), shared="nfs4 can be written by other hosts")
    with pytest.raises(RefusedForSafety, match="shared"):
        caches.carried_out(plan, Trash(root))
    assert planned(root, EvictCriteria(older_than=0.0), shared="nfs4", shared_confirmed=True).refusal is None


def test_read_only_is_refused_at_the_bottom_too(root: Path) -> None:
    caches.entry(root, 1)
    with pytest.raises(RefusedForSafety, match="read-only"):
        caches.carried_out(planned(root, EvictCriteria(older_than=0.0)), Trash(root), read_only=True)


def test_an_entry_that_changed_since_the_plan_is_refused(root: Path) -> None:
    touched, used, quiet = (caches.entry(root, number) for number in range(3))
    plan = planned(root, EvictCriteria(older_than=0.0))
    (touched / "model.log").write_text("Failed compilation with []: later")
    (used / "model.neff").read_bytes()
    os.utime(used / "model.neff", (plan.made_at + 1, (used / "model.neff").stat().st_mtime))
    outcome = caches.carried_out(plan, Trash(root))
    assert outcome.done == 1
    assert set(caches.reasons(outcome)) == {
        "files came or went since the plan was made",
        "it was used since the plan was made",
    }
    assert touched.exists()
    assert used.exists()
    assert not quiet.exists()


def test_a_lock_taken_since_the_plan_is_respected(root: Path) -> None:
    place = caches.entry(root, 1)
    plan = planned(root, EvictCriteria(older_than=0.0))
    times = place.stat()
    (place / "model.hlo_module.pb.lock").touch()
    os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))
    outcome = caches.carried_out(plan, Trash(root))
    assert caches.reasons(outcome)[0] == "it is locked"
    assert (place / "model.neff").exists()


def test_a_link_swapped_in_leads_nowhere(root: Path, tmp_path: Path) -> None:
    place = caches.entry(root, 1)
    plan = planned(root, EvictCriteria(older_than=0.0))
    precious = tmp_path / "precious"
    place.rename(precious)
    place.symlink_to(precious)
    outcome = caches.carried_out(plan, Trash(root))
    assert outcome.done == 0
    assert "link" in caches.reasons(outcome)[0]
    assert (precious / "model.neff").exists()


def test_a_plan_survives_being_saved(root: Path) -> None:
    caches.entry(root, 1)
    plan = planned(root, EvictCriteria(older_than=0.0))
    assert plans.decode(plans.encode(plan)) == (plan,)


def test_two_maintainers_do_not_meet(root: Path) -> None:
    caches.entry(root, 1)
    plan, trash = planned(root, EvictCriteria(older_than=0.0)), Trash(root)
    with trash.exclusively(), pytest.raises(RefusedForSafety, match="another neurontop"):
        caches.carried_out(plan, Trash(root))


@pytest.mark.parametrize("keep_graph", [False, True])
def test_stopping_in_the_middle_can_be_resumed_or_undone(root: Path, keep_graph: bool) -> None:
    for number in range(4):
        caches.entry(root, number)
    before = caches.everything(root)
    plan, trash = planned(root, EvictCriteria(older_than=0.0, keep_graph=keep_graph)), Trash(root)
    outcome = caches.carried_out(plan, trash, watch=lambda progress: progress.done < 2)
    assert (outcome.done, outcome.interrupted, trash.history_of(plan.identity).state) == (2, True, "interrupted")
    progress: list[plans.Progress] = []
    resumed = caches.carried_out(plan, trash, watch=lambda now: not progress.append(now))
    assert (resumed.done, resumed.moved_bytes) == (2, plan.frees // 2), "what this attempt did"
    ended = trash.history_of(plan.identity).ended
    assert ended is not None
    assert (ended.done, ended.moved_bytes) == (4, plan.frees), "what the plan did"
    assert [now.done for now in progress] == [1, 2, 3, 4]
    assert {entry.state for entry in caches.looked_at(root).entries} == ({State.EXTRACTED} if keep_graph else set())
    restore(plan.identity, trash)
    assert caches.everything(root) == before


def test_an_undo_is_journaled_although_its_token_cannot_be_removed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caches.entry(root, 1, age_days=40)
    before, trash = caches.everything(root), Trash(root)
    plan = planned(root, EvictCriteria(older_than=0.0))
    assert caches.carried_out(plan, trash).done == 1

    def read_only(name: str, *, dir_fd: int | None = None) -> None:  # an undo removes nothing else
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "unlink", read_only)
    assert restore(plan.identity, trash).restored == 1
    monkeypatch.undo()
    assert caches.everything(root) == before
    assert trash.history_of(plan.identity).state is HistoryState.RESTORED


@pytest.mark.parametrize("keep_graph", [False, True])
def test_an_undo_leaves_nothing_of_the_plan_in_the_trash(root: Path, keep_graph: bool) -> None:
    """The saved plan of 50,000 entries, which no purge took any more, lay there for ever."""
    for number in range(3):
        caches.entry(root, number)
    snapshot, trash = caches.looked_at(root), Trash(root)
    criteria = EvictCriteria(older_than=0.0, keep_graph=keep_graph)
    plan = plan_eviction(snapshot.entries, str(root), criteria, caches.context(snapshot))
    caches.carried_out(plan, trash)
    place = trash.folder / plan.identity
    taken_again = root / plan.steps[0].path
    taken_again.mkdir(exist_ok=True)
    (taken_again / "model.neff").write_bytes(caches.neff(5))
    assert restore(plan.identity, trash).kept
    assert (place / "plan.json").exists(), "some of it still lies there"
    (taken_again / "model.neff").unlink()
    if not keep_graph:
        taken_again.rmdir()
    assert not restore(plan.identity, trash).kept
    assert not place.exists()
    assert restore(plan.identity, trash).restored == 0
    assert trash.history_of(plan.identity).state == "restored"


def test_what_somebody_took_out_of_the_trash_is_named_once(root: Path, tmp_path: Path) -> None:
    gone, left = (caches.entry(root, number, blocks=10).relative_to(root).as_posix() for number in (1, 2))
    plan, trash = planned(root, EvictCriteria(older_than=0.0)), Trash(root)
    caches.carried_out(plan, trash)
    (trash.folder / plan.identity / gone).rename(tmp_path / "gone")
    record = restore(plan.identity, trash)
    assert (record.restored, record.kept, record.gone) == (1, (), (gone,))
    (root / left).rename(tmp_path / "left")
    assert restore(plan.identity, trash).gone == ()


def test_a_plan_that_was_undone_can_be_carried_out_and_undone_again(root: Path) -> None:
    caches.entry(root, 1, blocks=10)
    before = caches.everything(root)
    plan, trash = planned(root, EvictCriteria(older_than=0.0)), Trash(root)
    caches.carried_out(plan, trash)
    restore(plan.identity, trash)
    caches.entry(root, 2)
    newer = planned(root, EvictCriteria(modules=(caches.module(2),)))
    caches.carried_out(newer, trash)
    caches.carried_out(plan, trash)
    assert [(each.begun.plan, each.state) for each in trash.histories()] == [
        (newer.identity, "done"), (plan.identity, "done")
    ]  # fmt: skip
    assert trash.trash_bytes() == plan.frees + newer.frees
    restore(plan.identity, trash)
    assert (trash.history_of(plan.identity).state, caches.everything(root)) == ("restored", before)


def test_what_a_purged_plan_takes_later_can_be_brought_back(root: Path, tmp_path: Path) -> None:
    caches.entry(root, 1, blocks=10)
    away, place = tmp_path / "away", caches.entry(root, 2)
    plan, trash = planned(root, EvictCriteria(older_than=0.0)), Trash(root)
    place.rename(away)
    assert caches.carried_out(plan, trash).done == 1
    trash.purge(trash.history_of(plan.identity))
    place.parent.mkdir(exist_ok=True)
    away.rename(place)
    assert caches.carried_out(plan, trash).done == 1
    restore(plan.identity, trash)
    assert place.is_dir()
    caches.carried_out(plan, trash)
    purged = trash.purge(trash.history_of(plan.identity))
    assert (trash.history_of(plan.identity).purged, trash.expired(float("inf"))) == (purged, [])


def test_hard_links_are_counted_once_and_only_when_the_last_name_goes(root: Path) -> None:
    first, second = caches.entry(root, 1, blocks=100), caches.entry(root, 2, blocks=1)
    (second / "model.neff").unlink()
    (second / "model.neff").hardlink_to(first / "model.neff")
    caches.grow_old(second, 10)
    alone = planned(root, EvictCriteria(modules=(caches.module(1),)))
    both = planned(root, EvictCriteria(older_than=0.0))
    assert alone.frees < 100 * 4096 < both.frees < 2 * 100 * 4096


def copied_by_links(root: Path, *entries: Path) -> Path:
    """Hard links to all files of these entries, as `cp -al` makes them outside the cache."""
    copy = root.parent / "copy"
    for place in entries:
        (copy / place.name).mkdir(parents=True)
        for path in place.iterdir():
            (copy / place.name / path.name).hardlink_to(path)
    return copy


@pytest.mark.parametrize("slim", [False, True])
def test_only_files_without_a_name_elsewhere_are_said_to_become_free(root: Path, slim: bool) -> None:
    places = [caches.entry(root, number, blocks=100, age_days=40 - number) for number in range(3)]
    before = caches.looked_at(root)
    copied_by_links(root, *places[:2])  # changes no folder of the cache: the index does not show it
    criteria, trash = EvictCriteria(older_than=0.0, keep_graph=slim), Trash(root)
    plan = plan_with_reads(before, before.entries, str(root), criteria, caches.context(before))
    assert len(plan.steps) == 3
    assert 100 * 4096 <= plan.frees < 2 * 100 * 4096 <= plan.stays
    assert plan.after.size == plan.before.size - plan.frees - plan.stays
    assert (plan.after.free_inodes or 0) - (plan.before.free_inodes or 0) == (2 if slim else 4 + 3)  # of one, 3 folders
    outcome = caches.carried_out(plan, trash)
    assert (outcome.moved_bytes, trash.trash_bytes()) == (plan.frees, plan.frees)
    with trash.exclusively():
        assert trash.purge(trash.history_of(plan.identity)).freed == plan.frees
    assert "stay on the disk, under names outside this cache" in "".join(line.text for line in plan_lines(plan))


def test_free_space_is_not_looked_for_where_nothing_becomes_free(root: Path) -> None:
    shared, alone = (caches.entry(root, number, blocks=100, age_days=40 - number) for number in range(2))
    copied_by_links(root, shared)
    snapshot = caches.looked_at(root)
    context = caches.context(snapshot)
    wanted = EvictCriteria(free_bytes=(context.before.free or 0) + 4096)
    plan = plan_eviction(snapshot.entries, str(root), wanted, context)
    assert [step.path.rpartition("/")[2] for step in plan.steps] == [alone.name]
    assert [one.cause.code for one in plan.exclusions] == [ReasonCode.FREES_NOTHING]
    smaller = plan_eviction(snapshot.entries, str(root), EvictCriteria(max_bytes=100 * 4096 + 65536), context)
    assert [step.path.rpartition("/")[2] for step in smaller.steps] == [shared.name], "the cache is smaller without it"


def test_a_name_in_the_trash_is_none_elsewhere(root: Path) -> None:
    first, second = caches.entry(root, 1, blocks=100), caches.entry(root, 2, blocks=1)
    (second / "model.neff").unlink()
    (second / "model.neff").hardlink_to(first / "model.neff")
    caches.grow_old(second, 10)
    caches.carried_out(planned(root, EvictCriteria(modules=(caches.module(1),))), Trash(root))
    snapshot = caches.looked_at(root)
    context = caches.context(snapshot, trashed=Trash(root).linked())
    plan = plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=0.0), context)
    assert (plan.frees > 100 * 4096, plan.stays) == (True, 0)


def test_criteria_that_are_empty_are_refused(root: Path) -> None:
    with pytest.raises(ValueError, match="specify at least one of"):
        planned(root, EvictCriteria())


def test_what_maintenance_foresees_of_shared_files_is_what_it_does(root: Path) -> None:
    """An artifact with a name in each of two entries is free once both are gone, also if two plans take them."""
    old, newer = (caches.entry(root, number, blocks=100, age_days=age) for number, age in ((1, 60), (2, 20)))
    shared = (old / "model.neff").stat()
    (newer / "model.neff").unlink()
    (newer / "model.neff").hardlink_to(old / "model.neff")
    os.utime(newer, ns=(shared.st_atime_ns, shared.st_mtime_ns))
    criteria = [EvictCriteria(older_than=50 * caches.DAY), EvictCriteria(max_bytes=0)]
    snapshot = caches.looked_at(root)
    foreseen = foreseen_plans(criteria, snapshot, caches.context(snapshot))
    done = []
    for each in criteria:
        done.append(planned(root, each, trashed=Trash(root).linked()))
        caches.carried_out(done[-1], Trash(root))
    assert [[(step.path, step.frees, step.stays) for step in plan.steps] for plan in foreseen] == [
        [(step.path, step.frees, step.stays) for step in plan.steps] for plan in done
    ]
    assert sum(plan.frees for plan in foreseen) == sum(entry.allocated for entry in snapshot.entries) - 100 * 4096


def test_what_a_client_changed_while_a_plan_ran_is_a_sign_of_use(root: Path) -> None:
    """A step that was refused changed nothing, so the change that it was refused for is somebody else's."""
    states.entry_in(root, State.FAILED, number=1)
    states.entry_in(root, State.FAILED, number=2)
    snapshot = caches.looked_at(root)
    plan = plan_retry(snapshot.entries, str(root), caches.context(snapshot), deterministic=True)
    (root / plan.steps[0].path / "compiling").write_text("by a client of another host")
    outcome = caches.carried_out(plan, Trash(root))
    assert [(outcome.done, why.code) for _, why in outcome.refused] == [(1, NotDoneCode.FILES_CHANGED)]
    assert list(Trash(root).touched()) == [plan.steps[1].path]
    in_use = collect_context(caches.looked_at(root), trash=Trash(root)).in_use
    assert in_use is not None
    assert not in_use.certain
