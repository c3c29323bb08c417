"""Live: the job now. Cores as a heat map, one core's lines on demand, compile progress, cache, training, alerts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import msgspec
from dash import Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard import compile_figures, figures, training_figures
from neuron_top.dashboard.address import search_with, state_of
from neuron_top.dashboard.alert_panel import alert_panel, may_act
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.compiles_panel import Compiles, compiles_panel, run_compiles
from neuron_top.dashboard.components import attributes, chart, left_out, note, panel, tile
from neuron_top.dashboard.core_lines import core_lines
from neuron_top.dashboard.exhausted_panel import exhausted_summary
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.idle_panel import drop_zone, idle_panel
from neuron_top.dashboard.live_tiles import TEXTS, TILES, tile_texts
from neuron_top.dashboard.page_diff import AppendChart, PageChart, marked
from neuron_top.dashboard.pinned_log import pinned_log
from neuron_top.dashboard.reason_panel import reason_panel
from neuron_top.dashboard.shared_answers import SharedAnswers
from neuron_top.dashboard.view_cache import CHART_REST, FRESH_SECONDS
from neuron_top.errors import NeuronTopError
from neuron_top.services.alerts import AlertAct
from neuron_top.units import counted
from neuron_top.views.core_metrics import SHARES, UTILIZATION
from neuron_top.views.core_rows import silence_text
from neuron_top.views.cores import CorePage, core_page, visible_words
from neuron_top.views.device_map import device_map, shown_metric, summary_text
from neuron_top.views.exhausted import ExhaustedMemory, exhausted_memory
from neuron_top.views.handled_alerts import AlertList
from neuron_top.views.log_rows import grouped
from neuron_top.views.main_panel import main_panels
from neuron_top.views.missing import Subject, missing, missing_text
from neuron_top.views.model import Mark, Run
from neuron_top.views.overview import Overview, TrainingCard, overview
from neuron_top.views.runs import RunRow
from neuron_top.views.trends import Trends, trends
from neuron_top.views.verdict import VerdictState, alerts_besides_failure, verdict
from neuron_top.views.welcome import is_idle

PATH, NAME = "", "Overview"
LINES_SHOWN = 40
HEAT_MOVES = (
    *(("data", place, "z") for place in (0, 4)),
    *(("data", place, axis) for place in (1, 2, 3) for axis in ("x", "y")),
)
"""What of the heat map changes with every sample: values, old values in gray, and which cells are marked."""

CONTROLS = [Input("live-measure", "value"), Input("live-axis", "value"), Input("live-smooth", "value")]
PARTS = (
    "live-reason",
    "live-idle",
    "live-missing",
    "live-first",
    "live-alerts",
    "live-exhausted",
    "live-compile",
    "live-training-name",
    "live-throughput-name",
    "live-only",
    "live-lines",
    "live-core-words",
    "live-heat-words",
)
CHARTS = ("live-heat", "live-kinds", "live-timeline", "live-answers")
TRACKS = ("live-core", "live-losses", "live-throughput")


def layout(_state: dict[str, str]) -> Any:
    """The page without its numbers."""
    measure = dcc.RadioItems(
        {one.name: one.title for one in SHARES}, UTILIZATION.name, id="live-measure", inline=True, className="switch"
    )
    nodes = html.Div(
        [
            html.Label("Node", htmlFor="live-node", className="visually-hidden"),
            dcc.Dropdown(id="live-node", options=[], placeholder="all nodes", className="run-picker"),
        ],
        id="live-nodes",
        hidden=True,
    )
    return html.Div(
        [
            dcc.Store(id="live-marks", data={}),
            html.Div(id="live-reason", className="full", role="status", **attributes(aria_live="polite")),
            html.Div(id="live-handled", className="full", role="alert"),
            html.Div(id="live-alerts", role="status", **attributes(aria_live="polite")),
            html.Div([tile(identity, label) for identity, label in TILES], className="tiles"),
            panel("Device memory ran out", html.Div(id="live-exhausted"), wide=True),
            html.Div(id="live-idle", className="grid full idle"),
            drop_zone(),
            panel(
                "Cores",
                chart("live-heat", "Cores as a heat map", 110),
                html.Div(id="live-heat-words"),
                tools=[nodes, measure],
                wide=True,
                extra=_about(Subject.DEVICES),
            ),
            panel(
                "One core",
                html.P(id="live-core-words", className="quiet"),
                html.Div(
                    [
                        chart("live-core", "Utilization and memory of the selected core", 240),
                        chart("live-kinds", "Memory of the selected core by category", 130),
                    ],
                    className="pair",
                ),
                extra=_about(Subject.DEVICES),
            ),
            panel(
                "Compiles",
                html.Div(id="live-compile"),
                html.Div(
                    [
                        html.H3("Compiles by worker"),
                        chart("live-timeline", "Compiles, waits and hits by worker", 120),
                    ],
                    className="of-workers",
                ),
                html.Div(
                    [
                        html.H3("Hits and misses over time"),
                        chart("live-answers", "Hits and misses over time", 200),
                    ],
                    className="of-lookups",
                ),
                extra=_about(Subject.COMPILES),
            ),
            panel(
                html.Span("Training", id="live-training-name"),
                html.Span(id="live-only", hidden=True),
                html.Div([_loss_chart(), _throughput_chart()], className="pair"),
                tools=[
                    dcc.RadioItems(
                        {training_figures.STEP: "by step", training_figures.TIME: "by time"},
                        training_figures.STEP,
                        id="live-axis",
                        inline=True,
                        className="switch",
                    ),
                    dcc.Checklist({"smooth": "smooth"}, [], id="live-smooth", className="switch"),
                ],
                extra=_about(Subject.TRAINING),
            ),
            panel("Recent errors and warnings", html.Div(id="live-lines"), wide=True),
            pinned_log(),
            html.Div(id="live-missing", className="full"),
            html.Div(id="live-first", hidden=True),
        ],
        className="grid phases",
    )


def _loss_chart() -> Any:
    return html.Div([html.H3("Loss"), chart("live-losses", "Training loss over time", 200)], className="of-loss")


def _throughput_chart() -> Any:
    head = html.H3("Throughput", id="live-throughput-name")
    return html.Div([head, chart("live-throughput", "Throughput over time", 200)], className="of-throughput")


def render(
    view: Overview,
    core: CorePage | None,
    series: Trends,
    compiles: Compiles,
    measure: str,
    colors: ChartColors,
    run: str = LIVE,
    *,
    axis: str = training_figures.STEP,
    smooth: bool = False,
    alerts: AlertList | None = None,
    runs: Sequence[RunRow] = (),
    exhausted: ExhaustedMemory | None = None,
) -> dict[str, Any]:
    """Every section of the page, in the order of the outputs; names of graphs lead to their pages in `run`."""
    whole: dict[str, Any] = tile_texts(view)
    whole["live-reason"] = reason_panel(view)
    whole["live-idle"] = idle_panel(view, runs) if is_idle(view) else None
    whole["live-missing"] = _missing(view)
    whole["live-first"] = html.Span(className=f"first-{main_panels(view)[0]}")
    shown_above = {alert.key for alert in view.alerts}.difference(alert.key for alert in alerts_besides_failure(view))
    whole["live-alerts"] = alert_panel(alerts or AlertList(job="", active=view.alerts), run, shown_above)
    whole["live-exhausted"] = (
        exhausted_summary(exhausted, colors, "live-exhausted-kinds") if exhausted is not None else None
    )
    whole["live-compile"] = compiles_panel(view, compiles, run)
    whole["live-training-name"] = "Serving" if view.training.serves else "Training"
    whole["live-throughput-name"] = ", ".join(filter(None, ("Throughput", series.throughput_unit)))
    whole["live-only"] = _only(series, view.training)
    whole["live-lines"] = _lines(view)
    whole["live-core-words"] = (
        f"{', '.join(filter(None, (figures.core_words(core.row, view.now), visible_words(core))))}. "
        "Click a cell of the heat map to choose another core."
        if core is not None
        else "Click a cell of the heat map to see the history of a core."
    )
    whole["live-heat-words"] = _heat_words(view, measure)
    if view.cores:
        whole["live-heat"] = PageChart(figures.heat(view.cores, shown_metric(view.cores, measure), colors), HEAT_MOVES)
    else:
        whole["live-heat"] = PageChart(figures.empty(colors, _no_cores(view)))
    whole["live-kinds"] = PageChart(
        figures.kinds(core.row, colors) if core is not None else figures.empty(colors, "no core selected", 130)
    )
    whole["live-timeline"] = compile_figures.lanes(compiles.lanes, compiles.marks, colors)
    whole["live-answers"] = PageChart(compile_figures.rate(compiles.lookups, colors, 200, compiles.lanes))
    whole["live-core"] = AppendChart(core_lines(core, colors))
    whole["live-losses"] = training_figures.loss(series, axis, smooth, colors)
    whole["live-throughput"] = training_figures.throughput(series, axis, smooth, colors)
    return whole


def _about(subject: Subject) -> str:
    """The class of panels about a subject; the style sheet hides them where there is no data on it."""
    return f"about-{subject.name.lower()}"


def _missing(view: Overview) -> Any:
    """One line for all panels that are left out; the style sheet finds them by its classes."""
    absent = " ".join(f"no-{subject.name.lower()}" for subject in missing(view))
    return note(missing_text(view), kind=f"quiet {absent}") if absent else None


def _heat_words(view: Overview, measure: str) -> Any:
    """How far the cores differ, what marks those that stand out; the style sheet leaves out what no core reports."""
    shown = device_map(view.cores, view.now, measure)
    unknown = [one.name for one in SHARES if all(one.share is None or one.share(row) is None for row in view.cores)]
    choice = "" if len(SHARES) - len(unknown) > 1 else "no-choice"
    marked = f" · □ {counted(len(shown.outliers), 'core')} far from the median" if shown.outliers else ""
    why = silence_text(view.cores, view.now) or "ended"
    silent = f" · hatched: {counted(shown.stale, 'core')}, {why}" if shown.stale else ""
    return [
        note(f"{summary_text(msgspec.structs.replace(shown, stale=0))}{marked}{silent}")
        if shown.typical is not None or shown.stale
        else None,
        html.Span(className=" ".join([*(f"no-{name}" for name in unknown), choice]).strip(), hidden=True),
    ]


def of_node(view: Overview, node: str) -> Overview:
    """The same with the cores of one node only; "" is all."""
    if not node:
        return view
    return msgspec.structs.replace(view, cores=tuple(row for row in view.cores if row.node == node))


def selected_core(run: Run, now: float, key: str) -> CorePage | None:
    """The chosen core with its last minutes; the page does not draw its long history, so that is not joined either."""
    return core_page(run, now, key, since=now)


def nodes_of(view: Overview) -> list[str]:
    """The nodes that cores were seen on."""
    return sorted({row.node for row in view.cores if row.node})


def _only(series: Trends, training: TrainingCard) -> Any:
    """Classes that say which of loss, throughput and steps were printed; the style sheet hides the others."""
    if bool(series.loss_values) == bool(series.throughput_values):
        return None
    only = "only-loss" if series.loss_values else "only-throughput"
    return html.Span(className=f"{only} serving" if training.serves else only)


def _lines(view: Overview) -> Any:
    rows = grouped(_without_cause(view)[-LINES_SHOWN:]).rows
    if not rows:
        return left_out()
    return html.Ol([_line(row.line.text, row.line.level, row.count_text) for row in rows], className="lines")


def _without_cause(view: Overview) -> Sequence[Mark]:
    """The marked lines without those that the band of a failed job shows already."""
    cause = view.diagnosis.cause if view.diagnosis is not None else None
    if cause is None or verdict(view).state is not VerdictState.FAILED:
        return view.lines
    of_cause = {line.text for line in view.lines if (line.source, line.offset) == (cause.source, cause.offset)}
    return [line for line in view.lines if line.text not in of_cause]


def _line(text: str, level: str, count: str) -> Any:
    return html.Li([html.Code(text), html.Span(count and f" {count}", className="quiet")], className=level)


def _no_cores(view: Overview) -> str:
    absent = [f"{source.name}: {source.text}" for source in view.sources if not source.available]
    return "no cores or workers seen yet" + (f" ({absent[0][:90]})" if absent else "")


def register(app: Dash, feeds: FeedRegistry) -> None:
    """Bind the page to its data."""

    answers = SharedAnswers[dict[str, Any]](FRESH_SECONDS)

    async def answer(asked: PageRequest) -> dict[str, Any]:
        run = asked.run
        await feeds.opened(run)  # refuses who may not see it, before an answer that is shared
        chosen = asked.state.get("node"), asked.state.get("core"), asked.colors.name, repr(asked.values)
        question = (run, *chosen, may_act())  # who may act has buttons
        # In a thread, charts too: those of a thousand cores take longer than a browser of another page should wait.
        return await answers.get(question, lambda: marked(sections(asked)), feeds.version(run))

    def sections(asked: PageRequest) -> dict[str, Any]:
        run = asked.run
        (whole, listed), recordings = feeds.shown(run), feeds.recordings()
        view = of_node(whole, asked.state.get("node", ""))
        key = asked.state.get("core") or (view.cores[0].key if view.cores else "")
        core = feeds.read(asked.run, lambda run, now: selected_core(run, now, key)) if key else None
        series = feeds.cached_view(asked.run, trends, CHART_REST)
        compiled = feeds.cached_view(asked.run, run_compiles, CHART_REST)
        exhausted = feeds.read(asked.run, lambda run, _now: exhausted_memory(run.cores.exhausted))
        measure, axis, smooth = asked.values
        return render(
            view,
            core,
            series,
            compiled,
            measure,
            asked.colors,
            asked.run,
            axis=axis,
            smooth="smooth" in (smooth or []),
            alerts=listed,
            runs=recordings,
            exhausted=exhausted,
        )

    bind(app, "live", PageOutputs((*TEXTS, *PARTS), CHARTS, TRACKS), answer, CONTROLS)

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("live-heat", "clickData"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose(click: dict[str, Any] | None, search: str) -> Any:
        points = (click or {}).get("points") or [{}]
        key = points[0].get("customdata")
        return search_with(search, core=key) if isinstance(key, str) and key else no_update

    _register_nodes(app, feeds)
    _register_alerts(app, feeds)


def _register_nodes(app: Dash, feeds: FeedRegistry) -> None:
    """The choice of a node, there only when cores of several were seen."""

    @app.callback(
        Output("live-node", "options"),
        Output("live-node", "value"),
        Output("live-nodes", "hidden"),
        Input("pulse", "data"),
        Input("url", "search"),
        State("live-node", "options"),
        State("live-node", "value"),
    )
    async def offered(_pulse: Any, search: str, shown: list[str], shown_choice: str | None) -> Any:
        state = state_of(search)
        try:
            await feeds.opened(state.get("run", ""))
            view = await asyncio.to_thread(feeds.cached_view, state.get("run", ""), overview)
            nodes = nodes_of(view)
        except NeuronTopError:
            nodes = []
        chosen = state.get("node")
        return (
            no_update if nodes == shown else nodes,
            no_update if chosen == shown_choice else chosen,
            len(nodes) < 2 and not chosen,
        )

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("live-node", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def choose_node(node: str | None, search: str) -> Any:
        return no_update if (node or "") == state_of(search).get("node", "") else search_with(search, node=node)


def _register_alerts(app: Dash, feeds: FeedRegistry) -> None:
    """What a person does about an alert."""
    from dash import ALL, ctx

    @app.callback(
        Output("live-handled", "children"),  # permissions.py asks for the act token by this name
        Output("pulse", "data", allow_duplicate=True),
        Input({"type": "alert-act", "act": ALL, "key": ALL}, "n_clicks"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def handle(_clicks: Any, search: str) -> Any:
        if not ctx.triggered_id or not ctx.triggered[0]["value"]:
            return no_update, no_update
        try:
            feeds.act_on_alert(
                state_of(search).get("run", LIVE), AlertAct(ctx.triggered_id["act"]), ctx.triggered_id["key"]
            )
        except (NeuronTopError, ValueError) as problem:
            return note(f"Nothing was done about the alert: {problem}", kind="bad"), no_update
        return None, time.time()
