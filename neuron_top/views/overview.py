"""The overview: everything that matters on one screen, and what `neurontop status --json` prints.

Numbers are plain (bytes, seconds, shares 0…1, times since the epoch) and None where unknown; `units.py` makes
text of them in the front ends.
"""

from __future__ import annotations

import msgspec

from neuron_top.run.alerts import Alert, Limits, alerts
from neuron_top.run.cores import Core, SourceStatus
from neuron_top.run.estimate import Estimator, Range
from neuron_top.run.graph import Graph, GraphState
from neuron_top.run.job import Mark
from neuron_top.run.model import Run

LINES_SHOWN = 50
STALE_PERIODS = 5.0


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The job and where it stands."""

    name: str
    """The run's name, else its program's; "" when nothing was met yet."""
    run: str
    command: tuple[str, ...]
    node: str
    state: str
    """In words: `waiting for a job`, `collecting graphs (trial run)`, `compiling`, `waiting for a lock`, `training`,
    `running`, `finished`, `interrupted (SIGINT)`, `failed (exit status 1)`, `killed (signal 9)`."""
    active: bool
    """Not ended (or never started by us: a log that is only read counts as active)."""
    started: float | None
    finished: float | None
    elapsed: float | None
    exit_code: int | None
    world_size: int | None
    workers: int
    """Worker processes alive now."""
    events: int
    last_event: float | None


class CoreRow(msgspec.Struct, frozen=True, kw_only=True):
    """One core now. Rows keep their order: by node, kind and core number."""

    key: str
    core: int
    kind: str
    """`neuron`, or `local` where a worker process stands for a core."""
    node: str
    device: int | None
    bank: int | None
    rank: int | None
    pid: int | None
    process: str
    container: str
    utilization: float | None
    """The latest sample, 0…1 (a local worker with several threads may exceed 1)."""
    smoothed: float | None
    """Mean over max(one training step, 30 s)."""
    memory: int | None
    capacity: int | None
    peak: int | None
    headroom: float | None
    """Free share of the capacity, 0…1."""
    kinds: dict[str, int]
    """Memory by kind; kinds that cannot be told are absent, and the sum may be below `memory`."""
    models: tuple[str, ...]
    flops: float | None
    power: float | None
    sampled: float | None
    stale: bool
    """Not sampled for longer than it should be: the values are old."""
    trend: tuple[float, ...]
    """The last utilization samples, oldest first."""


class RunningGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A graph that is being compiled or waited for."""

    key: str
    state: str
    """`compiling` or `waiting`."""
    since: float | None
    elapsed: float | None
    left: Range | None
    rank: int | None
    pid: int | None
    dots: int
    exact: bool
    """The start is a clock reading; otherwise it is a bound."""


class CompileCard(msgspec.Struct, frozen=True, kw_only=True):
    """Compile progress, in distinct graphs."""

    total: int
    done: int
    """Compiled in this run."""
    hit: int
    """Found in the cache, not compiled."""
    failed: int
    cached_failures: int
    running: tuple[RunningGraph, ...]
    waiting: tuple[RunningGraph, ...]
    extracted: int
    """Stored for a later compile, not compiled yet."""
    interrupted: int
    left: int | None
    """Graphs still to compile where a count is known: extracted ones, or the queue's own counter; else None."""
    estimate: Range | None
    """Time left for the graphs that are running; None when one of them has no ground."""
    queue_remaining: int | None
    queue_locked: int | None
    queue_failed: int | None
    queue_done: int | None
    queue_total: int | None
    """The parallel compile's newest counters: the whole cache of this compiler version, not this run."""
    trial_run: bool
    """Graphs are being extracted: what the script prints is meaningless."""
    passes: int
    fallbacks: int
    seconds: float
    """Wall seconds in which at least one worker compiled or waited for a compile."""
    share: float | None
    """The same as a share of the elapsed time, 0…1."""
    wait_seconds: float


class CacheCard(msgspec.Struct, frozen=True, kw_only=True):
    """What the cache answered."""

    hit_rate: float | None
    """Distinct graphs from the cache / distinct graphs asked for, 0…1."""
    lookup_hit_rate: float | None
    """The same by occurrence: every rank's look-up counts."""
    graphs_hit: int
    graphs_missed: int
    hits: int
    misses: int
    misses_announced: int
    failures_met: int
    hub_misses: int
    paths: tuple[str, ...]
    """Cache paths as announced."""
    roots: tuple[str, ...]
    """Roots the catalogue walked."""
    entries: int | None
    size: int | None
    free: int | None


class TrainingCard(msgspec.Struct, frozen=True, kw_only=True):
    """Training progress as printed."""

    step: int | None
    total_steps: int | None
    epoch: float | None
    loss: float | None
    learning_rate: float | None
    throughput: float | None
    """Median of the recent reports, in `throughput_unit`."""
    throughput_unit: str
    step_seconds: float | None
    last_time: float | None
    since_last: float | None
    simulated_reports: int
    """Reports during graph extraction: not progress, not shown as such."""
    losses: tuple[float, ...]
    """Recent losses, oldest first."""


