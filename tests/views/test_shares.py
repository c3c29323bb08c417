"""Parts of a whole on cells: the total is right, and equal parts look alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neuron_top.tui.drawing import cells_by_largest_remainder


def test_the_largest_remainders_get_the_cells_that_are_left() -> None:
    assert cells_by_largest_remainder([0.26, 0.24, 0.5], 10) == [3, 2, 5]
    assert cells_by_largest_remainder([0.5, 0.26, 0.24], 10) == [5, 3, 2]


def test_a_part_does_not_change_with_the_place_of_others() -> None:
    """Ends rounded from a running sum made 0.04 a cell in one row and none in the next."""
    assert cells_by_largest_remainder([0.41, 0.04, 0.03], 10) == [4, 1, 0]
    assert cells_by_largest_remainder([0.41, 0.03, 0.04], 10) == [4, 0, 1]


@given(st.lists(st.floats(0, 1), max_size=8), st.integers(0, 80))
def test_together_they_are_what_their_sum_rounds_to(shares: list[float], cells: int) -> None:
    given_cells = cells_by_largest_remainder(shares, cells)
    assert sum(given_cells) == min(cells, round(sum(share * cells for share in shares)))
    for share, count in zip(shares, given_cells, strict=True):
        assert 0 <= count < share * cells + 1
