"""Phases of nodes over time as lines: a bar per phase, equal nodes in one line, the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import Line, cells_in, message, rule
from neuron_top.tui.theme import Theme
from neuron_top.units import count_text, counted, duration_text
from neuron_top.views.colors import Hue
from neuron_top.views.phases import HUES, SILENT, WAITING, NodePhases, PhaseTimeline
from neuron_top.views.states import JobState

_LABEL = 24
"""Columns of names; more where names are longer, up to a third of the terminal."""
_LEAST_FOR_WORDS = 70
"""Columns of a terminal that has room for words beside the bars."""
_BAD = (SILENT, WAITING, JobState.COMPILING, JobState.EXTRACTING)
"""What is named beside a row: the first of these that took any time."""


def phase_lines(theme: Theme, view: PhaseTimeline | str, width: int) -> list[Strip]:
    """A line for each group of nodes, the time below, what the signs mean above."""
    if isinstance(view, str):
        return message(theme, "Phases by node", view, width)
    if view.start is None or view.end is None:
        nothing = f"No node of job {view.job} has reported what it does yet."
        return message(theme, "Phases by node", nothing, width)
    span = max(view.end - view.start, 1e-3)
    right = f"{counted(view.nodes, 'node')} · {duration_text(span)}"
    strips = [rule(theme, width, f"Phases by node: job {view.job}", right)]
    words = max((cells_in(_worst(row)[1]) for row in view.rows), default=0) if width >= _LEAST_FOR_WORDS else 0
    longest = max((cells_in(row.node + _alike(row)) + 1 for row in view.rows), default=0)
    label = min(max(_LABEL, longest), width // 3)
    room = max(8, width - label - words - 1)
    strips += [_row(theme, row, view.start, span, label, room, width) for row in view.rows]
    strips.append(_axis(theme, view.start, view.end, label, room, width))
    legend = Line(theme, width).gap()
    for phase in dict.fromkeys(phase for row in view.rows for phase in row.seconds):
        glyph, style = phase_sign(theme, phase)
        if legend.left > len(phase) + 4:
            legend.put(glyph, style).gap().put(phase, theme.quiet).gap(2)
    return [*strips, legend.strip()]


def _alike(row: NodePhases) -> str:
    return f" +{count_text(len(row.alike))} alike" if row.alike else ""


def phase_sign(theme: Theme, phase: str) -> tuple[str, Style]:
    """The shape and color of a phase."""
    glyphs = theme.glyphs
    shape = {
        JobState.EXTRACTING: glyphs.shades[3],
        JobState.COMPILING: glyphs.shades[1],
        WAITING: glyphs.hollow,
        JobState.RUNNING: glyphs.running,
        JobState.TRAINING: glyphs.bar,
        JobState.SERVING: glyphs.live,
        SILENT: glyphs.failed,
        JobState.FINISHED: glyphs.done,
        JobState.FAILED: glyphs.warn,
        JobState.KILLED: glyphs.warn,
        JobState.INTERRUPTED: glyphs.peak,
        JobState.CUT_OFF: glyphs.more,
    }.get(phase, glyphs.track)
    return shape, theme.hues[HUES.get(phase, Hue.GRAY)]


def _row(theme: Theme, row: NodePhases, start: float, span: float, label: int, room: int, width: int) -> Strip:
    alike = _alike(row)
    line = Line(theme, width).put(row.node, theme.strong, min(len(row.node), max(4, label - len(alike) - 1)))
    line.put(alike, theme.quiet).to(label)
    cells = [(" ", theme.faint)] * room
    for bar in row.bars:
        first, last = ((at - start) / span * room for at in (bar.start, bar.end))
        for index in range(min(room - 1, int(first)), min(room, max(int(first) + 1, round(last)))):
            cells[index] = phase_sign(theme, bar.phase)
    line.add(list(_joined(cells)))
    phase, words = _worst(row)
    if words and width >= _LEAST_FOR_WORDS:
        line.gap().put(words, phase_sign(theme, phase)[1])
    return line.strip()


def _worst(row: NodePhases) -> tuple[str, str]:
    """The phase that is named beside a row, and the words; empty where none is to be named."""
    phase = next((phase for phase in _BAD if row.seconds.get(phase)), "")
    return phase, f"{phase} {duration_text(row.seconds[phase])}" if phase else ""


def _joined(cells: list[tuple[str, Style]]) -> Iterator[tuple[str, Style]]:
    """Neighbors of one style as one piece."""
    text, style = "", cells[0][1]
    for glyph, its in cells:
        if its is not style:
            yield text, style
            text, style = "", its
        text += glyph
    yield text, style


def _axis(theme: Theme, start: float, end: float, label: int, room: int, width: int) -> Strip:
    first, last = (datetime.fromtimestamp(at, UTC) for at in (start, end))
    form = "%H:%M:%S" if first.date() == last.date() else "%m-%d %H:%M"
    line = Line(theme, width).gap(label).put(first.strftime(form), theme.quiet)
    words = f"{last.strftime(form)} UTC"
    return line.to(label + room - len(words)).put(words, theme.quiet).strip()
