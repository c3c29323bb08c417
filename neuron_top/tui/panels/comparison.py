"""Two recordings side by side, as lines: the answer first, then what differs, metrics, memory, curves, graphs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import Line, bar, cells_in, downsample, fact, paragraph, rule, spark
from neuron_top.tui.panels.compiling import short_key
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, duration_text, number_text, signed_percent_text
from neuron_top.views.colors import Hue
from neuron_top.views.compare import Comparison, Curves, GraphPair, MemoryPair, Pair
from neuron_top.views.memory_place import places_differ
from neuron_top.views.metric import Unit, value_text

SAME = 0.01
"""A smaller change counts as none and is drawn faintly."""
LABEL = 34
VALUE = 14
LEAST_VALUE = 11
"""`10.49 seq/s`"""
CHANGE = 9
STACKED = 100
"""On fewer columns values that are too long for half a line stand below each other."""
NARROW = 80
"""On fewer columns the label of a metric gives way to its values."""


def comparison_lines(theme: Theme, view: Comparison, width: int) -> list[Strip]:
    """The whole page."""
    strips = [rule(theme, width, "Two recordings")]
    for name, label in ((view.a, "A"), (view.b, "B")):
        strips.append(Line(theme, width).gap(2).put(label, theme.title, 3).put(name, theme.strong).strip())
    strips += [strip for sentence in view.answer for strip in paragraph(theme, sentence, width, theme.text)]
    sections: tuple[tuple[str, str, Sequence[Strip]], ...] = (
        ("What differs in the environment", "", _environment(theme, view.environment, width)),
        ("Metrics", "change is (B - A) / A", _metrics(theme, view.metrics, width)),
        (
            "Peak memory per core, mean",
            _whose(view),
            [_memory(theme, pair, _largest(view), width) for pair in view.memory],
        ),
        ("Curves", "from each run's start", _all_curves(theme, view, width)),
        (
            "Graphs",
            f"{view.only_a} only in A, {view.only_b} only in B",
            [_graph(theme, graph, width) for graph in view.graphs],
        ),
    )
    for title, summary, lines in sections:
        if lines:
            strips += [Line(theme, width).strip(), rule(theme, width, title, summary), *lines]
    return strips


def _change(theme: Theme, change: float | None) -> Style:
    return theme.quiet if change is None or abs(change) < SAME else theme.strong


def _environment(theme: Theme, rows: Sequence[tuple[str, str, str]], width: int) -> list[Strip]:
    strips = []
    for name, in_a, in_b in rows:
        line = Line(theme, width).gap(2).put(name, theme.quiet, LABEL).gap()
        half = max(8, line.left // 2 - 2)
        if width < STACKED and max(cells_in(in_a), cells_in(in_b)) > half:
            strips.append(line.strip())
            for label, value in (("A", in_a), ("B", in_b)):
                strips += fact(theme, label, value or theme.glyphs.unknown, width, theme.text, cells=2)
            continue
        in_a, in_b = from_difference(in_a, in_b, half, theme.glyphs.more)
        line.put(in_a or theme.glyphs.unknown, theme.text, half).gap(2).put(in_b or theme.glyphs.unknown)
        strips.append(line.strip())
    return strips


def from_difference(one: str, other: str, room: int, more: str) -> tuple[str, str]:
    """Two texts, one of which is longer than `room`, starting one word before they differ."""
    if max(len(one), len(other)) <= room:
        return one, other
    pairs = enumerate(zip(one, other, strict=False))
    same = next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
    start = one.rfind(" ", 0, max(0, one.rfind(" ", 0, same))) + 1
    return (more + one[start:], more + other[start:]) if start > 1 else (one, other)


def _cells(width: int) -> tuple[int, int]:
    """Cells of a metric's label and of each of its values."""
    values = VALUE if width >= NARROW else LEAST_VALUE
    return max(8, min(LABEL, width - 2 - 2 * (1 + values) - 1 - CHANGE)), values


