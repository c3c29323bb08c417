"""Sentences of a plan are for people: none of them decides anything."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions.backends import BackendKind
from neuron_top.actions.journal.records import PlanRestored
from neuron_top.actions.plan import Outcome, Plan
from neuron_top.actions.planners.copy import CopyDestination, plan_copy
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.reasons import Caveat, CaveatCode, Reason, ReasonCode, UseSource
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.states import State
from neuron_top.services.caches import CacheService
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.settings import Settings
from neuron_top.views.plan import LineKind, choice_text, outcome_lines, plan_lines
from neuron_top.views.plan_sentences import caveat_text, describe, restored_text
from tests.actions import caches, states

_numbers = itertools.count()


def other(text: str) -> str:
    """Another sentence; none stays none."""
    return f"sentence {next(_numbers)}" if text else ""


def rephrased(plan: Plan) -> Plan:
    """The plan with every sentence changed. Names, paths, numbers and states stay."""
    steps = tuple(
        msgspec.structs.replace(
            step,
            reason=other(step.reason),
            proof=other(step.proof),
            warning=other(step.warning),
            rebuild_from=other(step.rebuild_from),
        )
        for step in plan.steps
    )
    exclusions = tuple(msgspec.structs.replace(each, reason=other(each.reason)) for each in plan.exclusions)
    return msgspec.structs.replace(
        plan,
        policy=other(plan.policy),
        caveats=tuple(map(other, plan.caveats)),
        refused=other(plan.refused),
        goal_missed=other(plan.goal_missed),
        goal_met=other(plan.goal_met),
        steps=steps,
        exclusions=exclusions,
    )


def test_an_age_is_said_alike_in_each_part_of_a_sentence() -> None:
    idle = 88.7 * 86400
    unused = describe(Reason(ReasonCode.UNUSED, "", idle), UseSource.COMPILE)
    older = describe(Reason(ReasonCode.SUPERSEDED, "", idle), UseSource.COMPILE)
    assert (unused, older) == ("no use known for 88 d", "an older compiler's, no use known for 88 d")


def a_cache(root: Path) -> CacheService:
    """An entry of most states, and a service that looks at no processes."""
    for number, state in enumerate((State.HIT, State.FAILED, State.STALE_LOCK, State.CORRUPT, State.LOCKED_UNKNOWN)):
        states.entry_in(root / "cache", state, number=number)
    caches.entry(root / "cache", 90)
    return CacheService(Settings(state_dir=str(root / "state")), in_use=lambda root: None)


@pytest.mark.parametrize(
    "verb", [Verb.EVICT, Verb.SLIM, Verb.RETRY_DETERMINISTIC, Verb.UNLOCK, Verb.FORCE_UNLOCK, Verb.QUARANTINE]
)
def test_a_plan_with_every_sentence_changed_decides_the_same(verb: Verb, tmp_path: Path) -> None:
    def decided(root: Path, change: Callable[[Plan], Plan]) -> tuple[object, ...]:
        service, cache = a_cache(root), str(root / "cache")
        paths = [entry.path for entry in service.snapshot(cache).entries]
        execution = PlanExecution(plan=change(service.plan(verb, cache, paths)))
        before = execution.typed, len(execution.confirmation.per_step), execution.can_confirm
        kinds = [line.kind for line in plan_lines(execution.plan) if line.kind in (LineKind.STEP, LineKind.WARNING)]
        if execution.can_confirm:
            execution.confirm(execution.typed)
            service.run(execution)
        outcome = execution.outcome
        refused = sorted(path for path, _reason in outcome.refused) if outcome is not None else []
        left = sorted((entry.path, entry.state) for entry in service.snapshot(cache).entries)
        done = outcome.done if outcome is not None else None
        return before, kinds, execution.state, execution.can_undo, done, refused, left

    plain, changed = decided(tmp_path / "plain", lambda plan: plan), decided(tmp_path / "changed", rephrased)
    assert plain == changed


@pytest.mark.parametrize(
    ("trash", "freed", "where"),
    [
        ("s3://bucket/prefix", 0, ", 2.0 MiB kept as old versions until the bucket expires them"),
        ("/cache-trash", 0, ", 2.0 MiB in the trash until it is purged (neurontop cache purge)"),
        (
            "/cache-trash",
            1024,
            ", 2.0 MiB in the trash until it is purged (neurontop cache purge), 1.0 KiB free already",
        ),
        ("", 2 * 1024**2, ", 2.0 MiB"),
    ],
)
def test_an_outcome_says_where_lies_what_went_and_a_bucket_cannot_be_purged(trash: str, freed: int, where: str) -> None:
    outcome = Outcome(plan="p", done=1, refused=(), moved_bytes=2 * 1024**2, freed_bytes=freed, trash=trash)
    assert outcome_lines(outcome)[0].text == f"done: 1 step{where}"


def test_an_outcome_that_took_nothing_names_no_place() -> None:
    for trash in ("", "/cache-trash", "s3://bucket/prefix"):
        outcome = Outcome(plan="p", done=0, refused=(), moved_bytes=0, trash=trash)
        assert outcome_lines(outcome)[0].text == "done: 0 steps"


def test_a_copy_says_what_it_copies_and_not_how_large_the_destination_is(tmp_path: Path) -> None:
    for number in range(4):
        caches.entry(tmp_path, number, blocks=256)
    there = {f"{caches.COMPILER}/{caches.module(number)}" for number in (3, 9)}
    plan = plan_copy(caches.looked_at(tmp_path), CopyDestination("/other", there, 1 << 40), now=time.time())
    texts = [line.text for line in plan_lines(plan, 1)]
    assert "  and 2 more, 2.0 MiB" in texts
    at = texts.index("at the destination, before → after")
    assert texts[at + 1 : at + 3] == ["  entries       2 → 5", "  copied        12 files, 3.0 MiB"]
    assert choice_text(plan) == "Copy: 3 steps, 3.0 MiB"


@pytest.mark.parametrize(
    ("days", "known", "says"),
    [
        ((8, 9), (), "discards 2 compiles of unknown duration"),
        ((8,), (), "discards 1 compile of unknown duration"),
        ((8, 9), (0,), "discards 1 m 00 s of compile time, and 1 compile of unknown duration"),
        (
            (3, 8),
            (0, 1),
            "discards 2 m 00 s of compile time; 1 of these was used within a week (1 m 00 s to compile again)",
        ),
        ((3, 3), (), "discards 2 compiles of unknown duration; 2 of these were used within a week"),
    ],
)
def test_what_a_plan_discards_is_said_of_one_and_of_several(
    days: Sequence[int], known: Sequence[int], says: str, tmp_path: Path
) -> None:
    now = time.time()
    for number, age in enumerate(days):
        caches.entry(tmp_path, number, age_days=age)
    used = {caches.module(number): now - age * caches.DAY for number, age in enumerate(days)}
    compiled = {caches.module(number): 60.0 for number in known}
    snapshot = caches.looked_at(tmp_path)
    plan = plan_eviction(
        snapshot.entries,
        str(tmp_path),
        EvictCriteria(older_than=0.0),
        caches.context(snapshot, used=used, compiled=compiled),
    )
    assert f"  {says}" in [line.text for line in plan_lines(plan)]


def test_a_caveat_counts_one_process() -> None:
    said = caveat_text(Caveat(CaveatCode.PROCESSES_UNSEEN, 1))
    assert said == "of 1 process of other users, only the command could be seen"


@pytest.mark.parametrize(
    ("kind", "left"), [(BackendKind.FOLDER, "stays in the trash"), (BackendKind.BUCKET, "stays deleted")]
)
def test_what_an_undo_leaves_lies_in_the_trash_of_a_folder_and_stays_deleted_in_a_bucket(
    kind: BackendKind, left: str
) -> None:
    record = PlanRestored(plan="3f9a", at=1.0, restored=2, kept=(("a/b", "it exists again"),))
    assert restored_text(record, kind) == f"2 brought back, 1 {left}: it exists again"


def test_a_use_that_a_recording_tells_of_is_reported_as_known_from_it() -> None:
    said = describe(Reason(ReasonCode.USED_RECENTLY, str(UseSource.RECORD)))
    assert said.startswith("used within a day (known from: a recorded run); ")
