"""Fleet: jobs, a cell for each node, the worst nodes by a metric, what is different about slow ones, and one node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, dcc, html, no_update

from neuron_top.dashboard import fleet_change_panel
from neuron_top.dashboard import fleet_figures as figures
from neuron_top.dashboard.address import LONGEST, hold, search_with, state_of
from neuron_top.dashboard.binding import PageOutputs, PageRequest, bind
from neuron_top.dashboard.blame_panel import blame_figure, blame_section
from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.components import absent, attributes, chart, fact_list, note, panel, table
from neuron_top.dashboard.figures import empty
from neuron_top.dashboard.fleet import FRESH_SECONDS, DashboardFleet
from neuron_top.dashboard.page_diff import Marked, PageChart, marked
from neuron_top.dashboard.shared_answers import SharedAnswers
from neuron_top.dashboard.table_order import in_order, order_of
from neuron_top.errors import NothingToShow
from neuron_top.filters import words_filter
from neuron_top.natural_order import natural_key
from neuron_top.units import UNKNOWN, count_text, counted, duration_text, percent_text
from neuron_top.views.blame.records import Blame
from neuron_top.views.fleet import (
    METRICS,
    FleetMetric,
    FleetPage,
    JobRow,
    NodeRow,
    metric_named,
    only_nodes,
    shown_job,
    top,
)
from neuron_top.views.fleet_cells import fleet_cells
from neuron_top.views.fleet_differences import Differences, differences, slow_selection
from neuron_top.views.fleet_node import FleetCorePage, NodePage
from neuron_top.views.fleet_text import (
    attribute_text,
    fleet_text,
    node_facts,
    node_words,
    nodes_text,
    phases_text,
    slow_nodes_text,
    steps_text,
    wait_text,
)
from neuron_top.views.phases import PhaseTimeline
from neuron_top.views.rank_steps import LEAST_RANKS, StepMap, folded_words

PATH, NAME = "fleet", "Fleet"
OUTPUTS = PageOutputs(
    parts=(
        "fleet-summary",
        "fleet-jobs",
        "fleet-selected",
        "fleet-steps-note",
        "fleet-phases-note",
        "fleet-top",
        "fleet-different",
        "fleet-blame",
        "fleet-node",
        "fleet-core",
    ),
    charts=(
        "fleet-blame-time",
        "fleet-cells",
        "fleet-steps",
        "fleet-phases",
        "fleet-cores",
        "fleet-history",
        "fleet-core-history",
    ),
)
STALE_SECONDS = 4.0
"""So old may be what a browser is given at once, while what is newer is asked for."""
MOST_SELECTED = 200
_SELECT = (
    "To compare nodes of your choice with all others: “a click selects” above the cells, then click them; or search "
    "for nodes and select those that match, or open a node and select it."
)
NO_FLEET = "No fleet is named: start the server with `neurontop serve --store postgresql://host/database`."


class FleetAnswer(NamedTuple):
    """Everything that the page shows."""

    page: FleetPage
    metric: FleetMetric
    nodes: Sequence[NodeRow]
    """Those that match what is searched for."""
    selected: tuple[str, ...]
    """Nodes that were chosen to be compared; none: the slow ones are."""
    different: Differences | str
    blame: Blame | str
    """Of the chosen job, else of the newest; a sentence where there is none yet."""
    node: NodePage | str | None
    """The opened node; a sentence where there is none of that name."""
    core: FleetCorePage | str | None
    """One core of the node; a sentence where there is none of that number."""
    steps: StepMap | str
    phases: PhaseTimeline | str
    job: JobRow | None = None
    """The job whose steps, phases and compiles are shown."""
    state: Mapping[str, str] = {}
    """The page's address."""

    def link(self, text: str, **changes: str | None) -> Any:
        """A link to the same page with some of its address changed."""
        return dcc.Link(text, href=f"fleet{search_with(f'?{urlencode(self.state)}', **changes)}")


