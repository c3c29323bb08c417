"""Curves of several runs in one chart: read once for each recording that does not change, and drawn."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.figures import Figure, durations, empty, layout, plain, steps
from neuron_top.dashboard.page_diff import PageChart
from neuron_top.services.feeds import Run
from neuron_top.services.runs import RunService
from neuron_top.views.colors import Hue
from neuron_top.views.overlay import MOST_RUNS, OverlaidRun, overlaid_run
from neuron_top.views.states import run_name
from neuron_top.views.trends import StepValue

STEP, TIME = "step", "time"
HEIGHT = 260
RESTS = 20.0
"""A recording is read again only after this many times the duration of its last reading."""
_FEW = 60
_KEPT = 32
_DASHES = ("solid", "dash", "dot", "dashdot")
"""The second sign beside the color."""


class _ReadCurves(NamedTuple):
    key: tuple[str, int]
    """The name of the recording, and how many events it had."""
    at: float
    took: float
    run: OverlaidRun


class Overlays:
    """Curves of recordings by id. `read` is slow for one that was not asked for before: not for an event loop.

    One that is still being made is read again from its beginning, as seldom as RESTS says.
    """

    def __init__(
        self, feeds: FeedRegistry, runs: RunService | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._feeds, self._runs, self._clock = feeds, runs or RunService(feeds.settings), clock
        self._read: OrderedDict[str, _ReadCurves] = OrderedDict()

    def read(self, names: Sequence[str]) -> list[OverlaidRun]:
        """The curves of these runs; of a recording that is gone there are none."""
        events = {row.id: (row.name, row.events) for row in self._feeds.recordings()}
        made = []
        for name in list(dict.fromkeys(names))[:MOST_RUNS]:
            if name == LIVE:
                made.append(self._feeds.read(LIVE, _live))
            elif name in events:
                made.append(self._recorded(name, events[name]))
        return made

    def _recorded(self, run: str, key: tuple[str, int]) -> OverlaidRun:
        known, began = self._read.get(run), self._clock()
        if known is not None and (known.key == key or began - known.at < RESTS * known.took):
            return known.run
        (curves,) = self._runs.overlay([run])
        ended = self._clock()
        self._read[run] = _ReadCurves(key, ended, ended - began, curves)
        while len(self._read) > _KEPT:
            self._read.popitem(last=False)
        return curves


def _live(run: Run, _now: float) -> OverlaidRun:
    return overlaid_run(LIVE, run_name(run.job.name, run.job.command, "live"), run)


def loss(runs: Sequence[OverlaidRun], axis: str, colors: ChartColors) -> PageChart:
    """The losses."""
    return _chart([(run.title, run.loss) for run in runs], axis, colors, "none of these runs printed a loss")


def throughput(runs: Sequence[OverlaidRun], axis: str, colors: ChartColors) -> PageChart:
    """The throughputs; the axis has the unit where all have the same."""
    units = {run.throughput_unit for run in runs if run.throughput}
    title = plain(units.pop()) if len(units) == 1 else ""
    words = "none of these runs printed a throughput"
    return _chart([(run.title, run.throughput) for run in runs], axis, colors, words, title)


def _chart(
    curves: Sequence[tuple[str, Sequence[StepValue]]], axis: str, colors: ChartColors, words: str, title: str = ""
) -> PageChart:
    data = []
    for (name, values), (color, dash) in zip(curves, _styles(colors), strict=False):
        shown = [value for value in values if (value.step if axis == STEP else value.time) is not None]
        if shown:
            data.append(_line(name, [one.step if axis == STEP else one.time for one in shown], shown, color, dash))
    if not data:
        return PageChart(empty(colors, words, HEIGHT))
    places = [place for line in data for place in line["x"]]
    if axis == STEP:
        along = steps(places)
    else:
        unit, seconds = durations(max(places))
        along = {**unit, "title": {"text": "since the first value"}}
        data = [{**line, "x": [round(place / seconds, 4) for place in line["x"]]} for line in data]
    whole = layout(colors, HEIGHT, xaxis=along, yaxis={"title": {"text": title}}, showlegend=True)
    return PageChart({"data": data, "layout": whole | {"uirevision": axis}})


def _styles(colors: ChartColors) -> list[tuple[str, str]]:
    hues = [colors.hues[hue] for hue in Hue if hue is not Hue.GRAY]
    return [(hues[place % len(hues)], _DASHES[place % len(_DASHES)]) for place in range(MOST_RUNS)]


def _line(name: str, x: Sequence[Any], values: Sequence[StepValue], color: str, dash: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(x) < _FEW else "lines",
        "name": plain(name),
        "x": list(x),
        "y": [round(value.value, 6) for value in values],
        "line": {"color": color, "width": 1.6, "dash": dash},
    }
