"""Graphs of our own back end, compiled by the nodes of a real Slurm and a real Ray: the job finds every one of them.

One node pretends to have another CPU: the instruction set is part of the folder's name, and that node compiles nothing.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from neuron_top.cache.model.record import Stats  # noqa: E402
from tests.compile.parallel import jobs  # noqa: E402
from tests.servers.ray_cluster import RayMissing, ray_cluster  # noqa: E402
from tests.servers.slurm import SlurmCluster  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.e2e, pytest.mark.timeout(900)]
OTHER_CPU = """
import os, pathlib

if os.environ.get("SLURMD_NODENAME", os.environ.get("NEURONTOP_NODE")) == "n1":
    read_text = pathlib.Path.read_text

    def pretended(path, *arguments, **options):
        text = read_text(path, *arguments, **options)
        return text.replace(": ", ": another-cpu ") if str(path) == "/proc/cpuinfo" else text

    pathlib.Path.read_text = pretended
"""


def prepared(collected: Path, folder: Path) -> dict[str, str]:
    """The environment of three collected graphs in `folder`, and of nodes of which one has another CPU."""
    (folder / "sitecustomize.py").write_text(OTHER_CPU)
    return {**jobs.copied(collected, folder), "PYTHONPATH": str(folder)}


def check_found_by_the_job(folder: Path, environ: dict[str, str]) -> None:
    """Each graph was compiled once; a job that must find all of them computes what PyTorch does without a compiler."""
    marks = jobs.files(folder, "model.done")
    assert len(marks) == 3
    records = [msgspec.json.decode(mark.with_name("model.stats.json").read_bytes(), type=Stats) for mark in marks]
    assert [record.attempts for record in records] == [1, 1, 1]
    assert jobs.files(folder, "*.lock") == []
    found = results(jobs.script(folder), {**environ, "NEURONTOP_ON_MISS": "error"})
    assert found == pytest.approx([(torch.ones(8, 16 * width) * width).sin().sum().item() for width in (2, 3, 4)])


def results(script: Path, environ: dict[str, str]) -> list[float]:
    """What the job computed."""
    done = subprocess.run(
        [*warm_python(), script], env=environ, capture_output=True, text=True, timeout=jobs.TIMEOUT, check=False
    )
    assert done.returncode == 0, done.stderr
    return [float(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("graph ")]


@pytest.mark.xdist_group("collected")
def test_slurms_nodes_compile_what_the_job_then_finds_and_another_cpu_compiles_nothing(
    slurm: SlurmCluster, collected: Path, tmp_path: Path
) -> None:
    pytest.importorskip("submitit")
    environ = {**slurm.environment, **prepared(collected, tmp_path)}
    environ |= {name: slurm.environment[name] for name in ("PATH", "SLURM_CONF")}
    done = jobs.compile_command(["--compile-only", "--on", "slurm"], environ, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 graphs: 3 done" in done.stderr
    assert "node n1 is given no more compiles: its compiler is inductor-" in done.stderr
    assert "(another version or instruction set)" in done.stderr
    check_found_by_the_job(tmp_path, environ)


@pytest.mark.xdist_group("ray")
def test_rays_nodes_compile_what_the_job_then_finds_asked_through_rays_client(collected: Path, tmp_path: Path) -> None:
    """One graph: each costs a start of PyTorch."""
    environ = {**jobs.copied(collected, tmp_path), "NEURONTOP_ON_MISS": "error"}
    for description in jobs.files(tmp_path, "model.graph.json"):
        if "[8,32]" not in description.read_text():
            shutil.rmtree(description.parent)  # noqa: TID251 (our own scratch folder)
    try:
        with ray_cluster(environ, ("n1", "n2"), client=True) as address:
            assert address.startswith("ray://")
            done = jobs.compile_command(["--compile-only", "--on", "ray", "--ray", address], environ, tmp_path)
    except RayMissing as reason:
        pytest.skip(str(reason))
    assert done.returncode == 0, done.stderr
    assert "1 of 1 graphs: 1 done" in done.stderr
    (record,) = (
        msgspec.json.decode(path.read_bytes(), type=Stats) for path in jobs.files(tmp_path, "model.stats.json")
    )
    assert (record.attempts, jobs.files(tmp_path, "*.lock")) == (1, [])
    job = subprocess.run(
        [*warm_python(), jobs.script(tmp_path)],
        env=environ, capture_output=True, text=True, timeout=jobs.TIMEOUT, check=False,
    )  # fmt: skip
    assert job.returncode == 1, job.stderr  # its second graph is not there
    (found,) = (float(line.split()[2]) for line in job.stdout.splitlines() if line.startswith("graph "))
    assert found == pytest.approx((torch.ones(8, 32) * 2).sin().sum().item())
