"""The training panel: one axis for all that stands below each other, and words that agree with the first line."""

from __future__ import annotations

import math

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.run.model import Run
from neuron_top.tui.panels.training import size_request, training_panel
from neuron_top.tui.theme import ASCII, DARK, UNICODE, Glyphs, Theme
from neuron_top.views.overview import TrainingCard, overview
from neuron_top.views.trends import MarkKind, TrainingMark

from . import feeds

THEME = Theme(DARK, UNICODE)
CARD = feeds.StillFeed([*feeds.job(), *feeds.steps(45)], now=feeds.START + 46).read(overview).training


def lines(card: TrainingCard, height: int, *marks: TrainingMark, width: int = 100) -> list[str]:
    strips = training_panel(THEME, card, width, height, marks)
    assert all(strip.cell_length == width for strip in strips)
    assert len(strips) <= height
    return [strip.text for strip in strips]


def mark(state: MarkKind, step: int) -> TrainingMark:
    return TrainingMark(state=state, time=None, step=step)


def test_loss_and_throughput_begin_at_one_column() -> None:
    _title, _numbers, *rows, axis, speed = lines(CARD, 20)
    start = min(at for row in rows for at, sign in enumerate(row) if "\u2800" < sign <= "\u28ff")
    assert speed.index(speed.strip()[0]) == start
    assert axis.index("step 1") == start
    assert "seq/s 31.5 to 33.5" in axis


def test_a_mark_stands_below_its_step_and_ascii_has_columns() -> None:
    for step, place in ((1, 0), (23, 0.5), (45, 1)):
        *rows, row = lines(CARD, 20, mark(MarkKind.FAILED, step), width=101)
        start = next(line.index("step 1") for line in rows if "step 1" in line)
        assert row.index("✗") == start + round(place * (100 - start))
    plain = "".join(strip.text for strip in training_panel(Theme(DARK, ASCII), CARD, 100, 20))
    assert plain.isascii()
    assert "####" in plain


def test_a_throughput_that_never_changes_is_one_figure() -> None:
    text = "\n".join(lines(msgspec.structs.replace(CARD, throughputs=(81.5, 81.5, 81.5)), 20))
    assert "seq/s 81.5 " in text
    assert "81.5 to 81.5" not in text


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("height", [3, 20])
@pytest.mark.parametrize(
    "printed", [(2.5, 2.4, math.nan, math.nan), (math.nan, 2.5, 2.4), (math.nan,) * 4, (2, math.inf)]
)
def test_a_loss_that_diverged_is_a_gap_in_what_is_drawn(
    printed: tuple[float, ...], height: int, glyphs: Glyphs
) -> None:
    steps = [
        ev.StepReported(step=step, total_steps=9, loss=loss, at=feeds.START + step)
        for step, loss in enumerate(printed, 1)
    ]
    card = feeds.StillFeed([*feeds.job(), *steps], now=feeds.START + 9).read(overview).training
    text = "\n".join(strip.text for strip in training_panel(Theme(DARK, glyphs), card, 100, height))
    assert f"loss {printed[-1]}" in text
    assert text.count("nan") + text.count("inf") <= 2, "in the numbers, and at the end of the line"


def test_numbers_are_named_as_on_the_first_line() -> None:
    numbers = lines(msgspec.structs.replace(CARD, throughput=83.6612), 20, width=120)[1]
    assert "ETA 2 m 32 s" in numbers
    assert "median 83.7 seq/s" in numbers


@pytest.mark.parametrize(("step", "words"), [(2, "✗ 1 failure"), (45, "1 failure ✗")])
def test_marks_of_one_kind_take_one_line(step: int, words: str) -> None:
    assert words in lines(CARD, 20, mark(MarkKind.FAILED, step))[-1]
    several = lines(CARD, 20, mark(MarkKind.FAILED, step), mark(MarkKind.CHECKPOINT, 20))
    assert "1 failure" in several[-1]
    assert "1 failure" not in several[-2]


def test_a_higher_screen_has_a_higher_chart_and_all_its_lines_are_filled() -> None:
    usual, high = size_request(CARD, height=40).full, size_request(CARD, height=90).full
    assert usual < high
    assert len(lines(CARD, high)) == high
    assert size_request(CARD, tall=False, height=90).full < usual


def test_a_server_has_a_chart_of_its_throughput() -> None:
    run = Run()
    for second in range(20):
        at = feeds.START + second
        run.apply(ev.StepReported(step=None, throughput=600.0 + second, throughput_unit="tokens/s", at=at, seen=at))
    card = overview(run, feeds.START + 20).training
    assert card.serves
    full = size_request(card, height=40).full
    drawn = lines(card, full)
    assert len(drawn) == full > 12
    assert drawn[2].startswith("619 ")
    assert drawn[-2].startswith("600 ")
