"""The pages as pure functions: what `render` makes of a view, without a server or a browser."""

from __future__ import annotations

import json
import re
import time
from typing import Any
from urllib.parse import quote_plus

import msgspec
import pytest
from dash import dcc, html

from neuron_top import events as ev
from neuron_top.cache.inductor import InductorEntry
from neuron_top.dashboard import (
    cache_figures,
    components,
    detail_drawer,
    entry_rows,
    explain_panel,
    figures,
    guard,
    layout,
    memory_figures,
)
from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.app import PAGES
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.chart_colors import DARK, LIGHT, ChartColors, contrast, readable
from neuron_top.dashboard.compiles_panel import run_compiles
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.fleet import DashboardFleet
from neuron_top.dashboard.guard import current_permission
from neuron_top.dashboard.index import index_page
from neuron_top.dashboard.live_tiles import TEXTS
from neuron_top.dashboard.page_diff import AppendChart, PageChart, Rows
from neuron_top.dashboard.pages import cache, cores, live, logs, runs
from neuron_top.dashboard.pages import compile as compile_page
from neuron_top.dashboard.sign_in import wrong_page
from neuron_top.ingest.log_line import LogLine, LogPage
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.views.cache_lookups import cache_lookups
from neuron_top.views.core_metrics import MEMORY
from neuron_top.views.cores import core_page
from neuron_top.views.entries import EntryTable
from neuron_top.views.exhausted import exhausted_memory
from neuron_top.views.graphs import graph_page, graph_table
from neuron_top.views.memory import memory_kinds, memory_table
from neuron_top.views.miss_explanation import MissExplanation, MissReason
from neuron_top.views.operators import OperatorRow, Operators
from neuron_top.views.other_caches import other_cache
from neuron_top.views.overlay import overlaid_run
from neuron_top.views.overview import overview
from neuron_top.views.progress import cache_card
from neuron_top.views.summary import summary
from neuron_top.views.timeline import timeline, whole_timeline
from neuron_top.views.torch_trace import torch_view
from neuron_top.views.trends import trends
from tests.tui.feeds import LINES, START, StillFeed, catalog, failed_log, full, job, module, recordings, samples, steps


def lived(feed: StillFeed, key: str = "", node: str = "") -> dict[str, Any]:
    core = feed.read(lambda run, now: core_page(run, now, key)) if key else None
    view = live.of_node(feed.read(overview), node)
    exhausted = feed.read(lambda run, _now: exhausted_memory(run.cores.exhausted))
    return live.render(view, core, feed.read(trends), feed.read(run_compiles), "utilization", DARK, exhausted=exhausted)


def words_of(component: Any) -> str:
    """Every text in a component."""
    if isinstance(component, str | int | float):
        return str(component)
    if isinstance(component, list | tuple):
        return " ".join(map(words_of, component))
    return words_of(getattr(component, "children", None)) if component is not None else ""


def test_the_live_page_has_a_value_for_every_slot_also_before_anything_was_seen() -> None:
    wanted = {*TEXTS, *live.PARTS, *live.CHARTS, *live.TRACKS}
    assert set(lived(StillFeed())) == wanted == set(lived(full(32), "trn1/neuron/3"))


def test_what_is_unknown_is_a_dash_on_the_live_page_and_never_a_zero() -> None:
    page = lived(StillFeed())
    assert {page[name] for name in ("live-step", "live-loss", "live-speed", "live-rate", "live-busy")} == {"—"}


def test_nothing_is_reported_below_a_number_of_which_nothing_is_known() -> None:
    page = lived(StillFeed())
    assert {page[f"{name}-sub"] for name in ("live-elapsed", "live-step", "live-loss", "live-speed", "live-busy")} == {
        ""
    }
    busy = lived(full(32))["live-busy-sub"]
    assert "32 cores" in busy
    assert "0 " not in busy


def test_device_memory_that_ran_out_stands_on_the_first_page_with_what_filled_it() -> None:
    rows = (
        ev.MemoryRow(scope=ev.MemoryScope.BANK, total=16 << 30, kinds={"tensors": 12 << 30, "model_code": 4 << 30}),
    )
    failed = ev.DeviceMemoryExhausted(at=START, device=3, core=1, requested=1 << 30, rows=rows)
    shown = lived(StillFeed([*job(), failed], now=START + 9))["live-exhausted"]
    assert "12.0 GiB" in words_of(shown)
    assert [part.children[0].id for part in shown if hasattr(part, "children") and isinstance(part, html.Figure)]
    assert lived(full())["live-exhausted"] is None


