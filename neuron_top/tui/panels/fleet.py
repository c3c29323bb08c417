"""The fleet as lines: jobs, a cell for each node, the columns of the table of nodes, and one node's page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import Line, bar, cells_in, chart, message, paragraph, rule
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.table import Cell, Column
from neuron_top.units import UNKNOWN, bytes_text, count_text, counted, duration_text, percent_text
from neuron_top.views.fleet import METRICS, CoreSpread, FleetMetric, FleetPage, JobRow, NodeReporting, NodeRow
from neuron_top.views.fleet_cells import CellMark, FleetCell, FleetCells, cell_mark
from neuron_top.views.fleet_differences import Differences
from neuron_top.views.fleet_node import FleetCorePage, NodePage
from neuron_top.views.fleet_text import (
    attribute_text,
    counted_nodes_text,
    fleet_text,
    jobs_text,
    node_facts,
    phases_text,
    steps_text,
    trouble_text,
)
from neuron_top.views.states import JobState

JOBS_SHOWN = 4
CELL_ROWS = 14
"""Lines of cells at most: the table of nodes needs room as well."""
_NAMES = 21
"""Columns for the names of facts, unless one is longer."""
_ACROSS = 3
"""Cells of the terminal for a node where there is room: worst, median and best core."""
_NODE_CELLS = 12
"""Least width of the names of nodes, with the sign before them."""
_TROUBLE_CELLS = 12
_LONGEST_TROUBLE = 24
"""`silent for 12 m 10 s` and more."""
_STEP_TIME_CELLS = 10
_OTHER_CELLS = 38
"""Width of the other columns that are always there."""
_CROWDED = 70
"""On fewer columns step times give way to what is wrong."""


class FleetView(NamedTuple):
    """What the panel above the table draws."""

    page: FleetPage
    cells: FleetCells
    width: int


def jobs_lines(view: FleetPage) -> int:
    """The title and some jobs."""
    return 1 + min(JOBS_SHOWN, len(view.jobs)) + (len(view.jobs) > JOBS_SHOWN)


def jobs_panel(theme: Theme, view: FleetPage, width: int, height: int) -> list[Strip]:
    """A line per job, those that run first."""
    strips = [rule(theme, width, "Fleet", fleet_text(view))]
    ordered = sorted(view.jobs, key=lambda job: not job.goes_on)
    strips += [_job_line(theme, job, width) for job in ordered[:JOBS_SHOWN]]
    if len(ordered) > JOBS_SHOWN:
        more = f"and {len(ordered) - JOBS_SHOWN} more: neurontop fleet jobs lists them"
        strips.append(Line(theme, width).gap(2).put(more, theme.quiet).strip())
    return strips


def _job_line(theme: Theme, job: JobRow, width: int) -> Strip:
    glyphs = theme.glyphs
    sign, style = {
        JobState.FINISHED: (glyphs.done, theme.good),
        JobState.RUNNING: (glyphs.running, theme.accent),
        JobState.CUT_OFF: (glyphs.warn, theme.warn),
    }.get(job.state, (glyphs.failed, theme.bad))
    line = Line(theme, width).put(f"{sign} {job.state_text}", style).gap()
    nodes = cells_in(counted_nodes_text(job)) + 2  # names give way to the number of nodes
    line.put(job.job, theme.strong, min(cells_in(job.job), max(_NODE_CELLS, line.left - nodes)))
    if job.name != job.job and cells_in(job.name) + 1 + nodes <= line.left:
        line.gap().put(job.name, theme.quiet)
    clauses = [
        (0, counted_nodes_text(job), theme.text),
        (3, phases_text(job), theme.accent),
        (4, f"step {steps_text(job)}", theme.text),
        (2, f"{counted(job.graphs_left, 'graph')} left" if job.graphs_left else "", theme.warn),
        (1, f"{job.worst_wait_node} waited {duration_text(job.worst_wait)}" if job.worst_wait else "", theme.warn),
    ]
    fitting, left = set[int](), line.left
    for importance, words, _style in sorted(clauses, key=lambda clause: clause[0]):
        if words and cells_in(words) + 2 <= left:  # a clause is shown whole or not at all
            fitting.add(importance)
            left -= cells_in(words) + 2
    for importance, words, style in clauses:
        if importance in fitting:
            line.gap(2).put(words, style)
    return line.strip()


def cells_lines(view: FleetView) -> int:
    """The title and as many lines as the cells need."""
    return 1 + min(CELL_ROWS, -(-len(view.cells.cells) // max(1, _per_line(view.width, len(view.cells.cells)))))


def _cell_width(width: int, count: int) -> int:
    return _ACROSS + 1 if count * (_ACROSS + 1) <= width * CELL_ROWS // 2 else 1


def _per_line(width: int, count: int) -> int:
    return (width - 2) // _cell_width(width, count)


def cells_panel(theme: Theme, view: FleetView, width: int, height: int) -> list[Strip]:
    """A cell per node: one glyph for the worst core, or three for worst, median and best; a sign for what is wrong."""
    cells, metric = view.cells.cells, view.cells.metric
    wide = _cell_width(width, len(cells)) > 1
    what = f"{metric.title}: {'worst, median, best core' if wide else 'worst core'} of each node"
    legend = f"{theme.glyphs.failed} silent  {theme.glyphs.warn} slow  {theme.glyphs.unknown} unknown"
    strips = [rule(theme, width, f"{what}, by name", legend if width >= len(what) + len(legend) + 14 else "")]
    per_line = max(1, _per_line(width, len(cells)))
    for first in range(0, len(cells), per_line):
        line = Line(theme, width).gap()
        for cell in cells[first : first + per_line]:
            _put_cell(line, cell, metric, wide)
        strips.append(line.strip())
    if len(strips) > height:
        left = len(cells) - (height - 2) * per_line
        more = f"and {count_text(left)} more nodes: / keeps those that match"
        strips = [*strips[: height - 1], Line(theme, width).gap().put(more, theme.quiet).strip()]
    return strips


def _put_cell(line: Line, cell: FleetCell, metric: FleetMetric, wide: bool) -> None:
    theme, style = line.theme, cell_style(line.theme, cell, metric)
    sign = {CellMark.SILENT: theme.glyphs.failed, CellMark.SLOW: theme.glyphs.warn}.get(cell.mark, "")
    best = cell.low if metric.worst_is_high else cell.high
    if not wide:
        line.put(sign or level_glyph(theme, cell.worst), style)
        return
    line.put(sign or level_glyph(theme, cell.worst), style)
    line.put(level_glyph(theme, cell.median) + level_glyph(theme, best), theme.quiet).gap()


def level_glyph(theme: Theme, level: float | None) -> str:
    """The glyph of a level: a bar of that height."""
    if level is None:
        return theme.glyphs.unknown
    steps = theme.glyphs.spark
    return steps[min(len(steps) - 1, int(level * len(steps)))]


def cell_style(theme: Theme, cell: FleetCell, metric: FleetMetric) -> Style:
    """Calm for most; warnings and failures stand out, and are signs as well."""
    if cell.mark:
        return theme.bad if cell.mark is CellMark.SILENT else theme.warn
    if cell.worst is None:
        return theme.faint
    if metric.name == "memory":
        return theme.load(cell.worst)
    return theme.accent


def node_columns(
    metric: FleetMetric, marked: frozenset[str], nodes: Sequence[NodeRow] = (), width: int = 0
) -> tuple[Column, ...]:
    """The table of nodes, `width` cells wide; the chosen metric has its own columns.

    What is wrong and the names, which differ in their ends, have room before columns that may be left out.
    """
    wrong = max((cells_in(trouble_text(row)) for row in nodes), default=0)
    is_crowded = width < _CROWDED and wrong > _TROUBLE_CELLS
    others = _OTHER_CELLS - (1 + _STEP_TIME_CELLS) * is_crowded
    trouble = max(_TROUBLE_CELLS, min(wrong, _LONGEST_TROUBLE, width - others - _NODE_CELLS))
    longest = 2 + max((cells_in(row.node) for row in nodes), default=0)
    names = max(_NODE_CELLS, min(longest, width - others - trouble, width * 3 // 10))
    return (
        Column("", 1, lambda row, theme, width: [(theme.glyphs.mark if row.node in marked else " ", theme.title)]),
        Column("Node", names, _node_cell, lambda row: row.node, grow=1),
        Column("Phase", 11, _phase_cell, lambda row: row.phase),
        Column("Step", 7, lambda row, theme, width: [(count_text(row.step), theme.text)], lambda row: row.step or -1,
               True, down=True, least=72),
        Column("Step time", _STEP_TIME_CELLS, lambda row, theme, width: [(duration_text(row.step_seconds), theme.text)],
               lambda row: row.step_seconds or 0.0, True, down=True, least=_CROWDED if is_crowded else 0),
        *_metric_columns(metric),
        Column("Trouble", trouble, lambda row, theme, width: [(trouble_text(row), theme.warn)], grow=3),
        Column("Job", 10, lambda row, theme, width: [(jobs_text(row), theme.quiet)], lambda row: row.job, grow=1,
               least=110),
    )  # fmt: skip


def _metric_columns(metric: FleetMetric) -> tuple[Column, ...]:
    def part(title: str, of: Callable[[CoreSpread], float | None], *, strong: bool = False, least: int = 0) -> Column:
        def value(row: NodeRow) -> float | None:
            spread = row.metrics.get(metric.name)
            return of(spread) if spread is not None else None

        def cell(row: NodeRow, theme: Theme, width: int) -> Cell:
            return [(metric.text(value(row)), theme.strong if strong else theme.text)]

        return Column(title, 9, cell, lambda row: value(row) or 0.0, True, least=least, down=metric.worst_is_high)

    values = (
        part("Worst", lambda spread: spread.worst, strong=True),
        part("Median", lambda spread: spread.median, least=80),
        part("Spread", lambda spread: None if metric.words else spread.high - spread.low, least=90),
    )
    shares = metric.name == "utilization"
    drawn = Column(metric.title.capitalize(), 12, _bar_cell, None, least=100)
    return (*((drawn,) if shares else ()), *values)


def _bar_cell(row: NodeRow, theme: Theme, width: int) -> Cell:
    return bar(theme, row.worst("utilization"), width)


def _node_cell(row: NodeRow, theme: Theme, width: int) -> Cell:
    sign = {CellMark.SILENT: theme.glyphs.failed, CellMark.SLOW: theme.glyphs.warn}.get(cell_mark(row), " ")
    return [(f"{sign} ", theme.bad if row.state is NodeReporting.SILENT else theme.warn), (row.node, theme.strong)]


def _phase_cell(row: NodeRow, theme: Theme, width: int) -> Cell:
    if row.state is NodeReporting.REPORTING:
        return [(row.phase or UNKNOWN, theme.text)]
    return [(str(row.state), theme.bad if row.state is NodeReporting.SILENT else theme.quiet)]


# One node


def node_page_lines(theme: Theme, page: NodePage | str, width: int) -> list[Strip]:
    """The page of a node; a text while it is read, or where it cannot be."""
    if isinstance(page, str):
        return message(theme, "Node", page, width)
    row = page.row
    hint = "enter opens its worst core" if page.cores else ""
    strips = [rule(theme, width, f"Node {row.node}", f"{row.cluster}  {hint}".strip())]
    strips += _facts(theme, node_facts(row), width)
    for name, values in page.cores.items():
        strips += _cores(theme, name, values, width)
    strips += _history(theme, page, width)
    strips.append(rule(theme, width, "Attributes"))
    attributes = [(name, attribute_text(name, value) or UNKNOWN) for name, value in sorted(row.attributes.items())]
    return [*strips, *_facts(theme, attributes, width)]


def _facts(theme: Theme, facts: Sequence[tuple[str, str]], width: int) -> list[Strip]:
    """A line for each name and its text; names such as those of variables may be long."""
    longest = max((cells_in(name) for name, _ in facts), default=0)
    names = min(max(_NAMES, longest), width // 2)
    return [
        Line(theme, width).gap(2).put(name, theme.quiet, names).gap().put(text, theme.text).strip()
        for name, text in facts
    ]


def _cores(theme: Theme, name: str, values: Sequence[float | None], width: int) -> list[Strip]:
    """A glyph for each core of a metric, 64 a line at most."""
    known = [value for value in values if value is not None]
    top = 1.0 if name == "utilization" else max(known, default=0.0) or 1.0
    words = counted(len(known), "core")
    metric = next((metric for metric in METRICS if metric.name == name), None)
    if metric is not None:
        ends = (metric.text(min(known, default=None)), metric.text(max(known, default=None)))
        words += f", {' to '.join(dict.fromkeys(ends))}"
    strips = [rule(theme, width, f"Cores: {name}", words)]
    per_line = max(8, min(64, (width - 10) // 8 * 8))
    for first in range(0, len(values), per_line):
        line = Line(theme, width).gap(2).put(f"c{first}", theme.quiet, 6)
        levels = [None if value is None else value / top for value in values[first : first + per_line]]
        line.put("".join(level_glyph(theme, level) for level in levels), theme.accent)
        strips.append(line.strip())
    return strips


def _history(theme: Theme, page: NodePage, width: int) -> list[Strip]:
    history = page.history
    strips = [rule(theme, width, "Utilization, last hour", "median core" if history.median else "")]
    if history.missing:
        return [*strips, *paragraph(theme, history.missing, width, theme.quiet)]
    values = [value for _time, value in history.median]
    strips += [
        Line(theme, width).gap(2).put(text, theme.accent).strip() for text in chart(theme, values, width - 4, 5, 1.0)
    ]
    worst = min((value for _time, value in history.low), default=None)
    words = f"least of the hour {percent_text(worst)}"
    return [*strips, Line(theme, width).gap(2).put(words, theme.quiet).strip()]


def core_page_lines(theme: Theme, page: FleetCorePage | str, width: int) -> list[Strip]:
    """The page of a core."""
    if isinstance(page, str):
        return message(theme, "Core", page, width)
    strips = [rule(theme, width, f"Core {page.core} of {page.row.node}", f"{page.cores} cores  ← → the next one")]
    head = Line(theme, width).gap(2).put("now", theme.title, 14).put("this core", theme.title, 14, True)
    strips.append(head.put("median core", theme.title, 14, True).gap(2).put("place", theme.title).strip())
    for one in page.values:
        line = Line(theme, width).gap(2).put(one.metric, theme.quiet, 14).put(one.text, theme.strong, 14, True)
        place = f"{one.place} of {page.cores}" if one.place is not None else UNKNOWN
        strips.append(line.put(one.median, theme.text, 14, True).gap(2).put(place, theme.quiet).strip())
    history = page.history
    if history.missing:
        strips.append(rule(theme, width, "Last hour"))
        return [*strips, *paragraph(theme, history.missing, width, theme.quiet)]
    top = max((value for _, value in history.memory), default=0.0) or 1.0
    for title, points, most, words in (
        ("Utilization, last hour", history.utilization, 1.0, percent_text(1.0)),
        ("Memory, last hour", history.memory, top, bytes_text(top)),
    ):
        strips.append(rule(theme, width, title, f"top {words}" if points else "no samples"))
        drawn = chart(theme, [value for _, value in points], width - 4, 5, most) if points else ()
        strips += [Line(theme, width).gap(2).put(text, theme.accent).strip() for text in drawn]
    return strips


_WIDE_DIFFERENCES = 88
"""Columns from which long names and values leave room for how likely a difference is."""


def differences_lines(theme: Theme, found: Differences | str, width: int) -> list[Strip]:
    """What is different about some nodes."""
    if isinstance(found, str):
        strips = message(theme, "What is different", found, width)
        hint = "Mark nodes with space on the Fleet screen: D compares marked nodes with all others."
        return [*strips, *paragraph(theme, hint, width, theme.quiet)]
    shown = ", ".join(found.selected[:8]) + (f" and {len(found.selected) - 8} more" if len(found.selected) > 8 else "")
    strips = [rule(theme, width, "What is different", f"{counted(len(found.selected), 'node')} against {found.rest}")]
    strips += paragraph(theme, shown, width, theme.strong)
    named, valued = (22, 26) if width >= _WIDE_DIFFERENCES else (20, 20)
    if found.rows:
        head = Line(theme, width).gap(2).put("attribute", theme.title, named).put("value", theme.title, valued)
        strips.append(head.put("these", theme.title, 8, True).put("others", theme.title, 8, True).strip())
    for row in found.rows:
        line = Line(theme, width).gap(2).put(row.attribute, theme.text, named).put(row.value, theme.strong, valued)
        line.put(percent_text(row.selected_share), theme.warn, 8, True)
        line.put(percent_text(row.rest_share), theme.text, 8, True).gap(2)
        strips.append(line.put(f"by chance {row.chance:.2g}", theme.quiet).strip())
    if not found.rows:
        strips += paragraph(theme, "No attribute sets them apart.", width)
    words = f"No clear difference in {', '.join(found.alike)}." if found.alike else ""
    return [*strips, *(paragraph(theme, words, width, theme.quiet) if words else ())]
