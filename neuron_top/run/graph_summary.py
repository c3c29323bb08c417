"""One graph added up, and what is kept of it so that only workers that changed are added up again.

A job of a thousand nodes compiles a graph in thousands of processes; each event changes one of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import chain

import msgspec

from neuron_top.run.graph import Attempt, AttemptOutcome, Graph, GraphState, Wait, WorkerGraph
from neuron_top.run.spans import Interval, Span, SpanKind, merged


class GraphSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One graph added up, as of one version of it."""

    graph: Graph
    version: int
    state: GraphState
    hits: int
    hits_after_wait: int
    misses: int
    failures: int
    failures_met: int
    lock_waits: int
    waiting: tuple[tuple[WorkerGraph, Wait], ...]
    spans: tuple[Span, ...]
    ended: Mapping[SpanKind, tuple[Interval, ...]]
    """When any worker compiled it, or waited for it, by spans that have ended: of a thousand nodes that did the same at
    the same time, one interval."""
    going_on: tuple[Span, ...]


class _WorkerSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts and waits of one worker, as of one version of them."""

    version: int
    spans: tuple[Span, ...]
    failures: int

    def ended(self, kind: SpanKind) -> list[Interval]:
        """Spans of this kind that have ended, in the order in which they were entered."""
        return [(span.start, span.end) for span in self.spans if span.kind is kind and span.end is not None]


_NOTHING = _WorkerSummary(version=-1, spans=(), failures=0)
_KINDS = (SpanKind.COMPILE, SpanKind.WAIT)


class GraphSums:
    """Adds up one graph as often as it is asked to."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._workers: dict[str, _WorkerSummary] = {}
        self._ended: dict[SpanKind, list[Interval]] = {kind: [] for kind in _KINDS}
        self.summary = self._sum()

    def update(self) -> GraphSummary:
        """The graph as it is now."""
        if self.summary.version != self.graph.version:
            self.summary = self._sum()
        return self.summary

    def _sum(self) -> GraphSummary:
        graph, kept = self.graph, self._look_again()
        workers = graph.workers.values()
        return GraphSummary(
            graph=graph,
            version=graph.version,
            state=graph.state,
            hits=graph.hits,
            hits_after_wait=graph.hits_after_wait,
            misses=graph.misses,
            failures=sum(one.failures for one in kept),
            failures_met=graph.failures_met,
            lock_waits=sum(len(worker.waits) for worker in workers),
            waiting=tuple((worker, wait) for worker in workers if (wait := worker.open_wait) is not None),
            spans=tuple(chain.from_iterable(one.spans for one in kept)),
            ended={kind: tuple(intervals) for kind, intervals in self._ended.items()},
            going_on=tuple(span for one in kept for span in one.spans if span.end is None),
        )

    def _look_again(self) -> list[_WorkerSummary]:
        """Every worker's summary, those of changed workers made anew."""
        before, self._workers, corrected = self._workers, {}, False
        for key, worker in self.graph.workers.items():
            old = before.pop(key, _NOTHING)
            new = old if old.version == worker.version else _worker_summary(self.graph, worker)
            self._workers[key] = new
            corrected = (new is not old and not self._extend(old, new)) or corrected
        if corrected or before:  # a span that was entered has changed or gone
            every = self._workers.values()
            self._ended = {kind: merged(chain.from_iterable(one.ended(kind) for one in every)) for kind in _KINDS}
        return [*self._workers.values()]

    def _extend(self, old: _WorkerSummary, new: _WorkerSummary) -> bool:
        """Enter the spans that ended since; False where one that was entered before is no longer as it was."""
        for kind in _KINDS:
            entered, now = old.ended(kind), new.ended(kind)
            if now[: len(entered)] != entered:
                return False
            for interval in now[len(entered) :]:
                _insert(self._ended[kind], interval)
        return True


def _insert(covered: list[Interval], interval: Interval) -> None:
    """Add an interval to some that are in order and don't touch, as `spans.merged` would."""
    start, end = interval
    if end <= start:
        return
    first = bisect_left(covered, start, key=_end)
    behind = bisect_right(covered, end, key=_start)
    if first < behind:
        start, end = min(start, covered[first][0]), max(end, covered[behind - 1][1])
    covered[first:behind] = [(start, end)]


def _start(interval: Interval) -> float:
    return interval[0]


def _end(interval: Interval) -> float:
    return interval[1]


def _worker_summary(graph: Graph, worker: WorkerGraph) -> _WorkerSummary:
    return _WorkerSummary(
        version=worker.version,
        spans=tuple(_spans_of(graph, worker)),
        failures=sum(attempt.outcome is AttemptOutcome.FAILED for attempt in worker.attempts),
    )


def _spans_of(graph: Graph, worker: WorkerGraph) -> list[Span]:
    spans = []
    for attempt in worker.attempts:
        start = attempt.start if attempt.start is not None else _back(attempt)
        if start is not None and (attempt.end is not None or not attempt.outcome):
            exact = attempt.exact_start and (attempt.exact_end or not attempt.outcome)
            spans.append(_span(graph, worker, SpanKind.COMPILE, start, attempt.end, attempt.outcome, exact))
    dated = ((wait.start, wait.end) for wait in worker.waits if wait.start is not None)
    spans.extend(_span(graph, worker, SpanKind.WAIT, start, end, None, True) for start, end in dated)
    return spans


def _span(
    graph: Graph,
    worker: WorkerGraph,
    kind: SpanKind,
    start: float,
    end: float | None,
    outcome: AttemptOutcome | None,
    exact: bool,
) -> Span:
    return Span(
        graph=graph.key,
        worker=worker.key,
        pid=worker.pid,
        rank=worker.rank,
        kind=kind,
        start=start,
        end=end,
        outcome=outcome,
        exact=exact,
    )


def _back(attempt: Attempt) -> float | None:
    return attempt.end - attempt.seconds if attempt.end is not None and attempt.seconds is not None else None