def test_cores_that_report_no_memory_are_not_missed_where_it_ran_out() -> None:
    failed = ev.DeviceMemoryExhausted(at=START, device=3, core=1, requested=1 << 30, rows=())
    feed = StillFeed([failed], now=START + 9)
    assert cores.render(feed.read(memory_table), None, DARK)["cores-summary"] == ""
    assert "No core" in words_of(cores.render(StillFeed().read(memory_table), None, DARK)["cores-summary"])


def test_a_server_is_shown_as_serving_without_step_and_loss() -> None:
    reports = [ev.StepReported(throughput=600.0 + at, throughput_unit="tokens/s", at=START + at) for at in range(9)]
    page = lived(StillFeed(reports, now=START + 9))
    assert page["live-training-name"] == "Serving"
    assert page["live-only"].className == "only-throughput serving"
    trained = lived(full())
    assert trained["live-training-name"] == "Training"
    assert "serving" not in str(trained["live-only"])


def test_the_heat_map_has_a_cell_for_each_core_of_the_chosen_node() -> None:
    other = [msgspec.structs.replace(one, node="trn2") for one in samples(8, 5)]
    feed = StillFeed([*job(), *samples(32, 5), *other], now=START + 5)
    assert live.nodes_of(feed.read(overview)) == ["trn1", "trn2"]
    for node, count in (("", 40), ("trn1", 32), ("trn2", 8)):
        heat = lived(feed, node=node)["live-heat"]
        assert isinstance(heat, PageChart)
        keys = {key for line in heat.figure["data"][0]["customdata"] for key in line if key}
        assert len(keys) == count


def test_words_below_the_heat_map_tell_the_spread_and_what_no_core_reports() -> None:
    cores = tuple(ev.CoreSample(core=core, utilization=0.01 if core == 3 else 0.9) for core in range(8))
    feed = StillFeed([ev.CoresSampled(kind=ev.CoreKind.NEURON, node="trn1", at=START, cores=cores)], now=START)
    words = lived(feed)["live-heat-words"]
    assert "utilization · min 1.0 % med 90 % max 90 % · □ 1 core far from the median" in words_of(words)
    assert "no-memory no-power" in str(words)


def test_thousands_of_cores_are_one_heat_map_of_bounded_height() -> None:
    rows = StillFeed([*job(), *samples(2048, 1)], now=START).read(overview).cores
    figure = figures.heat(rows, MEMORY, LIGHT)
    assert sum(value is not None for line in figure["data"][0]["z"] for value in line) == 2048
    assert figure["layout"]["height"] <= 900


def test_the_hit_rate_over_time_ends_at_the_rate_of_the_tile() -> None:
    page = lived(full())
    rate = page["live-answers"].figure["data"][-1]
    assert f"{rate['y'][-1]:.0f} %" == page["live-rate"]


def test_the_compile_page_has_a_row_per_graph_and_shows_the_failure_of_the_one_that_is_opened() -> None:
    feed = full()
    page = feed.read(lambda run, now: graph_page(run, now, module(4)))
    assert page is not None
    shown = compile_page.render(
        feed.read(graph_table),
        feed.read(timeline),
        feed.read(cache_lookups),
        feed.read(lambda run, _now: cache_card(run)),
        DARK,
    )
    grid = shown["compile-grid"]
    assert isinstance(grid, Rows)
    assert {row["state"] for row in grid.rows} >= {"hit", "compiled", "failed", "compiling", "waiting"}
    assert "[F137]" in words_of(detail_drawer.graph_facts(page, ["a line"]))
    unseen = words_of(detail_drawer.graph_facts(msgspec.structs.replace(page, cache_state=None, cache_root=None), []))
    assert "cache entry" not in unseen, "no word on an entry that the run has seen no change of"
    assert "graph size — artifact — cache " in unseen
    assert set(shown) == set(compile_page.OUTPUTS.names)


def test_ranks_can_be_folded_only_where_there_are_many() -> None:
    feed = full()
    lanes = feed.read(whole_timeline)
    lane = lanes.lanes[0]
    table, card = feed.read(graph_table), feed.read(lambda run, _now: cache_card(run))
    for workers, marker in ((compile_page.FOLDED_FROM, "few-workers"), (compile_page.FOLDED_FROM + 1, None)):
        alike = tuple(msgspec.structs.replace(lane, worker=f"rank {number}") for number in range(workers))
        shown = compile_page.render(table, msgspec.structs.replace(lanes, lanes=alike), (), card, DARK)
        assert getattr(shown["compile-few"], "className", None) == marker


