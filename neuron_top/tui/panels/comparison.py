"""Two recordings side by side, as lines: the answer first, then what differs, metrics, memory, curves, graphs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import Line, bar, downsample, rule, spark
from neuron_top.tui.look import Theme
from neuron_top.tui.panels.compiling import short_key
from neuron_top.units import bytes_text, duration_text, number_text, percent_text
from neuron_top.views.compare import Comparison, Curves, GraphPair, MemoryPair, Pair
from neuron_top.views.metric import value_text

SAME = 0.01
"""A smaller change is none: it is drawn quietly."""
LABEL = 34
VALUE = 14


def comparison_lines(look: Theme, view: Comparison, width: int) -> list[Strip]:
    """The whole page."""
    strips = [rule(look, width, "Two recordings", "esc goes back")]
    for name, label in ((view.a, "A"), (view.b, "B")):
        strips.append(Line(look, width).gap(2).put(label, look.title, 3).put(name, look.strong).strip())
    strips += [Line(look, width).gap(2).put(sentence, look.text).strip() for sentence in view.answer]
    sections: tuple[tuple[str, str, Sequence[Strip]], ...] = (
        ("What differs in the environment", "", [_environment(look, row, width) for row in view.environment]),
        ("Metrics", "change is (B - A) / A", [_pair(look, pair, width) for pair in view.metrics]),
        ("Peak memory per core, mean", f"{view.cores[0]} and {view.cores[1]} cores",
         [_memory(look, pair, _largest(view), width) for pair in view.memory]),
        ("Curves", "from each run's start", _all_curves(look, view, width)),
        ("Graphs", f"{view.only_a} only in A, {view.only_b} only in B",
         [_graph(look, graph, width) for graph in view.graphs]),
    )  # fmt: skip
    for title, summary, lines in sections:
        if lines:
            strips += [Line(look, width).strip(), rule(look, width, title, summary), *lines]
    return strips


def change_text(change: float | None) -> str:
    """`+12 %`, `-3.1 %`; blank where it means nothing."""
    return "" if change is None else f"{'+' if change >= 0 else '-'}{percent_text(abs(change))}"


def _change(look: Theme, change: float | None) -> Style:
    return look.quiet if change is None or abs(change) < SAME else look.strong


def _environment(look: Theme, row: tuple[str, str, str], width: int) -> Strip:
    name, in_a, in_b = row
    line = Line(look, width).gap(2).put(name, look.quiet, LABEL).gap()
    half = max(8, line.left // 2 - 2)
    return line.put(in_a or look.glyphs.unknown, look.text, half).gap(2).put(in_b or look.glyphs.unknown).strip()


def _pair(look: Theme, pair: Pair, width: int) -> Strip:
    line = Line(look, width).gap(2).put(pair.label, look.quiet, LABEL)
    for value in (pair.a, pair.b):
        line.gap().put(value_text(value, pair.unit), look.text, VALUE, right=True)
    line.gap().put(change_text(pair.change), _change(look, pair.change), 9, right=True)
    known = (
        pair.a_provenance.value
        if pair.a_provenance == pair.b_provenance
        else f"{pair.a_provenance.value} / {pair.b_provenance.value}"
    )
    return line.gap(2).put(known, look.quiet).strip()


def _largest(view: Comparison) -> float:
    return max((value for pair in view.memory for value in (pair.a, pair.b) if value is not None), default=0.0) or 1.0


def _memory(look: Theme, pair: MemoryPair, largest: float, width: int) -> Strip:
    line = Line(look, width).gap(2).put(pair.kind.replace("_", " "), look.quiet, 16)
    size = max(4, min(24, (width - 60) // 2))
    for value in (pair.a, pair.b):
        line.gap().add(bar(look, value / largest if value is not None else None, size, look.kinds[0]))
        line.put(bytes_text(value), look.text, 10, right=True)
    return line.gap().put(change_text(pair.change), _change(look, pair.change), 9, right=True).strip()


def _all_curves(look: Theme, view: Comparison, width: int) -> list[Strip]:
    return [strip for curves in view.curves for strip in _curves(look, curves, width)]


def _curves(look: Theme, curves: Curves, width: int) -> list[Strip]:
    """Both on one height, so that their sizes can be compared."""
    top = max((point.value for point in (*curves.a, *curves.b)), default=0.0)
    if top <= 0:
        return []
    strips = []
    for label, points in (("A", curves.a), ("B", curves.b)):
        values = [point.value for point in points]
        line = Line(look, width).gap(2).put(f"{curves.name} {label}", look.quiet, LABEL).gap()
        room = max(8, line.left - 22)
        line.put(spark(look, downsample(values, room), min(room, max(1, len(values))), top), look.accent)
        strips.append(line.gap().put(f"top {_value(curves, max(values, default=0.0))}", look.quiet).strip())
    return strips


def _value(curves: Curves, value: float) -> str:
    return bytes_text(value) if curves.unit == "bytes" else f"{number_text(value)} {curves.unit}".strip()


def _graph(look: Theme, graph: GraphPair, width: int) -> Strip:
    line = Line(look, width).gap(2)
    for state, seconds in ((graph.a, graph.a_seconds), (graph.b, graph.b_seconds)):
        words = f"{state} {duration_text(seconds)}" if state and seconds is not None else state
        line.put(words or "not there", look.text if state else look.quiet, 24).gap()
    return line.put(short_key(graph.key, line.left, look.glyphs.more), look.quiet).strip()
