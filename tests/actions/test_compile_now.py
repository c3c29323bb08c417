"""Retry now: failed graphs compiled again, side by side, with progress; what changed meanwhile is left alone.

The SDK's compiler is played by a script; `tests/compile/parallel/test_retry_now.py` compiles real graphs.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_top.actions import plan as plans
from neuron_top.actions.execution import compile_child, compilers
from neuron_top.actions.execution.compile_child import compile_apart
from neuron_top.actions.execution.compile_now import compile_now
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Outcome, Plan
from neuron_top.actions.planners.retry import plan_retry
from neuron_top.actions.reasons import CaveatCode, ReasonCode
from neuron_top.cache.model.states import State
from neuron_top.compile.compiler import Compiler
from neuron_top.compile.compilers.neuronx_cc import NeuronxCC
from neuron_top.compile.parallel.compile_queue import QueueProgress
from neuron_top.compile.parallel.log_lines import ParallelLog
from neuron_top.errors import RefusedForSafety
from neuron_top.events.levels import LogLevel
from neuron_top.views.plan import outcome_with_texts, reason_text
from neuron_top.views.plan_sentences import caveat_text
from tests.actions import caches, states

VERSION = "2.21.18209.0+043b1bf7"
assert f"neuronxcc-{VERSION}" == caches.COMPILER


def sdk_compiler(folder: Path, body: str = 'cp "$3" "$5"') -> NeuronxCC:
    """The SDK's compiler, played by a script."""
    program = folder / "neuronx-cc"
    program.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "version {VERSION}"; exit 0; fi\n{body}\n')
    program.chmod(0o755)
    return NeuronxCC(str(program))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three failures: two of memory, one that the compiler will reject again."""
    place = tmp_path / "cache"
    for number in (61, 62):
        states.entry_in(place, State.FAILED, number=number)
    rejected = states.entry_in(place, State.FAILED, number=63)
    (rejected / "model.log").write_text("Failed compilation with ['neuronx-cc']: [NCC_EOOM002] too large")
    caches.grow_old(rejected, 10)
    return place


def planned(root: Path, *, deterministic: bool = False, folders: frozenset[str] = frozenset({caches.COMPILER})) -> Plan:
    snapshot = caches.looked_at(root)
    return plan_retry(
        snapshot.entries, str(root), caches.context(snapshot), deterministic=deterministic, compilers=folders
    )


def compiled(
    plan: Plan, one: Compiler, watch: Callable[[QueueProgress], bool] = lambda progress: True, jobs: int = 2
) -> Outcome:
    log = ParallelLog(level=LogLevel.ERROR, stream=io.StringIO())
    return compile_now(plan, Trash(plan.root), {one.graph_name: one}, jobs=jobs, log=log, watch=watch)


def states_of(root: Path) -> dict[int, str]:
    return {int(entry.module[7:27]): str(entry.state) for entry in caches.looked_at(root).entries}


def test_what_need_not_fail_again_is_compiled_and_the_rest_is_explained(root: Path, tmp_path: Path) -> None:
    plan = planned(root)
    assert [reason_text(each) for each in plan.exclusions] == [
        "bound to fail again (NCC_EOOM002: a retry is useless: use a smaller batch, more parallelism or other flags); "
        "--include-deterministic retries it anyway"
    ]
    without = {each.path: reason_text(each) for each in planned(root, folders=frozenset()).exclusions}
    assert without[plan.exclusions[0].path] == reason_text(plan.exclusions[0])
    assert sorted(text[:12] for text in without.values()) == ["bound to fai", "its compiler", "its compiler"]
    seen: list[QueueProgress] = []
    outcome = compiled(plan, sdk_compiler(tmp_path), lambda progress: seen.append(progress) is None)
    assert (outcome.done, outcome.refused, outcome.interrupted) == (2, (), False)
    assert seen[-1].done == 2
    assert states_of(root)[63] == State.FAILED
    for number in (61, 62):
        entry = root / caches.COMPILER / caches.module(number)
        assert (entry / "model.neff").read_bytes() == (entry / "model.hlo_module.pb").read_bytes()
        assert (entry / "model.done").exists()
        assert not (entry / "model.log").exists()


def test_a_failure_that_comes_again_stays_and_is_reported_in_the_compilers_words(root: Path, tmp_path: Path) -> None:
    outcome = compiled(planned(root, deterministic=True), sdk_compiler(tmp_path, "echo '[NCC_EOOM002] no'; exit 70"))
    assert outcome.done == 0
    assert len(outcome.refused) == 3
    assert set(states_of(root).values()) == {State.FAILED}
    history = Trash(root).histories()[0]
    assert (history.state, history.begun.verb, len(history.refused)) == ("done", "compile", 3)


def test_no_more_compile_at_a_time_than_allowed(root: Path, tmp_path: Path) -> None:
    most = [0]

    def watch(progress: QueueProgress) -> bool:
        most[0] = max(most[0], progress.running_count)
        return True

    compiled(planned(root, deterministic=True), sdk_compiler(tmp_path), watch, jobs=1)
    assert most == [1]


def test_stopped_it_leaves_the_failures_as_they_were_and_can_be_resumed(root: Path, tmp_path: Path) -> None:
    plan = planned(root)
    outcome = compiled(plan, sdk_compiler(tmp_path, "exec sleep 600"), lambda progress: progress.running_count == 0)
    assert (outcome.interrupted, outcome.done) == (True, 0)
    assert set(states_of(root).values()) == {State.FAILED}
    assert not list(root.rglob("*.lock"))
    trash = Trash(root)
    assert trash.history_of(plan.identity).state == "interrupted"
    assert compiled(trash.plan(plan.identity), sdk_compiler(tmp_path)).done == 2
    assert trash.history_of(plan.identity).state == "done"


def test_a_failure_that_a_live_compile_names_is_no_step(root: Path) -> None:
    snapshot = caches.looked_at(root)
    context = caches.context(snapshot, compiling=frozenset({caches.module(61)}))
    plan = plan_retry(snapshot.entries, str(root), context, compilers={caches.COMPILER})
    assert [step.path for step in plan.steps] == [f"{caches.COMPILER}/{caches.module(62)}"]
    reasons = {each.path: each.cause.code for each in plan.exclusions}
    assert reasons[f"{caches.COMPILER}/{caches.module(61)}"] is ReasonCode.NAMED_BY_PROCESS


def test_what_changed_since_the_plan_is_left_alone(root: Path, tmp_path: Path) -> None:
    states.entry_in(root, State.FAILED, number=64)
    plan = planned(root, deterministic=True)
    first, second, third, fourth = (root / caches.COMPILER / caches.module(number) for number in (61, 62, 63, 64))
    (first / "model.hlo_module.pb.lock").write_bytes(states.living_owner())
    (second / "model.neff").write_bytes(b"somebody wrote this")
    third.rename(tmp_path / "elsewhere")
    third.symlink_to(tmp_path / "elsewhere")
    fourth.rename(tmp_path / "gone")
    outcome = compiled(plan, sdk_compiler(tmp_path))
    reasons = dict(outcome_with_texts(outcome).refused)
    assert outcome.done == 0
    assert reasons[f"{caches.COMPILER}/{first.name}"] == "it is locked"
    assert reasons[f"{caches.COMPILER}/{second.name}"] == "files came or went since the plan was made"
    assert "link" in reasons[f"{caches.COMPILER}/{third.name}"]
    assert reasons[f"{caches.COMPILER}/{fourth.name}"] == "it is gone"


def test_a_saved_plan_is_not_carried_out_by_another_version_of_the_compiler(root: Path, tmp_path: Path) -> None:
    plan = planned(root)
    older = sdk_compiler(tmp_path)
    program = tmp_path / "neuronx-cc"
    program.write_text(program.read_text().replace(VERSION, "2.22.1.0+0a1b2c3d"))
    outcome = compiled(plan, older)
    assert set(caches.reasons(outcome)) == {"its compiler is not installed here"}
    assert set(states_of(root).values()) == {State.FAILED}


def test_read_only_and_a_shared_place_are_refused_at_the_bottom(root: Path, tmp_path: Path) -> None:
    one, log = sdk_compiler(tmp_path), ParallelLog(level=LogLevel.ERROR, stream=io.StringIO())
    snapshot = caches.looked_at(root)
    shared = plan_retry(
        snapshot.entries, str(root), caches.context(snapshot, shared="nfs4"), compilers={caches.COMPILER}
    )
    for plan, read_only, words in ((planned(root), True, "read-only"), (shared, False, "shared")):
        with pytest.raises(RefusedForSafety, match=words):
            compile_now(
                plan,
                Trash(root),
                {one.graph_name: one},
                jobs=1,
                log=log,
                watch=lambda progress: True,
                read_only=read_only,
            )


def test_a_compiler_that_is_not_there_is_reported(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found, missing = compilers.compilers_for(root, [f"{caches.COMPILER}/{caches.module(61)}"])
    assert found == {}
    [caveat] = missing
    assert caveat.code is CaveatCode.COMPILER_MISSING
    assert caveat_text(caveat).startswith(f"graphs in {caveat.graph} cannot be compiled here: neuronx-cc is not on the")


def test_for_a_screen_it_runs_in_a_process_of_its_own(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdk_compiler(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    plan = planned(root)
    seen: list[plans.QueueProgress] = []
    outcome = compile_apart(plan, jobs=2, read_only=False, watch=lambda progress: seen.append(progress) is None)
    assert (outcome.done, outcome.refused) == (2, ())
    assert (seen[-1].done, seen[-1].total) == (2, 2)
    assert seen[0].running is not None
    with pytest.raises(RefusedForSafety, match="read-only"):
        compile_apart(plan, jobs=2, read_only=True, watch=lambda progress: True)


def test_an_answer_that_an_interrupt_cuts_short_is_written_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    written = bytearray()

    def cut_short(descriptor: int, data: memoryview) -> int:
        assert descriptor == 1
        written.extend(data[:7])
        return len(data[:7])

    monkeypatch.setattr(os, "write", cut_short)
    compile_child._send(compile_child.ChildRefusal("a reason of many words"))
    monkeypatch.undo()
    assert compile_child._answers.decode(written) == compile_child.ChildRefusal("a reason of many words")
    assert written.endswith(b"\n")


def test_in_a_process_of_its_own_it_can_be_stopped(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk_compiler(tmp_path, "exec sleep 600")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    outcome = compile_apart(planned(root), jobs=2, read_only=False, watch=lambda progress: False)
    assert (outcome.interrupted, outcome.done) == (True, 0)
    assert set(states_of(root).values()) == {State.FAILED}
