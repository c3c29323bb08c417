"""The commands to try next, for screens when nothing runs or when they have no data."""

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

NO_GRAPH_YET = (
    "No graph yet.",
    "A row appears for each graph that is looked up, compiled, loaded or waited for, from the job's log and from our "
    "own backend.",
    "To compile a job's graphs beforehand: neurontop compile -- torchrun … train.py",
)
NO_GRAPH = (
    "No graph.",
    "The job's log and our own backend reported none that was looked up, compiled, loaded or waited for.",
)
NO_CORE_YET = (
    "No core reports yet.",
    "On a Neuron machine rows come from neuron-monitor or the driver; elsewhere each worker process of a job stands "
    "for a core.",
    "To start one: neurontop run -- torchrun --nproc_per_node=4 train.py",
    "neurontop doctor checks what this machine offers.",
)
NO_CORE = (
    "No core reported.",
    "The job has ended, and nothing that was read has telemetry: neither neuron-monitor, nor the driver, nor a worker.",
    "To have it next time: neurontop run -- torchrun --nproc_per_node=4 train.py",
)


def looks_for_jobs(view: Overview) -> bool:
    """Whether the screen will show a job that starts here; False where logs or caches were named, since only those are
    watched then."""
    names = {source.name.partition(":")[0] for source in view.sources}
    return "jobs" in names or not names & {"log", "cache"}


def is_idle(view: Overview) -> bool:
    """Whether no job and no core was seen, and no log is being read that may show one."""
    return view.header.state is JobState.IDLE and not view.cores and view.header.unread is None
