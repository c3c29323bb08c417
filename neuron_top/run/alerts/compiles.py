"""Alerts about compiles: failed, bound to fail again, long waits, repeated, or not kept."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_top.cache.model.states import Holder
from neuron_top.events import ProcessRole
from neuron_top.run.alerts.alert import AlertKind, Limits, RaisedAlert, exception_of
from neuron_top.run.graph import GraphState, Wait
from neuron_top.run.model import Run
from neuron_top.run.severity import Severity


def failed_compiles(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Graphs whose last compile failed, or whose compiler was killed."""
    for summary in run.compiles.totals.summaries():
        graph = summary.graph
        if summary.state is not GraphState.FAILED:
            continue
        attempt = graph.last_attempt
        killed = attempt is not None and attempt.killed
        yield RaisedAlert(
            kind=AlertKind.COMPILE_KILLED if killed else AlertKind.COMPILE_FAILED,
            key=f"failed {graph.key}",
            severity=Severity.ERROR,
            since=graph.since,
            text=graph.message,
            attempt=attempt,
            graph=graph.key,
        )


def failed_workers(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Workers of a parallel compile that met an exception: their graphs may stay uncompiled, and no line says which."""
    failed = [worker for worker in run.queue.workers.values() if worker.message]
    if failed:
        yield RaisedAlert(
            kind=AlertKind.COMPILE_WORKER_FAILED,
            key="compile workers",
            severity=Severity.ERROR,
            since=min((worker.finished for worker in failed if worker.finished is not None), default=None),
            count=len(failed),
            total=len(run.queue.workers),
            text=failed[-1].message,
            names=exception_of(run.training.errors),
        )


def cached_failures(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Graphs whose failure the cache replays."""
    for summary in run.compiles.totals.summaries():
        graph = summary.graph
        if summary.state is GraphState.CACHED_FAILURE:
            yield RaisedAlert(
                kind=AlertKind.CACHED_FAILURE,
                key=f"cached failure {graph.key}",
                severity=Severity.ERROR,
                since=graph.since,
                count=graph.failures_met,
                text=graph.message,
                graph=graph.key,
            )


def lock_waits(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """A wait that grows; it is stale if nobody who can be seen compiles that graph, for then nothing will end it."""
    for key, waits in _waits_by_graph(run).items():
        graph = run.compiles.graphs[key]
        starts = [wait.start for wait in waits if wait.start is not None]
        # A start counts what the first line reported already; in a log without clocks there are only its lines.
        reported = max((wait.minutes or 0.0 for wait in waits), default=0.0) * 60.0
        seconds = now - min(starts) if starts else reported
        if seconds < limits.lock_wait_seconds:
            continue
        compiled = graph.state is GraphState.COMPILING or run.compiles.compiling > 0
        entry = run.caches.entry(graph.module) if graph.module is not None else None
        stale = not compiled and not any(process.role == ProcessRole.COMPILER for process in run.job.alive)
        if entry is not None and entry.lock is not None and graph.state is not GraphState.COMPILING:
            stale = entry.lock == Holder.DEAD or (stale and entry.lock != Holder.ALIVE)
        yield RaisedAlert(
            kind=AlertKind.STALE_LOCK if stale else AlertKind.LOCK_WAIT,
            key=f"lock {key}",
            severity=Severity.ERROR if stale else Severity.WARNING,
            since=min(starts, default=None),
            count=len(waits),
            total=run.compiles.compiling,
            seconds=seconds,
            compiling_elsewhere=compiled,
            proof=(entry.lock_proof or "") if entry is not None else "",
            graph=key,
        )


def _waits_by_graph(run: Run) -> dict[str, list[Wait]]:
    waits: dict[str, list[Wait]] = {}
    for graph, _worker, wait in run.compiles.totals.waits():
        waits.setdefault(graph.key, []).append(wait)
    return waits


def late_recompiles(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Graphs that appear once training has warmed up: shapes change from step to step."""
    late = run.compiles.totals.new_since(run.training.warm_time)
    if run.training.warm_time is not None and len(late) >= 2:
        yield RaisedAlert(
            kind=AlertKind.LATE_RECOMPILES,
            key="recompiles",
            severity=Severity.WARNING,
            since=late[0].first,
            count=len(late),
            graph=late[-1].key,
        )


def recompiled(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Functions that Dynamo compiled again, and the reason most often given."""
    functions = run.advice.recompiled.values()
    if run.advice.recompiles:
        most = max(functions, key=lambda one: one.count)
        yield RaisedAlert(
            kind=AlertKind.RECOMPILED,
            key="recompiled functions",
            severity=Severity.INFO,
            since=min((function.first for function in functions if function.first is not None), default=None),
            count=run.advice.recompiles,
            total=len(functions),
            text=max(most.reasons, key=lambda reason: most.reasons[reason], default=""),
            names=(most.function, most.place),
        )


def cache_unused(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """Graphs that were compiled without the cache: because they had to be, or because a flag says so."""
    fallbacks = run.compiles.counts.fallbacks
    if fallbacks:
        yield RaisedAlert(
            kind=AlertKind.FALLBACK,
            key="fallback",
            severity=Severity.WARNING,
            since=run.compiles.counts.first_fallback,
            count=sum(fallbacks.values()),
            text=max(fallbacks, key=lambda reason: fallbacks[reason]),
        )
    if "--no_cache" in run.job.environment.get("NEURON_CC_FLAGS", "").split() and run.compiles.totals.graphs_missed:
        yield RaisedAlert(
            kind=AlertKind.CACHE_UNUSED,
            key="no cache",
            severity=Severity.WARNING,
            since=run.started,
            count=run.compiles.totals.graphs_missed,
        )


def trial_run(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """A trial run collects graphs; it computes nothing."""
    if run.queue.trial_running:
        yield RaisedAlert(
            kind=AlertKind.TRIAL_RUN, key="trial run", severity=Severity.INFO, since=run.queue.trial_since
        )
