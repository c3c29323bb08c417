"""Missing samples are a gap in a chart; samples that come seldom are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.views.gaps import with_gaps


def values(*times: float) -> list[float | None]:
    return [value for _, value in with_gaps([(time, time) for time in times])]


@pytest.mark.parametrize(
    ("times", "gaps"),
    [
        ((0, 1, 2, 3), 0),
        ((0, 1, 2, 60, 61), 1),
        ((0, 1, 2, 60, 120, 121), 2),
        ((0, 60, 120, 180), 0),
        ((0, 60, 120, 500), 1),
        ((0, 1, 1, 1, 5.5), 0),
        ((0, 60), 0),
        ((), 0),
    ],
    ids=["steady", "one gap", "one sample between two gaps", "seldom", "seldom, and a gap", "short", "two", "none"],
)
def test_a_gap_is_where_samples_came_more_often_before(times: tuple[float, ...], gaps: int) -> None:
    found = values(*times)
    assert found.count(None) == gaps
    assert [value for value in found if value is not None] == list(times)


@given(st.lists(st.floats(0, 1e4), max_size=40).map(sorted), st.integers(0, 40))
def test_later_samples_leave_what_is_drawn_as_it_is_and_times_rise(times: list[float], known: int) -> None:
    drawn = with_gaps([(time, 0.0) for time in times])
    first = with_gaps([(time, 0.0) for time in times[:known]])
    assert drawn[: len(first)] == first
    assert [time for time, _ in drawn] == sorted(time for time, _ in drawn)
