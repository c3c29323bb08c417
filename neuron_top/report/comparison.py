"""A comparison drawn: HTML with curves on common axes and memory per core by category, or Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_top.report.charts import Chart
from neuron_top.report.columns import seconds_text
from neuron_top.report.html import chart_section, listing, page, table_section, text
from neuron_top.report.markdown import cell, rows
from neuron_top.report.memory_bars import memory_bars, memory_legend, with_hatching
from neuron_top.report.svg import Axis, Point, lanes, lines
from neuron_top.report.table import ReportColumn, ReportTable
from neuron_top.units import bytes_text, number_text, signed_percent_text
from neuron_top.views.compare import TOTAL, CacheComparison, Comparison, Curves, MemoryPair, Pair
from neuron_top.views.metric import Unit, value_text
from neuron_top.views.report_time import ReportStep

_MIB = 1024.0**2
MOST_ROWS = 200

METRICS = (
    ReportColumn("", lambda row: row.label),
    ReportColumn("A", lambda row: value_text(row.a, row.unit), lambda row: row.a),
    ReportColumn("B", lambda row: value_text(row.b, row.unit_b or row.unit), lambda row: row.b),
    ReportColumn("change", lambda row: signed_percent_text(row.change), lambda row: row.change),
    ReportColumn("known how", lambda row: _basis(row)),
)
GRAPHS = (
    ReportColumn("graph", lambda row: row.key),
    ReportColumn("in A", lambda row: row.a or "—"),
    ReportColumn("in B", lambda row: row.b or "—"),
    ReportColumn("compile A", lambda row: seconds_text(row.a_seconds), lambda row: row.a_seconds),
    ReportColumn("compile B", lambda row: seconds_text(row.b_seconds), lambda row: row.b_seconds),
)
MEMORY = (
    ReportColumn("peak per core, mean", lambda row: row.kind.replace("_", " ")),
    ReportColumn("A", lambda row: bytes_text(row.a), lambda row: row.a),
    ReportColumn("B", lambda row: bytes_text(row.b), lambda row: row.b),
    ReportColumn("change", lambda row: signed_percent_text(row.change), lambda row: row.change),
)
ENVIRONMENT = (
    ReportColumn("", lambda row: row[0]),
    ReportColumn("A", lambda row: row[1]),
    ReportColumn("B", lambda row: row[2]),
)


def html(view: Comparison | CacheComparison) -> str:
    """The whole page."""
    parts = [
        f"<h1>A: {text(view.a)}<br>B: {text(view.b)}</h1>",
        listing(view.answer, "headline"),
        *(chart_section(chart) for chart in charts(view)),
        *(table_section(table) for table in tables(view)),
    ]
    return page(f"{view.a} and {view.b}", "\n".join(parts))


def markdown(view: Comparison | CacheComparison) -> str:
    """The same in Markdown."""
    parts = [f"# A: {cell(view.a)} · B: {cell(view.b)}", "\n".join(f"- {cell(line)}" for line in view.answer)]
    for table in tables(view):
        body = [[column.text(row) for column in table.columns] for row in table.rows]
        note = f"{table.note}\n\n" if table.note else ""
        parts.append(f"## {table.heading}\n\n{note}" + rows([column.title for column in table.columns], body))
    return "\n\n".join(parts) + "\n"


def tables(view: Comparison | CacheComparison) -> list[ReportTable]:
    """Environment first: it most often explains the rest."""
    runs = view if isinstance(view, Comparison) else None
    note, left = f"{view.only_a} only in A, {view.only_b} only in B", len(view.graphs) - MOST_ROWS
    note += f"; {left:,} more are not listed, the JSON form has them all" if left > 0 else ""
    found = [
        ReportTable("What differs in the environment", ENVIRONMENT, runs.environment if runs is not None else ()),
        ReportTable("Metrics", METRICS, view.metrics),
        ReportTable("Memory per core", MEMORY, runs.memory if runs is not None else ()),
        ReportTable("Graphs", GRAPHS, view.graphs[:MOST_ROWS], note),
    ]
    return [table for table in found if table.rows]


def charts(view: Comparison | CacheComparison) -> list[Chart]:
    """Memory per core by category, and both runs' curves on one axis."""
    if not isinstance(view, Comparison):
        return []
    found = _memory(view)
    for curves in view.curves:
        axis = _axis(curves)
        if axis is not None:
            label = bytes_text if curves.unit == Unit.BYTES else number_text
            title = curves.name.capitalize() + (f", {curves.unit}" if curves.unit not in ("", Unit.BYTES) else "")
            both = [("A", _points(curves.a)), ("", []), ("B", _points(curves.b))]
            drawn = lines(axis, both, label, zero=curves.unit == Unit.BYTES)
            found.append(Chart(title, drawn, (("done", "A"), ("b", "B"))))
    return found


def _memory(view: Comparison) -> list[Chart]:
    kinds = [one for one in view.memory if one.kind != TOTAL] or list(view.memory)
    top = max((sum(side(kind) or 0.0 for kind in kinds) for side in (_a, _b)), default=0.0)
    if not top:
        return []
    axis = Axis(0.0, top / _MIB, clock=False)
    stacked = [(name, memory_bars((one.kind, side(one)) for one in kinds)) for name, side in (("A", _a), ("B", _b))]
    drawn = with_hatching(lanes(axis, stacked, height=34.0))
    note = f"mean of {view.cores[0]} and {view.cores[1]} cores; {' '.join(view.answer[:2])}"
    return [Chart("Peak memory per core by category, MiB", drawn, memory_legend(one.kind for one in kinds), note)]


def _a(one: MemoryPair) -> float | None:
    return one.a


def _b(one: MemoryPair) -> float | None:
    return one.b


def _axis(curves: Curves) -> Axis | None:
    places = [point.time for point in (*curves.a, *curves.b)]
    if not places or max(places) <= min(places):
        return None
    return Axis(min(places), max(places), not curves.by_step)


def _points(points: Sequence[ReportStep]) -> list[Point]:
    return [(point.time, point.value) for point in points]


def _basis(row: Pair) -> str:
    return (
        row.a_provenance.value
        if row.a_provenance == row.b_provenance
        else f"{row.a_provenance.value} / {row.b_provenance.value}"
    )
