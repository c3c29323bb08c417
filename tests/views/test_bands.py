"""Many cores over time as three lines."""

from __future__ import annotations

from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.memory_figures import over_time
from neuron_top.dashboard.page_diff import PageChart
from neuron_top.run.history import Point
from neuron_top.run.model import Run
from neuron_top.views.bands import MOST_TIMES, bands_of
from neuron_top.views.memory import memory_table
from tests.tui.feeds import samples


def points(*values: float) -> list[Point]:
    return [Point(float(second), value, value) for second, value in enumerate(values)]


def test_least_median_and_most_of_each_moment() -> None:
    view = bands_of([points(1, 2, 3), points(5, 6, 7), points(2, 4, 9)])
    assert view.cores == 3
    assert (view.low[0], view.middle[0], view.high[0]) == (1, 2, 5)
    assert max(view.high) == 9
    assert list(view.times) == sorted(view.times)


def test_a_core_that_reported_nothing_is_not_counted_and_no_peak_is_lost() -> None:
    long = [Point(second / 10, 0.2, 0.9 if second == 777 else 0.2) for second in range(3000)]
    view = bands_of([long, []])
    assert view.cores == 1
    assert len(view.times) <= MOST_TIMES + 1
    assert max(view.high) == 0.9


def test_bands_without_samples_have_no_times() -> None:
    assert bands_of([[], []]).times == ()


def test_128_cores_are_three_lines_and_four_cores_a_line_each() -> None:
    for cores, lines in ((128, 3), (4, 4)):
        run = Run()
        for event in samples(cores, 20):
            run.apply(event)
        figure = over_time(memory_table(run, 1_790_000_020.0), DARK).figure
        assert len(figure["data"]) == lines


def test_one_sample_of_32_cores_is_drawn_at_its_moment_with_an_axis_around_it() -> None:
    """A capture of one period gave an axis from -1 to 4 and overprinted nanoseconds."""
    run = Run()
    for event in samples(32, 1):
        run.apply(event)
    chart = over_time(memory_table(run, 1_790_000_000.0), DARK)
    assert isinstance(chart, PageChart)
    assert all(len(trace["x"]) == 1 and trace["mode"] == "lines+markers" for trace in chart.figure["data"])
    first, last = chart.figure["layout"]["xaxis"]["range"]
    assert first < chart.figure["data"][0]["x"][0] < last