def test_how_long_ago_the_last_step_was_is_reported_while_the_job_runs() -> None:
    ended = ev.RunFinished(run="20260921-101500-bert", exit_code=0, at=START + 60, node="trn1")
    bare = [msgspec.structs.replace(one, total_steps=None) for one in steps(20)]
    assert "ago" in lived(StillFeed([*job(), *bare], now=START + 90))["live-step-sub"]
    assert lived(StillFeed([*job(), *bare, ended], now=START + 90))["live-step-sub"] == ""


def test_why_a_graph_missed_is_reported_with_its_causes_or_with_what_to_do() -> None:
    reason = MissReason(kind="batch size", text="batch 8 here, 4 there", entry="neuronxcc-2.21/x")
    reported = detail_drawer.cache_details(
        MissExplanation(module="m", headline="another batch size", reasons=(reason,), footnote="compared with 5"), None
    )
    assert "batch 8 here, 4 there" in words_of(reported)
    assert "No cache on this machine" in words_of(detail_drawer.cache_details(None, None))


def test_operators_of_a_graph_stand_below_its_inputs_counted_and_the_rarest_kinds_only_by_number() -> None:
    inputs = (*["f32[8]"] * 3, *(f"f32[{size}]" for size in range(10, 10 + 2 * detail_drawer.INPUTS_SHOWN)))
    row = OperatorRow(name="add", count=2, shapes=("f32[8]",))
    shown = words_of(detail_drawer.cache_details(None, Operators(place="entry", rows=(row,), inputs=inputs)))
    assert "2 operators of 1 kind, read from entry; inputs f32[8]×3, f32[10], f32[11]" in shown
    assert f"and {detail_drawer.INPUTS_SHOWN + 1} other kinds" in shown


def links(component: Any) -> list[str]:
    """Where everything in a component leads to."""
    if isinstance(component, list | tuple):
        return [href for one in component for href in links(one)]
    own = getattr(component, "href", None)
    return [*([own] if own else []), *(links(component.children) if getattr(component, "children", None) else [])]


def test_every_page_that_names_a_graph_leads_to_the_page_that_reports_why_it_missed() -> None:
    """An alert, a graph that is being compiled, the slowest of a run, and a line of the log."""
    feed = full()
    feed.push(ev.CompileFailed(module=module(4), pid=4002, rank=1, node="trn1", source="job", offset=320))
    failed, compiling = (f"compile?graph={quote_plus(module(number))}" for number in (4, 5))
    shown = lived(feed)
    assert failed in links(shown["live-alerts"])
    assert compiling in links(shown["live-compile"])
    slowest = links(runs.render(recordings(), feed.read(summary), "a b")["runs-summary"])
    assert slowest == [f"compile?run=a+b&graph={quote_plus(module(number))}" for number in (4, 3)]
    graphs = feed.read(explain_panel.graphs_by_line)
    assert [row[3] for row in logs.rows_of(LINES, graphs)] == ["", "", "", "", module(4), ""]


def test_a_peak_of_one_second_survives_the_joining_of_a_day_and_zooming_in_shows_it_in_its_place() -> None:
    """Seventy thousand seconds are drawn as some hundred points; one sample in them is four times as high."""
    feed = StillFeed(job())
    for second in range(70_000 // 7):
        at = START + 7 * second
        feed.run.apply(_one_core(at, (8 if second == 5890 else 2) * figures.GIB))
    feed.now = START + 70_000
    whole = cores.render(feed.read(memory_table), None, DARK)["cores-lines"]
    assert isinstance(whole, AppendChart)
    (trace,) = whole.figure["data"]
    assert len(trace["x"]) <= 600
    assert max(trace["y"]) == 8
    since, until = START + 41_000, START + 41_500
    near = feed.read(lambda run, now: memory_table(run, now, since, until))
    spacing = [b.time - a.time for a, b in zip(near.series[0].points, near.series[0].points[1:], strict=False)]
    everything = feed.read(memory_table).series[0].points
    assert min(spacing) < everything[1].time - everything[0].time, "details come on zoom"
    (peak,) = (point for point in near.series[0].points if point.peak == 8 * figures.GIB)
    assert abs(peak.time - (START + 7 * 5890)) <= 40


def _one_core(at: float, size: int) -> ev.CoresSampled:
    sample = ev.CoreSample(core=0, memory=size, capacity=16 * figures.GIB)
    return ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=(sample,), period=7.0, at=at, node="trn1")


