"""A report as Markdown: what a pull request, a job page or a terminal shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neuron_top.escapes import visible
from neuron_top.late_pattern import late_pattern
from neuron_top.report.columns import metric_text, tables, unknown_words
from neuron_top.report.table import ReportTable
from neuron_top.units import TO_THE_SECOND, moment_text
from neuron_top.views.diagnosis import DiagnosisView, diagnosis_view, other_findings
from neuron_top.views.gate import DIAGNOSIS, END, GateVerdict
from neuron_top.views.report import Report

MOST_ROWS = 50
"""Rows of a table; more are named in a line. The whole is in the HTML and JSON forms."""
_BLOCK = late_pattern(r"#{1,6}(?: |$)|>|~~~|\[[^\]]*\]:|[-+*](?: |$)|(?:[-_*=] ?){3,}$")
"""What begins a heading, a quotation, a fence, the address of a link, a list or a rule."""


def markdown(view: Report) -> str:
    """The whole report."""
    parts = [f"# {cell(view.title) or 'Run'}: {view.state or 'read from a log'}"]
    if view.start is not None:
        parts.append(moment_text(view.start, TO_THE_SECOND))
    if view.diagnosis is not None:
        parts.append(_diagnosis(diagnosis_view(view.diagnosis, goes_on=view.goes_on)))
    parts.append("\n".join(f"- {paragraph(line)}" for line in view.headline))
    if view.recommendations:
        parts.append(
            "## What to do next time\n\n" + "\n".join(f"1. {paragraph(line)}" for line in view.recommendations)
        )
    known = [metric for metric in view.metrics if metric.value is not None]
    parts.append(
        "## Figures\n\n"
        + rows(
            ("", "", "known how", "meaning"),
            [(one.label, metric_text(one), one.provenance.value, one.note) for one in known],
        )
    )
    if words := unknown_words(view.metrics):
        parts.append(words)
    parts += [_table(table) for table in tables(view)]
    if view.environment:
        parts.append("## Environment\n\n" + rows(("", ""), view.environment))
    if view.notes:
        parts.append("## Notes\n\n" + "\n".join(f"- {paragraph(note)}" for note in view.notes))
    return "\n\n".join(parts) + "\n"


def _diagnosis(view: DiagnosisView) -> str:
    """Verdict, cause with the lines around it, next step, and what else was seen."""
    parts = ["## Diagnosis", f"**{cell(view.verdict)}**"]
    if view.text:
        certainty = f" · {view.certainty}" if view.certainty else ""
        parts.append(f"{paragraph(view.text)}\n\n{cell(view.where + certainty)}")
        lines = [("**cause**" if line.is_cause else "", str(line.line), line.text) for line in view.lines]
        parts.append(rows(("", "line", "text"), lines))
    if view.next_step:
        parts.append(f"**Next:** {cell(view.next_step)}")
    if view.others:
        parts.append("Also seen:\n\n" + "\n".join(f"- {paragraph(other)}" for other in other_findings(view)))
    return "\n\n".join(parts)


def rows(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table of text cells."""
    head = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return "\n".join(head + [f"| {' | '.join(cell(text) for text in line)} |" for line in lines])


def cell(text: str) -> str:
    """Text that cannot break out of its cell, nor become a tag, a link or an image."""
    flat = visible(" ".join(text.split()))
    safe = (
        flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'" if "``" in flat else "`")
    )
    return safe.replace("](", "]\\(")


def paragraph(text: str) -> str:
    """As `cell`, for text at the start of a paragraph or an item of a list: it begins no block of its own."""
    safe = cell(text)
    return f"\\{safe}" if _BLOCK.match(safe) else safe


def _table(table: ReportTable) -> str:
    shown = table.rows[:MOST_ROWS]
    lines = [tuple(column.text(row) for column in table.columns) for row in shown]
    used = [index for index, _ in enumerate(table.columns) if any(line[index] for line in lines)]
    text = rows(
        tuple(table.columns[index].title for index in used), [[line[index] for index in used] for line in lines]
    )
    more = len(table.rows) - len(shown)
    note = f"{table.note}\n\n" if table.note else ""
    return f"## {table.heading}\n\n{note}{text}" + (f"\n\n… and {more:,} more" if more else "")


def gate(view: Report, verdicts: Sequence[GateVerdict]) -> str:
    """What a gate found, as a summary for a job page."""
    broken = sum(not verdict.passed for verdict in verdicts)
    head = f"## {'❌' if broken else '✅'} {cell(view.title) or 'Run'}: "
    head += f"{broken} of {len(verdicts)} thresholds broken" if broken else f"all {len(verdicts)} thresholds kept"
    lines = [
        (
            "kept" if one.passed else "**broken**",
            one.what if one.option in (END, DIAGNOSIS) else f"--{one.option}",
            one.reason,
        )
        for one in verdicts
    ]
    facts = "\n".join(f"- {paragraph(line)}" for line in view.headline)
    return f"{head}\n\n{rows(('', 'threshold', 'finding'), lines)}\n\n{facts}\n"
