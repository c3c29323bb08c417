"""The ranks that a run knows."""

from __future__ import annotations

from neuron_top.run.model import Run


def ranks_of(run: Run) -> list[int]:
    """Those of its processes, of the workers that compiled, and of those that printed steps, in order."""
    known = {process.rank for process in run.job.processes.values()}
    known |= {one.rank for one in run.steps.ranks.values()}
    for graph in run.compiles.graphs.values():
        known |= {run.rank_of(worker) for worker in graph.workers.values()}
    return sorted(rank for rank in known if rank is not None)
