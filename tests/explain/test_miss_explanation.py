"""The question a run puts about a miss, and the answer a screen shows."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from neuron_top import events as ev
from neuron_top.actions.journal.records import Move, MovesIntended, PlanBegun, PlanEnded
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Action
from neuron_top.cache.locks import lock_owner
from neuron_top.run.model import Run
from neuron_top.services.misses import MissService
from neuron_top.settings import Settings
from neuron_top.views.miss_explanation import MissQuery, question, questions, roots
from tests.builders import COMPILER, F32, FAILURE_LOG, hlo, instruction, shape, write_entry
from tests.explain.one_change_cases import FLAGS, NOW, OLD, removed, stored
from tests.explain.transformer_step_hlo import Step, training_step
from tests.report.samples import T0, A, B, C, compiled, hit, made


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MissService:
    monkeypatch.delenv("NEURON_CC_FLAGS", raising=False)
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(tmp_path / "in-force"))
    return MissService(Settings(state_dir=str(tmp_path / "state")))


def test_only_a_graph_that_missed_raises_the_question() -> None:
    run = made(compiled(A, 10, 0, 20), compiled(C, 11, 0, 40), hit(B, 10, 31))
    assert question(run, 0.0, B) is None
    assert question(run, 0.0, "no such graph") is None
    assert [one.module for one in questions(run, 0.0)] == [C, A]


def test_a_recorded_job_names_its_cache_by_its_environment() -> None:
    run = Run()
    started = ev.RunStarted(run="r", directory="/work", environment={"NEURON_COMPILE_CACHE_URL": "cache"})
    run.apply(started)
    assert roots(run) == ("/work/cache",)
    run.apply(ev.RunStarted(run="r", environment={"NEURON_CC_FLAGS": "--cache_dir=/flags"}))
    assert roots(run) == ("/flags",)
    assert roots(Run()) == ()


def test_the_answer_names_the_likeliest_cause_and_what_it_was_compared_with(
    tmp_path: Path, service: MissService
) -> None:
    root = tmp_path / "cache"
    stored(root, training_step(Step()), 1, OLD)
    module = stored(root, training_step(Step(batch=16)), 2, NOW)
    version = COMPILER.partition("-")[2]
    reported = service.why(
        MissQuery(module=module, roots=("/nowhere", str(root)), compiler=version, compiled_here=True)
    )
    assert reported.reasons[0].kind == "batch size"
    assert reported.reasons[0].entry.startswith(COMPILER)
    assert reported.headline == reported.reasons[0].text
    assert reported.footnote.startswith(f"compared with 1 graph of {root}")


def test_a_run_that_names_no_cache_of_this_machine_is_explained_by_the_cache_that_was_named(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    module = stored(root, training_step(Step()), 1, OLD)
    service = MissService(Settings(state_dir=str(tmp_path / "state")), named=("s3://bucket", str(root)))
    for named_by_run in ((), ("/nowhere",)):
        assert str(root) in service.why(MissQuery(module=module, roots=named_by_run)).footnote


def test_a_failure_that_came_of_the_miss_is_not_its_reason(tmp_path: Path, service: MissService) -> None:
    root = tmp_path / "cache"
    stored(root, training_step(Step()), 1, OLD)
    log = FAILURE_LOG.format(message="[NCC_EXTP003] too many instructions").encode()
    files = {"model.hlo_module.pb": training_step(Step(batch=16)), "model.log": log}
    module = write_entry(root, files, flags=FLAGS, graph=f"{2:020x}", age=NOW).name
    asked = MissQuery(module=module, roots=(str(root),))
    assert service.why(asked).reasons[0].kind == "failed"
    here = MissQuery(module=module, roots=(str(root),), compiled_here=True)
    assert service.why(here).reasons[0].kind == "batch size"


def test_an_eviction_after_the_run_is_not_the_reason_of_its_miss(tmp_path: Path, service: MissService) -> None:
    root, at = tmp_path / "cache", time.time() - 3600
    module = removed(root, at=at)
    reasons = {
        ended: [
            reason.kind for reason in service.why(MissQuery(module=module, roots=(str(root),), ended=ended)).reasons
        ]
        for ended in (None, at + 60, at - 60)
    }
    assert reasons == {None: ["evicted"], at + 60: ["evicted"], at - 60: ["nothing near"]}


def test_only_the_end_of_a_recorded_run_dates_its_misses() -> None:
    log = Run()
    for event in compiled(A, 10, 0, 20):
        log.apply(event)
    found = [question(run, 0.0, A) for run in (made(compiled(A, 10, 0, 20), until=50.0), log)]
    assert [one.ended for one in found if one is not None] == [T0 + 50, None]


def test_where_no_cache_can_be_looked_at_the_answer_says_so(service: MissService) -> None:
    reported = service.why(MissQuery(module=A, roots=("s3://bucket/cache",)))
    assert (reported.headline, reported.reasons) == (
        "cannot be known: the cache s3://bucket/cache is not a folder of this machine",
        (),
    )


def test_the_first_graph_of_a_cache_is_new_here_and_compared_with_nothing_later(
    tmp_path: Path, service: MissService
) -> None:
    root = tmp_path / "cache"
    module = stored(root, training_step(Step()), 1, OLD)
    stored(root, training_step(Step(batch=16)), 2, NOW)
    reported = service.why(MissQuery(module=module, roots=(str(root),), compiled_here=True))
    assert reported.reasons[0].kind == "nothing near"
    assert "new here" in reported.headline


def test_only_a_job_that_was_cached_before_can_have_an_extra_graph(tmp_path: Path, service: MissService) -> None:
    root = tmp_path / "cache"
    sizes = [(3, 4), (5, 6), (7, 8)]
    weights = [instruction(number, "parameter", shape(F32, *dims)) for number, dims in enumerate(sizes, 1)]
    products = [instruction(4 + number, "dot", shape(F32, *dims)) for number, dims in enumerate(sizes)]
    others = [instruction(4 + number, "sqrt", shape(F32, *dims)) for number, dims in enumerate([(2,), (9,), (11,)])]
    stored(root, hlo([*weights, *products]), 1, OLD)
    module = stored(root, hlo([*weights, *others]), 2, NOW)
    asked = MissQuery(module=module, roots=(str(root),), compiled_here=True)
    before, after = time.time() - OLD - 60, time.time() - OLD + 60
    assert service.why(replace(asked, began=after)).reasons[0].kind == "extra graph"
    assert service.why(replace(asked, began=before)).reasons[0].kind == "nothing near"


def test_what_the_same_run_compiled_is_a_version_of_a_graph_only_where_it_is_the_same_program(
    tmp_path: Path, service: MissService
) -> None:
    """A region of a model is not a version of the region before it; the last, smaller batch of a run is."""
    root = tmp_path / "cache"
    stored(root, training_step(Step()), 1, OLD)
    last_batch = stored(root, training_step(Step(batch=3)), 2, OLD - 10)
    other_part = stored(root, training_step(Step(layers=3, optimizer="adam")), 3, OLD - 20)
    began = {"in this run": time.time() - OLD - 60, "before it": time.time() - OLD + 5}

    def first(module: str, when: str) -> str:
        asked = MissQuery(module=module, roots=(str(root),), compiled_here=True, began=began[when])
        return service.why(asked).reasons[0].kind

    assert [first(last_batch, when) for when in began] == ["batch size", "batch size"]
    assert [first(other_part, when) for when in began] == ["nothing near", "layers"]


def test_an_eviction_by_another_user_is_reported_where_that_journal_may_be_read(
    tmp_path: Path, service: MissService
) -> None:
    root = tmp_path / "cache"
    stored(root, training_step(Step()), 5, OLD)
    trash = Trash(root, tmp_path / ".neurontop-trash-4711")
    trash.prepare()
    move = Move(step=0, action=Action.EVICT, path=f"{COMPILER}/{A}", inode=1, folder_mtime_ns=1, frees=10)
    trash.write(
        PlanBegun(
            plan="p7",
            at=1.7e9,
            verb="evict",
            root=str(root),
            policy="older than 30d",
            user="mallory",
            host="node3",
            owner=lock_owner.current(),
            steps=1,
            frees=10,
        ),
        MovesIntended(plan="p7", at=1.7e9, moves=(move,)),
        PlanEnded(plan="p7", at=1.7e9, done=1, refused=0, moved_bytes=10),
    )
    reported = service.why(MissQuery(module=A, roots=(str(root),)))
    assert reported.reasons[0].kind == "evicted"
    assert "mallory@node3" in reported.headline
