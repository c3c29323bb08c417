"""What needs a person: alerts derived from the run as it is, so that each clears when it is no longer true.

A rule is a function `(run, now, limits) -> alerts`; adding one is a kind, a row in RULES and its words in
`views/alerts.py`. An alert carries what was seen as values; text is made of them in the views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

import msgspec

from neuron_top.cache.model.states import Holder
from neuron_top.events import AdviceKind, CoreKind, ProcessRole
from neuron_top.events.diagnosis import Cause
from neuron_top.events.levels import LineLevel
from neuron_top.run import node_findings
from neuron_top.run.cores import BUSY, Core
from neuron_top.run.graph import Attempt, GraphState, Wait
from neuron_top.run.history import median
from neuron_top.run.model import Run
from neuron_top.run.severity import SEVERITIES, Severity
from neuron_top.run.state import JobState
from neuron_top.run.training import RaisedError


class AlertKind(StrEnum):
    """What an alert is about. The values are what `--json` and the API carry."""

    JOB_FAILED = "job-failed"
    MEMORY_EXHAUSTED = "memory-exhausted"
    WORKER_DIED = "worker-died"
    ERROR_LINES = "error-lines"
    COMPILE_FAILED = "compile-failed"
    COMPILE_KILLED = "compile-killed"
    COMPILE_WORKER_FAILED = "compile-worker-failed"
    CACHED_FAILURE = "cached-failure"
    LOCK_WAIT = "lock-wait"
    STALE_LOCK = "stale-lock"
    DISK_LOW = "disk-low"
    MEMORY_LOW = "memory-low"
    LATE_RECOMPILES = "late-recompiles"
    IDLE_CORE = "idle-core"
    TELEMETRY_LOST = "telemetry-lost"
    FALLBACK = "fallback"
    CACHE_UNUSED = "cache-unused"
    SEVERAL_CACHES = "several-caches"
    TRIAL_RUN = "trial-run"
    DEVICE_RESET = "device-reset"
    RUNTIME_ADVICE = "runtime-advice"
    RECOMPILED = "recompiled"
    NODE_SILENT = "node-silent"
    NODE_COMPILES_AGAIN = "node-compiles-again"
    LOCK_HOLDER_GONE = "lock-holder-gone"
    VERSIONS_DIFFER = "versions-differ"
    NODE_SLOW = "node-slow"
    CLOCK_SKEW = "clock-skew"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When something becomes an alert. Seconds, bytes, shares 0…1."""

    memory_headroom: float = 0.1
    """Share of a core's memory that should stay free (a setting)."""
    lock_wait_seconds: float = 120.0
    """A lock wait from this on is reported."""
    stale_seconds: float = 10.0
    """Telemetry silent for so long, and for five periods, is lost."""
    idle_seconds: float = 60.0
    """A core that idles this long while its peers work."""
    disk_free_bytes: int = 2 * 1024**3
    """Free bytes on a cache's disk below which it is nearly full."""


