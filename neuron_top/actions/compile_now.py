"""Retry now: compile failed graphs again, several at a time, with the compiler that their folder names.

The compile component does the work, under each entry's lock; a stored failure gives way only to a finished artefact.
What was done is journalled beside the cache like everything else, though there is nothing to undo.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from neuron_top.actions import journal
from neuron_top.actions.journal import PlanEnded, Trash
from neuron_top.actions.plan import Outcome, Plan
from neuron_top.cache import layout, lock_owner
from neuron_top.cache.entry import Part
from neuron_top.cache.snapshot import Snapshot
from neuron_top.compile.cache_root import check_artefact_owner, check_root
from neuron_top.compile.compilers.base import Compiler
from neuron_top.compile.flags import parse_environment
from neuron_top.compile.parallel import CompilePids, ParallelCompile
from neuron_top.compile.parallel_collect import Counts, largest_peak
from neuron_top.compile.parallel_lines import ParallelLog
from neuron_top.compile.parallel_queue import CollectedGraph, Progress
from neuron_top.compile.wrapper import Wrapper
from neuron_top.errors import CompilerMissing, RefusedForSafety


def compilers_here(snapshot: Snapshot) -> tuple[dict[str, Compiler], list[str]]:
    """(compiler by graph file name, why others cannot be started) for the failed graphs of a cache."""
    from neuron_top.compile.compilers.inductor import Inductor
    from neuron_top.compile.compilers.neuronx_cc import NeuronxCC

    found: dict[str, Compiler] = {}
    missing: list[str] = []
    for name in sorted({graph.name for entry in snapshot.entries if entry.failure and entry.parts & Part.GRAPH
                        and (graph := graph_file(Path(snapshot.root, entry.path)))}):  # fmt: skip
        compiler: Compiler = Inductor() if name == Inductor.graph_name else NeuronxCC(graph_name=name)
        try:
            compiler.directory()
            found[name] = compiler
        except (CompilerMissing, ImportError) as problem:
            missing.append(f"graphs in {name} cannot be compiled here: {problem}")
    return found, missing


def graph_file(entry: Path) -> Path | None:
    """The graph in an entry's folder."""
    return next((entry / name for name in layout.GRAPH_NAMES if (entry / name).exists()), None)


def compile_now(
    plan: Plan,
    trash: Trash,
    compilers: Mapping[str, Compiler],
    *,
    jobs: int,
    log: ParallelLog,
    show: Callable[[Progress], None],
    read_only: bool = False,
) -> Outcome:
    """Compile the plan's graphs again, at most `jobs` at a time.

    Raises RefusedForSafety where the plan forbids it, KeyboardInterrupt after every compile was ended.
    """
    if read_only or plan.refused:
        raise RefusedForSafety(plan.refused or "read-only mode: nothing is changed")
    root = trash.root
    check_root(root)
    trash.prepare()
    graphs = {graph: step.path for step in plan.steps if (graph := _collected(root, step.path)) is not None}
    trash.write(journal.begun(plan, lock_owner.current()))
    pids = CompilePids()
    options = msgspec.structs.replace(parse_environment(), retry_failed=True)
    wrappers = {name: Wrapper(each, options, log=log, tell=pids.tell) for name, each in compilers.items()}
    done, refused, interrupted = 0, [], True
    try:
        work = ParallelCompile(wrappers, workers=jobs, retries=0, log=log, show=show, pids=pids)
        peak = largest_peak(root, {path.rpartition("/")[0] for path in graphs.values()})
        outcomes = work.run(tuple(graphs), Counts(), peak) if graphs else {}
        done = sum(outcome.ok for outcome in outcomes.values())
        refused = [(graphs[graph], outcome.message) for graph, outcome in outcomes.items() if not outcome.ok]
        interrupted = False
    finally:
        for compiler in compilers.values():
            compiler.close()
        trash.write(PlanEnded(plan=plan.identity, at=time.time(), done=done, refused=len(refused), moved_bytes=0,
                              interrupted=interrupted))  # fmt: skip
    gone = [(step.path, "it holds no graph any more") for step in plan.steps if step.path not in graphs.values()]
    return Outcome(plan=plan.identity, done=done, refused=(*refused, *gone), moved_bytes=0)


def _collected(root: Path, path: str) -> CollectedGraph | None:
    """The entry's graph; compiling a local one unpickles it, so a stranger's file is refused (RefusedForSafety)."""
    graph = graph_file(root / path)
    if graph is None:
        return None
    check_artefact_owner(graph, root)
    return CollectedGraph(path=graph, module=graph.parent.name, bytes=graph.stat().st_size)