def layout(state: dict[str, str]) -> Any:
    """The page without its numbers."""
    choice = [
        dcc.RadioItems(
            {"open": "a click opens", "select": "a click selects"},
            "select" if state.get("selected") else "open",
            id="fleet-click",
            inline=True,
        ),
        html.Label("Metric", htmlFor="fleet-metric", className="visually-hidden"),
        dcc.Dropdown(
            {metric.name: metric.title for metric in METRICS},
            state.get("metric", METRICS[0].name),
            id="fleet-metric",
            clearable=False,
            className="run-picker",
        ),
        html.Label("Search nodes", htmlFor="fleet-find", className="visually-hidden"),
        dcc.Input(
            id="fleet-find",
            type="search",
            value=state.get("q", ""),
            placeholder="node, job, phase, attribute; !word excludes",
        ),
    ]
    return html.Div(
        [
            dcc.Store(id="fleet-marks", data=None),
            html.Div(html.P(id="fleet-summary", role="status"), className="full"),
            panel("Jobs", html.Div(id="fleet-jobs"), wide=True),
            panel(
                "Nodes, by name",
                chart("fleet-cells", "A cell for each node", 70),
                html.P(id="fleet-selected", role="status"),
                tools=choice,
                wide=True,
            ),
            _node_panel(),  # below the cells: a click on one shows it at once
            panel(
                "Step times, ranks × steps",
                html.Div(id="fleet-steps-note"),
                chart("fleet-steps", "How long each step of each rank took", 160),
                wide=True,
            ),
            panel(
                "Phases by node, the worst first",
                html.Div(id="fleet-phases-note"),
                chart("fleet-phases", "What each node did from when to when", 160),
                wide=True,
            ),
            panel("Worst nodes", html.Div(id="fleet-top")),
            panel("What is different", html.Div(id="fleet-different")),
            panel(
                "Who compiled, who waited",
                html.Div(id="fleet-blame"),
                chart("fleet-blame-time", "Nodes over time: compiling and waiting", 120),
                wide=True,
            ),
            fleet_change_panel.change_panel(),
        ],
        className="grid two",
    )


def _node_panel() -> Any:
    return html.Section(
        [
            html.Div(id="fleet-node"),
            chart("fleet-cores", "The cores of the node; click one to open it", 120),
            chart("fleet-history", "The node's cores over the last hour", 160),
            html.Div(id="fleet-core"),
            chart("fleet-core-history", "The core over the last hour", 160),
        ],
        className="panel wide",
        id="fleet-node-panel",
        tabIndex=-1,
        **attributes(aria_label="One node"),
    )


def render(answer: FleetAnswer | None, colors: ChartColors) -> dict[str, Any]:
    """Every section of the page; None: there is no fleet."""
    blank = PageChart(empty(colors, "", 60))
    if answer is None:
        parts = dict.fromkeys(OUTPUTS.parts)
        return {**parts, "fleet-summary": note(NO_FLEET, kind="quiet no-fleet"), **dict.fromkeys(OUTPUTS.charts, blank)}
    page, metric, node = answer.page, answer.metric, answer.node
    shown = f"; {count_text(len(answer.nodes))} match" if len(answer.nodes) < len(page.nodes) else ""
    opened = node if isinstance(node, NodePage) else None
    cores = metric.name if opened is not None and metric.name in opened.cores else METRICS[0].name
    return {
        "fleet-summary": [fleet_text(page) + shown, *_matching(answer), *_only(answer)],
        "fleet-jobs": _jobs(answer),
        "fleet-cells": figures.nodes_figure(fleet_cells(answer.nodes, metric), colors, frozenset(answer.selected))
        if page.nodes
        else PageChart(empty(colors, "no node has reported yet", 70)),
        "fleet-selected": _selected(answer),
        "fleet-top": _top(answer),
        "fleet-different": _different(answer),
        "fleet-blame": blame_section(answer.blame),
        "fleet-blame-time": blame_figure(answer.blame, colors),
        "fleet-node": _node(answer) if node is not None else None,
        "fleet-core": _core(answer.core),
        "fleet-core-history": PageChart(figures.core_history_figure(answer.core, colors))
        if isinstance(answer.core, FleetCorePage)
        else blank,
        "fleet-steps": figures.steps_figure(answer.steps, colors),
        "fleet-steps-note": _steps_note(answer.steps, answer.job),
        "fleet-phases": figures.phases_figure(answer.phases, colors),
        "fleet-phases-note": _phases_note(answer.phases, answer.job),
        "fleet-cores": figures.cores_figure(opened, cores, colors) if opened is not None else blank,
        "fleet-history": PageChart(figures.history_figure(opened, colors)) if opened is not None else blank,
    }