class RaisedAlert(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that needs a person, and what was seen of it; which values stand here depends on the kind."""

    kind: AlertKind
    key: str
    """Stays the same while it lasts, so a screen can keep its row."""
    severity: Severity
    since: float | None
    graph: str | None = None
    """Key of the graph it is about."""
    core: str | None = None
    """Key of the core it is about."""
    count: int = 0
    """How many are affected."""
    total: int = 0
    """Of how many; of lock waits, compiles under way."""
    seconds: float | None = None
    size: int | None = None
    capacity: int | None = None
    """Bytes; of a disk, what the cache takes."""
    share: float | None = None
    typical: float | None = None
    """The median of the peers' shares; of steps, their seconds."""
    index: int | None = None
    """Of a core, as screens number it."""
    rank: int | None = None
    device: int | None = None
    local: bool = False
    """It is a local worker that stands for a core."""
    compiling_elsewhere: bool = False
    exit_code: int | None = None
    signal: str = ""
    text: str = ""
    """Quoted: what the compiler, a traceback or a source of telemetry said."""
    proof: str = ""
    """Evidence on who holds a lock."""
    names: tuple[str, ...] = ()
    attempt: Attempt | None = None
    """The failed compile."""
    cause: Cause | None = None
    """Why the job failed; None where its logs do not say."""


Rule = Callable[[Run, float, Limits], Iterator[RaisedAlert]]


def raised(run: Run, now: float, limits: Limits | None = None) -> tuple[RaisedAlert, ...]:
    """All alerts that hold at `now`: that the job failed, then worst first, then oldest first."""
    bounds = limits or Limits()
    first = tuple(_job_failed(run, now))  # by our own clock: whether a log has ended depends on how long it is quiet
    now = run.effective_now(now)
    found = _grouped_by_device(alert for rule in RULES for alert in rule(run, now, bounds))
    if not first and not any(alert.severity is Severity.ERROR for alert in found):
        found += _error_lines(run)
    found.sort(key=lambda alert: (SEVERITIES.index(alert.severity), alert.since or now, alert.key))
    return (*first, *found)


def _grouped_by_device(found: Iterable[RaisedAlert]) -> list[RaisedAlert]:
    """Alerts of the same kind and severity about cores of one device (workers without a device: of one node) as one.

    The group's key does not name its cores, so it stays while cores come and go.
    """
    groups: dict[tuple[str, ...], list[RaisedAlert]] = {}
    for alert in found:
        key = (alert.kind.value, alert.severity.value, _device_of(alert)) if alert.core is not None else (alert.key,)
        groups.setdefault(key, []).append(alert)
    return [alerts[0] if len(alerts) == 1 else _most_so("\t".join(key), alerts) for key, alerts in groups.items()]


def _device_of(alert: RaisedAlert) -> str:
    node = (alert.core or "").partition("/")[0]
    return f"{node} device {alert.device}" if alert.device is not None else node


def _most_so(key: str, alerts: list[RaisedAlert]) -> RaisedAlert:
    """All of them as the one that is most so: the fullest, the idlest."""
    first = min(alerts, key=lambda alert: alert.share if alert.share is not None else 1.0)
    since = [alert.since for alert in alerts if alert.since is not None]
    return msgspec.structs.replace(first, key=key, count=len(alerts), since=min(since, default=None))


def _job_failed(run: Run, now: float) -> Iterator[RaisedAlert]:
    """The job failed, or its logs report a failure and nothing more came. What a person stopped is no failure."""
    diagnosis = run.job.diagnosis
    if run.job.interrupted_by:
        return
    is_diagnosed = diagnosis is not None and diagnosis.failed and (run.over(now) or run.quiet(now))
    if is_diagnosed or run.job.ended_as in (JobState.FAILED, JobState.KILLED):
        yield RaisedAlert(
            kind=AlertKind.JOB_FAILED,
            key="job failed",
            severity=Severity.ERROR,
            since=run.silence.last if run.job.finished is None else run.job.finished,
            exit_code=run.job.exit_code,
            cause=diagnosis.cause if diagnosis is not None else None,
        )


def _error_lines(run: Run) -> Iterator[RaisedAlert]:
    """Lines that say ERROR, and no other alert or diagnosis that says what they mean."""
    job = run.job
    marks = [mark for mark in job.marks if mark.level is LineLevel.ERROR]
    if job.errors and marks and not (job.diagnosis is not None and job.diagnosis.causes):
        yield RaisedAlert(
            kind=AlertKind.ERROR_LINES,
            key="error lines",
            severity=Severity.WARNING,
            since=marks[0].time,
            count=job.errors,
            text=marks[-1].text,
        )


def _lock_waits(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    """A growing wait; stale when nobody in sight compiles that graph: then nothing will ever end it."""
    for key, waits in _waits_by_graph(run).items():
        graph = run.compiles.graphs[key]
        starts = [wait.start for wait in waits if wait.start is not None]
        # A start counts what the first line told already; of a log without clocks there is only what its lines tell.
        told = max((wait.minutes or 0.0 for wait in waits), default=0.0) * 60.0
        seconds = now - min(starts) if starts else told
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


def _cached_failures(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
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


def _failed_compiles(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
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


def _failed_workers(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
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
            names=_error(run.training.errors[-1]) if run.training.errors else (),
        )


def _memory_headroom(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    for core in run.cores.cores.values():
        free = core.headroom
        if free is None or free >= limits.memory_headroom or not _fresh(run, core, now, limits):
            continue
        yield RaisedAlert(
            kind=AlertKind.MEMORY_LOW,
            key=f"memory {core.key}",
            severity=Severity.WARNING,
            since=core.low_since(limits.memory_headroom),
            local=core.kind is not CoreKind.NEURON,
            index=core.index,
            device=core.sample.device,
            size=(core.sample.memory or 0) + core.beside,
            capacity=core.sample.capacity,
            share=free,
            core=core.key,
        )


def _memory_exhausted(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    last = run.cores.exhausted.newest
    if last is not None:
        yield RaisedAlert(
            kind=AlertKind.MEMORY_EXHAUSTED,
            key="memory exhausted",
            severity=Severity.ERROR,
            since=run.cores.exhausted.first,
            count=run.cores.exhausted.count,
            size=last.requested,
            device=last.device,
            index=last.core,
        )


def _late_recompiles(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
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


def _idle_cores(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    if run.job.finished is not None:
        return
    cores = [core for core in run.cores.cores.values() if _fresh(run, core, now, limits)]
    busy = {core.key: core.smoothed(run.training.step_seconds) for core in cores}
    known = [value for value in busy.values() if value is not None]
    if len(known) < 2 or median(known) <= 2 * BUSY:
        return
    for core in cores:
        value, since = busy[core.key], core.last_busy if core.last_busy is not None else core.first_sampled
        if value is not None and value < BUSY and since is not None and now - since >= limits.idle_seconds:
            yield RaisedAlert(
                kind=AlertKind.IDLE_CORE,
                key=f"idle {core.key}",
                severity=Severity.WARNING,
                since=since,
                index=core.index,
                device=core.sample.device,
                share=value,
                typical=median(known),
                total=len(known),
                core=core.key,
            )


def _telemetry_lost(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    if run.job.finished is not None or run.cores.last_sample is None:
        return
    silent = now - run.cores.last_sample
    if silent > max(limits.stale_seconds, 5 * (run.cores.period or 0.0)) and _expects_samples(run):
        reasons = [status.text for status in run.cores.sources.values() if not status.available and status.text]
        yield RaisedAlert(
            kind=AlertKind.TELEMETRY_LOST,
            key="telemetry",
            severity=Severity.WARNING,
            since=run.cores.last_sample,
            seconds=silent,
            text=reasons[-1] if reasons else "",
        )


def _cache_unused(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
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


def _several_caches(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    roots = sorted({graph.root for graph in run.compiles.graphs.values() if graph.root})
    if len(roots) > 1:
        yield RaisedAlert(
            kind=AlertKind.SEVERAL_CACHES,
            key="several caches",
            severity=Severity.INFO,
            since=run.started,
            names=tuple(roots),
        )


def _disk_low(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    for root in run.caches.roots.values():
        if root.free is not None and root.free < limits.disk_free_bytes:
            yield RaisedAlert(
                kind=AlertKind.DISK_LOW,
                key=f"disk {root.root}",
                severity=Severity.ERROR if root.free < limits.disk_free_bytes // 8 else Severity.WARNING,
                since=root.scanned,
                size=root.free,
                capacity=root.size,
                names=(root.root,),
            )


def _trial_run(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    if run.queue.trial_running:
        yield RaisedAlert(
            kind=AlertKind.TRIAL_RUN, key="trial run", severity=Severity.INFO, since=run.queue.trial_since
        )


def _advised(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    for key, advice in run.advice.advice.items():
        is_reset = advice.kind is AdviceKind.DEVICE_RESET
        yield RaisedAlert(
            kind=AlertKind.DEVICE_RESET if is_reset else AlertKind.RUNTIME_ADVICE,
            key=f"advice {key}",
            severity=Severity.ERROR if is_reset else Severity.INFO,
            since=advice.first,
            count=advice.count,
            text=advice.text,
            names=(advice.kind.value, *map(str, sorted(advice.devices))),
        )


def _recompiled(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    functions = run.advice.recompiled.values()
    if run.advice.recompiles:
        most = max(functions, key=lambda one: one.count)
        yield RaisedAlert(
            kind=AlertKind.RECOMPILED,
            key="recompiled functions",
            severity=Severity.INFO,
            since=min((one.first for one in functions if one.first is not None), default=None),
            count=run.advice.recompiles,
            total=len(functions),
            text=max(most.reasons, key=lambda reason: most.reasons[reason], default=""),
            names=(most.function, most.place),
        )


def _workers_died(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    deaths = run.training.deaths
    if deaths:
        root = next((death for death in deaths if death.first), deaths[0])
        errors = [error for error in run.training.errors if error.rank in (root.rank, None)]
        yield RaisedAlert(
            kind=AlertKind.WORKER_DIED,
            key="worker died",
            severity=Severity.ERROR,
            since=root.time,
            count=len(deaths),
            rank=root.rank,
            exit_code=root.exit_code,
            signal=root.signal,
            names=_error(errors[-1]) if errors else (),
        )


def _silent_nodes(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    if run.job.finished is not None:
        return
    for node in node_findings.silent(run, now):
        yield RaisedAlert(
            kind=AlertKind.NODE_SILENT,
            key=f"silent {node.node}",
            severity=Severity.ERROR,
            since=node.last,
            seconds=now - node.last if node.last is not None else None,
            names=(node.node,),
            total=len(run.nodes.nodes),
        )


def _compiled_again(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    for node, graphs in node_findings.compiled_again(run).items():
        yield RaisedAlert(
            kind=AlertKind.NODE_COMPILES_AGAIN,
            key=f"compiles again {node}",
            severity=Severity.WARNING,
            since=min((graph.first for graph in graphs if graph.first is not None), default=None),
            count=len(graphs),
            graph=graphs[-1].key,
            names=(node,),
        )


def _lost_holders(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    for graph, node, count in node_findings.lost_holders(run, now):
        yield RaisedAlert(
            kind=AlertKind.LOCK_HOLDER_GONE,
            key=f"holder gone {graph.key}",
            severity=Severity.ERROR,
            since=graph.state_since,
            count=count,
            graph=graph.key,
            names=(node,),
        )


def _differing_nodes(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    for odd in node_findings.differing(run):
        yield RaisedAlert(
            kind=AlertKind.VERSIONS_DIFFER,
            key=f"differs {odd.attribute} {odd.value}",
            severity=Severity.WARNING,
            since=run.started,
            count=len(odd.nodes),
            total=odd.total,
            text=f"{odd.attribute} {odd.value}, most have {odd.usual}",
            names=odd.nodes,
        )


def _slow_nodes(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    if run.job.finished is not None:
        return
    for slow in node_findings.slow(run):
        yield RaisedAlert(
            kind=AlertKind.NODE_SLOW,
            key=f"slow {slow.node.node}",
            severity=Severity.WARNING,
            since=run.training.first_time,
            seconds=slow.seconds,
            typical=slow.typical,
            total=len(run.nodes.nodes),
            names=(slow.node.node,),
        )


def _skewed_clocks(run: Run, now: float, limits: Limits) -> Iterator[RaisedAlert]:
    for node in node_findings.skewed(run):
        yield RaisedAlert(
            kind=AlertKind.CLOCK_SKEW,
            key=f"clock {node.node}",
            severity=Severity.WARNING,
            since=node.first,
            seconds=node.clock_offset,
            names=(node.node,),
        )


RULES: tuple[Rule, ...] = (
    _memory_exhausted, _workers_died, _failed_compiles, _failed_workers, _cached_failures, _lock_waits, _disk_low,
    _memory_headroom, _late_recompiles, _idle_cores, _telemetry_lost, _cache_unused, _several_caches, _trial_run,
    _advised, _recompiled, _silent_nodes, _compiled_again, _lost_holders, _differing_nodes, _slow_nodes, _skewed_clocks,
)  # fmt: skip


def _error(error: RaisedError) -> tuple[str, str]:
    return error.exception, error.message


def _waits_by_graph(run: Run) -> dict[str, list[Wait]]:
    waits: dict[str, list[Wait]] = {}
    for graph, _worker, wait in run.compiles.totals.waits():
        waits.setdefault(graph.key, []).append(wait)
    return waits


def _fresh(run: Run, core: Core, now: float, limits: Limits) -> bool:
    if run.job.finished is not None or core.sampled is None:
        return False
    return now - core.sampled <= max(limits.stale_seconds, 5 * (run.cores.period or 0.0))


def _expects_samples(run: Run) -> bool:
    """Local workers that ended give no samples, and that is no loss; a device always has something to report."""
    kinds = {core.kind for core in run.cores.cores.values()}
    return CoreKind.NEURON in kinds or any(process.role == ProcessRole.WORKER for process in run.job.alive)
