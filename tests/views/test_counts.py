"""Graphs and lookups are counted in one way; ranks that did the same are one lane."""

from __future__ import annotations

from neuron_top import events as ev
from neuron_top.run.model import Run
from neuron_top.views.cache_lookups import cache_lookups
from neuron_top.views.counts import graph_parts, graph_words, hit_rate_text, lookup_words
from neuron_top.views.graphs import graph_table
from neuron_top.views.overview import overview
from neuron_top.views.timeline import folded, whole_timeline
from tests.tui.feeds import full, module

AT = 1_700_000_000.0


def test_every_graph_is_counted_once_and_every_lookup_once() -> None:
    view = full(4).read(overview)
    table = full(4).read(graph_table)
    assert sum(part.count for part in graph_parts(view.compile)) == view.compile.total == len(table.rows)
    asked = sum(row.hits + row.misses + row.cached_failures for row in table.rows)
    assert graph_words(view.compile).startswith(f"{view.compile.total} graphs: ")
    assert lookup_words(view.cache).startswith(f"{asked} lookups: ")


def test_hits_beside_a_hit_rate_of_nothing_say_why() -> None:
    run = Run()
    run.apply(ev.CacheMissed(module=module(1), at=AT, pid=100, rank=0, node="n"))
    run.apply(ev.CompileBegan(module=module(1), at=AT, pid=100, rank=0, node="n"))
    run.apply(ev.CompileEnded(module=module(1), at=AT + 9, pid=100, rank=0, node="n", ok=True, seconds=9.0))
    for rank in (1, 2, 3):
        run.apply(ev.CacheHit(module=module(1), at=AT + 10, pid=100 + rank, rank=rank, node="n"))
    card = overview(run, AT + 11).cache
    assert hit_rate_text(card) == "0 % (0 of 1 graph)"
    assert lookup_words(card) == "4 lookups: 3 hits (3 after another's compile), 1 miss"


def test_ranks_that_did_the_same_are_one_lane() -> None:
    run = Run()
    events: list[ev.AnyEvent] = [ev.CompileBegan(module=module(1), at=AT, pid=100, rank=0, node="n")]
    for rank in range(1, 128):
        pid = 100 + rank
        events.append(ev.CacheHit(module=module(1), at=AT + 60 + rank / 100, pid=pid, rank=rank, node="n"))
    for event in events:
        run.apply(event)
    lookups = cache_lookups(run, AT + 70)
    view, marks = folded(whole_timeline(run, AT + 70), lookups)
    assert [(lane.rank, lane.alike) for lane in view.lanes] == [(0, 0), (1, 126)]
    assert {mark.rank for mark in marks} <= {0, 1}
