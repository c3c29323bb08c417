"""A report as one HTML file that opens offline: styles, script and charts are in it, and its own policy forbids
every request. Whatever comes from logs is text, escaped, with control characters made visible.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

from neuron_top import __version__
from neuron_top.escapes import visible
from neuron_top.report.charts import Chart, charts
from neuron_top.report.columns import metric_text, tables, unknown_words
from neuron_top.report.table import ReportTable
from neuron_top.units import TO_THE_SECOND, moment_text
from neuron_top.views.diagnosis import DiagnosisView, diagnosis_view, other_findings
from neuron_top.views.metric import Metric
from neuron_top.views.report import Report

MOST_ROWS = 2000
_COMMAND = re.compile(r"`([^`]+)`")
_CARDS = ("wall", "compile_wall", "compile_share", "hit_rate", "saved", "waiting", "failures", "late", "step_seconds",
          "throughput", "loss", "cost")  # fmt: skip
_TORCH_CARDS = ("wall", "compile_wall", "compile_share", "torch_compiles", "torch_breaks", "torch_recompiles",
                "torch_late", "torch_misses", "step_seconds", "throughput", "loss", "cost")  # fmt: skip
"""Of a job that PyTorch alone compiled: it has no graphs of the compile cache."""


def html(view: Report) -> str:
    """The whole page."""
    title = visible(view.title) or "Run"
    when = moment_text(view.start, TO_THE_SECOND) if view.start is not None else ""
    parts = [
        f"<h1>{text(title)} <small>{text(view.state or 'read from a log')}</small></h1>",
        f'<p class="when">{when}</p>',
        _diagnosis(diagnosis_view(view.diagnosis, goes_on=view.goes_on)) if view.diagnosis is not None else "",
        listing(view.headline, "headline"),
        _cards(view.metrics),
        section("What to do next time", advice(view.recommendations)) if view.recommendations else "",
        *(chart_section(chart) for chart in charts(view)),
        *(table_section(table) for table in tables(view)),
        section("All metrics", _metrics(view.metrics), unknown_words(view.metrics)),
        section("Environment", pairs(view.environment)) if view.environment else "",
        section("Notes", listing(view.notes)) if view.notes else "",
    ]
    return page(title, "\n".join(part for part in parts if part))


def page(title: str, body: str) -> str:
    """A self-contained page around `body`."""
    asset = files("neuron_top.assets").joinpath("report")
    return Template(asset.joinpath("page.html").read_text(encoding="utf-8")).substitute(
        title=text(title),
        body=body,
        style=asset.joinpath("report.css").read_text(encoding="utf-8"),
        script=asset.joinpath("report.js").read_text(encoding="utf-8"),
        version=__version__,
    )


def text(value: str) -> str:
    """Text as HTML."""
    return escape(visible(value))


def section(heading: str, body: str, note: str = "") -> str:
    """A heading with what belongs to it."""
    note_html = f'<p class="note">{text(note)}</p>' if note else ""
    return f"<section><h2>{text(heading)}</h2>{note_html}{body}</section>"


def listing(items: Sequence[str], kind: str = "") -> str:
    """Sentences one below the other."""
    return f'<ul class="{kind}">' + "".join(f"<li>{text(item)}</li>" for item in items) + "</ul>"


def advice(items: Sequence[str]) -> str:
    """Sentences in order of weight; what stands between back ticks is a command."""
    marked = (_COMMAND.sub(r"<code>\1</code>", text(item)) for item in items)
    return "<ol>" + "".join(f"<li>{item}</li>" for item in marked) + "</ol>"


def chart_section(chart: Chart) -> str:
    """A chart with heading and legend."""
    legend = "".join(f'<span><i class="key {kind}"></i>{text(meaning)}</span>' for kind, meaning in chart.legend)
    drawn = f'<div class="scroll">{chart.svg}</div>'
    return section(chart.heading, f'<div class="legend">{legend}</div>{drawn}' if legend else drawn, chart.note)


def table_section(table: ReportTable) -> str:
    """A table that sorts by a click on a column's head; empty columns are left out."""
    cells = [[column.text(row) for column in table.columns] for row in table.rows[:MOST_ROWS]]
    used = [index for index, _ in enumerate(table.columns) if any(row[index] for row in cells)]
    head = "".join(f'<th scope="col"><button type="button">{text(table.columns[i].title)}</button></th>' for i in used)
    body = "".join(
        "<tr>" + "".join(_cell(table, row, line[index], index) for index in used) + "</tr>"
        for row, line in zip(table.rows, cells, strict=False)
    )
    more = len(table.rows) - len(cells)
    tail = f'<p class="note">and {more:,} more rows; the JSON form has them all</p>' if more else ""
    whole = (
        f'<div class="scroll"><table class="sortable"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )
    return section(table.heading, whole + tail, table.note)


def pairs(items: Sequence[tuple[str, str]]) -> str:
    """Names with values."""
    rows = "".join(f'<tr><th scope="row">{text(name)}</th><td>{text(value)}</td></tr>' for name, value in items)
    return f'<div class="scroll"><table class="pairs">{rows}</table></div>'


def _diagnosis(view: DiagnosisView) -> str:
    """Verdict, cause with the lines around it, next step, and what else was seen."""
    parts = [f'<p class="verdict{" failure" if view.failed else ""}">{text(view.verdict)}</p>']
    if view.text:
        certainty = f" · {view.certainty}" if view.certainty else ""
        parts.append(f'<p>{text(view.text)}</p><p class="note">{text(view.where + certainty)}</p>')
        lines = (
            f'<tr{" class=cause" if line.is_cause else ""}><td class="number">{line.line}</td>'
            f"<td>{text(line.text)}</td></tr>"
            for line in view.lines
        )
        parts.append(f'<div class="scroll"><table class="evidence">{"".join(lines)}</table></div>')
    if view.next_step:
        parts.append(f"<p><b>Next:</b> {text(view.next_step)}</p>")
    if view.others:
        parts.append(f'<p class="note">Also seen</p>{listing(other_findings(view))}')
    return section("Diagnosis", "".join(parts))


def _cell(table: ReportTable, row: object, content: str, index: int) -> str:
    sort = table.columns[index].sort
    if sort is None:
        return f"<td>{text(content)}</td>"
    value = sort(row)
    return f'<td class="number" data-value="{"" if value is None else repr(float(value))}">{text(content)}</td>'


def _cards(metrics: Sequence[Metric]) -> str:
    known = {metric.name: metric for metric in metrics}
    only_pytorch = known["torch_compiles"].value and not known["graphs"].value
    shown = [
        known[name]
        for name in (_TORCH_CARDS if only_pytorch else _CARDS)
        if name in known and known[name].value is not None
    ]
    cards = "".join(
        f'<div class="card" title="{text(one.note)}"><b>{text(metric_text(one))}</b>{text(one.label)}'
        f"<em>{text(one.provenance.value)}</em></div>"
        for one in shown
    )
    return f'<div class="cards">{cards}</div>'


def _metrics(metrics: Sequence[Metric]) -> str:
    """Those that are known; the others are named once, in front."""
    body = "".join(
        f'<tr><th>{text(one.label)}</th><td class="number">{text(metric_text(one))}</td>'
        f"<td>{text(one.provenance.value)}</td><td>{text(one.note)}</td></tr>"
        for one in metrics
        if one.value is not None
    )
    head = "<tr><th>metric</th><th>value</th><th>provenance</th><th>meaning</th></tr>"
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'
