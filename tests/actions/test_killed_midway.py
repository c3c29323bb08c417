"""kill -9 at every instant at which execution touches the disk: the cache is whole, the plan goes on or is undone."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.actions import plan as plans
from neuron_top.actions.evict import EvictPolicy, plan_eviction
from neuron_top.actions.journal import Trash
from neuron_top.actions.restore import restore
from neuron_top.cache.entry import State
from tests.actions import caches

CHILD = """
import os, signal, sys
from neuron_top.actions import plan as plans
from neuron_top.actions.execute import execute
from neuron_top.actions.journal import Trash

plan, left = plans.decode(open(sys.argv[1], "rb").read())[0], int(sys.argv[2])

def count(event, arguments):
    global left
    if event in ("os.rename", "os.link", "os.remove", "os.mkdir", "os.utime", "open"):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

trash = Trash(plan.root)
sys.addaudithook(count)
execute(plan, trash, in_use=lambda root: None)
"""
USABLE = {State.HIT, State.TODO, State.STALE_LOCK, State.HIT_LEFTOVER_LOCK, State.PUBLISHED_UNMARKED, State.EMPTY}


def killed_after(touches: int, plan: plans.Plan, folder: Path) -> bool:
    """Execute in a process that dies at its `touches`-th touch of the disk; False when it lived to the end."""
    (folder / "plan.json").write_bytes(plans.encode(plan))
    command = [sys.executable, "-c", CHILD, str(folder / "plan.json"), str(touches)]
    status = subprocess.run(command, check=False, timeout=60).returncode
    assert status in (0, -signal.SIGKILL)
    return status != 0


@pytest.mark.parametrize("slim", [False, True], ids=["whole", "slim"])
@pytest.mark.parametrize("resume", [False, True], ids=["undone", "resumed"])
def test_a_kill_at_any_touch_of_the_disk_loses_nothing(tmp_path: Path, slim: bool, resume: bool) -> None:
    touches = 0
    while True:
        folder = tmp_path / str(touches)
        root = folder / "cache"
        root.mkdir(parents=True)
        for number in range(2):
            caches.entry(root, number)
        before = caches.everything(root)
        snapshot = caches.looked_at(root)
        policy = EvictPolicy(older_than=0.0, slim=slim)
        plan = plan_eviction(snapshot.entries, str(root), policy, caches.around(snapshot))
        killed = killed_after(touches, plan, folder)
        after = {entry.state for entry in caches.looked_at(root).entries}
        assert after <= USABLE, f"killed at touch {touches}: {after}"
        _settle(plan, root, before, resume=resume, killed=killed)
        if not killed:
            break
        touches += 1
    assert touches > 20


def _settle(
    plan: plans.Plan, root: Path, before: dict[str, tuple[bytes, int, int]], *, resume: bool, killed: bool
) -> None:
    trash = Trash(root)
    chapters = trash.entries()
    if not chapters:
        assert caches.everything(root) == before, "touched before it was journalled"
        return
    assert chapters[0].state == ("interrupted" if killed and not chapters[0].ended else "done")
    if resume:
        assert caches.carried_out(plan, trash).refused == ()
        assert {entry.state for entry in caches.looked_at(root).entries} <= {State.TODO}
    restore(plan.identity, trash)
    assert contents(caches.everything(root)) == contents(before)


def contents(found: dict[str, tuple[bytes, int, int]]) -> dict[str, bytes]:
    """Without the lock that a killed maintainer may leave: its owner is named in it, and dead."""
    return {name: data for name, (data, _, _) in found.items() if not name.endswith(".lock")}
