"""The sums over one graph, kept so that only workers that changed are added up again.

A job of a thousand nodes compiles a graph in thousands of processes, and each event changes one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain, takewhile, zip_longest
from operator import itemgetter
from typing import NamedTuple

import msgspec

from neuron_top.run.graph import Attempt, AttemptOutcome, Graph, GraphState, Wait, WorkerGraph
from neuron_top.run.spans import Interval, Span, SpanKind, insert, merged


class GraphSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The sums over one graph, as of one version of it."""

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
    """When some worker compiled it or waited for it, without spans that go on. If a thousand nodes did so at the same
    time, that is one interval."""
    going_on: tuple[Span, ...]
    compiled_again: tuple[str, ...]
    """Nodes that compiled it although another node had found it before."""


class _SpanMaker(NamedTuple):
    """Makes the spans of one worker and graph; returns the one `before` if nothing of it has changed."""

    graph: str
    worker: str
    pid: int | None
    rank: int | None

    def compile(self, attempt: Attempt, before: Span | None) -> Span | None:
        """The span of an attempt; None if nothing dates it."""
        start, end, outcome = attempt.start, attempt.end, attempt.outcome
        if start is None and end is not None and attempt.seconds is not None:
            start = end - attempt.seconds
        if start is None or (end is None and outcome):
            return None
        exact = attempt.exact_start and (attempt.exact_end or not outcome)
        if before is not None and _is_as(before, start, end) and before.outcome is outcome and before.exact is exact:
            return before
        return Span(
            graph=self.graph,
            worker=self.worker,
            pid=self.pid,
            rank=self.rank,
            kind=SpanKind.COMPILE,
            start=start,
            end=end,
            outcome=outcome,
            exact=exact,
        )

    def wait(self, wait: Wait, before: Span | None) -> Span | None:
        """The span of a wait; None if nothing dates it."""
        start, end = wait.start, wait.end
        if start is None:
            return None
        if before is not None and _is_as(before, start, end):
            return before
        return Span(
            graph=self.graph,
            worker=self.worker,
            pid=self.pid,
            rank=self.rank,
            kind=SpanKind.WAIT,
            start=start,
            end=end,
        )


def _is_as(span: Span, start: float, end: float | None) -> bool:
    return span.start == start and span.end == end


class _WorkerSummary(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The attempts and waits of one worker, as of one version of them."""

    version: int
    maker: _SpanMaker | None
    compiles: tuple[Span | None, ...]
    """One for each attempt; None if nothing dates it."""
    waits: tuple[Span | None, ...]
    spans: tuple[Span, ...]
    """Compiles, then waits; those without a known start are left out."""
    going_on: tuple[Span, ...]
    failures: int


_NOTHING = _WorkerSummary(version=-1, maker=None, compiles=(), waits=(), spans=(), going_on=(), failures=0)
_KINDS = (SpanKind.COMPILE, SpanKind.WAIT)


class GraphSums:
    """Adds up one graph whenever it has changed."""

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
            going_on=tuple(chain.from_iterable(one.going_on for one in kept)),
            compiled_again=tuple(_compiled_again(workers)),
        )

    def _look_again(self) -> list[_WorkerSummary]:
        """Every worker's summary; those of workers that changed are computed again."""
        before, self._workers, corrected = self._workers, {}, False
        for key, worker in self.graph.workers.items():
            old = before.pop(key, _NOTHING)
            new = old if old.version == worker.version else _worker_summary(self.graph, worker, old)
            self._workers[key] = new
            corrected = (new is not old and not self._extend(old, new)) or corrected
        if corrected or before:  # a span that was added before has changed or is gone
            spans = [span for one in self._workers.values() for span in one.spans]
            self._ended = {kind: merged(_ended(span for span in spans if span.kind is kind)) for kind in _KINDS}
        return [*self._workers.values()]

    def _extend(self, old: _WorkerSummary, new: _WorkerSummary) -> bool:
        """Add the spans that ended since; False if one that was added before has changed."""
        for kind, before, now in (
            (SpanKind.COMPILE, old.compiles, new.compiles),
            (SpanKind.WAIT, old.waits, new.waits),
        ):
            kept = _same(before, now)
            if any(_ended(before[kept:])):
                return False
            for interval in _ended(now[kept:]):
                insert(self._ended[kind], interval)
        return True


def _same(before: Sequence[Span | None], now: Sequence[Span | None]) -> int:
    """Length of the common beginning, which is usually all of `before` but its last item."""
    most = min(len(before), len(now))
    for count in (most, most - 1):
        if before[:count] == now[:count]:
            return max(0, count)
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(before, now, strict=False)))


def _ended(spans: Iterable[Span | None]) -> Iterator[Interval]:
    """The intervals of those spans that have ended."""
    return ((span.start, span.end) for span in spans if span is not None and span.end is not None)


def _compiled_again(workers: Iterable[WorkerGraph]) -> Iterator[str]:
    found_first, began_first = dict[str, float](), dict[str, float]()
    for worker in workers:
        if not worker.attempts:
            if worker.hits and worker.since is not None:
                found_first[worker.node] = min(worker.since, found_first.get(worker.node, worker.since))
        elif (
            began := min((attempt.start for attempt in worker.attempts if attempt.start is not None), default=None)
        ) is not None:
            began_first[worker.node] = min(began, began_first.get(worker.node, began))
    earliest = nsmallest(2, found_first.items(), key=itemgetter(1))  # one of two is another node, whichever is asked
    for node, began in began_first.items():
        if any(other != node and time < began for other, time in earliest):
            yield node


def _worker_summary(graph: Graph, worker: WorkerGraph, old: _WorkerSummary) -> _WorkerSummary:
    """The summary of a worker. Spans that did not change are those of `old`: of many attempts, usually one changes."""
    maker = _SpanMaker(graph.key, worker.key, worker.pid, worker.rank)
    known = old if old.maker == maker else _NOTHING
    dated = zip_longest(worker.attempts, known.compiles[: len(worker.attempts)])
    compiles = tuple([maker.compile(attempt, before) for attempt, before in dated])
    waited = zip_longest(worker.waits, known.waits[: len(worker.waits)])
    waits = tuple([maker.wait(wait, before) for wait, before in waited])
    spans = tuple(span for span in (*compiles, *waits) if span is not None)
    return _WorkerSummary(
        version=worker.version,
        maker=maker,
        compiles=compiles,
        waits=waits,
        spans=spans,
        going_on=tuple(span for span in spans if span.end is None),
        failures=sum(attempt.outcome is AttemptOutcome.FAILED for attempt in worker.attempts),
    )
