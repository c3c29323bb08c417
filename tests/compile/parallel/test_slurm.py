"""`neurontop compile --on slurm` on a real Slurm of four nodes, with a compiler in a script."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult, Fault
from neuron_top.compile.parallel.executor import EntryTask
from neuron_top.compile.parallel.places import JOBS
from neuron_top.compile.parallel.slurm_options import SlurmOptions
from tests.adversary.attacker import STRANGER, give_away, needs_root
from tests.compile.parallel.jobs import until
from tests.compile.parallel.scheduled import COMPILED, NoLibrary, Site
from tests.servers.slurm import SlurmCluster

pytest.importorskip("submitit")


@pytest.fixture
def site(slurm: SlurmCluster, tmp_path: Path) -> Site:
    """Three collected graphs on a Slurm without jobs."""
    return Site(tmp_path, slurm.environment)


def test_every_graph_is_compiled_once_though_a_node_has_no_compiler_and_a_task_is_killed(slurm, site):
    site.mark("no-compiler-on-n2")  # n1 has two cores: the third task goes to n2
    site.mark("kill-161")
    done = site.compile("--on", "slurm", "--partition", "main", "--account", "team", "--sbatch", "comment=three graphs")
    assert done.returncode == 0, done.stderr
    site.check_each_compiled_once()
    assert ["target:trn2", "account:team"] in site.lines("environment")  # a node without an accelerator needs a target
    assert {node for _, node in site.lines("compiled")} <= {"n1", "n3", "n4"}
    assert "node n2 is given no more compiles: neuronx-cc --version" in done.stderr
    assert "its task is gone (Slurm says failed)" in done.stderr
    assert "there is no place for claims, so lock files alone" in done.stderr
    assert "3 of 3 graphs: 3 done, 0 running, 0 failed, 0 left" in done.stderr
    again = site.compile("--on", "slurm")
    assert again.returncode == 0
    assert "nothing to compile: no graph waits in the cache" in again.stderr


def test_interrupted_it_cancels_what_it_submitted_and_goes_on_next_time(slurm, site):
    gate = site.mark("wait")
    status, said = site.interrupt("--on", "slurm", "--logs", str(site.folder / "logs"), mark=r"[1-3] running")
    assert status == 130, said
    assert slurm.run("squeue", "--noheader", "--states=PENDING,RUNNING,COMPLETING").strip() == ""
    assert list(site.root.rglob("*.lock")) == []
    assert site.lines("compiled") == []
    gate.unlink()
    done = site.compile("--on", "slurm")
    assert done.returncode == 0, done.stderr
    site.check_each_compiled_once()


def test_a_machine_without_a_compiler_submits_what_nodes_may_compile_and_skips_nothing(site):
    site.mark("no-compiler-on-here")
    done = site.compile("--on", "slurm", "--partition", "nowhere")
    assert "3 graphs go to slurm; logs of tasks are in " in done.stderr
    assert "skipped" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--on", "slurm", "--partition", "nowhere"], "Slurm refused the compiles: "),
        (["--partition", "main"], "--partition is for --on slurm, not for --on local"),
        (["--on", "slurm", "--ray", "auto"], "--ray is for --on ray, not for --on slurm"),
        (["--on", "slurm", "--sbatch", "=x"], "--sbatch takes KEY=VALUE"),
        (["--on", "slurm", "--logs", "/dev/null/logs"], "name a folder that every node sees with --logs"),
    ],
)
def test_what_cannot_be_submitted_is_reported_and_changes_nothing(site, arguments, complaint):
    done = site.compile(*arguments)
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert site.lines("begun") == []


@pytest.mark.parametrize(
    ("mode", "is_ours", "reason"),
    [
        pytest.param(0o700, False, "belongs to user", marks=needs_root),
        pytest.param(0o1777, False, "belongs to user", marks=needs_root),
        (0o777, True, "everybody can write to"),
    ],
)
def test_a_folder_of_tasks_that_somebody_else_can_exchange_is_refused_before_anything_is_written(
    site, mode, is_ours, reason
):
    """Results of tasks are unpickled by who submitted them, and tasks by the nodes."""
    prepared = site.folder / JOBS
    prepared.mkdir()
    prepared.chmod(mode)
    if not is_ours:
        give_away(prepared)
    done = site.compile("--on", "slurm")
    assert done.returncode == 4, done.stderr
    assert str(prepared) in done.stderr
    assert reason in done.stderr
    assert "with --logs" in done.stderr
    assert (list(prepared.iterdir()), site.lines("begun")) == ([], [])


def test_folders_of_tasks_are_made_for_their_user_alone(site):
    before = os.umask(0)
    try:
        done = site.compile("--on", "slurm", "--partition", "nowhere")
    finally:
        os.umask(before)
    assert "Slurm refused the compiles" in done.stderr
    above = site.folder / JOBS
    made = [above, *(path for path in above.rglob("*") if path.is_dir())]
    assert [oct(path.stat().st_mode & 0o777) for path in made] == ["0o700"] * 3


class Touching:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self._path,)


@pytest.fixture
def held(slurm: SlurmCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Future[CompileResult]]:
    """A task that does not begin before it is released; what belongs to it lies in the test's folder."""
    from neuron_top.compile.parallel.slurm import SlurmExecutor

    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    executor = SlurmExecutor(SlurmOptions(sbatch={"hold": ""}), tmp_path, NoLibrary())
    graph = CollectedGraph(path=tmp_path / "model.hlo_module.pb", module="MODULE_1")
    future = executor.submit(EntryTask(graph=graph, retries=0))
    try:
        executor.flush()
        yield future
    finally:
        executor.cancel()
        slurm.run("scancel", "--state=PENDING", "--name=neurontop-compile")


