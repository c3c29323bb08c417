"""Retry now on real graphs: those of a trial run, turned into failures, compiled side by side, then hit by the job."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.parallel import jobs

pytestmark = [pytest.mark.torch, pytest.mark.e2e, pytest.mark.timeout(900)]


def test_failures_are_compiled_side_by_side_from_a_saved_plan_and_the_job_hits_them(
    collected: Path, tmp_path: Path
) -> None:
    environ = jobs.copied(collected, tmp_path)
    logs = ("Killed", "No space left on device", "[NCC_EOOM002] too large")
    for graph, message in zip(jobs.files(tmp_path, "model.fxgraph"), logs, strict=True):
        (graph.parent / "model.log").write_text(f"Failed compilation with ['inductor', 'compile']: {message}")
    saved = cache(environ, tmp_path, "retry", "--deterministic", "--save-plan", "plan.json")
    assert saved.returncode == 0, saved.stderr
    assert "bound to fail again: NCC_EOOM002" in saved.stdout
    done = cache(environ, tmp_path, "apply", "plan.json", "--yes", "-j", "2")
    assert done.returncode == 0, done.stderr
    assert "2 running" in done.stderr, done.stderr
    assert "3 of 3 graphs: 3 done" in done.stderr, done.stderr
    assert len(jobs.files(tmp_path, "model.done")) == 3
    assert jobs.files(tmp_path, "model.log") == jobs.files(tmp_path, "*.lock") == []
    job = subprocess.run(
        [sys.executable, jobs.script(tmp_path)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=jobs.TIMEOUT,
        check=False,
    )
    assert job.returncode == 0, job.stderr
    assert job.stderr.count("Using a cached neff at") == 3, job.stderr


def cache(environ: dict[str, str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`neurontop cache …` to its end."""
    return subprocess.run(
        [*jobs.NEURONTOP, "cache", *words],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=jobs.TIMEOUT,
        check=False,
    )
