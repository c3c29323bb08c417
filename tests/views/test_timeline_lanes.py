"""What one worker compiled at the same time has a lane, a bar and a label each, on every front end."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from neuron_top import events as ev
from neuron_top.dashboard import compile_figures
from neuron_top.dashboard.chart_colors import DARK as WEB_COLORS
from neuron_top.report.charts import charts
from neuron_top.run.model import Run
from neuron_top.tui.panels.timeline import timeline_panel
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.report import report
from neuron_top.views.timeline import Timeline, folded, timeline

START = 1_767_225_600.0
GRAPHS = ("f12b589206b081c9e0d4", "e69f47d5e35deebb7a10", "0a1b2c3d4e5f60718293")
"""Of a forward and a backward graph, and one that is compiled later."""


def compiled(*spans: tuple[float, float | None], ranks: tuple[int, ...] = (1,)) -> Run:
    """Each rank compiles a graph in each of these spans of seconds; None: it goes on."""
    run = Run()
    for rank in ranks:
        for graph, (start, end) in zip(GRAPHS, spans, strict=False):
            key: dict[str, Any] = {"module": f"MODULE_{graph}+4d19ac67", "pid": 4100 + rank, "rank": rank, "node": "n"}
            run.apply(ev.CompileBegan(at=START + start, **key))
            if end is not None:
                run.apply(ev.CompileEnded(at=START + end, seconds=end - start, ok=True, **key))
    return run


def lanes_of(view: Timeline) -> list[tuple[str, int, list[str]]]:
    return [(lane.worker, lane.track, [bar.graph[7:27] for bar in lane.bars]) for lane in view.lanes]


@pytest.mark.parametrize(
    ("spans", "tracks"),
    [
        (((0, 41), (1, 15), (42, 60)), [[0, 2], [1]]),
        (((0, None), (1, None), (30, 35)), [[0], [1], [2]]),
        (((0, 30), (30, 60), (60, None)), [[0, 1, 2]]),
        (((0, 30.4), (30, 60), (59.8, 90)), [[0, 1, 2]]),  # times of two clocks
        (((0, 90), (30, 30.5), (40, 40.5)), [[0], [1, 2]]),  # short, and would be hidden
    ],
)
def test_compiles_at_the_same_time_are_lanes_below_each_other(
    spans: tuple[tuple[float, float | None], ...], tracks: list[list[int]]
) -> None:
    (worker,) = {lane.worker for lane in timeline(compiled(*spans), START + 90).lanes}
    found = lanes_of(timeline(compiled(*spans), START + 90))
    assert found == [(worker, number, [GRAPHS[n] for n in track]) for number, track in enumerate(tracks)]


def test_workers_fold_with_all_their_lanes() -> None:
    view = timeline(compiled((0, 41), (1, 15), ranks=(0, 1, 2)), START + 60)
    alike, _lookups = folded(view, ())
    assert [(lane.rank, lane.track, lane.alike) for lane in alike.lanes] == [(0, 0, 2), (0, 1, 2)]


def test_the_terminal_draws_a_bar_and_a_label_for_each() -> None:
    view = timeline(compiled((0, 41), (1, 15)), START + 60)
    _title, first, its_name, second, other_name, _clock = [
        strip.text for strip in timeline_panel(Theme(DARK, UNICODE), view, 100, 6)
    ]
    assert first.startswith("rank 1 ")
    assert second.startswith(" ")
    assert first.count(UNICODE.bar) > 2 * second.count(UNICODE.bar) > 0
    assert GRAPHS[0][:8] in its_name
    assert GRAPHS[1][:8] in other_name


def test_the_web_draws_them_in_rows_of_their_own_and_hits_in_the_first() -> None:
    figure = compile_figures.lanes(timeline(compiled((0, 41), (1, 15)), START + 60), (), WEB_COLORS).figure
    rows = [row for trace in figure["data"] for row in trace["y"]]
    assert rows == ["rank 1 · 4101", "rank 1 · 4101 (2)"]
    assert figure["layout"]["yaxis"]["categoryarray"] == rows


def test_the_report_draws_them_in_rows_of_their_own() -> None:
    view = report(compiled((0, 41), (1, 15)), START + 60)
    (drawn,) = [chart.svg for chart in charts(view) if chart.heading == "Timeline"]
    labels = dict(re.findall(r'y="([0-9.]+)">([0-9a-f]{6})[0-9a-f+…]*<', drawn))
    assert set(labels.values()) == {graph[:6] for graph in GRAPHS[:2]}


def never_ending(number: int) -> Run:
    """A log may name only what it begins to compile."""
    run = Run()
    for each in range(number):
        run.apply(ev.CompileBegan(at=START + each, module=f"MODULE_{each:020d}+4d19ac67", pid=4100, node="n"))
    return run


def processor_time(run: Run) -> float:
    """Of its timeline, the least of three, in seconds."""
    took = list[float]()
    for _ in range(3):
        begun = time.process_time()
        timeline(run, START + 6000)
        took.append(time.process_time() - begun)
    return min(took)


def test_lanes_of_thousands_of_compiles_that_never_end_are_laid_out_at_once() -> None:
    few, many = never_ending(1500), never_ending(6000)
    assert [lane.track for lane in timeline(many, START + 6000).lanes] == list(range(6000))
    assert processor_time(many) < 9 * processor_time(few)  # sixteen times, when each bar was held against each lane


def test_a_compile_during_which_the_clock_was_set_back_has_no_length() -> None:
    run = Run()
    key: dict[str, Any] = {"module": f"MODULE_{GRAPHS[0]}+4d19ac67", "pid": 1, "node": "n"}
    run.apply(ev.CompileStarted(at=START + 100, **key))
    run.apply(ev.CompileCompleted(at=START + 50, **key))
    run.apply(ev.CompileBegan(at=START + 150, **key | {"module": f"MODULE_{GRAPHS[1]}+4d19ac67"}))
    run.apply(ev.CompileEnded(at=START + 180, seconds=30, ok=True, **key | {"module": f"MODULE_{GRAPHS[1]}+4d19ac67"}))
    view = report(run, START + 200)
    assert [(bar.start - START, (bar.end or 0.0) - START) for lane in view.timeline.lanes for bar in lane.bars] == [
        (100, 100), (150, 180),
    ]  # fmt: skip
    drawn = next(chart for chart in charts(view) if chart.heading == "Timeline")
    told = [title.rpartition(": ")[2] for title in re.findall("<title>(.*?)</title>", drawn.svg)]
    assert told == ["done", "done, 30.0 s"]
    curve = compile_figures.cumulative(view.timeline, (), WEB_COLORS)
    assert "-50" not in str(curve)
