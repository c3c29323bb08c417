"""Memory: every core over time, what fills it, peaks against capacity; a second run beside it; out-of-memory tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard import memory_figures as figures
from neuron_top.dashboard.address import search_with, state_of
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.components import chart, left_out, note, panel, sentences, table
from neuron_top.dashboard.device_panel import device_figure, device_panel
from neuron_top.dashboard.exhausted_panel import exhausted_panel
from neuron_top.dashboard.exports import export_links
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.figures import core_name, core_words, empty
from neuron_top.dashboard.layout import run_of, run_options
from neuron_top.dashboard.page_diff import AppendChart, PageChart, marked
from neuron_top.dashboard.shared_answers import SharedAnswers
from neuron_top.dashboard.table_order import TableOrder, in_order, order_of
from neuron_top.dashboard.view_cache import FRESH_SECONDS
from neuron_top.natural_order import natural_key
from neuron_top.units import UNKNOWN, bytes_text, count_text, counted
from neuron_top.views.core_metrics import CORE_METRICS, PEAK, UTILIZATION, CoreMetric
from neuron_top.views.core_rows import CoreRow, silence_text
from neuron_top.views.cores import CoreTable, core_table
from neuron_top.views.memory import MemoryKinds, MemoryTable, memory_kinds, memory_table
from neuron_top.views.model import CoreKind, Run
from neuron_top.views.welcome import NO_CORE, NO_CORE_YET

PATH, NAME = "cores", "Cores"
PEAK_FIRST = TableOrder(PEAK.title, falls=True)
CORES_SHOWN = 32
"""Rows: each cell is a component, and each change of the page is told to every component there is."""
OUTPUTS = PageOutputs(
    parts=(
        "cores-summary",
        "cores-many",
        "cores-rows",
        "cores-devices",
        "cores-exhausted",
        "cores-other-summary",
        "cores-core-words",
        "cores-other-core-words",
    ),
    charts=("cores-kinds", "cores-other-kinds", "cores-busy", "cores-device-map"),
    tracks=("cores-lines", "cores-other-lines", "cores-core", "cores-other-core"),
)


def layout(_state: dict[str, str]) -> Any:
    """The page without its numbers."""
    other = html.Div(
        [
            html.Label("Compare with", htmlFor="cores-with", className="visually-hidden"),
            dcc.Dropdown(id="cores-with", options=[], placeholder="choose a second run", className="run-picker"),
        ]
    )
    return html.Div(
        [
            dcc.Store(id="cores-marks", data=None),
            html.Div(html.P(id="cores-summary"), className="full"),
            panel(
                "Cores over time",
                html.Div(
                    [
                        html.Span(id="cores-many", hidden=True),
                        html.H3("Utilization"),
                        chart("cores-busy", "Utilization of all cores over time", 220),
                    ]
                ),
                html.H3("Memory"),
                chart("cores-lines", "Memory of each core over time", 320),
                tools=[other, *export_links("cores")],
            ),
            panel(
                "A second run",
                html.P(id="cores-other-summary", className="quiet"),
                chart("cores-other-lines", "Memory of the second run over time", 320),
                extra="second",
            ),
            panel("Memory by category", chart("cores-kinds", "Memory of each core by category", 320)),
            panel(
                "The second run",
                chart("cores-other-kinds", "Memory of the second run by category", 320),
                extra="second",
            ),
            panel(
                "One core over time",
                html.P(id="cores-core-words", className="quiet"),
                chart("cores-core", "Memory of one core by category over time", 320),
            ),
            panel(
                "One core of the second run",
                html.P(id="cores-other-core-words", className="quiet"),
                chart("cores-other-core", "Memory of one core of the second run by category over time", 320),
                extra="second",
            ),
            panel(
                "Devices",
                chart("cores-device-map", "Devices, how they are linked and how busy they are", 140),
                html.Div(id="cores-devices"),
                wide=True,
            ),
            panel("Cores", html.Div(id="cores-rows"), wide=True),
            panel("Out of memory", html.Div(id="cores-exhausted"), wide=True),
        ],
        className="grid two",
    )


def render(
    one: MemoryTable,
    other: MemoryTable | None,
    colors: ChartColors,
    core: MemoryKinds | None = None,
    other_core: MemoryKinds | None = None,
    cores: CoreTable | None = None,
    order: TableOrder = PEAK_FIRST,
) -> dict[str, Any]:
    """Every section of the page. `core`: the one whose breakdown is drawn over time, in either run; `cores`: of the
    first run, by device; `order`: of the table of cores.
    """
    nothing = figures.empty(colors, "choose a second run above", 320)
    height = figures.TALL if one.utilization is not None else figures.HEIGHT
    return {
        "cores-summary": _summary(one) if one.rows or one.exhausted is None else "",  # which says what was in use
        "cores-rows": _cores(one, order),
        **_devices(cores, colors),
        "cores-exhausted": exhausted_panel(one.exhausted, colors) if one.exhausted is not None else None,
        "cores-many": "many" if one.utilization is not None else "",
        "cores-busy": figures.busy_over_time(one, colors),
        "cores-lines": figures.over_time(one, colors),
        "cores-kinds": PageChart(figures.bars(one, colors, height=height)),
        "cores-other-summary": _summary(other) if other is not None else "",
        "cores-other-lines": figures.over_time(other, colors) if other is not None else AppendChart(nothing),
        "cores-other-kinds": PageChart(figures.bars(other, colors, height=height) if other is not None else nothing),
        "cores-core-words": _which(core, one),
        "cores-core": AppendChart(figures.kinds_over_time(core, colors, height=height)),
        "cores-other-core-words": _which(other_core, other) if other is not None else "",
        "cores-other-core": AppendChart(
            figures.kinds_over_time(other_core, colors, height=height) if other is not None else nothing
        ),
    }


def _devices(cores: CoreTable | None, colors: ChartColors) -> dict[str, Any]:
    if cores is None:
        return {"cores-devices": left_out(), "cores-device-map": PageChart(empty(colors, "", 60))}
    shown = cores.devices(UTILIZATION.name)
    return {
        "cores-devices": device_panel(cores, shown),
        "cores-device-map": PageChart(device_figure(cores, shown, colors)),
    }


def _which(core: MemoryKinds | None, view: MemoryTable) -> str:
    """A sentence on which core is shown, what its two totals are, and how to choose another one."""
    words = "a device's fullest core" if figures.is_by_device(view) else "a core"
    choice = f"Click a bar of “Memory by category” or a name in the table of cores to choose {words}."
    if core is None:
        return choice
    return f"{core_words(core.row, view.now)}. {_sources(core)}{choice}"


def _sources(core: MemoryKinds) -> str:
    """Who says what in the breakdown of a core, where that is not the same for all of it."""
    if not core.kinds:
        return "No categories were reported, only the total. "
    if core.row.gpu:
        return "The worker itself reports its memory on the GPU; how busy it is, is that of the host's processor. "
    if core.row.kind is CoreKind.LOCAL:
        return "The worker itself reports the categories; the total is measured from outside, at other moments. "
    return ""


def _summary(view: MemoryTable) -> Any:
    if not view.rows:
        return sentences(NO_CORE if view.over else NO_CORE_YET)
    peaks = [row.peak for row in view.rows if row.peak is not None]
    highest = max(peaks, default=None)
    full = [row for row in view.rows if row.headroom is not None and row.headroom < 0.1]
    noun = "core" if any(row.kind is CoreKind.NEURON for row in view.rows) else "worker"
    words = f"{counted(len(view.rows), noun)}, highest peak {bytes_text(highest)}"
    words += f", {count_text(len(full))} with less than a tenth free" if full else ""
    if silence := silence_text(view.rows, view.now):
        words += f"; {counted(sum(row.stale for row in view.rows), noun)}: {silence}"
    is_cut = view.hidden and not figures.is_by_device(view)
    cut = (
        f"the {count_text(view.hidden)} with the lowest peaks have"
        if view.hidden > 1
        else "the one with the lowest peak has"
    )
    return words + (f"; {cut} no bar." if is_cut else ".")


def _cores(view: MemoryTable, order: TableOrder) -> Any:
    if not view.rows:
        return left_out()
    metrics = _columns(view.rows)
    values: dict[str, Callable[[CoreRow], Any]] = {
        "node": lambda row: natural_key(row.node),
        "core": lambda row: (natural_key(row.node), row.core),
        "rank": lambda row: row.rank,
        **{metric.title: partial(_metric_value, metric) for metric in metrics},
    }
    most = in_order(view.rows, order, values)[:CORES_SHOWN]
    columns: dict[str, Callable[[CoreRow], Any]] = {
        "node": lambda row: row.node or UNKNOWN,
        "core": _core,
        "rank": lambda row: UNKNOWN if row.rank is None else str(row.rank),
        **{metric.title: partial(_metric_text, metric) for metric in metrics},
    }
    if len({row.node for row in view.rows}) < 2:
        del columns["node"]
    if all(row.rank is None for row in view.rows):
        del columns["rank"]
    rows = [[text(row) for text in columns.values()] for row in most]
    right = [place for place, name in enumerate(columns) if name not in ("node", "core")]
    shown = table(list(columns), rows, caption="Metrics of each core", right=right, order=order)
    left = len(view.rows) - len(rows)
    return [shown, note(f"and {count_text(left)} more; export CSV or Parquet to see all") if left else None]


def _core(row: CoreRow) -> Any:
    """The name of a core, which chooses it as a click on its bar does."""
    link = html.A(core_name(row), href=f"?{urlencode({'core': row.key})}", className="narrows")
    return html.Span([link, ", no longer reports"]) if row.stale else link


def _columns(rows: Sequence[CoreRow]) -> list[CoreMetric]:
    """The metrics that any core reports, what the rows are sorted by first: a phone shows no more than that."""
    known = [metric for metric in CORE_METRICS if any(metric.value(row) is not None for row in rows)]
    return sorted(known, key=lambda metric: metric is not PEAK)


def _metric_value(metric: CoreMetric, row: CoreRow) -> float | None:
    """What a metric's text says, as a number."""
    return None if row.stale and metric is UTILIZATION else metric.value(row)


