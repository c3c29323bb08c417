"""What the overview says of compiles: its panel, which charts it draws, and one range of time for all of them."""

from __future__ import annotations

from typing import Any

from neuron_top import events as ev
from neuron_top.dashboard import compile_figures
from neuron_top.dashboard.chart_colors import DARK, state_color
from neuron_top.events.levels import LogLevel
from neuron_top.views.cache_lookups import LookupResult, cache_lookups
from neuron_top.views.colors import Hue
from neuron_top.views.graphs import graph_table
from neuron_top.views.timeline import whole_timeline
from tests.dashboard.test_pages import lived, words_of
from tests.tui.feeds import START, StillFeed, compiles, failed_log, full, module, steps


def compiling_events(rank: int | None = None) -> list[ev.AnyEvent]:
    """Of a parallel compile: one graph done, two under way."""
    return [
        ev.CompileBegan(module=module(1), at=START, pid=4100, rank=rank),
        ev.CompileEnded(module=module(1), at=START + 60, seconds=60.0, ok=True, pid=4100, rank=rank),
        ev.CompileBegan(module=module(2), at=START + 61, pid=4100, rank=rank),
        ev.CompileBegan(module=module(3), at=START + 62, pid=4101, rank=rank),
    ]


def compiling(rank: int | None = None) -> StillFeed:
    """A parallel compile that goes on."""
    return StillFeed(compiling_events(rank), now=START + 120)


def drawn(feed: StillFeed) -> str:
    """The classes that tell the style sheet which charts of compiles say something."""
    return next(part.className for part in lived(feed)["live-compile"] if "rate" in getattr(part, "className", ""))


def test_the_timeline_is_the_largest_panel_while_a_job_compiles_and_is_left_out_while_it_trains() -> None:
    page = lived(compiling())
    assert drawn(compiling()) == "timeline no-rate"
    assert {bar for trace in page["live-timeline"].figure["data"] for bar in trace["y"]} == {
        "process 4100",
        "process 4101",
    }
    trains = StillFeed([*compiling_events()[:2], *steps(5, at=START + 70)], now=START + 76)
    assert drawn(trains) == "no-timeline no-rate"


def test_the_first_panel_follows_the_phase_of_the_job() -> None:
    assert lived(compiling())["live-first"].className == "first-timeline"
    trains = StillFeed([*compiling_events()[:2], *steps(5, at=START + 70)], now=START + 76)
    assert lived(trains)["live-first"].className == "first-training"


def test_the_hit_rate_is_drawn_once_it_is_more_than_a_straight_line() -> None:
    begun = ev.CompileBegan(module=module(9), at=START + 5, pid=4100)
    hits = [ev.CacheHit(module=module(n), at=START + n, pid=4100) for n in range(3)]
    assert drawn(StillFeed([*hits, ev.CacheMissed(module=module(9), at=START + 4, pid=4100), begun])).endswith(" rate")
    assert drawn(compiling()).endswith("no-rate")


def test_a_panel_of_compiles_stands_where_something_was_compiled() -> None:
    hits = [ev.CacheHit(module=module(n), at=START + n) for n in range(2)]
    page = lived(StillFeed([*hits, *steps(5)], now=START + 9))
    assert page["live-compile"].className == "left-out"
    assert page["live-graphs"] == "2"


def test_graphs_under_way_name_their_process_where_there_is_no_rank() -> None:
    words = words_of(lived(compiling())["live-compile"])
    assert "graph state worker elapsed" in words
    assert "time left" not in words, "nothing is known of it"
    assert "process 4101" in words
    assert "rank 3" in words_of(lived(compiling(rank=3))["live-compile"])


def test_charts_of_compiles_share_one_range_of_time() -> None:
    feed = compiling()
    lanes, lookups = feed.read(whole_timeline), feed.read(cache_lookups)
    figures = [
        compile_figures.lanes(lanes, lookups, DARK).figure,
        compile_figures.cumulative(lanes, lookups, DARK),
        lived(feed)["live-timeline"].figure,
    ]
    spans = [figure["layout"]["xaxis"]["autorangeoptions"] for figure in figures]
    assert all(span == spans[0] for span in spans)
    assert START - 4 < spans[0]["minallowed"] / 1000 <= START
    assert START + 120 <= spans[0]["maxallowed"] / 1000 < START + 124
    assert figures[1]["data"][0]["y"][0] == 0, "the curve begins where the first compile begins"
    assert figures[1]["layout"]["yaxis"]["ticksuffix"] == " s"


def test_the_range_of_time_stays_while_a_second_passes() -> None:
    spans = set()
    for second in range(8):
        feed = compiling()
        feed.now = START + 1000.5 + second
        lanes = feed.read(whole_timeline)
        spans.add(str(compile_figures.cumulative(lanes, (), DARK)["layout"]["xaxis"]))
    assert len(spans) <= 2


def test_hits_and_misses_have_the_colors_of_the_timeline_and_none_that_means_another_state() -> None:
    feed = StillFeed(compiles(), now=START + 50)
    figure = compile_figures.rate(feed.read(cache_lookups), DARK)
    lines = {trace["name"]: trace["line"]["color"] for trace in figure["data"]}
    assert lines["hits"] == state_color(DARK, LookupResult.HIT)
    assert DARK.hues[Hue.YELLOW] not in lines.values()


def test_durations_of_few_graphs_have_a_tick_for_each_count() -> None:
    rows = compiling().read(graph_table).rows
    figure = compile_figures.spread(rows, DARK)
    assert figure["layout"]["yaxis"]["dtick"] == 1
    assert figure["layout"]["xaxis"]["ticksuffix"] == " s"


def test_a_throughput_says_that_it_is_a_median_and_an_unknown_time_is_a_dash() -> None:
    assert "recent median" in lived(full())["live-speed-sub"]
    assert lived(StillFeed())["live-elapsed"] == "—"


def test_recent_errors_leave_out_the_line_that_the_band_states() -> None:
    feed = failed_log()
    line: dict[str, Any] = {"level": LogLevel.ERROR, "source": "log:/jobs/train.log"}
    for offset, text in ((90_210, "compile failed: [NCC_EVRF031]"), (91_000, "another error")):
        feed.run.apply(ev.LineMarked(text=text, offset=offset, at=START + 100, **line))
    words = words_of(lived(feed)["live-lines"])
    assert "another error" in words
    assert "NCC_EVRF031" not in words
