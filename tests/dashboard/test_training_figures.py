"""Loss and throughput by step: every value, its axis, smoothing on demand, marks."""

from __future__ import annotations

import math
from typing import Any

from neuron_top import events as ev
from neuron_top.dashboard import training_figures
from neuron_top.dashboard.chart_colors import DARK
from neuron_top.run.model import Run
from neuron_top.views.overview import overview
from neuron_top.views.trends import trends


def trained(steps: int, *, timed: bool = True, total: int | None = None) -> Run:
    run = Run()
    for step in range(1, steps + 1):
        at = 1000.0 + step if timed else None
        run.apply(ev.StepReported(step=step * 10, loss=10 / step, throughput=80.0 + step % 3, total_steps=total, at=at))
    return run


def drawn(run: Run, axis: str = "step", smooth: bool = False) -> Any:
    return training_figures.loss(trends(run, 2000.0), axis, smooth, DARK).figure


def test_every_value_stands_at_its_step() -> None:
    (trace,) = drawn(trained(300))["data"]
    assert trace["x"] == [step * 10 for step in range(1, 301)]
    assert trace["y"][:2] == [10.0, 5.0]


def test_two_values_are_two_marks_and_a_log_without_times_still_has_a_curve() -> None:
    (trace,) = drawn(trained(2, timed=False))["data"]
    assert (trace["x"], trace["mode"]) == ([10, 20], "lines+markers")


def test_by_time_the_axis_is_time_and_smoothing_adds_a_line() -> None:
    figure = drawn(trained(50), axis="time", smooth=True)
    assert [trace["name"] for trace in figure["data"]] == ["loss", "loss, smoothed"]
    assert figure["data"][0]["x"][0].startswith("1970-01-01T00:16:41")


def test_smoothing_starts_at_the_first_value_and_stays_between_least_and_most() -> None:
    made = training_figures.smoothed([4.0, 8.0, 4.0, 8.0])
    assert made[0] == 4.0
    assert all(4.0 <= value <= 8.0 for value in made)


def test_a_loss_that_diverged_once_leaves_the_smoothed_line_a_gap_and_no_end() -> None:
    for diverged in (math.nan, math.inf):
        assert training_figures.smoothed([4.0, diverged, 4.0])[::2] == [4.0, 4.0]


def test_a_compile_and_a_failure_while_training_are_marked_at_their_step() -> None:
    run = trained(100)
    run.apply(ev.WorkerDied(pid=1, rank=0, exit_code=1, first=True, at=1050.5))
    shapes = drawn(run)["layout"]["shapes"]
    assert [(shape["x0"], shape["line"]["color"]) for shape in shapes] == [(500, DARK.bad)]


def test_a_failure_before_a_run_resumed_at_an_earlier_step_stays_marked() -> None:
    run = trained(100)
    run.apply(ev.WorkerDied(pid=1, rank=0, exit_code=1, first=True, at=1100.5))
    for step in range(500, 701, 10):
        run.apply(ev.StepReported(step=step, loss=0.1, at=1200.0 + step))
    assert [shape["x0"] for shape in drawn(run)["layout"]["shapes"]] == [1000]


def test_the_time_left_is_reported_where_the_number_of_steps_is_known() -> None:
    assert overview(trained(50, total=1000), 1050.0).training.left_seconds == 50.0
    assert overview(trained(50), 1050.0).training.left_seconds is None


def test_both_charts_have_a_step_at_one_place_and_the_failure_is_named() -> None:
    run = trained(12)
    run.apply(ev.DeviceMemoryExhausted(at=1012.5, device=0, core=0, requested=1 << 30, rows=()))
    view = trends(run, 2000.0)
    loss, throughput = (
        chart(view, "step", False, DARK).figure["layout"]
        for chart in (training_figures.loss, training_figures.throughput)
    )
    assert loss["margin"] == throughput["margin"]
    assert loss["yaxis"]["automargin"] is throughput["yaxis"]["automargin"] is False
    (shape,) = loss["shapes"]
    assert (shape["x0"], shape["label"]["text"]) == (120, "failed")
