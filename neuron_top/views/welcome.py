"""What screens say where nothing runs: the next commands."""

from __future__ import annotations

from neuron_top.run.state import JobState
from neuron_top.views.overview import Overview

NEXT = (
    ("neurontop run -- torchrun --nproc_per_node=4 train.py", "run, record, show a job"),
    ("neurontop watch train.log", "follow a job that runs elsewhere"),
    ("neurontop compile -- torchrun … train.py", "compile a job's graphs beforehand"),
    ("neurontop demo", "see every screen with a recorded run"),
    ("neurontop doctor", "check what this machine offers"),
)


def looks_for_jobs(view: Overview) -> bool:
    """Whether a job that starts is shown: not where logs and caches were named, which alone are watched then."""
    names = {source.name.partition(":")[0] for source in view.sources}
    return "jobs" in names or not names & {"log", "cache"}


def is_idle(view: Overview) -> bool:
    """No job and no core was met."""
    return view.header.state is JobState.IDLE and not view.cores
