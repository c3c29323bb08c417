"""What a total was made of: bounded, and never put together from different moments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neuron_top.run.breakdown_history import BreakdownHistory

SIZES = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 1000), min_size=1)


@given(st.lists(st.tuples(st.integers(0, 400), SIZES), min_size=1), st.integers(1, 40))
def test_every_sample_that_is_kept_was_taken_whole_and_the_highest_total_is_among_them(
    taken: list[tuple[int, dict[str, int]]], most: int
) -> None:
    makeup = BreakdownHistory(capacity=16)
    for time, sizes in taken:
        makeup.add(float(time), sizes)
    for kept in (makeup.samples(), makeup.samples(most)):
        assert all((sample.time, sample.parts) in [(float(time), sizes) for time, sizes in taken] for sample in kept)
        assert max(sum(sample.parts.values()) for sample in kept) == max(sum(sizes.values()) for _time, sizes in taken)
        assert 1 <= len(kept) <= 16
    assert len(makeup.samples(most)) <= most


def test_samples_stand_in_the_order_of_time_and_parts_beyond_the_limit_are_left_out() -> None:
    makeup = BreakdownHistory(kinds=2)
    makeup.add(10.0, {"a": 1})
    makeup.add(12.0, {"b": 2, "c": 3})
    assert [(one.time, one.parts) for one in makeup.samples()] == [(10.0, {"a": 1}), (12.0, {"b": 2})]
