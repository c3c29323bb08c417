"""The compile screen: a row per graph, and one graph's page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

import msgspec

from neuron_top.cache.model.compiler_names import is_same_compiler
from neuron_top.run.estimate import Estimator, Range
from neuron_top.run.graph import Attempt, Duration, Graph, GraphState, LineRef, Precision, WorkerGraph
from neuron_top.run.model import Run
from neuron_top.units import count_text, duration_text
from neuron_top.views.counts import GRAPH_FAILED
from neuron_top.views.progress import CompileCard, LockHolder, compile_card, lock_holder, settled, waiters
from neuron_top.views.waits import waited_seconds


class GraphRow(msgspec.Struct, frozen=True, kw_only=True):
    """One graph. Rows keep the order in which the run first met them."""

    key: str
    """Stable identity: the module where one was named, `unnamed N` else."""
    module: str | None
    state: GraphState
    """`known`, `extracted`, `waiting`, `compiling`, `hit`, `compiled`, `failed`, `cached failure`, `interrupted`."""
    since: float | None
    elapsed: float | None
    """Seconds in this state; only while it compiles or waits."""
    left: Range | None
    """Estimated time left; None where no past compile is like it."""
    seconds: float | None
    """Duration of the newest finished compile; an upper bound where `precision` is `bracketed`."""
    precision: Precision
    low: float | None
    rank: int | None
    """Of the worker that compiles or waits, else of the one that compiled last, else the first that met it."""
    pid: int | None
    ranks: tuple[int, ...]
    """All ranks that met it."""
    workers: int
    """Processes that met it."""
    hits: int
    misses: int
    cached_failures: int = 0
    """Stored failures met; hits, misses and these are the graph's lookups."""
    failures: int
    attempts: int
    wait_seconds: float | None
    """Longest wait for its lock so far, of any worker."""
    lock: LockHolder | None = None
    """While workers wait for it: who holds the lock."""
    waiters: int = 0
    """Workers that wait for it now."""
    direction: str
    operators: int | None
    graph_bytes: int | None
    artifact_bytes: int | None
    compiler: str | None
    message: str
    """First line of the failure's text."""

    @property
    def seconds_text(self) -> str:
        """The compile time, with “at most” where it is only bounded."""
        return f"{'at most ' if self.precision is Precision.BRACKETED else ''}{duration_text(self.seconds)}"


class GraphTable(msgspec.Struct, frozen=True, kw_only=True):
    """The compile screen's table with its progress card."""

    now: float
    card: CompileCard
    rows: tuple[GraphRow, ...]


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the compiler for a graph."""

    rank: int | None
    pid: int | None
    compiler_pid: int | None
    start: float | None
    end: float | None
    seconds: float | None
    precision: Precision
    outcome: str
    """"" while it runs, then `done`, `failed`, `interrupted`."""
    cause: str
    code: str | None
    exit_status: int | None
    killed: bool
    message: str
    dots: int
    peak_rss_bytes: int | None
    artifact_bytes: int | None
    inside_job: bool


class WorkerRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one worker did with a graph: the counts per worker that `GraphRow` adds up."""

    rank: int | None
    pid: int | None
    node: str
    state: GraphState
    since: float | None
    hits: int
    hits_after_wait: int
    failures_met: int
    extractions: int
    attempts: int
    loads: int
    load_seconds: float
    wait_seconds: float | None
    wait_minutes: float | None
    """The longest it reported itself."""


class GraphPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one graph."""

    now: float
    row: GraphRow
    root: str | None
    flags: tuple[str, ...]
    inputs: tuple[str, ...]
    message: str
    """The whole failure text."""
    advice: str
    """What to do about the failure; "" without one."""
    workers: tuple[WorkerRow, ...]
    attempts: tuple[AttemptRow, ...]
    hub_missing: tuple[str, ...]
    cache_state: str | None
    """What the catalog last saw of its entry; None when it saw no change."""
    cache_root: str | None
    lines: tuple[LineRef, ...]
    """Where its newest log lines stand, oldest first."""


def graph_table(run: Run, now: float, estimator: Estimator | None = None) -> GraphTable:
    """The compile screen."""
    known = estimator or Estimator()
    until, over = run.effective_now(now), run.over(now)
    rows = tuple(graph_row(run, graph, until, known, over=over) for graph in run.compiles.graphs.values())
    return GraphTable(now=now, card=compile_card(run, now, known), rows=rows)


def slowest_rows(run: Run, now: float, most: int) -> tuple[GraphRow, ...]:
    """Failed graphs, then the slowest of those whose compile has ended; rows are made of these alone."""
    until, over, estimator = run.effective_now(now), run.over(now), Estimator()
    ranked: list[tuple[bool, float, Graph]] = []
    for graph in run.compiles.graphs.values():
        state, seconds = run.compiles.totals.summary(graph).state, graph.duration.seconds
        if state in GRAPH_FAILED or (seconds is not None and (over or state not in _AT_WORK)):
            ranked.append((state not in GRAPH_FAILED, -(seconds or 0.0), graph))
    ranked.sort(key=itemgetter(0, 1))
    return tuple(graph_row(run, graph, until, estimator, over=over) for _bad, _seconds, graph in ranked[:most])


_AT_WORK = (GraphState.COMPILING, GraphState.WAITING)


def graph_row(run: Run, graph: Graph, now: float, estimator: Estimator, *, over: bool = False) -> GraphRow:
    """One graph as a row; `over`: the job has ended."""
    digest, since = run.compiles.totals.summary(graph), graph.state_since
    state = settled(digest.state) if over else digest.state
    active = graph.active_worker
    worker = active or _compiled_by(graph)
    elapsed = max(0.0, now - since) if since is not None and active is not None else None
    duration = graph.duration
    ranks = {rank for one in graph.workers.values() if (rank := run.rank_of(one)) is not None}
    compiling, waiting = state is GraphState.COMPILING, 0 if over else waiters(graph)
    return GraphRow(
        key=graph.key,
        module=graph.module,
        state=state,
        since=since,
        elapsed=elapsed,
        left=estimator.left(graph.module, graph.graph_bytes, elapsed, graph.operators, graph.op_counts)
        if compiling
        else None,
        seconds=duration.seconds,
        precision=duration.precision,
        low=duration.low,
        rank=run.rank_of(worker) if worker is not None else None,
        pid=worker.pid if worker is not None else None,
        ranks=tuple(sorted(ranks)),
        workers=len(graph.workers),
        hits=digest.hits,
        misses=digest.misses,
        cached_failures=digest.failures_met,
        failures=digest.failures,
        attempts=digest.misses,
        wait_seconds=_longest_wait(graph, now),
        lock=lock_holder(run, graph) if waiting else None,
        waiters=waiting,
        direction=graph.direction,
        operators=graph.operators,
        graph_bytes=graph.graph_bytes,
        artifact_bytes=graph.artifact_bytes,
        compiler=_folder(run, graph),
        message=graph.message.strip().partition("\n")[0],
    )


def counted_inputs(inputs: Sequence[str]) -> list[str]:
    """Inputs of a graph for people: equal ones once, with their number (`f32[8,8]×12`), as they first appear."""
    return [one if count == 1 else f"{one}×{count_text(count)}" for one, count in Counter(inputs).items()]


def graph_page(run: Run, now: float, key: str, estimator: Estimator | None = None) -> GraphPage | None:
    """One graph's page; None when the run knows no such graph."""
    graph = run.compiles.graphs.get(key)
    if graph is None:
        return None
    entry = run.caches.entry(graph.module) if graph.module is not None else None
    over, now = run.over(now), run.effective_now(now)
    # not needed for the table of graphs, which is in the first frame
    from neuron_top.cache.model.failures import failure_of
    from neuron_top.views.failure_advice import ADVICE
    from neuron_top.views.graph_failure import failure_text

    row = graph_row(run, graph, now, estimator or Estimator(), over=over)
    failed = failure_text(graph) if graph.message or row.state in GRAPH_FAILED else ""
    return GraphPage(
        now=now,
        row=row,
        root=graph.root,
        flags=graph.flags,
        inputs=graph.inputs,
        message=graph.message,
        advice=ADVICE[failure_of(failed).cause] if failed else "",
        workers=tuple(sorted((_worker_row(run, worker, now) for worker in graph.workers.values()), key=_by_rank)),
        attempts=tuple(
            _attempt_row(run, worker, attempt) for worker in graph.workers.values() for attempt in worker.attempts
        ),
        hub_missing=tuple(graph.hub_missing),
        cache_state=entry.state if entry is not None else None,
        cache_root=entry.root if entry is not None else graph.root,
        lines=tuple(graph.lines),
    )


def _compiled_by(graph: Graph) -> WorkerGraph | None:
    workers = list(graph.workers.values())
    compiled = [worker for worker in workers if worker.attempts]
    return compiled[-1] if compiled else workers[0] if workers else None


def _longest_wait(graph: Graph, now: float) -> float | None:
    waits = [seconds for worker in graph.workers.values() if (seconds := _waited(worker, now)) is not None]
    return max(waits, default=None)


def _waited(worker: WorkerGraph, now: float) -> float | None:
    waits = [waited_seconds(wait, now) for wait in worker.waits if wait.start is not None]
    return max((seconds for seconds in waits if seconds is not None), default=None)


def _folder(run: Run, graph: Graph) -> str | None:
    """The compiler as the cache names it (`inductor-2.13…`); a log line names its version alone."""
    entry = run.caches.entry(graph.module) if graph.module is not None else None
    if entry is not None and (graph.compiler is None or is_same_compiler(entry.compiler, graph.compiler)):
        return entry.compiler
    return graph.compiler


def _by_rank(row: WorkerRow) -> float:
    return row.rank if row.rank is not None else math.inf


def _worker_row(run: Run, worker: WorkerGraph, now: float) -> WorkerRow:
    minutes = [wait.minutes for wait in worker.waits if wait.minutes is not None]
    return WorkerRow(
        rank=run.rank_of(worker),
        pid=worker.pid,
        node=worker.node,
        state=worker.state,
        since=worker.since,
        hits=worker.hits,
        hits_after_wait=worker.hits_after_wait,
        failures_met=worker.failures_met,
        extractions=worker.extractions,
        attempts=len(worker.attempts),
        loads=worker.loads,
        load_seconds=worker.load_seconds,
        wait_seconds=_waited(worker, now),
        wait_minutes=max(minutes, default=None),
    )


def _attempt_row(run: Run, worker: WorkerGraph, attempt: Attempt) -> AttemptRow:
    duration: Duration = attempt.duration
    return AttemptRow(
        rank=run.rank_of(worker),
        pid=worker.pid,
        compiler_pid=attempt.compiler_pid,
        start=attempt.start,
        end=attempt.end,
        seconds=duration.seconds,
        precision=duration.precision,
        outcome=attempt.outcome or "",
        cause=attempt.cause.value,
        code=attempt.code,
        exit_status=attempt.exit_status,
        killed=attempt.killed,
        message=attempt.message,
        dots=attempt.dots,
        peak_rss_bytes=attempt.peak_rss_bytes,
        artifact_bytes=attempt.artifact_bytes,
        inside_job=attempt.inside_job,
    )
