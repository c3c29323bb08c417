"""Compile progress in distinct graphs, who compiles or waits for what, and what the cache answered."""

from __future__ import annotations

import msgspec

from neuron_top.run.estimate import Estimator, Range, together
from neuron_top.run.graph import Graph, GraphState
from neuron_top.run.model import Run
from neuron_top.run.spans import SpanKind
from neuron_top.units import bytes_text, counted


class LockHolder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds an entry's lock, and how that is known."""

    verdict: str
    """`Holder` of `cache.model.states`; `compiling here` where a worker of this run does it."""
    holder: str | None
    """`pid 4711 on host`, or the rank that compiles it."""
    proof: str | None
    """The evidence in words; None when there is none either way."""
    judged: float | None
    """When it was looked at."""
    in_this_run: bool = False
    """A worker of this run compiles the graph."""


class RunningGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A graph that is being compiled or waited for."""

    key: str
    state: GraphState
    """COMPILING or WAITING."""
    since: float | None
    elapsed: float | None
    left: Range | None
    rank: int | None
    pid: int | None
    dots: int
    lock: LockHolder | None = None
    """For a graph that workers wait for: who holds its lock. None where the run does not know."""
    waiters: int = 0
    """Workers that wait for it."""
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
    """Time left until all graphs are compiled that compile now, or wait in a parallel compile; None where any of them
    has no estimate."""
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
    seconds: float | None
    """Wall seconds in which at least one worker compiled or waited for a compile; None where no line dates one."""
    share: float | None
    """The same as a share of the elapsed time, 0…1."""
    wait_seconds: float
    over: bool = False
    """No further graph is expected: the job has ended, or its log has been silent for long."""


class CacheSpace(msgspec.Struct, frozen=True, kw_only=True):
    """One cache that was looked at."""

    root: str
    entries: int
    size: int | None
    free: int | None
    """Free bytes of its disk."""


class FetchCard(msgspec.Struct, frozen=True, kw_only=True):
    """Artifacts that came from elsewhere into the caches of nodes."""

    graphs: int
    """That arrived and were found good."""
    bytes: int
    rate: float | None
    """Bytes a second while they came."""
    under_way: int
    arrived: int
    """Bytes of those under way that are here."""
    expected: int
    """Bytes of those under way."""
    rate_now: float | None
    """Bytes a second of all that are under way together."""
    refused: int
    places: tuple[str, ...]


class CacheCard(msgspec.Struct, frozen=True, kw_only=True):
    """What the cache answered."""

    hit_rate: float | None
    """Distinct graphs from the cache / distinct graphs asked for, 0…1."""
    lookup_hit_rate: float | None
    """The same by occurrence: every rank's lookup counts."""
    graphs_hit: int
    graphs_missed: int
    graphs_asked: int
    """What the hit rate is a share of: these, and graphs that only a stored failure answered."""
    hits: int
    """Hits by occurrence: every rank's lookup counts."""
    hits_after_compile: int
    """Hits that loaded what was compiled during this run, so that no compile was saved."""
    misses: int
    misses_announced: int
    failures_met: int
    hub_misses: int
    paths: tuple[str, ...]
    """Cache paths as announced."""
    roots: tuple[str, ...]
    """Roots the catalog walked."""
    entries: int | None
    size: int | None
    free: int | None
    places: tuple[CacheSpace, ...] = ()
    """The roots, each with what it holds."""
    fetches: FetchCard | None = None
    """None where nothing was fetched from elsewhere."""


