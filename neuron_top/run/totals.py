"""Sums over graphs: by occurrence (every rank counts) and by distinct graph; both are meant to be seen."""

from __future__ import annotations

from neuron_top.run.graph import Attempt, Graph, Meeting, Wait
from neuron_top.run.spans import Span, union_seconds


class GraphTotals:
    """What can be summed up over `graphs`."""

    def __init__(self, graphs: dict[str, Graph]) -> None:
        self.graphs = graphs
        """By key, in the order they were first met."""

    @property
    def hits(self) -> int:
        """Hits by occurrence."""
        return sum(graph.hits for graph in self.graphs.values())

    @property
    def misses(self) -> int:
        """Misses by occurrence: announced, or derived from a compile that took place."""
        return sum(graph.misses for graph in self.graphs.values())

    @property
    def failures(self) -> int:
        """Failed compiles by occurrence."""
        return sum(graph.failures for graph in self.graphs.values())

    @property
    def failures_met(self) -> int:
        """Stored failures met, by occurrence."""
        return sum(graph.failures_met for graph in self.graphs.values())

    @property
    def graphs_hit(self) -> int:
        """Distinct graphs that the cache answered and that nobody had to compile in this run."""
        return sum(graph.misses == 0 and graph.hits > 0 for graph in self.graphs.values())

    @property
    def graphs_missed(self) -> int:
        """Distinct graphs for which a compiler was called."""
        return sum(graph.misses > 0 for graph in self.graphs.values())

    @property
    def hit_rate(self) -> float | None:
        """Share of distinct graphs that came from the cache, 0…1; None before the first look-up ended."""
        refused = sum(graph.failures_met > 0 and not graph.misses and not graph.hits for graph in self.graphs.values())
        hit = self.graphs_hit
        asked = hit + self.graphs_missed + refused
        return hit / asked if asked else None

    @property
    def lookup_hit_rate(self) -> float | None:
        """Share of look-ups (each rank's counts) that were hits, 0…1."""
        hits = self.hits
        asked = hits + self.misses + self.failures_met
        return hits / asked if asked else None

    @property
    def lock_waits(self) -> int:
        """Waits for another process's compile, ended or not, by occurrence (not by line)."""
        return sum(len(meeting.waits) for graph in self.graphs.values() for meeting in graph.meetings.values())

    def new_since(self, time: float | None) -> list[Graph]:
        """Graphs first met, and compiled, after `time`; none when that is None."""
        if time is None:
            return []
        graphs = self.graphs.values()
        return [graph for graph in graphs if graph.first is not None and graph.first > time and graph.misses]

    def waits(self) -> list[tuple[Graph, Meeting, Wait]]:
        """Lock waits that are going on."""
        return [
            (graph, meeting, wait)
            for graph in self.graphs.values()
            for meeting in graph.meetings.values()
            if (wait := meeting.open_wait) is not None
        ]

    def spans(self) -> list[Span]:
        """Compiles and waits as bars of a timeline, graph after graph; those without a known start are left out."""
        return [span for graph in self.graphs.values() for span in _spans_of(graph)]

    def seconds_spent(self, now: float, kinds: tuple[str, ...] = ("compile", "wait")) -> float:
        """Wall seconds in which at least one worker compiled or waited (`kinds`)."""
        return union_seconds(
            (span.start, span.end if span.end is not None else max(now, span.start))
            for span in self.spans()
            if span.kind in kinds
        )


def _spans_of(graph: Graph) -> list[Span]:
    spans = []
    for meeting in graph.meetings.values():
        for one in meeting.attempts:
            start = one.start if one.start is not None else _back(one)
            if start is not None and (one.end is not None or not one.outcome):
                exact = one.exact_start and (one.exact_end or not one.outcome)
                spans.append(_span(graph, meeting, "compile", start, one.end, one.outcome, exact))
        spans.extend(
            _span(graph, meeting, "wait", wait.start, wait.end, "", True)
            for wait in meeting.waits
            if wait.start is not None
        )
    return spans


def _span(graph: Graph, meeting: Meeting, kind: str, start: float, end: float | None, outcome: str, exact: bool
          ) -> Span:  # fmt: skip
    return Span(graph=graph.key, worker=meeting.worker, pid=meeting.pid, rank=meeting.rank, kind=kind, start=start,
                end=end, outcome=outcome, exact=exact)  # fmt: skip


def _back(attempt: Attempt) -> float | None:
    return attempt.end - attempt.seconds if attempt.end is not None and attempt.seconds is not None else None