@pytest.mark.parametrize(
    ("change", "span"),
    [
        (None, (None, None)),
        ({"autosize": True}, (None, None)),
        ({"xaxis.range[0]": "x", "xaxis.range[1]": "y"}, (None, None)),
        ({"xaxis.range[0]": "1970-01-01 00:00:10", "xaxis.range[1]": "1970-01-01 00:00:20.5"}, (10.0, 20.5)),
    ],
)
def test_only_a_zoom_in_time_asks_for_details(change: Any, span: tuple[float | None, float | None]) -> None:
    assert cores.zoomed(change) == span


def test_a_stack_of_kinds_is_a_total_that_there_was_even_where_the_kinds_peaked_at_different_moments() -> None:
    feed = StillFeed(job(), now=START + 3000)
    for second in range(3000):  # more than the history keeps: neighbors are joined
        tensors = 9 if second % 10 == 3 else 1
        constants = 8 if second % 10 == 7 else 2
        sizes = {"tensors": tensors * figures.GIB, "constants": constants * figures.GIB}
        sample = ev.CoreSample(core=0, memory=sum(sizes.values()), kinds=sizes)
        feed.run.apply(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=(sample,), at=START + second, node="trn1"))
    *kinds, whole = memory_figures.kinds_over_time(feed.read(memory_kinds), DARK)["data"]
    totals = {sum(pair) for pair in zip(*(trace["y"] for trace in kinds), strict=True)}
    assert 11 in totals, "the peak of the total is kept"
    assert totals <= {3, 9, 11}, "17 GiB, the sum of the peaks, never were"
    assert max(whole["y"]) == 11


def test_a_chart_of_one_moment_shows_a_minute_and_one_of_several_shows_them_all() -> None:
    at = figures.iso(START)
    around = [text[:19] for text in figures.moments([at, at])["range"]]
    assert around == [figures.iso(START - 30)[:19], figures.iso(START + 30)[:19]]
    assert "range" not in figures.moments([at, figures.iso(START + 1)])
    assert "range" not in figures.moments([])


def test_commands_in_a_sentence_are_set_as_code_and_a_lone_mark_stays() -> None:
    assert [getattr(part, "children", part) for part in components.note("try `neurontop run` now").children] == [
        "try ",
        "neurontop run",
        " now",
    ]
    assert components.note("it`s").children == "it`s"


def test_memory_is_broken_down_over_time_in_two_runs_side_by_side() -> None:
    one, other = (
        StillFeed([*job(), *samples(4, 30)], now=START + 30),
        StillFeed([*job(), *samples(2, 30)], now=START + 30),
    )
    shown = cores.render(
        one.read(memory_table),
        other.read(memory_table),
        DARK,
        one.read(lambda run, now: memory_kinds(run, now, "trn1/neuron/2")),
        other.read(memory_kinds),
    )
    assert set(shown) == set(cores.OUTPUTS.names)
    assert [trace["name"] for trace in shown["cores-core"].figure["data"]][-1] == "total"
    assert shown["cores-core"].figure["data"][0]["y"][0] == 5
    assert "Core 2" in shown["cores-core-words"]
    assert len(shown["cores-lines"].figure["data"]) == 4
    assert len(shown["cores-other-lines"].figure["data"]) == 2


def test_a_run_is_summed_up_and_leads_to_its_report_and_a_comparison() -> None:
    shown = runs.render(recordings(), full().read(summary))
    assert [row["run"] for row in shown["runs-grid"].rows] == [row.id for row in recordings()]
    failed = msgspec.structs.replace(recordings()[0], reason="perhaps the host ran out of memory: Killed")
    assert runs.row(failed)["reason"] == failed.reason
    assert runs.report_link("a b").href == "report?run=a+b"
    assert runs.comparison_link("/p/", "a b", ["live"]).href == "/p/comparison?a=a+b&b="
    assert runs.comparison_link("/p/", "a", list("bcdefgh")).children == "Compare all 8"
    assert runs.comparison_link("/p/", "a", list("bcdefghi")).children == "Compare the first 8 of 9"
    assert "neurontop run" in words_of(runs.render((), None)["runs-note"])


def test_runs_that_are_not_laid_over_the_others_are_counted() -> None:
    laid = [overlaid_run(name, name.upper(), Run()) for name in "abcdefgh"]
    shown = runs.render(recordings(), full().read(summary), "a", laid, chosen=8)
    assert shown["runs-laid"] == "8 runs, at most 8: A, B, C, D, E, F, G, H"
    shown = runs.render(recordings(), full().read(summary), "a", laid, chosen=10)
    assert shown["runs-laid"] == "the first 8 of 10 runs: A, B, C, D, E, F, G, H"


