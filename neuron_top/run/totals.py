"""Sums over graphs: by occurrence (each rank counts) and by distinct graph. Screens show both.

A screen asks for them many times a second, when hundreds of graphs may have dozens of workers each. So each graph is
added up only when it changes (`GraphSummary`), and sums are made over these summaries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from neuron_top.run.graph import Graph, Wait, WorkerGraph
from neuron_top.run.graph_summary import GraphSummary, GraphSums
from neuron_top.run.graph_tracker import GraphTracker
from neuron_top.run.spans import Interval, Span, SpanKind, union_seconds


class GraphTotals:
    """What can be summed up over the graphs of a run."""

    def __init__(self, graphs: GraphTracker) -> None:
        self._graphs = graphs
        self._cached_sums: dict[str, GraphSums] = {}
        self._cached_all: tuple[int, list[GraphSummary]] = (-1, [])

    def summaries(self) -> list[GraphSummary]:
        """Every graph added up, in the order in which they were first met."""
        version, summaries = self._cached_all
        if version != self._graphs.version:
            summaries = [self.summary(graph) for graph in self._graphs.graphs.values()]
            self._cached_all = (self._graphs.version, summaries)
        return summaries

    def summary(self, graph: Graph) -> GraphSummary:
        """One graph added up."""
        sums = self._cached_sums.get(graph.key)
        if sums is None or sums.graph is not graph:
            sums = self._cached_sums[graph.key] = GraphSums(graph)
        return sums.update()

    @property
    def hits(self) -> int:
        """Hits by occurrence."""
        return sum(summary.hits for summary in self.summaries())

    @property
    def hits_after_compile(self) -> int:
        """Hits that saved nothing: loads of what was compiled during this run, by occurrence."""
        return sum(summary.hits if summary.misses else summary.hits_after_wait for summary in self.summaries())

    @property
    def misses(self) -> int:
        """Misses by occurrence: announced, or derived from a compile that took place."""
        return sum(summary.misses for summary in self.summaries())

    @property
    def failures(self) -> int:
        """Failed compiles by occurrence."""
        return sum(summary.failures for summary in self.summaries())

    @property
    def failures_met(self) -> int:
        """How often the cache answered with a stored failure, by occurrence."""
        return sum(summary.failures_met for summary in self.summaries())

    @property
    def graphs_hit(self) -> int:
        """Distinct graphs that the cache answered and that nobody had to compile in this run."""
        return sum(summary.misses == 0 and summary.hits > 0 for summary in self.summaries())

    @property
    def graphs_missed(self) -> int:
        """Distinct graphs for which a compiler was called."""
        return sum(summary.misses > 0 for summary in self.summaries())

    @property
    def graphs_asked(self) -> int:
        """Distinct graphs for which a lookup ended: found, compiled, or refused by a stored failure."""
        return sum(bool(summary.misses or summary.hits or summary.failures_met) for summary in self.summaries())

    @property
    def hit_rate(self) -> float | None:
        """Share of distinct graphs that came from the cache, 0…1; None before the first lookup ended."""
        asked = self.graphs_asked
        return self.graphs_hit / asked if asked else None

    @property
    def lookup_hit_rate(self) -> float | None:
        """Share of all lookups, by occurrence, that were hits, 0…1."""
        hits = self.hits
        asked = hits + self.misses + self.failures_met
        return hits / asked if asked else None

    @property
    def lock_waits(self) -> int:
        """Waits for another process's compile, ended or not, by occurrence (not by line)."""
        return sum(summary.lock_waits for summary in self.summaries())

    def new_since(self, time: float | None) -> list[Graph]:
        """Graphs that were first met, and compiled, after `time`; none if that is None."""
        if time is None:
            return []
        return [
            summary.graph for summary in self.summaries() if summary.misses and (summary.graph.first or time) > time
        ]

    def waits(self) -> list[tuple[Graph, WorkerGraph, Wait]]:
        """Lock waits that are going on."""
        return [(summary.graph, worker, wait) for summary in self.summaries() for worker, wait in summary.waiting]

    def spans(self) -> list[Span]:
        """Compiles and waits as bars of a timeline, graph after graph; those without a known start are left out."""
        return [span for summary in self.summaries() for span in summary.spans]

    def seconds_spent(
        self,
        now: float,
        kinds: Collection[SpanKind] = (SpanKind.COMPILE, SpanKind.WAIT),
        besides: Iterable[Interval] = (),
    ) -> float:
        """Wall seconds in which at least one worker compiled or waited (`kinds`), or that lie in `besides`."""
        own = [interval for summary in self.summaries() for kind in kinds for interval in summary.ended.get(kind, ())]
        own += [
            (span.start, max(now, span.start))
            for summary in self.summaries()
            for span in summary.going_on
            if span.kind in kinds
        ]
        return union_seconds([*own, *besides])
