"""Words counts of graphs and lookups, in the same way on every screen.

A graph counts once, by the state it is in. A lookup is one process asking the cache for one graph.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from neuron_top.run.graph import GraphState
from neuron_top.units import count_text, counted, percent_text
from neuron_top.views.progress import CacheCard, CompileCard

COUNTED_AS = {
    GraphState.HIT: "from the cache",
    GraphState.COMPILED: "compiled",
    GraphState.FAILED: "failed",
    GraphState.CACHED_FAILURE: "with a cached failure",
    GraphState.COMPILING: "compiling",
    GraphState.WAITING: "waiting",
    GraphState.EXTRACTED: "extracted",
    GraphState.INTERRUPTED: "interrupted",
    GraphState.KNOWN: "only named",
}
"""The words after a number of graphs in each state, in the order of all screens."""
GRAPH_FAILED = (GraphState.FAILED, GraphState.CACHED_FAILURE)
GRAPH_ENDED = (GraphState.HIT, GraphState.COMPILED, *GRAPH_FAILED)


class GraphPart(msgspec.Struct, frozen=True):
    """How many graphs are in one state, and the word for them."""

    state: GraphState
    word: str
    count: int

    @property
    def text(self) -> str:
        """`7 from the cache`."""
        return f"{count_text(self.count)} {self.word}"


def graph_parts(card: CompileCard, states: Collection[GraphState] = tuple(GraphState)) -> list[GraphPart]:
    """How many graphs are in each of these states; states without a graph are left out."""
    counts = {
        GraphState.HIT: card.hit,
        GraphState.COMPILED: card.done,
        GraphState.FAILED: card.failed,
        GraphState.CACHED_FAILURE: card.cached_failures,
        GraphState.COMPILING: len(card.running),
        GraphState.WAITING: len(card.waiting),
        GraphState.EXTRACTED: card.extracted,
        GraphState.INTERRUPTED: card.interrupted,
    }
    counts[GraphState.KNOWN] = card.total - sum(counts.values())
    named = [GraphPart(state, word, counts[state]) for state, word in COUNTED_AS.items() if state in states]
    return [part for part in named if part.count > 0]


def graph_words(card: CompileCard, states: Collection[GraphState] = tuple(GraphState)) -> str:
    """`7 graphs: 1 from the cache, 2 compiled, 1 failed`; of these states."""
    parts = ", ".join(part.text for part in graph_parts(card, states))
    return f"{counted(card.total, 'graph')}: {parts}" if parts else counted(card.total, "graph")


def lookup_words(card: CacheCard) -> str:
    """`12 lookups: 3 hits (2 after another's compile), 7 misses, 2 cached failures`."""
    late = card.hits_after_compile  # these saved nothing, which is why there can be hits at a hit rate of 0 %
    hits = counted(card.hits, "hit") + (f" ({count_text(late)} after another's compile)" if late else "")
    parts = ((card.hits, hits), (card.misses, counted(card.misses, "miss", "misses")),
             (card.failures_met, counted(card.failures_met, "cached failure")))  # fmt: skip
    parts_text = ", ".join(text for count, text in parts if count)
    total = counted(sum(count for count, _text in parts), "lookup")
    return f"{total}: {parts_text}" if parts_text else total


def graphs_found(card: CacheCard) -> str:
    """`2 of 7 graphs`: the hit rate as a count; "" before a lookup ended."""
    asked = card.graphs_asked
    return f"{count_text(card.graphs_hit)} of {counted(asked, 'graph')}" if asked else ""


def hit_rate_text(card: CacheCard) -> str:
    """`25 % (1 of 4 graphs)`: of graphs, not of lookups."""
    found = graphs_found(card)
    return percent_text(card.hit_rate) + (f" ({found})" if found else "")
