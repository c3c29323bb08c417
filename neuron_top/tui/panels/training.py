"""Training progress as printed by the job: step, loss, throughput, and the loss as a line."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import Line, bar, chart, downsample, rule, spark
from neuron_top.tui.theme import Theme
from neuron_top.units import count_text, counted, duration_text, number_text, percent_text
from neuron_top.views.missing import has_training
from neuron_top.views.overview import TrainingCard
from neuron_top.views.trends import MarkKind, TrainingMark

CHART = 4
"""Lines of the loss by step, at least."""
TALL_CHART = 12
"""And at most."""
STALE_STEPS = 5
"""Without a report for so many steps, and at least 30 s, the numbers are old."""


def size_request(card: TrainingCard, marks: Sequence[TrainingMark] = (), *, tall: bool = True) -> SizeRequest:
    """Title, numbers, a line of the loss; with room a chart of the loss by step, marks and the throughput below it."""
    if not has_training(card):
        return SizeRequest(0, 0)
    if len(card.losses) > 2:
        rows = TALL_CHART if tall else CHART
        return SizeRequest(3, 3 + rows + (len(card.throughputs) > 2) + 2 * bool(_placed(card, marks)))
    return SizeRequest(3, 3) if len(card.throughputs) > 2 or card.losses else SizeRequest(2, 2)


def training_panel(
    theme: Theme, card: TrainingCard, width: int, height: int, marks: Sequence[TrainingMark] = ()
) -> list[Strip]:
    """The panel; `marks`: what happened at which step."""
    title = rule(theme, width, "Serving" if card.serves else "Training", _since(card))
    strips = [title, _numbers(theme, card, width)]
    if height >= 3 + CHART and len(card.losses) > 2:
        speed = [_throughput(theme, card, width)] if len(card.throughputs) > 2 and height > 4 + CHART else []
        below = _marks_line(theme, card, marks, width)
        rows = min(TALL_CHART, height - 3 - len(speed) - len(below))
        return [*strips, *_loss_chart(theme, card, width, rows), *below, *speed]
    if card.losses:
        return [*strips, _loss(theme, card, width)]
    return [*strips, _throughput(theme, card, width)] if len(card.throughputs) > 2 else strips


def is_stale(card: TrainingCard) -> bool:
    """Whether a step is overdue."""
    return card.since_last is not None and card.since_last > max(30.0, STALE_STEPS * (card.step_seconds or 0.0))


def _since(card: TrainingCard) -> str:
    if card.since_last is None:
        return ""
    word = "step" if card.step is not None or card.loss is not None else "report"
    return f"last {word} {duration_text(card.since_last)} ago" if is_stale(card) else ""


def _numbers(theme: Theme, card: TrainingCard, width: int) -> Strip:
    line = Line(theme, width)
    if card.step is not None:
        line.put("step", theme.quiet).gap().put(count_text(card.step), theme.strong)
    if card.total_steps:
        line.put(f"/{count_text(card.total_steps)}", theme.quiet).gap()
        share = (card.step or 0) / card.total_steps
        line.add(bar(theme, share, max(6, width // 8), theme.accent)).gap().put(percent_text(share), theme.quiet)
    for label, value in (
        ("left", duration_text(card.left_seconds) if card.left_seconds is not None else ""),
        ("loss", number_text(card.loss) if card.loss is not None else ""),
        ("", f"{number_text(card.throughput)} {card.throughput_unit or '/s'}" if card.throughput is not None else ""),
        ("step time", duration_text(card.step_seconds) if card.step_seconds is not None else ""),
        ("lr", number_text(card.learning_rate, 3) if card.learning_rate is not None else ""),
        ("epoch", number_text(card.epoch, 3) if card.epoch is not None else ""),
    ):
        if value and line.left > len(label) + len(value) + 3:
            line.gap(2 * bool(line.used)).put(f"{label} " if label else "", theme.quiet).put(value, theme.strong)
    return line.strip()


def _loss(theme: Theme, card: TrainingCard, width: int) -> Strip:
    line = Line(theme, width)
    if len(card.losses) < 2:
        return line.put("the loss line begins with the second report", theme.quiet).strip()
    first, last = number_text(card.losses[0]), number_text(card.losses[-1])
    line.put("loss", theme.quiet).gap().put(first, theme.quiet).gap()
    size = min(len(card.losses), line.left - len(last) - 1)
    low = min(card.losses)
    span = max(card.losses) - low
    values = [None if value is None else value - low + span * 0.1 for value in downsample(card.losses, size)]
    return line.put(spark(theme, values, size), theme.accent).gap().put(last, theme.quiet).strip()


def _throughput(theme: Theme, card: TrainingCard, width: int) -> Strip:
    """The throughput as one line, with its least and its most."""
    low, high = number_text(min(card.throughputs), 3), number_text(max(card.throughputs), 3)
    line = Line(theme, width).put(card.throughput_unit or "/s", theme.quiet).gap().put(low, theme.quiet)
    line.put(f" to {high}", theme.quiet).gap()
    values = downsample(card.throughputs, line.left)
    least, span = min(card.throughputs), max(card.throughputs) - min(card.throughputs)
    wide = [values[place * len(values) // line.left] for place in range(line.left)]
    heights = [None if value is None else value - least + span * 0.1 for value in wide]
    return line.put(spark(theme, heights, line.left), theme.accent).strip()


_MARKS = {MarkKind.COMPILING: "compile", MarkKind.FAILED: "failure", MarkKind.CHECKPOINT: "checkpoint"}


def _marks_line(theme: Theme, card: TrainingCard, marks: Sequence[TrainingMark], width: int) -> list[Strip]:
    """Compiles, checkpoints and failures below the steps at which they were; nothing where there was none."""
    placed = _placed(card, marks)
    if not placed or card.first_step is None or card.step is None:
        return []
    start, room = _axis_place(card, width)
    glyphs = theme.glyphs
    signs = {
        MarkKind.COMPILING: glyphs.running,
        MarkKind.FAILED: glyphs.failed,
        MarkKind.CHECKPOINT: glyphs.checkpoint,
    }
    cells: dict[int, TrainingMark] = {}
    for mark, step in sorted(placed, key=lambda pair: pair[0].state is MarkKind.FAILED):  # a failure is never covered
        cells[min(room - 1, (step - card.first_step) * room // (card.step - card.first_step + 1))] = mark
    line = Line(theme, width)
    for at in sorted(cells):
        line.to(start + at).put(signs[cells[at].state], theme.state(cells[at].state))
    words = Line(theme, width).to(start)
    for state in _MARKS:
        count = sum(mark.state == state for mark, _step in placed)
        if count:
            words.put(f"{signs[state]} ", theme.state(state)).put(counted(count, _MARKS[state]), theme.quiet).gap(2)
    return [line.strip(), words.strip()]


def _placed(card: TrainingCard, marks: Sequence[TrainingMark]) -> list[tuple[TrainingMark, int]]:
    """The marks that lie within the chart, with their steps."""
    if card.first_step is None or card.step is None or card.step <= card.first_step:
        return []
    return [(mark, mark.step) for mark in marks if mark.step is not None and mark.step >= card.first_step]


def _axis_place(card: TrainingCard, width: int) -> tuple[int, int]:
    """Where the steps begin, and how many cells they have."""
    label = max(len(number_text(min(card.losses))), len(number_text(max(card.losses))))
    return label + 1, max(1, width - label - 1)


def _loss_chart(theme: Theme, card: TrainingCard, width: int, height: int) -> list[Strip]:
    """The printed losses by step: height is the loss between its least and its most, below stand the steps if known."""
    low, high = min(card.losses), max(card.losses)
    span = high - low or abs(high) or 1.0
    start, room = _axis_place(card, width)
    label = start - 1
    size = min(room, len(card.losses))
    values = [None if value is None else value - low + span * 0.05 for value in downsample(card.losses, size)]
    if size < room:
        values = [values[place * size // room] for place in range(room)]
    rows = chart(theme, values, room, height, span * 1.05)
    strips = []
    for number, row in enumerate(rows):
        text = number_text(high) if number == 0 else number_text(low) if number == len(rows) - 1 else ""
        line = Line(theme, width).put(text, theme.quiet, label, right=True).gap()
        strips.append(line.put(row, theme.accent).strip())
    axis = Line(theme, width).to(label + 1)
    if card.first_step is None or card.step is None or card.step <= card.first_step:  # no step was printed beside them
        axis.put("in the order in which they were printed", theme.quiet)
        return [*strips, axis.strip()]
    axis.put(f"step {count_text(card.first_step)}", theme.quiet)
    return [*strips, axis.end(count_text(card.step), theme.quiet).strip()]
