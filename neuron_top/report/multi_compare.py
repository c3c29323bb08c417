"""Several runs drawn: one picture of memory per core by kind with each run's throughput, and a table."""

from __future__ import annotations

from html import escape

from neuron_top.report.charts import Chart
from neuron_top.report.columns import seconds_text
from neuron_top.report.html import chart_section, listing, page, table_section, text
from neuron_top.report.markdown import cell, rows
from neuron_top.report.memory_bars import memory_bars, memory_legend, with_hatching
from neuron_top.report.svg import LEFT, WIDTH, Axis, lanes
from neuron_top.report.table import ReportColumn, ReportTable
from neuron_top.units import bytes_text, count_text, number_text, signed_percent_text
from neuron_top.views.compare import TOTAL
from neuron_top.views.metric import value_text
from neuron_top.views.multi_compare import ComparedRun, MultiComparison

_MIB = 1024.0**2
_HEIGHT = 34.0
_ROOM = 1.45
"""The axis reaches so far beyond the longest bar: the words behind the bars stand there."""
COLUMNS = (
    ReportColumn("run", lambda row: row.title),
    ReportColumn("cores", lambda row: count_text(row.cores), lambda row: row.cores),
    ReportColumn("memory per core", lambda row: bytes_text(row.memory), lambda row: row.memory),
    ReportColumn("change", lambda row: signed_percent_text(row.memory_change), lambda row: row.memory_change),
    ReportColumn("throughput", lambda row: value_text(row.throughput, row.throughput_unit), lambda row: row.throughput),
    ReportColumn("change ", lambda row: signed_percent_text(row.throughput_change), lambda row: row.throughput_change),
    ReportColumn("step", lambda row: seconds_text(row.step_seconds), lambda row: row.step_seconds),
    ReportColumn("compiling", lambda row: seconds_text(row.compile_seconds), lambda row: row.compile_seconds),
    ReportColumn(
        "graphs", lambda row: count_text(int(row.graphs)) if row.graphs is not None else "", lambda row: row.graphs
    ),
    ReportColumn("last loss", lambda row: number_text(row.loss) if row.loss is not None else "", lambda row: row.loss),
)


def html(view: MultiComparison) -> str:
    """The whole page."""
    title = ", ".join(row.title for row in view.rows)
    drawn = chart(view)
    parts = [f"<h1>{text(title)}</h1>", listing(view.answer, "headline")]
    parts += [chart_section(drawn)] if drawn is not None else []
    return page(
        title,
        "\n".join([*parts, table_section(ReportTable("Runs", COLUMNS, view.rows, "Changes: against the first."))]),
    )


def markdown(view: MultiComparison) -> str:
    """The same in Markdown, the kinds of memory as columns."""
    kinds = _kinds(view)
    body = [[column.text(row) for column in COLUMNS] for row in view.rows]
    memory = [[row.title, *(bytes_text(row.kinds.get(kind)) for kind in kinds)] for row in view.rows]
    title, summary = ", ".join(row.title for row in view.rows), "\n".join(f"- {cell(line)}" for line in view.answer)
    parts = [f"# {cell(title)}", summary, rows([column.title for column in COLUMNS], body)]
    if kinds:
        parts.append(
            "## Memory per core by kind\n\n" + rows(["run", *(kind.replace("_", " ") for kind in kinds)], memory)
        )
    return "\n\n".join(parts) + "\n"


def chart(view: MultiComparison) -> Chart | None:
    """The picture; None where no memory is known."""
    kinds = _kinds(view) or [TOTAL]
    top = max((sum(_sizes(row, kinds)) for row in view.rows), default=0.0) / _MIB
    if not top:
        return None
    axis = Axis(0.0, top * _ROOM, clock=False)
    stacked = [(row.title, memory_bars(zip(kinds, _sizes(row, kinds), strict=True))) for row in view.rows]
    drawn = lanes(axis, stacked, height=_HEIGHT)
    words = "".join(_words(row, axis, index, sum(_sizes(row, kinds)) / _MIB) for index, row in enumerate(view.rows))
    note = "Bars: mean over cores of each kind's peak; kinds need not have peaked at one moment. " + " ".join(
        view.answer
    )
    picture = with_hatching(drawn.replace("</svg>", f"{words}</svg>"))
    return Chart("Memory per core by kind, MiB, and throughput", picture, memory_legend(kinds), note)


def _words(row: ComparedRun, axis: Axis, index: int, reach: float) -> str:
    change = f" ({signed_percent_text(row.throughput_change)})" if row.throughput_change is not None else ""
    summary = f"{bytes_text(row.memory)} · {value_text(row.throughput, row.throughput_unit)}{change}"
    x = min(axis.x(reach) + 8, WIDTH - LEFT)
    return f'<text x="{x:.1f}" y="{index * _HEIGHT + _HEIGHT - 12:g}">{escape(summary)}</text>'


def _sizes(row: ComparedRun, kinds: list[str]) -> list[float]:
    return [row.kinds.get(kind, 0.0) if kind != TOTAL else row.memory or 0.0 for kind in kinds]


def _kinds(view: MultiComparison) -> list[str]:
    return list(dict.fromkeys(kind for row in view.rows for kind in row.kinds))
