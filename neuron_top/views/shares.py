"""Parts of a whole on so many cells, without a rounding that invents a difference."""

from __future__ import annotations

from collections.abc import Sequence


def cells_by_largest_remainder(shares: Sequence[float], cells: int) -> list[int]:
    """Whole cells for each share (0…1 of `cells`): together as many as their sum rounds to, by largest remainder.

    Of equal remainders the earlier part gets the cell, so bars of equal parts are drawn alike.
    """
    exact = [max(0.0, share) * cells for share in shares]
    whole = min(cells, round(sum(exact)))
    given = [int(value) for value in exact]
    over = sum(given) - whole
    for index in range(len(given) - 1, -1, -1):  # parts that are more than everything: the last ones give way
        less = min(given[index], max(0, over))
        given[index] -= less
        over -= less
    order = sorted(range(len(exact)), key=lambda index: (-round(exact[index] - int(exact[index]), 9), index))
    for index in order[: max(0, whole - sum(given))]:
        given[index] += 1
    return given