class HostCard(msgspec.Struct, frozen=True, kw_only=True):
    """The host at its latest sample."""

    cpu: float | None
    memory_used: int | None
    memory_total: int | None


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The whole screen."""

    now: float
    header: Header
    cores: tuple[CoreRow, ...]
    compile: CompileCard
    cache: CacheCard
    training: TrainingCard
    host: HostCard
    alerts: tuple[Alert, ...]
    lines: tuple[Mark, ...]
    """The last important lines, oldest first."""
    sources: tuple[SourceStatus, ...]


def overview(run: Run, now: float, estimator: Estimator | None = None, limits: Limits | None = None) -> Overview:
    """The overview of `run` at `now`. Bind `estimator` (past compiles) and `limits` (settings) with `partial`."""
    host = run.cores.host
    return Overview(
        now=now,
        header=header(run, now),
        cores=core_rows(run, now),
        compile=compile_card(run, now, estimator or Estimator()),
        cache=cache_card(run),
        training=training_card(run, now),
        host=HostCard(
            cpu=host.cpu if host is not None else None,
            memory_used=host.memory_used if host is not None else None,
            memory_total=host.memory_total if host is not None else None,
        ),
        alerts=alerts(run, now, limits),
        lines=tuple(run.job.marks)[-LINES_SHOWN:],
        sources=tuple(run.cores.sources.values()),
    )


def header(run: Run, now: float) -> Header:
    """The job and where it stands."""
    job = run.job
    end = job.finished if job.finished is not None else now
    return Header(
        name=job.name or (job.command[0].rpartition("/")[2] if job.command else ""),
        run=job.run,
        command=job.command,
        node=job.node,
        state=state_words(run),
        active=job.finished is None,
        started=run.started,
        finished=job.finished,
        elapsed=max(0.0, end - run.started) if run.started is not None else None,
        exit_code=job.exit_code,
        world_size=job.world_size,
        workers=sum(process.role == "worker" for process in job.alive),
        events=run.events,
        last_event=run.last_time,
    )


def state_words(run: Run) -> str:
    """Where the job stands, in words."""
    code = run.job.exit_code
    if run.job.finished is not None:
        if run.job.interrupted_by:
            return f"interrupted ({run.job.interrupted_by})"
        if code == 0:
            return "finished"
        return f"killed (signal {-code})" if code is not None and code < 0 else f"failed (exit status {code})"
    if _nothing_met(run):
        return "waiting for a job"
    if run.queue.trial_running:
        return "collecting graphs (trial run)"
    if run.compiles.compiling:
        return "compiling"
    if run.compiles.waits():
        return "waiting for a lock"
    return "training" if run.training.reports else "running"


def _nothing_met(run: Run) -> bool:
    """No job, process, log, graph or step yet; an idle device or a source that is absent is no job."""
    job = run.job
    met = job.run, job.processes, job.sources, job.marks, run.compiles.graphs, run.training.reports, run.queue.workers
    return not any(met) and not run.queue.trial_running


def core_rows(run: Run, now: float, trend: int = 60) -> tuple[CoreRow, ...]:
    """A row per core; `trend`: samples of its sparkline."""
    cores = sorted(run.cores.cores.values(), key=lambda core: (core.node, core.kind, core.index))
    return tuple(core_row(run, core, now, trend) for core in cores)


def core_row(run: Run, core: Core, now: float, trend: int = 60) -> CoreRow:
    """One core now."""
    sample = core.sample
    rank = sample.rank if sample.rank is not None else run.job.rank_of(sample.pid, core.node)
    return CoreRow(
        key=core.key,
        core=core.index,
        kind=core.kind,
        node=core.node,
        device=sample.device,
        bank=sample.bank,
        rank=rank,
        pid=sample.pid,
        process=sample.process,
        container=sample.container,
        utilization=sample.utilization,
        smoothed=core.smoothed(run.training.step_seconds),
        memory=sample.memory,
        capacity=sample.capacity,
        peak=core.peak,
        headroom=core.headroom,
        kinds=core.kinds,
        models=sample.models,
        flops=sample.flops,
        power=sample.power,
        sampled=core.sampled,
        stale=is_stale(core.sampled, run.cores.period, now),
        trend=tuple(value for _time, value in core.recent_utilization.samples(trend)),
    )


def is_stale(sampled: float | None, period: float | None, now: float) -> bool:
    """Silent for longer than five periods, and for 10 s at least."""
    return sampled is None or now - sampled > max(10.0, STALE_PERIODS * (period or 1.0))


def compile_card(run: Run, now: float, estimator: Estimator) -> CompileCard:
    """Compile progress, in distinct graphs."""
    by_state: dict[GraphState, list[Graph]] = {state: [] for state in GraphState}
    for digest in run.compiles.digests():
        by_state[digest.state].append(digest.graph)
    running = tuple(running_graph(run, graph, now, estimator) for graph in by_state[GraphState.COMPILING])
    counts = run.queue.counts
    end = run.job.finished if run.job.finished is not None else now
    elapsed = max(0.0, end - run.started) if run.started is not None else None
    seconds = run.compiles.seconds_spent(end)
    return CompileCard(
        total=len(run.compiles.graphs),
        done=len(by_state[GraphState.DONE]),
        hit=len(by_state[GraphState.HIT]),
        failed=len(by_state[GraphState.FAILED]),
        cached_failures=len(by_state[GraphState.CACHED_FAILURE]),
        running=running,
        waiting=tuple(running_graph(run, graph, now, estimator) for graph in by_state[GraphState.WAITING]),
        extracted=len(by_state[GraphState.EXTRACTED]),
        interrupted=len(by_state[GraphState.INTERRUPTED]),
        left=_left(run, by_state),
        estimate=_longest(running),
        queue_remaining=counts.remaining if counts is not None else None,
        queue_locked=counts.locked if counts is not None else None,
        queue_failed=counts.failed if counts is not None else None,
        queue_done=counts.done if counts is not None else None,
        queue_total=counts.total if counts is not None else None,
        trial_run=run.queue.trial_running,
        passes=run.compiles.passes,
        fallbacks=sum(run.compiles.fallbacks.values()),
        seconds=seconds,
        share=min(1.0, seconds / elapsed) if elapsed else None,
        wait_seconds=run.compiles.seconds_spent(end, ("wait",)),
    )


def running_graph(run: Run, graph: Graph, now: float, estimator: Estimator) -> RunningGraph:
    """A graph that a worker compiles or waits for: the worker that began first."""
    meeting = graph.active_meeting
    attempt = meeting.open_attempt if meeting is not None else None
    since = graph.state_since
    elapsed = max(0.0, now - since) if since is not None else None
    compiling = graph.state is GraphState.COMPILING
    return RunningGraph(
        key=graph.key,
        state=graph.state.value,
        since=since,
        elapsed=elapsed,
        left=estimator.left(graph.module, graph.graph_bytes, elapsed) if compiling else None,
        rank=run.rank_of_meeting(meeting) if meeting is not None else None,
        pid=meeting.pid if meeting is not None else None,
        dots=attempt.dots if attempt is not None else 0,
        exact=attempt.exact_start if attempt is not None else False,
    )


def cache_card(run: Run) -> CacheCard:
    """What the cache answered."""
    compiles, roots = run.compiles, list(run.caches.roots.values())
    sizes = [root.size for root in roots if root.size is not None]
    free = [root.free for root in roots if root.free is not None]
    return CacheCard(
        hit_rate=compiles.hit_rate,
        lookup_hit_rate=compiles.lookup_hit_rate,
        graphs_hit=compiles.graphs_hit,
        graphs_missed=compiles.graphs_missed,
        hits=compiles.hits,
        misses=compiles.misses,
        misses_announced=compiles.misses_announced,
        failures_met=compiles.failures_met,
        hub_misses=compiles.hub_misses,
        paths=tuple(compiles.cache_paths),
        roots=tuple(root.root for root in roots),
        entries=sum(root.entries for root in roots) if roots else None,
        size=sum(sizes) if sizes else None,
        free=min(free) if free else None,
    )


def training_card(run: Run, now: float) -> TrainingCard:
    """Training progress as printed."""
    training = run.training
    return TrainingCard(
        step=training.step,
        total_steps=training.total_steps,
        epoch=training.epoch,
        loss=training.loss,
        learning_rate=training.learning_rate,
        throughput=training.throughput,
        throughput_unit=training.throughput_unit,
        step_seconds=training.step_seconds,
        last_time=training.last_time,
        since_last=max(0.0, now - training.last_time) if training.last_time is not None else None,
        simulated_reports=training.simulated_reports,
        losses=tuple(loss for _step, loss in list(training.loss_by_step)[-120:]),
    )


def _left(run: Run, by_state: dict[GraphState, list[Graph]]) -> int | None:
    """Extracted graphs are still to be compiled while no script runs; otherwise only the queue's counter tells."""
    if run.queue.active and run.queue.counts is not None:
        return run.queue.counts.remaining
    if run.queue.summaries:
        return 0
    if by_state[GraphState.EXTRACTED] or run.queue.trial_since is not None:
        return len(by_state[GraphState.EXTRACTED])
    return None


def _longest(running: tuple[RunningGraph, ...]) -> Range | None:
    known = [graph.left for graph in running if graph.left is not None]
    if not known or len(known) < len(running):
        return None
    return Range(max(one.low for one in known), max(one.high for one in known), known[0].ground)
