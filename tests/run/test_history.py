"""Series: bounded memory, whole past, no lost peak."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.events import CoreKind, CoreSample, CoresSampled, HostSampled, StepReported
from neuron_top.run.history import Recent, Series
from neuron_top.run.model import Run
from neuron_top.run.spans import union_seconds

samples = st.lists(st.tuples(st.integers(0, 50_000), st.integers(0, 1000)), min_size=1, max_size=200)


@given(samples, st.integers(1, 16))
def test_a_series_keeps_its_highest_peak_and_its_bounds(values: list[tuple[int, int]], capacity: int) -> None:
    series = Series(capacity=capacity)
    for time, value in sorted(values):
        series.add(float(time), float(value))
    points = series.points()
    assert len(series) <= max(2, capacity + capacity % 2)
    assert max(point.peak for point in points) == max(value for _, value in values)
    assert all(point.mean <= point.peak + 1e-3 for point in points)
    assert [point.time for point in points] == sorted(point.time for point in points)


@given(samples, st.integers(1, 7))
def test_joining_points_for_a_narrow_chart_loses_no_peak(values: list[tuple[int, int]], most: int) -> None:
    series = Series(capacity=64)
    for time, value in sorted(values):
        series.add(float(time), float(value))
    points = series.points(most=most)
    assert len(points) <= most
    assert max(point.peak for point in points) == max(value for _, value in values)


def test_a_bucket_is_the_mean_of_what_fell_into_it():
    series = Series(step=10.0)
    for time, value in ((100.0, 1.0), (103.0, 2.0), (109.0, 6.0), (111.0, 4.0)):
        series.add(time, value)
    assert [(point.time, point.mean, point.peak) for point in series.points()] == [(100.0, 3.0, 6.0), (110.0, 4.0, 4.0)]


def test_a_gap_in_the_samples_is_a_gap_in_the_points_not_a_zero():
    series = Series()
    series.add(0.0, 1.0)
    series.add(5.0, 2.0)
    assert [point.time for point in series.points()] == [0.0, 5.0]


@given(st.lists(st.integers(0, 100), max_size=40), st.integers(1, 10))
def test_the_recent_samples_are_the_newest_in_order(values: list[int], capacity: int) -> None:
    recent = Recent(capacity)
    for time, value in enumerate(values):
        recent.add(float(time), float(value))
    assert [value for _, value in recent.samples()] == values[-capacity:]
    assert [value for _, value in recent.samples(3)] == values[-min(3, capacity) :]


def test_eight_hours_of_128_cores_stay_far_below_100_mib():
    run = Run()
    step = 20.0  # the count of buckets, not of samples, is what takes memory
    for tick in range(int(8 * 3600 / step)):
        cores = tuple(CoreSample(core=core, utilization=0.5, memory=tick * core) for core in range(128))
        run.apply(CoresSampled(kind=CoreKind.NEURON, cores=cores, at=tick * step))
    taken = sum(
        series.bytes
        for core in run.cores.cores.values()
        for series in (core.utilization, core.memory, core.recent_utilization, core.recent_memory)
    )
    assert taken < 20 * 1024**2
    assert max(len(core.utilization) for core in run.cores.cores.values()) <= 3600


def test_utilization_is_smoothed_over_a_step_so_that_its_idle_part_does_not_show_as_idleness():
    run = Run()
    for second in range(120):
        busy = 1.0 if second % 60 < 30 else 0.0
        run.apply(CoresSampled(kind=CoreKind.LOCAL, cores=(CoreSample(core=0, utilization=busy),), at=float(second)))
    core = run.cores.cores["/local/0"]
    assert core.sample.utilization == 0.0
    assert core.smoothed(60.0) == pytest.approx(0.5, abs=0.02)


def test_time_covered_twice_counts_once_and_a_reversed_interval_not_at_all():
    assert union_seconds([(0.0, 10.0), (5.0, 12.0), (20.0, 21.0), (30.0, 29.0), (11.0, 11.5)]) == 13.0
    assert union_seconds([(5.0, 4.0)]) == 0.0


def test_the_mean_of_the_last_seconds_leaves_out_what_is_older():
    recent = Recent(4)
    for time, value in enumerate((9.0, 9.0, 1.0, 2.0, 3.0)):
        recent.add(float(time), value)
    assert recent.mean_since(2.0) == 2.0
    assert recent.mean_since(99.0) is None


def test_what_comes_after_the_clock_was_set_back_has_points_of_its_own_behind_those_before() -> None:
    run = Run()
    for at in (*range(5000, 5003), *range(1000, 1003)):
        sample = CoreSample(core=0, utilization=at / 10_000, memory=at, kinds={"tensors": at})
        run.apply(CoresSampled(kind=CoreKind.NEURON, cores=(sample,), at=float(at)))
        run.apply(HostSampled(cpu=at / 10_000, memory_used=at, at=float(at)))
    (core,) = run.cores.in_order()
    for series in (core.memory, run.cores.host_memory):
        assert [(point.time, point.mean) for point in series.points()][-2:] == [(1001.0, 1001.0), (1002.0, 1002.0)]
        assert [point.mean for point in series.points()][:2] == [5000.0, 5001.0]
    assert [point.time for point in core.utilization.points()] == sorted(set(range(998, 1003)))
    assert [sample.time for sample in core.kind_history.samples()][-2:] == [1001.0, 1002.0]


def test_steps_after_the_clock_was_set_back_follow_those_before_and_another_ranks_first_steps_do_not() -> None:
    def throughputs(*steps: tuple[int, int]) -> list[tuple[float, float]]:
        run = Run()
        for step, at in steps:
            run.apply(StepReported(step=step, loss=1.0, throughput=float(step), at=float(at), source="log:x"))
        return [(point.time, point.mean) for point in run.training.throughputs.points()]

    assert throughputs((1, 5000), (2, 5010), (3, 1010), (4, 1020)) == [(1000.0, 1.0), (1010.0, 2.5), (1020.0, 4.0)]
    assert throughputs((1, 5000), (2, 5010), (1, 1000), (2, 1010)) == [(5000.0, 1.0), (5010.0, pytest.approx(5 / 3))]