def _metrics(theme: Theme, pairs: Sequence[Pair], width: int) -> list[Strip]:
    if not pairs:
        return []
    label_cells, value_cells = _cells(width)
    head = Line(theme, width).gap(2).put("", theme.quiet, label_cells)
    for label in ("A", "B"):
        head.gap().put(label, theme.title, value_cells, right=True)
    head.gap().put("change", theme.quiet, CHANGE, right=True)
    return [head.strip(), *(_pair(theme, pair, width) for pair in pairs)]


def _pair(theme: Theme, pair: Pair, width: int) -> Strip:
    label_cells, value_cells = _cells(width)
    line = Line(theme, width).gap(2).put(pair.label, theme.quiet, label_cells)
    for value, unit in ((pair.a, pair.unit), (pair.b, pair.unit_b or pair.unit)):
        line.gap().put(value_text(value, unit), theme.text, value_cells, right=True)
    line.gap().put(signed_percent_text(pair.change), _change(theme, pair.change), CHANGE, right=True)
    known = (
        pair.a_provenance.value
        if pair.a_provenance == pair.b_provenance
        else f"{pair.a_provenance.value} / {pair.b_provenance.value}"
    )
    return (line.gap(2).put(known, theme.quiet) if line.left >= 2 + len(known) else line).strip()


def _whose(view: Comparison) -> str:
    cores, (one, other) = f"{view.cores[0]} and {view.cores[1]} cores", view.memory_of
    return f"{cores}; A: that of {one}, B: that of {other}" if places_differ(one, other) else cores


def _largest(view: Comparison) -> float:
    return max((value for pair in view.memory for value in (pair.a, pair.b) if value is not None), default=0.0) or 1.0


def _memory(theme: Theme, pair: MemoryPair, largest: float, width: int) -> Strip:
    line = Line(theme, width).gap(2).put(pair.kind.replace("_", " "), theme.quiet, 16)
    size = max(4, min(24, (width - 60) // 2))
    for value in (pair.a, pair.b):
        line.gap().add(bar(theme, value / largest if value is not None else None, size, theme.hues[Hue.BLUE]))
        line.put(bytes_text(value), theme.text, 10, right=True)
    return line.gap().put(signed_percent_text(pair.change), _change(theme, pair.change), 9, right=True).strip()


def _all_curves(theme: Theme, view: Comparison, width: int) -> list[Strip]:
    return [strip for curves in view.curves for strip in _curves(theme, curves, width)]


def _curves(theme: Theme, curves: Curves, width: int) -> list[Strip]:
    """Both curves on one scale, so that they can be compared."""
    top = max((point.value for point in (*curves.a, *curves.b)), default=0.0)
    if top <= 0:
        return []
    strips = []
    for label, points in (("A", curves.a), ("B", curves.b)):
        values = [point.value for point in points]
        line = Line(theme, width).gap(2).put(f"{curves.name} {label}", theme.quiet, LABEL).gap()
        room = max(8, line.left - 22)
        line.put(spark(theme, downsample(values, room), min(room, max(1, len(values))), top), theme.accent)
        strips.append(line.gap().put(f"top {_value(curves, max(values, default=0.0))}", theme.quiet).strip())
    return strips


def _value(curves: Curves, value: float) -> str:
    return bytes_text(value) if curves.unit == Unit.BYTES else f"{number_text(value)} {curves.unit}".strip()


def _graph(theme: Theme, graph: GraphPair, width: int) -> Strip:
    line = Line(theme, width).gap(2)
    for state, seconds in ((graph.a, graph.a_seconds), (graph.b, graph.b_seconds)):
        words = f"{state} {duration_text(seconds)}" if state and seconds is not None else state
        line.put(words or "not there", theme.text if state else theme.quiet, 24).gap()
    return line.put(short_key(graph.key, line.left, theme.glyphs.more), theme.quiet).strip()
