"""Graphs and lookups in words: the one way in which every screen counts them.

A graph counts once, by the state it is in. A lookup is one process asking the cache for one graph.
"""

from __future__ import annotations

from neuron_top.units import count_text, counted, percent_text
from neuron_top.views.progress import CacheCard, CompileCard


def graph_parts(card: CompileCard) -> list[tuple[str, int]]:
    """Every graph once, by its state, in words."""
    named = [
        ("from the cache", card.hit),
        ("compiled", card.done),
        ("failed", card.failed),
        ("with a cached failure", card.cached_failures),
        ("compiling", len(card.running)),
        ("waiting", len(card.waiting)),
        ("extracted", card.extracted),
        ("interrupted", card.interrupted),
    ]
    rest = card.total - sum(count for _name, count in named)
    return [*named, ("only named", rest)]


def graph_words(card: CompileCard) -> str:
    """`7 graphs: 1 from the cache, 2 compiled, 1 failed`."""
    parts = ", ".join(f"{count_text(count)} {name}" for name, count in graph_parts(card) if count)
    return f"{counted(card.total, 'graph')}: {parts}" if parts else counted(card.total, "graph")


def lookup_parts(card: CacheCard) -> list[tuple[str, int]]:
    """Every lookup once, by its answer, in words."""
    return [("hits", card.hits), ("misses", card.misses), ("cached failures", card.failures_met)]


def lookup_words(card: CacheCard) -> str:
    """`12 lookups: 3 hits, 7 misses, 2 cached failures`."""
    parts = (("hit", "hits", card.hits), ("miss", "misses", card.misses), ("cached failure", "", card.failures_met))
    parts_text = ", ".join(counted(count, one, many) for one, many, count in parts if count)
    total = counted(sum(count for *_names, count in parts), "lookup")
    return f"{total}: {parts_text}" if parts_text else total


def hit_rate_words(card: CacheCard) -> str:
    """`hit rate 25 %`: of graphs, not of lookups."""
    return f"hit rate {percent_text(card.hit_rate)}"
