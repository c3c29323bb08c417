"""The curve of lookups and of the hit rate, of few lookups and of more than it has points."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neuron_top.dashboard.chart_colors import chart_colors
from neuron_top.dashboard.compile_figures import POINTS, rate
from neuron_top.views.cache_lookups import CacheLookup, LookupResult

LOOKUPS = st.lists(st.tuples(st.sampled_from(LookupResult), st.sampled_from("abcdef")), min_size=1, max_size=60)


def made(asked: list[tuple[LookupResult, str]]) -> list[CacheLookup]:
    return [
        CacheLookup(time=1e9 + place, kind=kind, graph=graph, worker="w", rank=0, pid=1)
        for place, (kind, graph) in enumerate(asked)
    ]


def hit_rate(asked: list[tuple[LookupResult, str]]) -> float:
    """Graphs of which no lookup was a miss, and the last one a hit: percent of all."""
    last = {graph: LookupResult.MISS if (LookupResult.MISS, graph) in asked else kind for kind, graph in asked}
    return round(100 * sum(kind is LookupResult.HIT for kind in last.values()) / len(last), 2)


@given(LOOKUPS)
def test_each_of_few_lookups_is_a_point(asked: list[tuple[LookupResult, str]]) -> None:
    *counts, share = rate(made(asked), chart_colors("dark"))["data"]
    assert share["y"] == [hit_rate(asked[: place + 1]) for place in range(len(asked))]
    assert sum(trace["y"][-1] for trace in counts) == len(asked)


def test_of_many_lookups_the_curve_keeps_its_end_and_is_a_part_of_the_whole() -> None:
    asked = [(LookupResult.MISS if place % 7 else LookupResult.HIT, f"g{place % 900}") for place in range(40_123)]
    thinned = rate(made(asked), chart_colors("dark"))["data"]
    assert POINTS / 2 < len(thinned[0]["x"]) <= POINTS
    assert thinned[-1]["y"][-1] == hit_rate(asked)
    assert [trace["y"][-1] for trace in thinned[:-1]] == [
        sum(kind is wanted for kind, _graph in asked) for wanted in (LookupResult.HIT, LookupResult.MISS)
    ]
    assert thinned[0]["y"] == sorted(thinned[0]["y"])


def test_counts_have_whole_numbers_at_their_axis() -> None:
    few = rate(made([(LookupResult.MISS, "a"), (LookupResult.HIT, "a")]), chart_colors("dark"))
    assert few["layout"]["yaxis"]["dtick"] == 1
    many = rate(made([(LookupResult.HIT, "a")] * 40), chart_colors("dark"))
    assert "dtick" not in many["layout"]["yaxis"]
