"""Two recordings side by side: each number below the letter of its recording, and no word cut to a letter."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top.tui.panels.comparison import comparison_lines
from neuron_top.tui.screens.compare_runs import many_lines, overlay_lines
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.compare import Comparison, Pair
from neuron_top.views.metric import Provenance, Unit
from neuron_top.views.multi_compare import ComparedRun, MultiComparison
from neuron_top.views.overlay import OverlaidRun
from neuron_top.views.trends import StepValue


@pytest.mark.parametrize("width", [80, 120])
def test_metrics_have_a_head_and_say_how_they_are_known_where_there_is_room(width: int) -> None:
    pair = Pair(name="wall", label="wall time", unit=Unit.SECONDS, a=45.2, b=85.0, change=0.87,
                a_provenance=Provenance.MEASURED, b_provenance=Provenance.MEASURED)  # fmt: skip
    view = Comparison(a="one", b="other", answer=(), environment=(), metrics=(pair,), memory=(), cores=(4, 4),
                      memory_of=("", ""), curves=(), graphs=(), only_a=0, only_b=0)  # fmt: skip
    lines = [strip.text.rstrip() for strip in comparison_lines(Theme(DARK, UNICODE), view, width)]
    (value,) = [line for line in lines if "wall time" in line]
    head = lines[lines.index(value) - 1]
    assert head.split() == ["A", "B", "change"]
    assert head.index("A") == value.index("45.2 s") + len("45.2 s") - 1
    assert "…" not in value
    assert ("measured" in value) is (width == 120)


def test_no_sentence_number_or_difference_is_cut_on_a_narrow_screen() -> None:
    pair = Pair(name="share", label="share of wall time spent compiling", unit=Unit.SECONDS, a=4045.2, b=85.0,
                change=-0.978, a_provenance=Provenance.MEASURED, b_provenance=Provenance.MEASURED)  # fmt: skip
    sentence = "Peak memory per core fell from 522 MiB to 510 MiB (-2.2 %)."
    commands = [f"torchrun --nproc_per_node={n} train.py --tensor_parallel_size 2 --steps 20" for n in "24"]
    differs = ("command", commands[0], commands[1])
    view = Comparison(a="one", b="other", answer=(sentence,), environment=(differs,), metrics=(pair,), memory=(),
                      cores=(4, 4), memory_of=("", ""), curves=(), graphs=(), only_a=0, only_b=0)  # fmt: skip
    for width in range(50, 100):
        lines = [strip.text.rstrip() for strip in comparison_lines(Theme(DARK, UNICODE), view, width)]
        text = " ".join(" ".join(lines).split())
        assert sentence in text
        assert f"A {commands[0]} B {commands[1]}" in text
        (value,) = [line for line in lines if "share of" in line]
        assert "1 m 25 s     -98 %" in value, value


def overlaid(title: str, losses: list[float]) -> OverlaidRun:
    values = tuple(StepValue(step, float(step), loss) for step, loss in enumerate(losses))
    return OverlaidRun(id=title, title=title, loss=values, throughput=(), throughput_unit="")


def test_curves_that_run_through_one_place_are_named() -> None:
    falling, same, rising = [4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0], [1.0, 2.5, 3.5, 4.0]
    drawn = [
        strip.text
        for strip in overlay_lines(
            Theme(DARK, UNICODE), [overlaid(*run) for run in (("a", falling), ("b", same), ("c", rising))], 80
        )
    ]
    (head,) = [number for number, line in enumerate(drawn) if line.startswith("Loss by step")]
    assert drawn[head].rstrip().endswith("* several of A, B")
    chart = "".join(drawn[head + 1 : head + 13])
    assert (chart.count("*"), chart.count("C"), chart.count("A")) == (4, 4, 0)
    apart = [overlaid("a", falling), overlaid("c", rising)]
    assert "*" not in "".join(strip.text for strip in overlay_lines(Theme(DARK, UNICODE), apart, 80))


def test_names_that_differ_at_their_end_are_whole_and_what_no_run_printed_has_no_unit() -> None:
    run = ComparedRun(
        title="torchrun, Nov 28 21:35:32 UTC", cores=2, memory=None, memory_of="", kinds={}, throughput=None,
        throughput_unit="/s", step_seconds=None, compile_seconds=None, graphs=None, loss=None, memory_change=None,
        throughput_change=None,
    )  # fmt: skip
    other = msgspec.structs.replace(run, title="torchrun, Nov 28 21:38:19 UTC")
    drawn = [
        strip.text for strip in many_lines(Theme(DARK, UNICODE), MultiComparison(answer=(), rows=(run, other)), 100)
    ]
    assert any(run.title in line for line in drawn)
    assert any(other.title in line for line in drawn)
    assert "/s" not in " ".join(drawn)