def test_where_no_job_runs_nothing_is_summed_up_and_there_is_no_report() -> None:
    quiet = StillFeed([], now=START)
    shown = runs.render(recordings(), quiet.read(summary), view=quiet.read(overview))
    assert (shown["runs-summary"], shown["runs-report"]) == (None, None)
    assert "Choose a recording" in words_of(shown["runs-note"])
    shown = runs.render(recordings(), full().read(summary), view=full().read(overview))
    assert shown["runs-report"].href == "report?run="
    assert shown["runs-summary"] is not None
    assert shown["runs-note"] is None


def test_a_sign_in_is_offered_only_where_it_leads_to_acting() -> None:
    assert "Sign in" in words_of(layout.app_layout("/", (), Permission.READ))
    assert "Sign in" not in words_of(layout.app_layout("/", (), Permission.READ, can_act=False))
    assert "Sign out" in words_of(layout.app_layout("/", (), Permission.ACT))
    assert "act token" in guard.why_not_act("to undo")
    token = guard.acting_offered.set(False)
    try:
        assert "read-only" in guard.why_not_act("to undo")
    finally:
        guard.acting_offered.reset(token)


def test_no_chart_offers_to_upload_what_it_shows() -> None:
    graph = next(one for one in components.chart("a", "A chart", 100).children if isinstance(one, dcc.Graph))
    assert "sendChartToCloud" in graph.config["modeBarButtonsToRemove"]
    assert graph.config["plotlyServerURL"] == ""


def test_the_cache_page_sums_what_its_filter_shows() -> None:
    shown = cache.render(catalog(), cache.chosen(catalog(), "state:hit"), (), [], LIGHT)
    assert shown["cache-shown"].startswith("3 entries")
    assert "5 entries" in shown["cache-summary"]


@pytest.mark.parametrize("by", entry_rows.GROUPED_BY)
def test_groups_of_entries_fold_and_leave_none_out(by: str) -> None:
    rows = catalog().rows
    closed = entry_rows.grouped(rows, by, (), [])
    names = [group.name for group in closed if isinstance(group, entry_rows.Group)]
    assert len(names) == len(closed) == len(set(names))
    opened = entry_rows.grouped(rows, by, names, [])
    assert sorted(one.key for one in opened if not isinstance(one, entry_rows.Group)) == sorted(one.key for one in rows)
    sizes = [entry_rows.row(one, by)["bytes"] for one in closed]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == sum(one.bytes for one in rows)
    identities = [entry_rows.row(one, by)["id"] for one in closed]
    assert entry_rows.toggled(entry_rows.toggled([], identities[0]), identities[0]) == []
    assert sorted(entry_rows.keys_of([*identities, rows[0].key], rows)) == sorted(one.key for one in rows)


