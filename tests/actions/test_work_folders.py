"""Work folders that a process uses stay, however their paths are written."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import pytest

from neuron_top.actions.plan import DAY, Totals
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners import sweep
from neuron_top.actions.reasons import Refusal, RefusalCode
from neuron_top.cache.filesystem import Filesystem

WAITS = "import signal; print(flush=True); signal.pause()"


@pytest.mark.parametrize("how", ["works in it", "has a file of it open", "names it in its command"])
@pytest.mark.parametrize("is_link", [False, True])
def test_a_work_folder_in_use_is_busy_also_below_a_temporary_folder_that_is_a_link(
    is_link: bool, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "disk"
    real = disk / "me" / "neuroncc_compile_workdir" / "1b4e28ba"
    real.mkdir(parents=True)
    (real / "graph").write_bytes(b"x")
    (tmp_path / "link").symlink_to(disk)
    tmp = tmp_path / "link" if is_link else disk
    monkeypatch.setattr(tempfile, "tempdir", str(tmp))
    with (real / "graph").open("rb") as graph:
        process = subprocess.Popen(
            [sys.executable, "-c", WAITS, *([f"{real}/graph"] if how == "names it in its command" else [])],
            cwd=real if how == "works in it" else "/",
            stdin=graph if how == "has a file of it open" else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        (found,) = sweep.find_work_folders()
        assert Path(found.path) == tmp / real.relative_to(disk)
        assert found.busy == f"process {process.pid} {how}"
        assert sweep.why_busy(found.path, time.time()) == found.busy
    finally:
        process.kill()
        process.communicate()
    assert sweep.find_work_folders()[0].busy is None
    os.utime(real / "graph", (1.0, 1.0))
    assert sweep.why_busy(found.path, time.time()) == ""


def test_work_folders_that_other_hosts_may_use_go_only_if_the_operator_states_that_none_does() -> None:
    now, shared = 1_800_000_000.0, "nfs4 can be written by other hosts"
    folder = sweep.WorkFolder(
        path="/shared/nxd_model/a/b",
        kind="nxd",
        size=4096,
        files=1,
        newest=now - 5 * DAY,
        inode=1,
        mtime_ns=1,
        owner=7,
        busy=None,
    )
    context = PlanContext(now=now, before=Totals(entries=0, files=0, size=0))
    stated = msgspec.structs.replace(context, shared_confirmed=True)
    young = msgspec.structs.replace(folder, newest=now)

    def refusal(found: sweep.WorkFolder, given: PlanContext, why: str | None) -> Refusal | None:
        (plan,) = sweep.plan_sweeps([found], given, 7, disk_of=lambda parent: Filesystem(why_shared=why))
        return plan.refusal

    assert refusal(folder, context, shared) == Refusal(RefusalCode.SHARED, shared)
    assert [refusal(folder, stated, shared), refusal(folder, context, None), refusal(young, context, shared)] == [
        None
    ] * 3
