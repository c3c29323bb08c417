"""The blame of a job as lines: sums, what is wrong, graphs, what was compiled again, and nodes over time."""

from __future__ import annotations

from textual.strip import Strip

from neuron_top.tui.drawing import Line, fact, message, paragraph, rule
from neuron_top.tui.theme import Theme
from neuron_top.views.blame.records import Blame, GraphBlame, Repeated
from neuron_top.views.blame.text import (
    ADVICE,
    compiles_text,
    core_hours_text,
    graph_cells,
    headline,
    notes,
    repeated_cells,
    span_text,
    timeline_label,
    total_cost,
    wait_text,
)
from neuron_top.views.blame.timeline import BlameTimeline, Doing, blame_timeline

GRAPHS_SHOWN = 20
WAITS_SHOWN = 3
_LABEL = 24


def blame_lines(theme: Theme, found: Blame | str, width: int) -> list[Strip]:
    """The page; a text while it is added up, or where it cannot be."""
    if isinstance(found, str):
        return message(theme, "Who compiled, who waited", found, width)
    strips = [rule(theme, width, "Who compiled, who waited", "neurontop fleet blame")]
    for what, text in headline(found):
        strips += fact(theme, what, text, width, theme.text, cells=10)
    for text in notes(found):
        strips += paragraph(theme, f"{theme.glyphs.warn} {text}", width, theme.warn)
    drawn = blame_timeline(found, max(10, width - _LABEL - 4))
    if drawn is not None:
        strips += _timeline(theme, drawn, width)
    for repeated in found.repeated:
        strips += _repeated(theme, repeated, width)
    for graph in found.graphs[:GRAPHS_SHOWN]:
        strips += _graph(theme, graph, width)
    if len(found.graphs) > GRAPHS_SHOWN:
        more = f"{len(found.graphs) - GRAPHS_SHOWN} more graphs cost less: neurontop fleet blame {found.job} --graphs N"
        strips += paragraph(theme, more, width, theme.quiet)
    return strips


def _timeline(theme: Theme, drawn: BlameTimeline, width: int) -> list[Strip]:
    span = span_text(drawn.start, drawn.end)
    strips = [rule(theme, width, "Nodes over time: C compiling, w waiting", span)]
    styles = {Doing.NOTHING: theme.faint, Doing.COMPILING: theme.accent, Doing.WAITING: theme.warn}
    for row in drawn.rows:
        line = Line(theme, width).gap(2).put(timeline_label(row), theme.strong, _LABEL)
        for cell in row.cells:
            line.put(cell, styles[cell])
        strips.append(line.strip())
    return strips


def _repeated(theme: Theme, row: Repeated, width: int) -> list[Strip]:
    because, compiles, graphs, nodes, seconds, hours, text = repeated_cells(row)
    sums = f"{compiles} compiles of {graphs} graphs on {nodes}: {seconds} of ranks, {hours} core-hours"
    strips = [rule(theme, width, f"Compiled again: {because}", ""), *paragraph(theme, sums, width, theme.warn)]
    strips += paragraph(theme, text, width) if row.text else []
    return [*strips, *paragraph(theme, ADVICE[row.because], width, theme.quiet)]


def _graph(theme: Theme, row: GraphBlame, width: int) -> list[Strip]:
    _key, compiler, took, why, waited, longest, holders, _hours = graph_cells(row)
    strips = [rule(theme, width, row.graph, f"{core_hours_text(total_cost(row))} core-hours")]
    if row.compiles:
        strips += paragraph(theme, f"compiled by {compiler}, {took}: {why}", width)
    for text in compiles_text(row):
        strips += paragraph(theme, text, width, theme.quiet, left=4)
    if row.waits:
        who = f", for {holders}" if holders else ""
        strips += paragraph(theme, f"waited: {waited}, {longest} at longest{who}", width, theme.warn)
        strips += [
            Line(theme, width).gap(4).put(wait_text(wait), theme.quiet).strip() for wait in row.waits[:WAITS_SHOWN]
        ]
        if len(row.waits) > WAITS_SHOWN:
            strips.append(
                Line(theme, width).gap(4).put(f"and {len(row.waits) - WAITS_SHOWN} more nodes", theme.quiet).strip()
            )
    return strips
