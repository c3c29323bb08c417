"""Runs one-snapshot agents on the nodes of a Slurm job, for `fleet check --srun` on nodes without an agent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from neuron_top.errors import NothingToShow, UsageError
from neuron_top.identity import NODE_VARIABLES

SECONDS = 600.0
_LAST_LINES = 5


def job_of(named: str | None) -> str:
    """The Slurm job: the named one, or else that of this allocation. Raises UsageError."""
    job = named or os.environ.get("SLURM_JOB_ID", "")
    if not job.isdecimal():
        raise UsageError("--srun needs a Slurm job: call it in an allocation, or give --job with the number of a job")
    if shutil.which("srun") is None:
        raise UsageError("--srun: there is no srun on this machine; run `neurontop agent --once` on each node")
    return job


def report_once(job: str, store: str) -> None:
    """Run `neurontop agent --once` on each node of the job, beside the job itself. Raises NothingToShow."""
    command = ["srun", "--overlap", "--ntasks-per-node=1", f"--jobid={job}"]
    command += [sys.executable, "-m", "neuron_top", "agent", "--once"]
    environ = os.environ | {"NEURONTOP_STORE": store, "NEURONTOP_JOB": job}
    environ.pop(NODE_VARIABLES[0], None)  # it names this node, and srun would pass it on to all others
    try:
        done = subprocess.run(
            command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NothingToShow(f"the nodes of job {job} did not report their caches within {SECONDS:.0f} s") from None
    if done.returncode:
        said = "; ".join(done.stderr.decode(errors="replace").strip().splitlines()[-_LAST_LINES:])
        raise NothingToShow(f"{' '.join(command[:4])} neurontop agent --once ended with {done.returncode}: {said}")