def _matching(answer: FleetAnswer) -> list[Any]:
    """The way to compare the nodes that match a search."""
    names = tuple(row.node for row in answer.nodes)
    is_choice = 0 < len(names) <= MOST_SELECTED and len(names) < len(answer.page.nodes) and names != answer.selected
    way = answer.link("select them", selected=",".join(names))
    return [" · ", way] if is_choice and len(way.href) <= LONGEST else []


def _only(answer: FleetAnswer) -> list[Any]:
    """That the page shows one job only, and the way back."""
    if not answer.state.get("job") or answer.job is None:
        return []
    return [f" · {_job_words(answer.job)} only · ", answer.link("show all jobs", job=None)]


def _job_words(job: JobRow | None) -> str:
    if job is None:
        return ""
    return f"job {job.job}" if job.name in ("", job.job) else f"job {job.job}, {job.name}"


def _of_job(job: JobRow | None) -> str:
    """The begin of a sentence about one job's chart."""
    return f"{_job_words(job).capitalize()}. " if job is not None else ""


def _steps_note(view: StepMap | str, job: JobRow | None) -> Any:
    """The legend: the scale, what stands out, what was folded."""
    if isinstance(view, str) or not view.rows:
        return absent(_of_job(job) + (view if isinstance(view, str) else "No rank has reported two steps yet."))
    others = "the other ranks at the same step" if view.ranks >= LEAST_RANKS else "the median step"
    stands_out = f"▲ is far above {others}: {counted(view.outliers, 'step')}." if view.outliers else "None stands out."
    words = [
        f"{_of_job(job)}From {duration_text(view.low)} or less to {duration_text(view.high)} or more, the median is "
        f"{duration_text(view.median)}. {stands_out}",
        f"The slowest: {view.worst_name}, step {count_text(view.worst_step)}, {duration_text(view.worst)}.",
    ]
    return note(" ".join([*words, *(f"{one}." for one in folded_words(view))]))


def _phases_note(view: PhaseTimeline | str, job: JobRow | None) -> Any:
    if isinstance(view, str) or not view.rows:
        return absent(_of_job(job) + (view if isinstance(view, str) else "No node has reported what it does."))
    left = sum(1 + len(row.alike) for row in view.rows[figures.PHASE_ROWS :])
    more = f"The {figures.PHASE_ROWS} worst groups of nodes that did the same; {count_text(left)} more nodes."
    words = f"{_of_job(job)}{more if left else ''}".strip()
    return note(words) if words else None


_JOB_VALUES: Mapping[str, Callable[[JobRow], Any]] = MappingProxyType(
    {
        "job": lambda job: natural_key(job.job),
        "name": lambda job: natural_key(job.name),
        "state": lambda job: job.state_text,
        "nodes": lambda job: job.nodes,
        "phase": lambda job: job.phase or None,
        "step": lambda job: job.step,
        "graphs left": lambda job: job.graphs_left,
        "longest wait": lambda job: job.worst_wait,
        "slow nodes": lambda job: len(job.slow_nodes) or None,
    }
)
"""What the columns of the table of jobs are sorted by."""


