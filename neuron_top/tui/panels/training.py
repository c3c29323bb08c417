"""Training progress as printed by the job: step, loss, throughput, and the loss as a line."""

from __future__ import annotations

from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import Line, bar, chart, downsample, rule, spark
from neuron_top.tui.theme import Theme
from neuron_top.units import count_text, duration_text, number_text, percent_text
from neuron_top.views.overview import TrainingCard

CHART = 4
"""Lines of the loss by step."""
STALE_STEPS = 5
"""Without a report for so many steps, and at least 30 s, the numbers are old."""


def size_request(card: TrainingCard) -> SizeRequest:
    """Title, numbers, a line of the loss; with room a chart of the loss by step; one line while nothing was printed."""
    if len(card.losses) > 2:
        return SizeRequest(3, 3 + CHART)
    return SizeRequest(3, 3) if card.step is not None or card.loss is not None else SizeRequest(2, 2)


def training_panel(theme: Theme, card: TrainingCard, width: int, height: int, over: bool = False) -> list[Strip]:
    """The panel; `over`: nothing more is expected."""
    title = rule(theme, width, "Training", _since(card))
    if card.step is None and card.loss is None:
        simulated = f" ({card.simulated_reports} reports of a trial run are left out)" if card.simulated_reports else ""
        text = f"{'No step was printed.' if over else 'No step printed yet.'}{simulated}"
        return [title, Line(theme, width).put(text, theme.quiet).strip()]
    if height >= 3 + CHART and len(card.losses) > 2:
        return [title, _numbers(theme, card, width), *_loss_chart(theme, card, width, height - 3)]
    return [title, _numbers(theme, card, width), _loss(theme, card, width)]


def is_stale(card: TrainingCard) -> bool:
    """Whether a step is overdue."""
    return card.since_last is not None and card.since_last > max(30.0, STALE_STEPS * (card.step_seconds or 0.0))


def _since(card: TrainingCard) -> str:
    if card.since_last is None:
        return ""
    return f"last step {duration_text(card.since_last)} ago" if is_stale(card) else ""


def _numbers(theme: Theme, card: TrainingCard, width: int) -> Strip:
    line = Line(theme, width).put("step", theme.quiet).gap().put(count_text(card.step), theme.strong)
    if card.total_steps:
        line.put(f"/{count_text(card.total_steps)}", theme.quiet).gap()
        share = (card.step or 0) / card.total_steps
        line.add(bar(theme, share, max(6, width // 8), theme.accent)).gap().put(percent_text(share), theme.quiet)
    for label, value in (
        ("left", duration_text(card.left_seconds) if card.left_seconds is not None else ""),
        ("loss", number_text(card.loss)),
        ("", f"{number_text(card.throughput)} {card.throughput_unit or '/s'}" if card.throughput is not None else ""),
        ("step time", duration_text(card.step_seconds) if card.step_seconds is not None else ""),
        ("lr", number_text(card.learning_rate, 3) if card.learning_rate is not None else ""),
        ("epoch", number_text(card.epoch, 3) if card.epoch is not None else ""),
    ):
        if value and line.left > len(label) + len(value) + 3:
            line.gap(2).put(f"{label} " if label else "", theme.quiet).put(value, theme.strong)
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


def _loss_chart(theme: Theme, card: TrainingCard, width: int, height: int) -> list[Strip]:
    """The printed losses by step: height is the loss between its least and its most, below stand the steps."""
    low, high = min(card.losses), max(card.losses)
    span = high - low or abs(high) or 1.0
    label = max(len(number_text(low)), len(number_text(high)))
    room = max(1, width - label - 1)
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
    axis = Line(theme, width).to(label + 1).put(f"step {count_text(card.first_step)}", theme.quiet)
    return [*strips, axis.end(count_text(card.step), theme.quiet).strip()]