@pytest.mark.parametrize("colors", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize("by", cache_figures.COLORED_BY)
def test_words_on_the_treemap_stand_out_from_their_part(colors: ChartColors, by: str) -> None:
    figure = cache_figures.treemap(catalog().rows, colors, by)
    trace = figure["data"][0]
    pairs = set(zip(trace["textfont"]["color"], trace["marker"]["colors"], strict=True))
    assert min(contrast(word, fill) for word, fill in pairs) >= 3.5
    assert min(contrast(readable(fill, colors), fill) for fill in colors.heat) >= 3.5
    assert contrast(trace["outsidetextfont"]["color"], colors.line) >= 3.5, "no list: Plotly warns"
    assert figure["layout"]["uniformtext"]["mode"] == "hide", "no words that are too small to be read"


def test_a_hundred_thousand_entries_are_grouped_for_the_grid() -> None:
    first, *_rest = catalog().rows
    rows = tuple(msgspec.structs.replace(first, key=str(n), compiler=f"neuronxcc-2.{n % 7}") for n in range(100_000))
    table = msgspec.structs.replace(catalog(), rows=rows)
    made = cache.arranged(table, {"group": "compiler", "open": "neuronxcc-2.3"}, [{"colId": "module", "sort": "asc"}])
    assert len(made) == 7 + len(range(3, 100_000, 7))
    assert [entry_rows.row(one, "compiler")["module"][:15] for one in made[:5]] == [
        "▸ neuronxcc-2.0",
        "▸ neuronxcc-2.1",
        "▸ neuronxcc-2.2",
        "▾ neuronxcc-2.3",
        first.module[:15],
    ]


def test_pytorchs_own_cache_is_shown_beside_the_entries_as_read_only_and_in_no_selection() -> None:
    entry = InductorEntry(kind="fx-graph", key="f" * 40, path="/x", bytes=4096, files=2, changed=1e9, used=None)
    table = msgspec.structs.replace(catalog(), others=(other_cache("/tmp/torchinductor", "its default", [entry]),))
    shown = cache.render(table, list(table.rows), (), [], LIGHT)
    words = words_of(shown["cache-others"])
    assert "Inductor" in words
    assert "read-only" in words
    assert "f" * 40 in words
    assert all("f" * 40 not in one.key for one in cache.chosen(table, ""))
    assert cache.render(catalog(), [], (), [], LIGHT)["cache-others"] is None


def test_the_treemap_shortens_compilers_and_its_legend_names_every_age() -> None:
    trace = cache_figures.treemap(catalog().rows, DARK)["data"][0]
    shortened = {name: label for label, name in zip(trace["labels"], trace["customdata"], strict=True) if label != name}
    assert shortened
    assert all(name.startswith(f"neuronxcc-{label}") for name, label in shortened.items())
    legend = words_of(cache.render(catalog(), list(catalog().rows), (), [], DARK)["cache-used"])
    assert all(
        word in legend for word in ("used or written within a day", "within a week", "within a month", "longer ago")
    )


def test_an_empty_cache_is_one_sentence_and_no_empty_panels() -> None:
    empty = msgspec.structs.replace(catalog(), rows=(), problems=())
    (note,) = cache.render(empty, [], (), [], DARK)["cache-summary"]
    assert "no-caches" in note.className
    assert "no entry yet" in words_of(note)


def test_devices_that_failed_alike_are_one_row_and_bars_have_short_names() -> None:
    rows = (ev.MemoryRow(scope=ev.MemoryScope.BANK, total=16 << 30, kinds={"tensors": 12 << 30}),)
    failed = [
        ev.DeviceMemoryExhausted(at=START, device=core // 2, core=core % 2, requested=1 << 30, rows=rows)
        for core in range(8)
    ]
    feed = StillFeed(failed, now=START + 9)
    found = feed.read(lambda run, _now: exhausted_memory(run.cores.exhausted))
    assert found is not None
    assert memory_figures.exhausted(found, DARK)["data"][0]["x"][:3] == ["d0 c0", "d0 c1", "d1 c0"]
    assert "devices 0–3 0, 1 8" in words_of(cores.render(feed.read(memory_table), None, DARK)["cores-exhausted"])


def test_an_area_of_the_treemap_is_the_sum_of_its_parts() -> None:
    trace = cache_figures.treemap(catalog().rows, DARK)["data"][0]
    values = dict(zip(trace["ids"], trace["values"], strict=True))
    for parent in set(trace["parents"]) - {""}:
        parts = [values[one] for one, above in zip(trace["ids"], trace["parents"], strict=True) if above == parent]
        assert values[parent] == sum(parts)
    assert sum(value for one, value in values.items() if "\t" not in one) == sum(row.bytes for row in catalog().rows)


def test_a_hundred_thousand_entries_are_filtered_sorted_and_cut_for_the_grid() -> None:
    first, *_rest = catalog().rows
    rows = [
        msgspec.structs.replace(first, key=str(n), bytes=n * 37 % 99_991, compile_seconds=None if n % 5 else float(n))
        for n in range(100_000)
    ]
    table = EntryTable(roots=catalog().roots, rows=tuple(rows))
    began = time.process_time()
    shown = entry_rows.ordered(cache.chosen(table, "size>50KB"), [{"colId": "bytes", "sort": "desc"}])
    took = time.process_time() - began
    assert [one.bytes for one in shown] == sorted((one.bytes for one in rows if one.bytes > 51_200), reverse=True)
    known = entry_rows.ordered(rows, [{"colId": "seconds", "sort": "asc"}])
    assert known[0].compile_seconds == 0.0
    assert known[-1].compile_seconds is None
    assert entry_rows.ordered(rows, [{"colId": "no such column", "sort": "asc"}]) == rows
    assert took < 20, f"{took:.1f} s of processor time"


def test_lines_are_filtered_by_word_level_and_expression() -> None:
    lines = list(LINES)
    assert [line.level for line in logs.render(lines, logs.query_of("", "warning")).rows] == ["warning", "error"]
    assert [line.text for line in logs.render(lines, logs.query_of("/step \\d+/", "")).rows] == [
        "step 41/200 loss 3.4426 throughput 32.5 seq/s"
    ]
    assert logs.query_of("/(/", "").problem


def test_a_search_goes_back_through_the_whole_log_until_its_beginning() -> None:
    class Paged(StillFeed):
        """A log of 3,000 bytes; one line in ten bytes, read a thousand bytes at a time."""

        def log_older(self, before: Any, count: int, query: Any = None) -> LogPage:
            end = before["log:a"]
            start = max(0, end - 1000)
            made = (LogLine(source="log:a", offset=at, text=f"line {at}") for at in range(start, end, 10))
            found = tuple(line for line in made if query is None or query.keep(line))
            return LogPage(lines=found, at={"log:a": start}, ended=start == 0)

    found, at, ended = logs.search_back(Paged(), {"log:a": 3000}, logs.query_of("!0", ""))
    assert (found, at, ended) == ([], {"log:a": 0}, True)
    found, at, ended = logs.search_back(Paged(), {"log:a": 3000}, logs.query_of("line", ""))
    assert [line.offset for line in found] == list(range(1000, 3000, 10))
    assert (at, ended) == ({"log:a": 1000}, False)


def test_a_search_begins_before_what_was_sent() -> None:
    many = [LogLine(source=f"log:{n % 2}", offset=n, text="x") for n in range(3000)]
    assert logs.search_start(many, many[-logs.SENT :]) == {"log:0": 2000, "log:1": 2001}
    assert logs.search_start(many, many[-3:]) == {"log:0": 0, "log:1": 1}


def test_the_description_of_the_api_names_every_endpoint_once_and_resolves_every_reference(tmp_path: Any) -> None:
    validator = pytest.importorskip("openapi_spec_validator", reason="openapi-spec-validator is not installed")
    from neuron_top.dashboard.api import endpoints, openapi

    settings = Settings(state_dir=str(tmp_path))
    feeds = FeedRegistry(settings, StillFeed())
    table = endpoints(feeds, DashboardCaches(settings, ()), DashboardFleet(settings))
    described = json.loads(msgspec.json.encode(openapi(table, "/")))
    validator.validate(described)
    assert sum(len(methods) for methods in described["paths"].values()) == len(table)


def test_the_page_of_a_job_that_only_pytorch_compiled_says_so() -> None:
    identity: dict[str, Any] = {"pid": 10, "compile_id": "0/0", "source": "torch-trace:10"}
    run = Run()
    for event in (
        ev.FrameCompileBegan(at=START, function="forward", **identity),
        ev.GraphCaptured(at=START, **identity),
        ev.GraphBroken(at=START, place="/train.py:4", reason="print", **identity),
        ev.CompilePhaseEnded(at=START + 1, phase="inductor_compile", seconds=1.0, **identity),
        ev.FrameCompiled(at=START + 2, began=START, seconds=2.0, **identity),
    ):
        run.apply(event)
    end = START + 5
    whole = whole_timeline(run, end)
    shown = compile_page.render(graph_table(run, end), whole, (), cache_card(run), LIGHT, torch_view(run, end))
    assert "Compiled by PyTorch itself: 1 compile in 2.0 s, 1 graph" in shown["compile-summary"]
    words = words_of(shown["compile-torch"])
    assert all(word in words for word in ("Graph breaks", "/train.py:4", "Phases", "inductor_compile", "forward"))
    (bars,) = [trace for trace in shown["compile-timeline"].figure["data"] if trace["type"] == "bar" and trace["x"]]
    assert (bars["x"], bars["y"], bars["text"]) == (
        [2000],
        ["process 10"],
        ["forward 0/0, by PyTorch itself<br>2.0 s"],
    )
    assert bars["customdata"] == [""], "a click on it opens no graph of the compile cache"
    assert shown["compile-cumulative"].figure["data"][0]["y"] == [0.0, 2.0]


def test_a_summary_has_no_line_for_a_throughput_that_was_not_printed_and_no_longest_of_no_waits() -> None:
    known = full().read(summary)
    quiet = msgspec.structs.replace(known, lock_waits=0, longest_wait_seconds=None, throughput=None)
    words = words_of(runs.summary_panel(quiet))
    assert "lock waits none" in words
    assert "throughput" not in words
    waited = msgspec.structs.replace(
        known, lock_waits=2, longest_wait_seconds=61.0, throughput=4.5, throughput_unit="seq/s"
    )
    words = words_of(runs.summary_panel(waited))
    assert "lock waits 2, longest 1 m 01 s" in words
    assert "throughput 4.5 seq/s" in words


def test_a_grid_library_of_another_name_is_left_to_dash() -> None:
    script = '<script src="/_dash-component-suites/renamed/grids.js"></script>'
    page = index_page("/", [], dict.fromkeys(("metas", "css", "config", "renderer"), "") | {"scripts": script})
    assert 'name="grids" content=""' in page
    assert script in page


def test_the_live_page_begins_with_the_reason_why_the_job_failed() -> None:
    whole = lived(failed_log())
    reported = words_of(whole["live-reason"])
    assert reported.startswith("✗ FAILED train.log")
    assert "the compiler rejected a graph: [NCC_EVRF031]" in reported
    assert "Next: Change the model" in reported
    assert "a retry fails again unless one of them changes. " in reported
    assert "step 20 of 200 · 10 %" in reported
    assert "1202 compiling the third graph 1203 [NCC_EVRF031]" in reported
    assert "job failed" not in words_of(whole["live-alerts"]), "the band has it"
    token = current_permission.set(Permission.ACT)
    try:
        assert "job failed" in words_of(lived(failed_log())["live-alerts"]), "who may act can acknowledge it"
    finally:
        current_permission.reset(token)
    page = live.layout({}).children
    assert [getattr(part, "id", "") for part in page][:2] == ["live-marks", "live-reason"]


def test_cores_that_no_longer_report_are_gray_with_their_age_and_count_in_no_mean() -> None:
    feed = full(4)
    late = feed.read(lambda run, now: overview(run, now + 60))
    core = feed.read(lambda run, now: core_page(run, now + 60, late.cores[0].key))
    whole = live.render(late, core, feed.read(trends), feed.read(run_compiles), "utilization", DARK)
    assert whole["live-busy"] == "—"
    assert "no data for 1 m 01 s" in whole["live-busy-sub"]
    assert "no data for 1 m 01 s; last " in whole["live-core-words"]
    heat = whole["live-heat"].figure["data"]
    now, old = heat[0]["z"], heat[4]["z"]
    assert all(value is None for line in now for value in line)
    assert any(value is not None for line in old for value in line)
    shown = cores.render(feed.read(lambda run, now: memory_table(run, now + 60)), None, DARK)
    assert "; 4 cores: no data for 1 m 01 s" in shown["cores-summary"]
    assert "utilization · hatched: 4 cores, no data for 1 m 01 s" in words_of(whole["live-heat-words"]), (
        "a sentence says so too"
    )
    over = msgspec.structs.replace(late, cores=tuple(msgspec.structs.replace(row, ended=True) for row in late.cores))
    assert "utilization · hatched: 4 cores, ended" in words_of(live._heat_words(over, "utilization"))


def test_the_live_page_of_a_job_without_a_failure_begins_with_its_state_and_no_evidence() -> None:
    panel = lived(full(4))["live-reason"]
    assert words_of(panel).startswith("● COMPILING bert-tp")
    assert "error" not in panel.className
    assert "The log at" not in words_of(panel)


def test_the_summary_of_a_failed_log_says_why_and_counts_its_errors_up_to_its_last_line() -> None:
    closing = failed_log().read(summary)
    assert "at this moment of the replay" in words_of(runs.summary_panel(closing, replayed=True))
    reported = words_of(runs.summary_panel(closing))
    assert "failed: the compiler rejected a graph" in reported
    assert "log lines 4 errors, 0 warnings" in reported
    assert "wall time 59.0 s" in reported


def test_where_nothing_runs_the_page_says_what_to_do_and_what_was_recorded() -> None:
    feed = StillFeed()
    view = feed.read(overview)
    reported = words_of(
        live.render(view, None, feed.read(trends), feed.read(run_compiles), "utilization", DARK, runs=recordings())[
            "live-idle"
        ]
    )
    assert "neurontop run -- torchrun --nproc_per_node=4 train.py" in reported
    assert "bert-tp" in reported
    assert "What was looked for" not in reported, "nothing was looked for yet, so there is no such panel"
    assert "A job that starts is shown by itself." in reported
    assert "Nothing runs here yet" not in reported, "the verdict above says so"
    assert lived(full(4))["live-idle"] is None
    named = StillFeed([ev.SourceAvailable(name="cache:/cache", detail="1 entry", at=START)], now=START)
    assert "Only what was named is watched." in words_of(lived(named)["live-idle"])


def test_the_page_of_a_wrong_address_names_the_pages_as_the_navigation_does() -> None:
    links = [(page.PATH, page.NAME) for page in PAGES]
    text = wrong_page("/", links, "this path is not served")
    assert re.findall(r'<a href="/(\w*)">(\w+)</a>', text) == links


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.NAME)
def test_a_chart_is_as_high_before_its_first_data_as_its_place(page: Any) -> None:
    graphs = [part for part in page.layout({})._traverse() if isinstance(part, dcc.Graph)]
    assert [f"{graph.figure['layout']['height']}px" for graph in graphs] == [
        graph.style["minHeight"] for graph in graphs
    ]