def _jobs(answer: FleetAnswer) -> Any:
    jobs = answer.page.jobs
    if not jobs:
        return note("No job yet. Start `neurontop agent` beside one on each of its nodes.")
    elsewhere: dict[str, str | None] = dict.fromkeys(("node", "core", "selected"))  # may be nodes of another job
    order = order_of(answer.state)
    most = in_order(jobs, order, _JOB_VALUES)[:20]
    are_named = any(job.name not in ("", job.job) for job in most)
    rows = [
        (
            answer.link(job.job, **elsewhere, job=job.job), *([job.name] if are_named else []), job.state_text,
            nodes_text(job), phases_text(job), steps_text(job), count_text(job.graphs_left), wait_text(job),
            slow_nodes_text(job) or UNKNOWN,
        )
        for job in most
    ]  # fmt: skip
    head = (
        "job",
        *(["name"] if are_named else []),
        "state",
        "nodes",
        "phase",
        "step",
        "graphs left",
        "longest wait",
        "slow nodes",
    )
    right = tuple(at + are_named for at in (2, 4, 5))
    shown = table(head, rows, caption="Jobs" if order.column else "Jobs, the newest first", right=right, order=order)
    left = len(jobs) - len(most)
    return [shown, note(f"and {count_text(left)} more; `neurontop fleet jobs` lists all")] if left else shown


def _selected(answer: FleetAnswer) -> Any:
    """Which cells have the frame and the sign of selected nodes."""
    if not answer.selected:
        return None
    return f"✓ {counted(len(answer.selected), 'node')} selected: {', '.join(answer.selected)}"


def _top(answer: FleetAnswer) -> Any:
    metric = answer.metric
    ranked = top(only_nodes(answer.page, {row.node for row in answer.nodes}), metric)
    if not ranked:
        return note(f"No node reports {metric.title}.")
    # Few cells: the table is sent anew whenever a place changes.
    rows = [
        (answer.link(row.node, node=row.node, core=None), f"{row.text}{f', core {row.core}' if row.core else ''}")
        for row in ranked
    ]
    head, caption = ("node", metric.title), f"The worst nodes by {metric.title}"
    if not any(row.core for row in ranked):  # the node's own: its median says the same
        return table(head, rows, caption=caption, right=(1,))
    medians = [(*cells, metric.text(row.median)) for cells, row in zip(rows, ranked, strict=True)]
    return table((*head, "median of its cores"), medians, caption=caption, right=(1, 2))


def _different(answer: FleetAnswer) -> Any:
    found, kind = answer.different, "selected" if answer.selected else "slow"
    if isinstance(found, str):
        return [note(f"{found[:1].upper()}{found[1:]}."), note(_SELECT)]
    rows = [
        (row.attribute, row.value, percent_text(row.selected_share), percent_text(row.rest_share), f"{row.chance:.2g}")
        for row in found.rows
    ]
    which = f"{', '.join(found.selected[:8])}{' …' if len(found.selected) > 8 else ''}"
    chosen = counted(len(found.selected), f"{kind} node")
    clear = [" ", answer.link("Clear the selection", selected=None)] if answer.selected else []
    words = html.P([f"{chosen} against {counted(found.rest, 'other')}: {which}.", *clear])
    if not rows:
        return [words, note("No attribute sets them apart.")]
    head = ("attribute", "value", f"{kind} nodes", "the others", "by chance")
    chance = note("By chance: how often as many nodes, drawn blindly, would differ as much. It proves no cause.")
    return [words, table(head, rows, caption=f"Attributes of the {kind} nodes", right=(2, 3, 4)), chance]


def _node(answer: FleetAnswer) -> Any:
    page = answer.node
    close = answer.link("Close", node=None, core=None)
    if not isinstance(page, NodePage):
        return [html.H2(f"Node {answer.state['node']}"), absent(f"There is {page}."), close]
    row = page.row
    attributed = ((name, attribute_text(name, value)) for name, value in sorted(row.attributes.items()))
    lines = html.A("Log lines, from its agent", href=f"logs?{urlencode({'node': row.node})}")
    missing = [note(page.history.missing, kind="quiet no-node-history")] if page.history.missing else []
    facts = fact_list((*node_facts(row), *attributed))
    choose = answer.link(
        "Unselect it" if row.node in answer.selected else "Select it", selected=toggled(answer.selected, row.node)
    )
    return [html.H2(f"Node {row.node}"), html.P([lines, " · ", choose, " · ", close]), facts, *missing]


