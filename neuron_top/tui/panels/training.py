"""Training progress as printed by the job: step, loss, throughput, and the loss as a line."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import Line, bar, chart, curve, downsample, rule, spark
from neuron_top.tui.theme import Theme
from neuron_top.units import count_text, counted, duration_text, number_text, percent_text, whole_seconds_text
from neuron_top.views.missing import has_training
from neuron_top.views.overview import TrainingCard
from neuron_top.views.trends import MarkKind, TrainingMark

CHART = 4
"""The least lines of the chart of the loss by step."""
TALL_CHART = 12
"""The same on a screen of usual height."""
_PART = 3
"""On a higher screen, the chart gets this share of the lines."""
STALE_STEPS = 5
"""Without a report for this many steps, and at least 30 s, the numbers count as old."""


def size_request(
    card: TrainingCard, marks: Sequence[TrainingMark] = (), *, tall: bool = True, height: int = 0
) -> SizeRequest:
    """Title, numbers, a line of the loss; with room a chart of the loss by step, marks and the throughput below it.

    A server reports no loss: the chart is of its throughput. `height`: lines of the screen.
    """
    if not has_training(card):
        return SizeRequest(0, 0)
    if len(_charted(card)) > 2:
        rows = max(TALL_CHART, height // _PART) if tall else CHART
        has_speed = len(card.throughputs) > 2 and not card.serves
        kinds = len({mark.state for mark, _step in _placed(card, marks)})
        return SizeRequest(3, 3 + rows + has_speed + min(2, kinds))
    return SizeRequest(3, 3) if len(card.throughputs) > 2 or card.losses else SizeRequest(2, 2)


def _charted(card: TrainingCard) -> Sequence[float | None]:
    """The metric that the chart shows."""
    numbers = card.throughputs if card.serves else card.losses
    return numbers if _known(numbers) else ()


def _known(numbers: Sequence[float | None]) -> list[float]:
    return [number for number in numbers if number is not None]


def training_panel(
    theme: Theme, card: TrainingCard, width: int, height: int, marks: Sequence[TrainingMark] = ()
) -> list[Strip]:
    """The panel; `marks`: what happened at which step."""
    title = rule(theme, width, "Serving" if card.serves else "Training", _since(card))
    strips = [title, _numbers(theme, card, width)]
    if height >= 3 + CHART and len(_charted(card)) > 2:
        has_speed = len(card.throughputs) > 2 and height > 4 + CHART and not card.serves
        speed = [_speed(theme, card, width)] if has_speed else []
        below = _marks_line(theme, card, marks, width)
        rows = height - 3 - len(speed) - len(below)
        return [*strips, *_chart(theme, card, width, rows, has_speed=has_speed), *speed, *below]
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
    return f"last {word} {whole_seconds_text(card.since_last)} ago" if is_stale(card) else ""


def _numbers(theme: Theme, card: TrainingCard, width: int) -> Strip:
    line = Line(theme, width)
    if card.step is not None:
        line.put("step", theme.quiet).gap().put(count_text(card.step), theme.strong)
    if card.total_steps:
        line.put(f"/{count_text(card.total_steps)}", theme.quiet).gap()
        share = (card.step or 0) / card.total_steps
        line.add(bar(theme, share, max(6, width // 8), theme.accent)).gap().put(percent_text(share), theme.quiet)
    for label, value in (
        ("ETA", whole_seconds_text(card.left_seconds) if card.left_seconds is not None else ""),
        ("loss", number_text(card.loss) if card.loss is not None else ""),
        ("median", f"{number_text(card.throughput, 3)} {_unit(card)}" if card.throughput is not None else ""),
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
    known = _known(card.losses)
    if not known:
        return line.put("no printed loss is a finite number", theme.quiet).strip()
    first, last = number_text(known[0]), number_text(card.loss)
    line.put("loss", theme.quiet).gap().put(first, theme.quiet).gap()
    size = min(len(card.losses), line.left - len(last) - 1)
    low = min(known)
    span = max(known) - low
    values = [None if value is None else value - low + span * 0.1 for value in downsample(card.losses, size)]
    return line.put(spark(theme, values, size), theme.accent).gap().put(last, theme.quiet).strip()


def _throughput(theme: Theme, card: TrainingCard, width: int) -> Strip:
    """The throughput as one line, with its least and its most."""
    line = Line(theme, width).put(_speed_words(card), theme.quiet).gap()
    return line.put(_speed_spark(theme, card, line.left), theme.accent).strip()


def _speed(theme: Theme, card: TrainingCard, width: int) -> Strip:
    """The same below the chart, which has its words: its steps stand below those of the loss."""
    start, room = _axis_place(card, width)
    return Line(theme, width).to(start).put(_speed_spark(theme, card, room), theme.accent).strip()


def _speed_words(card: TrainingCard) -> str:
    """`seq/s 81 to 89.5`."""
    known = _known(card.throughputs)
    ends = (number_text(min(known, default=None), 3), number_text(max(known, default=None), 3))
    return f"{_unit(card)} {' to '.join(dict.fromkeys(ends))}"


def _speed_spark(theme: Theme, card: TrainingCard, room: int) -> str:
    values = downsample(card.throughputs, room)
    known = _known(card.throughputs)
    least, span = min(known, default=0.0), max(known, default=0.0) - min(known, default=0.0)
    wide = [values[place * len(values) // room] for place in range(room)]
    heights = [None if value is None else value - least + span * 0.1 for value in wide]
    return spark(theme, heights, room)


def _unit(card: TrainingCard) -> str:
    return card.throughput_unit or "/s"


_MARKS = {MarkKind.COMPILING: "compile", MarkKind.FAILED: "failure", MarkKind.CHECKPOINT: "checkpoint"}


def _marks_line(theme: Theme, card: TrainingCard, marks: Sequence[TrainingMark], width: int) -> list[Strip]:
    """A line with a sign for each compile, checkpoint and failure, below its step; no line where there was none."""
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
    for mark, step in sorted(placed, key=lambda pair: pair[0].state is MarkKind.FAILED):  # failures last: never covered
        share = (step - card.first_step) / (card.step - card.first_step)
        cells[min(room - 1, round(share * (room - 1)))] = mark  # as the curve places its steps
    counts = {state: sum(mark.state == state for mark, _step in placed) for state in _MARKS}
    words = {state: counted(count, _MARKS[state]) for state, count in counts.items() if count}
    beside = next(iter(words.values())) if len(words) == 1 else ""  # a single sign needs no legend
    is_behind = bool(beside) and start + max(cells) + 2 + len(beside) <= width
    is_before = bool(beside) and not is_behind and start + min(cells) > len(beside)
    line = Line(theme, width)
    if is_before:
        line.to(start + min(cells) - 1 - len(beside)).put(beside, theme.quiet)
    for at in sorted(cells):
        line.to(start + at).put(signs[cells[at].state], theme.state(cells[at].state))
    if is_behind:
        line.gap().put(beside, theme.quiet)
    if is_before or is_behind:
        return [line.strip()]
    below = Line(theme, width).to(start)
    for state, text in words.items():
        below.put(f"{signs[state]} ", theme.state(state)).put(text, theme.quiet).gap(2)
    return [line.strip(), below.strip()]


def _placed(card: TrainingCard, marks: Sequence[TrainingMark]) -> list[tuple[TrainingMark, int]]:
    """The marks that lie within the chart, with their steps."""
    if card.first_step is None or card.step is None or card.step <= card.first_step:
        return []
    return [(mark, mark.step) for mark in marks if mark.step is not None and mark.step >= card.first_step]


def _axis_place(card: TrainingCard, width: int) -> tuple[int, int]:
    """Where the steps begin, and how many cells they have."""
    values = _known(_charted(card))
    label = max(len(number_text(min(values))), len(number_text(max(values))))
    return label + 1, max(1, width - label - 1)


def _chart(theme: Theme, card: TrainingCard, width: int, height: int, *, has_speed: bool) -> list[Strip]:
    """The printed numbers between their least and their most; below stand the steps if known.

    `has_speed`: the throughput follows, on the line of the steps.
    """
    numbers = _charted(card)
    known = _known(numbers)
    low, high = min(known), max(known)
    span = high - low or abs(high) or 1.0
    start, room = _axis_place(card, width)
    label = start - 1
    if theme.is_ascii:
        size = min(room, len(numbers))
        values = [None if value is None else value - low + span * 0.05 for value in downsample(numbers, size)]
        if size < room:
            values = [values[place * size // room] for place in range(room)]
        rows = chart(theme, values, room, height, span * 1.05)
    else:
        rows = curve(numbers, room, height, low, high)
    strips = []
    for number, row in enumerate(rows):
        text = number_text(high) if number == 0 else number_text(low) if number == len(rows) - 1 else ""
        line = Line(theme, width).put(text, theme.quiet, label, right=True).gap()
        strips.append(line.put(row, theme.accent).strip())
    return [*strips, _axis(theme, card, width, start, _speed_words(card) if has_speed else "")]


def _axis(theme: Theme, card: TrainingCard, width: int, start: int, words: str) -> Strip:
    """The first and the last step, between them what the line below shows."""
    axis = Line(theme, width).to(start)
    is_known = card.first_step is not None and card.step is not None and card.step > card.first_step
    first = f"step {count_text(card.first_step)}" if is_known else "in the order in which they were printed"
    last = count_text(card.step) if is_known else ""  # no step was printed with the values
    axis.put(first, theme.quiet)
    middle = max(axis.used + 2, start + (width - start - len(words)) // 2)
    if words and middle + len(words) + 2 + len(last) <= width:
        axis.to(middle).put(words, theme.quiet)
    return axis.end(last, theme.quiet).strip()
