"""Pages of one run and `status --json` count graphs and lookups alike: with the recording that ships."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.compiles_panel import run_compiles
from neuron_top.dashboard.pages import cache, live, runs
from neuron_top.dashboard.pages import compile as compile_page
from neuron_top.services.demo import demo_settings
from neuron_top.services.runs import LAST, RunService
from neuron_top.settings import Settings
from neuron_top.views.cache_lookups import cache_lookups
from neuron_top.views.counts import graph_words, lookup_words
from neuron_top.views.entries import EntryTable
from neuron_top.views.graphs import graph_table
from neuron_top.views.overview import overview
from neuron_top.views.summary import summary
from neuron_top.views.timeline import timeline
from neuron_top.views.trends import trends


def numbers(texts: Any) -> list[int]:
    """All whole numbers of a text."""
    return [int(number) for number in re.findall(r"\d+", str(texts))]


def words_of(part: Any) -> str:
    """Every text of a page's part."""
    return json.dumps(part, default=lambda one: one.to_plotly_json(), ensure_ascii=False)


def test_overview_compile_cache_runs_and_status_agree() -> None:
    with demo_settings(Settings()) as settings:
        service = RunService(settings)
        view = service.read_end(LAST, overview)
        lookups = service.read_end(LAST, cache_lookups)
        compiled = service.read_end(LAST, run_compiles)
        graphs = service.read_end(LAST, graph_table)
        lanes = service.read_end(LAST, timeline)
        series, whole = service.read_end(LAST, trends), service.read_end(LAST, summary)
        (row,) = service.rows()
        environment = {**os.environ, "NEURONTOP_STATE_DIR": settings.state_dir}
        command = [sys.executable, "-m", "neuron_top", "status", LAST, "--json"]
        told = json.loads(subprocess.run(command, env=environment, capture_output=True, check=False).stdout)
    card, answers = told["compile"], told["cache"]
    assert (card["total"], answers["hits"], answers["misses"]) == (2, 6, 3)

    shown = live.render(view, None, series, compiled, "utilization", DARK)
    assert shown["live-graphs"] == "2"
    assert lookup_words(view.cache) in shown["live-rate-sub"]
    hits = [answers["hits"], answers["hits_after_compile"]]
    assert numbers(lookup_words(view.cache)) == [9, *hits, answers["misses"]]
    assert numbers(graph_words(view.compile))[:2] == [card["total"], card["done"]]

    page = words_of(compile_page.render(graphs, lanes, lookups, view.cache, DARK)["compile-summary"])
    assert graph_words(view.compile) in page
    assert lookup_words(view.cache) in page

    table = words_of(runs.summary_panel(whole, "", view))
    assert graph_words(view.compile) in table
    assert lookup_words(view.cache) in table
    assert row.graphs == card["total"]
    assert row.hit_rate == view.cache.hit_rate == answers["hit_rate"]

    none = EntryTable(rows=(), roots=(), problems=())
    drawn = cache.render(none, [], lookups, [], DARK)["cache-rate"].figure["data"]
    last = {trace["name"]: trace["y"][-1] for trace in drawn}
    assert (last["hits"], last["misses"], last["hit rate of graphs"]) == (
        answers["hits"],
        answers["misses"],
        answers["hit_rate"],
    )