def _core(page: FleetCorePage | str | None) -> Any:
    if page is None or isinstance(page, str):
        return note(page) if page else None
    rows = [
        (one.metric, one.text, one.median, f"{one.place} of {page.cores}" if one.place else UNKNOWN)
        for one in page.values
    ]
    head = ("metric", "this core", "median core", "place")
    shown = table(head, rows, caption=f"Core {page.core} now", right=(1, 2, 3))
    missing = [note(page.history.missing, kind="quiet no-core-history")] if page.history.missing else []
    return [html.H2(f"Core {page.core} of {page.row.node}"), shown, *missing]


def answer_of(fleet: DashboardFleet, state: dict[str, str]) -> FleetAnswer | None:
    """What the page shows for an address. Asks the database. Raises NothingToShow, StoreUnusable."""
    if not fleet.exists:
        return None
    page = fleet.page(state.get("job"))
    query = state.get("q", "")
    keep = words_filter(query) if query.strip() else None
    nodes = [node for node in page.nodes if keep is None or keep(node_words(node))]
    selected = selected_nodes(state)
    different: Differences | str
    try:
        different = differences(page, selected or slow_selection(page))
    except NothingToShow as none:
        different = str(none)
    name, job = state.get("node"), state.get("job")
    node: NodePage | str | None
    try:
        node = fleet.node(name, job) if name else None
    except NothingToShow as none:
        node = str(none)
    core = _core_of(fleet, node, state.get("core", ""), job)
    shown = shown_job(page, None) if page.jobs else None
    blame = fleet.blame_so_far(shown.job) if shown is not None else "No job yet."
    metric = metric_named(state.get("metric", METRICS[0].name))
    steps: StepMap | str
    phases: PhaseTimeline | str
    try:
        steps, phases = fleet.pictures(state.get("job"))
    except NothingToShow as none:
        steps = phases = str(none)
    return FleetAnswer(page, metric, nodes, selected, different, blame, node, core, steps, phases, shown, state)


def selected_nodes(state: dict[str, str]) -> tuple[str, ...]:
    """The nodes that an address names to be compared."""
    return tuple(name for name in state.get("selected", "").split(",") if name)[:MOST_SELECTED]


def toggled(selected: tuple[str, ...], name: str) -> str:
    """The address's value after a click on a node."""
    return ",".join(one for one in selected if one != name) if name in selected else ",".join((*selected, name))


def _core_of(
    fleet: DashboardFleet, node: NodePage | str | None, core: str, job: str | None
) -> FleetCorePage | str | None:
    if not isinstance(node, NodePage) or not (core.isascii() and core.isdigit() and len(core) < 7):
        return None
    try:
        return fleet.core(node.row.node, int(core), job)
    except NothingToShow as none:
        return str(none)


def register(app: Dash, fleet: DashboardFleet) -> None:
    """Bind the page to the database."""

    answers = SharedAnswers[dict[str, Marked]](FRESH_SECONDS, stale=STALE_SECONDS)

    async def answer(asked: PageRequest) -> dict[str, Marked]:
        question = (tuple(sorted(asked.state.items())), asked.colors.name)
        return await answers.get(question, lambda: marked(render(answer_of(fleet, asked.state), asked.colors)))

    bind(app, "fleet", OUTPUTS, answer)
    hold(app, "fleet-metric", "fleet-find")
    fleet_change_panel.register(app, fleet)

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Output("fleet-cells", "clickData"),
        Input("fleet-cells", "clickData"),
        State("fleet-click", "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def open_node(click: dict[str, Any] | None, what: str, search: str) -> Any:
        name = ((click or {}).get("points") or [{}])[0].get("customdata")
        if not isinstance(name, str) or not name:
            return no_update, no_update
        if what == "select":  # the click is forgotten: a second one on the same cell takes the node away
            return search_with(search, selected=toggled(selected_nodes(state_of(search)), name)), None
        return search_with(search, node=name, core=None), None

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("fleet-cores", "clickData"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    async def open_core(click: dict[str, Any] | None, search: str) -> Any:
        number = ((click or {}).get("points") or [{}])[0].get("customdata")
        return search_with(search, core=str(number)) if isinstance(number, int) else no_update
