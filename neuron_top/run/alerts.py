"""What needs a person: alerts derived from the run as it is, so that each clears when it is no longer true.

A rule is a function `(run, now, limits) -> alerts`; adding one is adding a row to RULES. Evidence is what was seen,
never a guess; the next step is something the reader can do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from neuron_top.run.cores import BUSY, Core
from neuron_top.run.graph import Attempt, GraphState, Wait
from neuron_top.run.history import median
from neuron_top.run.model import Run
from neuron_top.units import bytes_text, duration_text, percent_text

SEVERITIES = ("error", "warning", "info")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When something becomes an alert. Seconds, bytes, shares 0…1."""

    memory_headroom: float = 0.1
    """Share of a core's memory that should stay free (a setting)."""
    lock_wait_seconds: float = 120.0
    """A lock wait from this on is worth a look."""
    stale_seconds: float = 10.0
    """Telemetry silent for so long, and for five periods, is lost."""
    idle_seconds: float = 60.0
    """A core that idles this long while its peers work."""
    disk_free_bytes: int = 2 * 1024**3
    """Free bytes on a cache's disk below which it is nearly full."""


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that needs a person. `key` stays the same while it lasts, so a screen can keep its row."""

    key: str
    severity: str
    """`error`, `warning` or `info`."""
    since: float | None
    title: str
    evidence: str
    next_step: str
    graph: str | None = None
    """Key of the graph it is about."""
    core: str | None = None
    """Key of the core it is about."""


Rule = Callable[[Run, float, Limits], Iterator[Alert]]


def alerts(run: Run, now: float, limits: Limits | None = None) -> tuple[Alert, ...]:
    """All alerts that hold at `now`, worst first, then oldest first."""
    bounds, now = limits or Limits(), run.effective_now(now)
    found = [alert for rule in RULES for alert in rule(run, now, bounds)]
    return tuple(sorted(found, key=lambda alert: (SEVERITIES.index(alert.severity), alert.since or now, alert.key)))


def _lock_waits(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    """A growing wait; stale when nobody in sight compiles that graph: then nothing will ever end it."""
    for key, waits in _waits_by_graph(run).items():
        graph = run.compiles.graphs[key]
        starts = [wait.start for wait in waits if wait.start is not None]
        seconds = now - min(starts) if starts else None
        told = max((wait.minutes or 0.0 for wait in waits), default=0.0) * 60.0
        if max(seconds or 0.0, told) < limits.lock_wait_seconds:
            continue
        compiled = graph.state is GraphState.COMPILING or run.compiles.compiling > 0
        entry = run.caches.entry(graph.module) if graph.module is not None else None
        told_of_lock = f"; {entry.lock_proof}" if entry is not None and entry.lock_proof else ""
        stale = not compiled and not any(process.role == "compiler" for process in run.job.alive)
        if entry is not None and entry.lock is not None and graph.state is not GraphState.COMPILING:
            stale = entry.lock == "dead" or (stale and entry.lock != "alive")
        yield Alert(
            key=f"lock {key}",
            severity="error" if stale else "warning",
            since=min(starts, default=None),
            title="stale lock" if stale else "waiting for a lock",
            evidence=f"{len(waits)} worker(s) wait for {key}, {duration_text(seconds if seconds is not None else told)}"
            + (
                "; no compiler is seen at work in this run"
                if stale and not compiled
                else f"; {run.compiles.compiling} compile(s) in progress"
            )
            + told_of_lock,
            next_step="If no process on any host compiles it, the lock was left behind: "
            f"`neurontop cache show {key}` says who holds it."
            if stale
            else "Wait for the compile, or compile beforehand with `neurontop compile` so that ranks do not queue up.",
            graph=key,
        )


def _cached_failures(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    for digest in run.compiles.totals.summaries():
        graph = digest.graph
        if digest.state is GraphState.CACHED_FAILURE:
            yield Alert(
                key=f"cached failure {graph.key}",
                severity="error",
                since=graph.since,
                title="cached failure replayed",
                evidence=f"{graph.key} met {graph.failures_met}×: {_first_line(graph.message) or 'no message stored'}",
                next_step="The cache answers with an earlier failure. Mend its cause, then retry once with "
                "--retry_failed_compilation in NEURON_CC_FLAGS.",
                graph=graph.key,
            )


def _failed_compiles(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    for digest in run.compiles.totals.summaries():
        graph = digest.graph
        if digest.state is not GraphState.FAILED:
            continue
        attempt = graph.last_attempt
        killed = attempt is not None and attempt.killed
        yield Alert(
            key=f"failed {graph.key}",
            severity="error",
            since=graph.since,
            title="compile killed" if killed else "compile failed",
            evidence=f"{graph.key}: {_first_line(graph.message) or _cause(attempt)}{_peak(attempt)}",
            next_step="Ended by a signal, most often the kernel's for want of host memory: compile fewer graphs at a "
            "time (-j) or with more memory, then retry."
            if killed
            else "Open the graph for the compiler's text and its advice.",
            graph=graph.key,
        )


def _failed_workers(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    """Workers of a parallel compile that met an exception: their graphs may stay uncompiled, and no line says which."""
    failed = [worker for worker in run.queue.workers.values() if worker.message]
    if failed:
        errors = run.training.errors
        told = f"{errors[-1].exception}: {_first_line(errors[-1].message)}" if errors else failed[-1].message
        yield Alert(
            key="compile workers",
            severity="error",
            since=min((worker.finished for worker in failed if worker.finished is not None), default=None),
            title="parallel compile worker failed",
            evidence=f"{len(failed)} of {len(run.queue.workers)} worker(s) met an exception: {told}",
            next_step="Its graphs may stay uncompiled: find the exception in the log, mend its cause, compile again.",
        )


def _memory_headroom(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    for core in run.cores.cores.values():
        free = core.headroom
        if free is None or free >= limits.memory_headroom or not _fresh(run, core, now, limits):
            continue
        yield Alert(
            key=f"memory {core.key}",
            severity="warning",
            since=core.low_since(limits.memory_headroom),
            title="device memory nearly full" if core.kind == "neuron" else "worker memory nearly full",
            evidence=f"core {core.index}: {bytes_text(core.sample.memory)} of {bytes_text(core.sample.capacity)}, "
            f"{percent_text(free)} free",
            next_step="Reduce the batch size or sequence length, or raise tensor parallelism.",
            core=core.key,
        )


def _memory_exhausted(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    if run.cores.exhausted:
        last = run.cores.exhausted[-1]
        parts = (("device", last.device), ("core", last.core))
        named = [f"{word} {number}" for word, number in parts if number is not None]
        place = f" on {', '.join(named)}" if named else ""
        asked = f" for {bytes_text(last.requested)}" if last.requested is not None else ""
        yield Alert(
            key="memory exhausted",
            severity="error",
            since=run.cores.exhausted[0].time,
            title="device memory exhausted",
            evidence=f"{run.cores.exhausted_count} allocation(s) failed, the last{asked}{place}",
            next_step="See the breakdown by kind: tensors call for a smaller batch, scratchpad and code for "
            "smaller graphs.",
        )


def _late_recompiles(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    """Graphs that appear once training has warmed up: shapes change from step to step."""
    late = run.compiles.totals.new_since(run.training.warm_time)
    if run.training.warm_time is not None and len(late) >= 2:
        yield Alert(
            key="recompiles",
            severity="warning",
            since=late[0].first,
            title="recompiles after warm-up",
            evidence=f"{len(late)} new graphs were compiled after training had begun, the last one {late[-1].key}",
            next_step="Look for shapes that change between steps (last batch, sequence length): pad them, drop the "
            "last batch, or compile them beforehand.",
            graph=late[-1].key,
        )


def _idle_cores(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
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
            yield Alert(
                key=f"idle {core.key}",
                severity="warning",
                since=since,
                title="core idle while its peers work",
                evidence=f"core {core.index} at {percent_text(value)}, median of {len(known)} cores "
                f"{percent_text(median(known))}",
                next_step="Look at this rank's last lines: it may wait for data, a lock or a collective.",
                core=core.key,
            )


def _telemetry_lost(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    if run.job.finished is not None or run.cores.last_sample is None:
        return
    silent = now - run.cores.last_sample
    if silent > max(limits.stale_seconds, 5 * (run.cores.period or 0.0)) and _expects_samples(run):
        gone = [status.text for status in run.cores.sources.values() if not status.available and status.text]
        yield Alert(
            key="telemetry",
            severity="warning",
            since=run.cores.last_sample,
            title="telemetry lost",
            evidence=f"no sample for {duration_text(silent)}" + (f"; {gone[-1]}" if gone else ""),
            next_step="`neurontop doctor` says which source is missing and why.",
        )


def _cache_unused(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    if run.compiles.counts.fallbacks:
        count = sum(run.compiles.counts.fallbacks.values())
        reason = max(run.compiles.counts.fallbacks, key=lambda text: run.compiles.counts.fallbacks[text])
        yield Alert(
            key="fallback",
            severity="warning",
            since=run.compiles.counts.first_fallback,
            title="graphs run without our compiler",
            evidence=f"{count}×: {_first_line(reason)}",
            next_step="Such graphs are slow and never cached; see their log lines for the operator or shape at fault.",
        )
    if "--no_cache" in run.job.environment.get("NEURON_CC_FLAGS", "").split() and run.compiles.totals.graphs_missed:
        yield Alert(
            key="no cache",
            severity="warning",
            since=run.started,
            title="the compile cache is not in use",
            evidence=f"--no_cache in NEURON_CC_FLAGS; {run.compiles.totals.graphs_missed} graphs were compiled",
            next_step="Remove --no_cache to keep what is compiled.",
        )


def _several_caches(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    roots = sorted({graph.root for graph in run.compiles.graphs.values() if graph.root})
    if len(roots) > 1:
        yield Alert(
            key="several caches",
            severity="info",
            since=run.started,
            title="one run uses several caches",
            evidence=", ".join(roots[:4]),
            next_step="Give all tools one root: NEURON_COMPILE_CACHE_URL, or --cache_dir in NEURON_CC_FLAGS.",
        )


def _disk_full(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    for root in run.caches.roots.values():
        if root.free is not None and root.free < limits.disk_free_bytes:
            yield Alert(
                key=f"disk {root.root}",
                severity="error" if root.free < limits.disk_free_bytes // 8 else "warning",
                since=root.scanned,
                title="cache disk nearly full",
                evidence=f"{bytes_text(root.free)} free at {root.root}; the cache takes {bytes_text(root.size)}",
                next_step="`neurontop cache stats` shows what can go: failed, incomplete and superseded entries first.",
            )


def _trial_run(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    if run.queue.trial_running:
        yield Alert(
            key="trial run",
            severity="info",
            since=run.queue.trial_since,
            title="trial run in progress",
            evidence="graphs are extracted, nothing is computed",
            next_step="Ignore loss, throughput and checkpoints until it ends; they mean nothing.",
        )


def _workers_died(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    deaths = run.training.deaths
    if deaths:
        root = next((death for death in deaths if death.first), deaths[0])
        how = root.signal or (f"exit status {root.exit_code}" if root.exit_code is not None else "unknown cause")
        errors = [error for error in run.training.errors if error.rank in (root.rank, None)]
        told = "; " + ": ".join(filter(None, (errors[-1].exception, _first_line(errors[-1].message)))) if errors else ""
        yield Alert(
            key="worker died",
            severity="error",
            since=root.time,
            title="worker died",
            evidence=f"rank {root.rank if root.rank is not None else '?'} ({how}){told}; {len(deaths)} in all",
            next_step="Start with the rank that failed first: the others fail because it is gone.",
        )


RULES: tuple[Rule, ...] = (
    _memory_exhausted, _workers_died, _failed_compiles, _failed_workers, _cached_failures, _lock_waits, _disk_full,
    _memory_headroom, _late_recompiles, _idle_cores, _telemetry_lost, _cache_unused, _several_caches, _trial_run,
)  # fmt: skip


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
    """Local workers that ended give no samples, and that is no loss; a device always has something to tell."""
    kinds = {core.kind for core in run.cores.cores.values()}
    return "neuron" in kinds or any(process.role == "worker" for process in run.job.alive)


def _cause(attempt: Attempt | None) -> str:
    if attempt is None:
        return "as the parallel compile's report says"
    if attempt.code:
        return f"code {attempt.code}"
    return attempt.cause or (f"exit status {attempt.exit_status}" if attempt.exit_status is not None else "no message")


def _peak(attempt: Attempt | None) -> str:
    known = attempt is not None and attempt.peak_rss_bytes is not None
    return f" (peak {bytes_text(attempt.peak_rss_bytes)})" if known and attempt is not None else ""


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:240]