def compile_card(run: Run, now: float, estimator: Estimator) -> CompileCard:
    """Compile progress, in distinct graphs."""
    over = run.over(now)
    now = run.effective_now(now)
    by_state: dict[GraphState, list[Graph]] = {state: [] for state in GraphState}
    for digest in run.compiles.totals.summaries():
        by_state[settled(digest.state) if over else digest.state].append(digest.graph)
    running = tuple(running_graph(run, graph, now, estimator) for graph in by_state[GraphState.COMPILING])
    counts = run.queue.counts
    end = run.job.finished if run.job.finished is not None else now
    return CompileCard(
        total=len(run.compiles.graphs),
        done=len(by_state[GraphState.COMPILED]),
        hit=len(by_state[GraphState.HIT]),
        failed=len(by_state[GraphState.FAILED]),
        cached_failures=len(by_state[GraphState.CACHED_FAILURE]),
        running=running,
        waiting=tuple(running_graph(run, graph, now, estimator) for graph in by_state[GraphState.WAITING]),
        extracted=len(by_state[GraphState.EXTRACTED]),
        interrupted=len(by_state[GraphState.INTERRUPTED]),
        left=_left(run, by_state),
        estimate=_until_all(run, running, by_state, estimator),
        queue_remaining=counts.remaining if counts is not None else None,
        queue_locked=counts.locked if counts is not None else None,
        queue_failed=counts.failed if counts is not None else None,
        queue_done=counts.done if counts is not None else None,
        queue_total=counts.total if counts is not None else None,
        trial_run=run.queue.trial_running,
        passes=run.compiles.counts.passes,
        fallbacks=sum(run.compiles.counts.fallbacks.values()),
        seconds=run.compiling_seconds(end),
        share=run.compiling_share(end),
        wait_seconds=run.compiles.totals.seconds_spent(end, (SpanKind.WAIT,)),
        over=over,
    )


def settled(state: GraphState) -> GraphState:
    """The state of a graph of a job that is over: a compile or wait that was still going on was interrupted."""
    return GraphState.INTERRUPTED if state in (GraphState.COMPILING, GraphState.WAITING) else state


def running_graph(run: Run, graph: Graph, now: float, estimator: Estimator) -> RunningGraph:
    """A graph that a worker compiles or waits for: the worker that began first."""
    worker = graph.active_worker
    attempt = worker.open_attempt if worker is not None else None
    since = graph.state_since
    elapsed = max(0.0, now - since) if since is not None else None
    compiling = graph.state is GraphState.COMPILING
    return RunningGraph(
        key=graph.key,
        state=graph.state,
        since=since,
        elapsed=elapsed,
        left=estimator.left(graph.module, graph.graph_bytes, elapsed, graph.operators, graph.op_counts)
        if compiling
        else None,
        rank=run.rank_of(worker) if worker is not None else None,
        pid=worker.pid if worker is not None else None,
        dots=attempt.dots if attempt is not None else 0,
        lock=lock_holder(run, graph) if graph.state is GraphState.WAITING else None,
        waiters=waiters(graph),
        exact=attempt.exact_start if attempt is not None else False,
    )


def waiters(graph: Graph) -> int:
    """Workers that wait for a graph's lock now."""
    return sum(worker.state is GraphState.WAITING for worker in graph.workers.values())


def lock_holder(run: Run, graph: Graph) -> LockHolder | None:
    """Who holds the lock of a graph: the worker of this run that compiles it, else whom the lock in the cache names."""
    for worker in graph.workers.values():
        if worker.open_attempt is not None and worker.open_wait is None:
            rank = run.rank_of(worker)
            names = (
                f"rank {rank}" if rank is not None else "",
                f"pid {worker.pid}" if worker.pid is not None else "",
            )
            return LockHolder(
                verdict="compiling here",
                holder=" ".join(name for name in names if name) or None,
                proof="a worker of this run compiles it",
                judged=worker.since,
                in_this_run=True,
            )
    entry = run.caches.entry(graph.module) if graph.module is not None else None
    if entry is None or entry.lock is None:
        return None
    return LockHolder(verdict=entry.lock, holder=entry.lock_holder, proof=entry.lock_proof, judged=entry.time)