def job_in(folder: Path) -> str:
    """The only job that was submitted there."""
    (submitted,) = folder.glob("*_submitted.pkl")
    return submitted.name.removesuffix("_submitted.pkl")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        pytest.param(b"no pickle", "UnpicklingError", id="no pickle"),
        pytest.param(b"cno_such_module\nName\n.", "no_such_module", id="of a module that is not here"),
        pytest.param(pickle.dumps("neither"), "ValueError", id="of another kind"),
        pytest.param(pickle.dumps(("success", b"{}")), "result", id="without its fields"),
        pytest.param(pickle.dumps(("success", COMPILED)), "ImportError: no library for it", id="not to be looked at"),
    ],
)
def test_a_task_whose_result_cannot_be_read_counts_as_lost(tmp_path, held, result, reason):
    planted = tmp_path / "planted"
    planted.write_bytes(result)
    planted.rename(tmp_path / f"{job_in(tmp_path)}_0_result.pkl")
    found = held.result(timeout=300)
    assert (found.ok, found.fault) == (False, Fault.LOST)
    assert reason in found.message


@needs_root
def test_a_node_that_sees_the_folder_of_a_stranger_unpickles_nothing(slurm, tmp_path, held):
    ran = tmp_path / "ran"
    (tmp_path / f"{job_in(tmp_path)}_submitted.pkl").write_bytes(pickle.dumps(Touching(ran)))
    give_away(tmp_path)
    slurm.run("scontrol", "release", job_in(tmp_path))
    found = held.result(timeout=300)
    assert (found.ok, found.fault) == (False, Fault.LOST)
    assert "its task is gone (Slurm says failed)" in found.message
    assert f"{tmp_path} belongs to user {STRANGER}" in "".join(path.read_text() for path in tmp_path.glob("*.err"))
    assert not ran.exists()


def test_two_that_submit_at_once_and_a_node_that_dies_share_the_claims_of_a_database(slurm, site, postgres_url):
    site.environ |= {"NEURONTOP_STORE": postgres_url, "NEURONTOP_CLAIM_LEASE": "10s"}
    site.mark("kill-161")
    gate = site.mark("wait")
    with ThreadPoolExecutor(2) as hosts:
        both = [hosts.submit(site.compile, "--on", "slurm") for _ in range(2)]
        until(lambda: any("compiles it (its claim holds" in text for text in site.logs()))
        gate.unlink()
        done = [each.result() for each in both]
    for each in done:
        assert each.returncode == 0, each.stderr
    site.check_each_compiled_once()
    assert any("its claim holds" in text for text in site.logs())
    assert "there is no place for claims" not in done[0].stderr


def programs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs of a Slurm that has one job; the folder in which they leave what they were called with."""
    said = {"sbatch": "Submitted batch job 7", "srun": "", "squeue": "", "scancel": "", "scontrol": ""}
    for name, output in said.items():
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        called = f'cat "$1" >> {folder}/sbatch' if name == "sbatch" else f'echo "$@" >> {folder}/{name}'
        program.write_text(f"#!/bin/sh\n{called}\necho {output}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return folder


def tasks_in(folder: Path, count: int, **more: Any) -> list[EntryTask]:
    """Tasks of as many graphs."""
    tasks = []
    for number in range(count):
        path = folder / f"MODULE_{number}" / "model.fxgraph"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"graph")
        tasks.append(EntryTask(graph=CollectedGraph(path=path, module=path.parent.name), **more))
    return tasks


def test_nodes_that_a_person_excludes_stay_excluded_beside_those_that_cannot_compile(tmp_path, monkeypatch):
    """The one list replaced the other: a task came back to the node that had no compiler for it."""
    from neuron_top.compile.parallel.medium import SharedFolder
    from neuron_top.compile.parallel.slurm import SlurmExecutor

    programs(tmp_path, monkeypatch)
    executor = SlurmExecutor(SlurmOptions(sbatch={"exclude": "n[7-9]"}), tmp_path / "logs", SharedFolder())
    for task in tasks_in(tmp_path / "graphs", 1, avoid=frozenset({"n2"})):
        executor.submit(task)
    executor.flush()
    executor.leave_out("n3")
    executor.close()
    asked = [line for line in (tmp_path / "sbatch").read_text().splitlines() if "--exclude" in line]
    assert asked == ["#SBATCH --exclude='n2,n[7-9]'"]
    assert (tmp_path / "scontrol").read_text().split()[-1] == "ExcNodeList=n3,n[7-9]"


def test_where_a_task_is_takes_no_longer_to_find_among_many(tmp_path, monkeypatch):
    """A display asks for all of a thousand, several times a second."""
    from neuron_top.compile.parallel.medium import SharedFolder
    from neuron_top.compile.parallel.slurm import SlurmExecutor

    programs(tmp_path, monkeypatch)

    def seconds(count: int) -> float:
        folder = tmp_path / str(count)
        executor = SlurmExecutor(SlurmOptions(), folder / "logs", SharedFolder())
        tasks = tasks_in(folder, count)
        for task in tasks:
            executor.submit(task)
        executor.flush()
        executor.close()
        times = []
        for _ in range(5):
            began = time.thread_time()
            assert all(executor.placement(task).queued for task in tasks)
            times.append(time.thread_time() - began)
        return min(times) / count

    assert seconds(600) < 4 * seconds(60)
