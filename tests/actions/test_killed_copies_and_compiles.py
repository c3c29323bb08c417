"""kill -9 at every touch of the disk by copies, compiles, sweeps and pins.

`test_killed_midway.py` does the same to the acts on a cache's entries.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top.actions import plan as plans
from neuron_top.actions.execution import copy as copies
from neuron_top.actions.execution.compile_now import compile_now
from neuron_top.actions.execution.copy_targets import LocalCopyTarget
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.pins import Pins
from neuron_top.actions.plan import Plan, Totals
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners import sweep
from neuron_top.actions.planners.copy import CopyDestination, plan_copy
from neuron_top.actions.planners.retry import plan_retry
from neuron_top.cache.model.states import State
from neuron_top.compile.compilers.neuronx_cc import NeuronxCC
from neuron_top.compile.parallel.log_lines import ParallelLog
from neuron_top.events.levels import LogLevel
from tests.actions import caches, states
from tests.actions.killing import Killer, killer

AROUND = PlanContext(now=time.time(), before=Totals(entries=2, files=0, size=0))
VERSION = caches.COMPILER.removeprefix("neuronxcc-")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where compilers work."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def kills(work: Path) -> Iterator[Killer]:
    with killer({"BASE_COMPILE_WORK_DIR": str(work)}) as found:
        yield found


def contents(root: Path) -> dict[str, bytes]:
    return {name: data for name, (data, _, _) in caches.everything(root).items()}


def kept(folder: Path, plan: Plan) -> str:
    """The plan as a file."""
    (folder / "plan.json").write_bytes(plans.encode(plan))
    return str(folder / "plan.json")


def test_a_killed_copy_has_no_false_hit_and_the_next_one_leaves_no_trace_of_it(kills: Killer, tmp_path: Path) -> None:
    killed, at = True, 0
    while killed:
        folder = tmp_path / str(at)
        source, target = folder / "source", folder / "target"
        for number in range(2):
            caches.entry(source, number)
        before, snapshot = caches.everything(source), caches.looked_at(source)
        plan = plan_copy(snapshot, CopyDestination(str(target)), now=snapshot.taken_at)
        killed = kills.killed("copy", source, kept(folder, plan), at)
        assert caches.everything(source) == before
        for mark in target.rglob("model.done"):
            wanted = contents(source / mark.parent.relative_to(target))
            assert wanted.items() <= contents(mark.parent).items(), f"killed at touch {at}: a false hit"
        outcome = copies.copy(
            plan, LocalCopyTarget(source), LocalCopyTarget(target), Trash(target), lambda progress: True
        )
        assert set(caches.reasons(outcome)) <= {"the destination has it by now"}, f"killed at touch {at}"
        assert contents(target) == contents(source), f"killed at touch {at}"
        at += 1
    assert at > 20


def test_a_killed_compile_leaves_the_failure_or_a_hit_and_can_be_resumed(kills: Killer, tmp_path: Path) -> None:
    killed, at = True, 0
    while killed:
        folder = tmp_path / str(at)
        root = folder / "cache"
        place = states.entry_in(root, State.FAILED)
        sdk_compiler(folder)
        plan = plan_retry(caches.looked_at(root).entries, str(root), AROUND, compilers={caches.COMPILER})
        killed = kills.killed("compile", root, kept(folder, plan), at)
        assert (place / "model.log").exists() or (place / "model.neff").exists(), f"killed at touch {at}"
        assert (place / "model.neff").exists() or not (place / "model.done").exists(), f"killed at touch {at}"
        one = sdk_compiler(folder)
        log = ParallelLog(level=LogLevel.ERROR, stream=io.StringIO())
        outcome = compile_now(plan, Trash(root), {one.graph_name: one}, jobs=1, log=log, watch=lambda progress: True)
        assert (outcome.done, outcome.refused) == (1, ()), f"killed at touch {at}"
        assert [entry.state for entry in caches.looked_at(root).entries] == [State.HIT], f"killed at touch {at}"
        assert not list(root.rglob("*.lock*")), f"killed at touch {at}"
        at += 1
    assert at > 10


def sdk_compiler(folder: Path) -> NeuronxCC:
    """The SDK's compiler, played by a script."""
    program = folder / "neuronx-cc"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo "version {VERSION}"; exit 0; fi\ncp "{folder}/made.neff" "$5"\n'
    )
    (folder / "made.neff").write_bytes(caches.neff(2000))
    program.chmod(0o755)
    return NeuronxCC(str(program))


@pytest.mark.parametrize("resume", [False, True], ids=["undone", "resumed"])
def test_a_killed_sweep_of_work_folders_is_undone_or_resumed(
    kills: Killer, work: Path, monkeypatch: pytest.MonkeyPatch, *, resume: bool
) -> None:
    monkeypatch.setenv("BASE_COMPILE_WORK_DIR", str(work))
    killed, at = True, 0
    while killed:
        parent = work / f"{resume}-{at}"
        (parent / "_tp0_bk0").mkdir(parents=True)
        (parent / "_tp0_bk0/graph.hlo").write_bytes(b"g" * 5000)
        caches.grow_old(parent / "_tp0_bk0", 3)
        before = caches.everything(parent)
        found = [folder for folder in sweep.find_work_folders() if Path(folder.path).parent == parent]
        (plan,) = sweep.plan_sweeps(found, AROUND, os.getuid())
        assert len(plan.steps) == 1, plan.exclusions
        killed = kills.killed("execute", parent, kept(work, plan), at)
        trash = Trash(parent)
        if not trash.histories():
            assert caches.everything(parent) == before, f"killed at touch {at}: touched before it was journalled"
        else:
            if resume:
                assert caches.carried_out(plan, trash).refused == (), f"killed at touch {at}"
                assert list(parent.iterdir()) == []
            restore(plan.identity, trash)
            assert caches.everything(parent) == before, f"killed at touch {at}"
        at += 1
    assert at > 10


def test_pins_are_the_old_ones_or_the_new_ones_whenever_a_pin_is_killed(kills: Killer, tmp_path: Path) -> None:
    killed, at = True, 0
    while killed:
        pins = Pins(tmp_path / str(at))
        pins.add(["MODULE_1*"])
        killed = kills.killed("pin", pins.path.parent, "MODULE_2*", at)
        assert pins.patterns() in (("MODULE_1*",), ("MODULE_1*", "MODULE_2*")), f"killed at touch {at}"
        pins.add(["MODULE_2*"])
        assert pins.patterns() == ("MODULE_1*", "MODULE_2*"), f"killed at touch {at}"
        names = {path.name for path in pins.path.parent.iterdir()}
        assert names == {"cache-pins.json", "cache-pins.lock"}, f"killed at touch {at}"
        at += 1
    assert at > 2