def _metric_text(metric: CoreMetric, row: CoreRow) -> str:
    """The text of a metric of a core; the utilization of a core that no longer reports is unknown."""
    return UNKNOWN if row.stale and metric is UTILIZATION else metric.text(row)


def zoomed(change: dict[str, Any] | None) -> tuple[float | None, float | None]:
    """The span of time that somebody zoomed to, seconds; (None, None) for everything."""
    first, last = (change or {}).get("xaxis.range[0]"), (change or {}).get("xaxis.range[1]")
    try:
        return _seconds(first), _seconds(last)
    except (TypeError, ValueError):
        return None, None


def _seconds(text: Any) -> float:
    return datetime.fromisoformat(str(text)[:26]).replace(tzinfo=UTC).timestamp()


def register(app: Dash, feeds: FeedRegistry) -> None:
    """Bind the page to its data."""

    answers = SharedAnswers[dict[str, Any]](FRESH_SECONDS)

    async def answer(asked: PageRequest) -> dict[str, Any]:
        other = asked.state.get("with")
        runs = (asked.run, run_of(other)) if other else (asked.run,)
        for run in runs:
            await feeds.opened(run)  # refuses who may not see it, before an answer that is shared
        question = (
            runs,
            asked.state.get("core", ""),
            asked.state.get("sort", ""),
            asked.colors.name,
            zoomed(asked.values[0]),
        )
        # In a thread: hundreds of cores take longer to draw than a browser of another page should wait.
        return await answers.get(question, lambda: marked(sections(asked)), max(map(feeds.version, runs)))

    def sections(asked: PageRequest) -> dict[str, Any]:
        other = asked.state.get("with")
        since, until = zoomed(asked.values[0])
        one = (
            feeds.cached_view(asked.run, memory_table)
            if since is None
            else feeds.read(asked.run, lambda run, now: memory_table(run, now, since, until))
        )
        key = asked.state.get("core", "")

        def breakdown(run: Run, now: float) -> MemoryKinds | None:
            return memory_kinds(run, now, key)

        core = feeds.read(asked.run, breakdown)
        cores, order = feeds.cached_view(asked.run, core_table), order_of(asked.state, PEAK_FIRST)
        if not other:
            return render(one, None, asked.colors, core, cores=cores, order=order)
        second = run_of(other)
        table, other_core = feeds.cached_view(second, memory_table), feeds.read(second, breakdown)
        return render(one, table, asked.colors, core, other_core, cores, order)

    bind(app, "cores", OUTPUTS, answer, [Input("cores-lines", "relayoutData")])

    _register_choice(app)

    @app.callback(Output("cores-with", "options"), Output("cores-with", "value"), Input("url", "search"))
    async def runs(search: str) -> Any:
        rows = await asyncio.to_thread(feeds.recordings)
        return run_options(rows, live=feeds.live_name), state_of(search).get("with")

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("cores-with", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose(chosen: str | None, search: str) -> Any:
        return (
            no_update if (chosen or "") == state_of(search).get("with", "") else search_with(search, **{"with": chosen})
        )


def _register_choice(app: Dash) -> None:
    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("cores-kinds", "clickData"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose_core(click: dict[str, Any] | None, search: str) -> Any:
        key = ((click or {}).get("points") or [{}])[0].get("customdata")
        return search_with(search, core=key) if isinstance(key, str) and key else no_update
