"""Copies into a root that has entries already: in every layout, and two at once, of which one waits for the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neuron_top.actions.execution import copy as copies
from neuron_top.actions.execution.copy_targets import LocalCopyTarget, StoredFile
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.actions.planners.copy import CopyDestination, plan_copy
from tests.actions import caches

ENTRIES = 4


class SlowSource(LocalCopyTarget):
    """A source whose artifacts come when `released` is set; `asked` says that somebody waits for one."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.asked, self.released = threading.Event(), threading.Event()

    def file(self, entry: str, name: str) -> StoredFile | None:
        found = super().file(entry, name)
        return found._replace(chunks=self._late(found)) if found is not None and name == "model.neff" else found

    def _late(self, found: StoredFile) -> Iterator[bytes]:
        self.asked.set()
        assert self.released.wait(300)
        yield from found.chunks


def planned(source: Path, target: Path) -> Plan:
    snapshot = caches.looked_at(source)
    return plan_copy(snapshot, CopyDestination(str(target)), now=time.time())


@pytest.mark.parametrize(
    "compiler", [".", caches.COMPILER, "neuron-compile-cache/neuronxcc-2.9.4.0+aa", "2.1+ab/vit/4c/87"]
)
def test_what_the_destination_has_in_any_layout_is_not_planned_again(compiler: str, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    caches.entry(source, 1, compiler=compiler)
    plan = planned(source, target)
    assert [step.path for step in plan.steps] == [entry.path for entry in caches.looked_at(source).entries]
    done = copies.copy(plan, LocalCopyTarget(source), LocalCopyTarget(target), Trash(target), lambda progress: True)
    assert done.done == 1
    assert LocalCopyTarget(target).modules() == {step.path for step in plan.steps}


def test_the_second_waits_for_what_the_first_fills_and_does_the_rest(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    for number in range(ENTRIES):
        caches.entry(source, number)
    first_plan, second_plan = planned(source, target), planned(source, target)
    slow = SlowSource(source)
    looks: list[Progress] = []

    def watch(progress: Progress) -> bool:
        looks.append(progress)
        if progress.done == ENTRIES - 1 and len(looks) > ENTRIES + 2:  # nothing is left but what the first one fills
            slow.released.set()
        return True

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(
            copies.copy, first_plan, slow, LocalCopyTarget(target), Trash(target), lambda progress: True
        )
        assert slow.asked.wait(300)
        second = pool.submit(
            copies.copy, second_plan, LocalCopyTarget(source), LocalCopyTarget(target), Trash(target), watch
        )
        outcomes: list[Outcome] = [second.result(300), first.result(300)]
    assert [(each.done, each.there, each.refused, each.interrupted) for each in outcomes] == [
        (ENTRIES - 1, 1, (), False),
        (1, ENTRIES - 1, (), False),
    ]
    assert caches.everything(target).keys() == caches.everything(source).keys()


def test_a_copy_that_waits_can_be_stopped(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    caches.entry(source, 1)
    slow = SlowSource(source)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(
            copies.copy, planned(source, target), slow, LocalCopyTarget(target), Trash(target), lambda progress: True
        )
        assert slow.asked.wait(300)
        stopped = copies.copy(
            planned(source, target), LocalCopyTarget(source), LocalCopyTarget(target), Trash(target), lambda _: False
        )
        slow.released.set()
        assert first.result(300).done == 1
    assert (stopped.done, stopped.there, stopped.interrupted) == (0, 0, True)