def cache_card(run: Run) -> CacheCard:
    """What the cache answered."""
    compiles, roots = run.compiles, list(run.caches.roots.values())
    sizes = [root.size for root in roots if root.size is not None]
    free = [root.free for root in roots if root.free is not None]
    return CacheCard(
        hit_rate=compiles.totals.hit_rate,
        lookup_hit_rate=compiles.totals.lookup_hit_rate,
        graphs_hit=compiles.totals.graphs_hit,
        graphs_missed=compiles.totals.graphs_missed,
        graphs_asked=compiles.totals.graphs_asked,
        hits=compiles.totals.hits,
        hits_after_compile=compiles.totals.hits_after_compile,
        misses=compiles.totals.misses,
        misses_announced=compiles.counts.misses_announced,
        failures_met=compiles.totals.failures_met,
        hub_misses=compiles.counts.hub_misses,
        paths=tuple(compiles.counts.cache_paths),
        roots=tuple(root.root for root in roots),
        entries=sum(root.entries for root in roots) if roots else None,
        size=sum(sizes) if sizes else None,
        free=min(free) if free else None,
        places=tuple(CacheSpace(root=one.root, entries=one.entries, size=one.size, free=one.free) for one in roots),
        fetches=fetch_card(run),
    )


def fetch_card(run: Run) -> FetchCard | None:
    """What came from elsewhere; None where nothing was asked for there."""
    fetches = run.caches.fetches
    if not fetches.places:
        return None
    now = list(fetches.under_way.values()) if run.job.finished is None else []
    return FetchCard(
        graphs=fetches.graphs,
        bytes=fetches.bytes,
        rate=fetches.bytes / fetches.seconds if fetches.seconds else None,
        under_way=len(now),
        arrived=sum(one.bytes for one in now),
        expected=sum(one.total_bytes for one in now),
        rate_now=sum(one.bytes / one.seconds for one in now if one.seconds) if now else None,
        refused=len(fetches.refused),
        places=tuple(fetches.places),
    )


def fetch_words(card: FetchCard) -> str:
    """`fetching 2 graphs: 45 of 120 MB, 85 MB/s · fetched 3, 240 MB at 90 MB/s · 1 refused`, as far as it is so."""
    parts = []
    if card.under_way:
        rate = f", {bytes_text(card.rate_now)}/s" if card.rate_now else ""
        so_far = f"{bytes_text(card.arrived)} of {bytes_text(card.expected)}"
        parts.append(f"fetching {counted(card.under_way, 'graph')}: {so_far}{rate}")
    if card.graphs:
        rate = f" at {bytes_text(card.rate)}/s" if card.rate else ""
        parts.append(f"fetched {counted(card.graphs, 'graph')}, {bytes_text(card.bytes)}{rate}")
    if card.refused:
        parts.append(f"{card.refused} that came {'was' if card.refused == 1 else 'were'} not used")
    return " · ".join(parts)


def _left(run: Run, by_state: dict[GraphState, list[Graph]]) -> int | None:
    """Extracted graphs are still to be compiled while no script runs; otherwise only the queue's counter reports."""
    if run.queue.active and run.queue.counts is not None:
        return run.queue.counts.remaining
    if run.queue.summaries and not run.queue.active:
        return 0
    if by_state[GraphState.EXTRACTED] or run.queue.trial_since is not None:
        return len(by_state[GraphState.EXTRACTED])
    return None


def _until_all(
    run: Run, running: tuple[RunningGraph, ...], by_state: dict[GraphState, list[Graph]], estimator: Estimator
) -> Range | None:
    """The running graphs, and in a parallel compile those that are still to come; None where one is not known."""
    pending: list[Range | None] = []
    if not run.queue.trial_running and (to_come := _left(run, by_state)):
        graphs = by_state[GraphState.EXTRACTED]
        if to_come > len(running) + len(graphs):  # the queue counts some that were never named
            return None
        pending = [
            estimator.total(graph.module, graph.graph_bytes, graph.operators, graph.op_counts) for graph in graphs
        ]
    workers = sum(worker.finished is None for worker in run.queue.workers.values())
    return together([graph.left for graph in running], pending, max(1, workers, len(running)))
