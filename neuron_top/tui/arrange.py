"""Where the panels of the overview go: one column when narrow, two above the log when wide. Pure.

Each panel says how many lines it needs at least and how many it would fill. All get the least in order of
importance, then more up to what they fill; the log takes every line that is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

WIDE = 110
"""Columns from which on panels stand side by side."""
GAP = 2
LOG_LEAST = 4


class Wish(NamedTuple):
    """Lines a panel needs at least (0: it can be left out) and lines it would fill."""

    least: int
    full: int
    items: int = 0
    """Of `full`, the lines that can stand side by side when there is not enough room."""

    def used(self, given: int) -> int:
        """Lines that are really filled when so many are given."""
        room = given - (self.full - self.items) if self.items else given
        if self.items <= room or room < 1:
            return min(given, self.full)
        across = -(-self.items // (given - 1))
        return 1 + -(-self.items // across)


class Box(NamedTuple):
    """Place and size of a panel in cells."""

    x: int
    y: int
    width: int
    height: int


def arrange(width: int, height: int, wishes: Mapping[str, Wish]) -> dict[str, Box]:
    """Boxes for `cores`, `compile`, `training`, `alerts` and `log`; a panel without a line is left out."""
    boxes = _wide(width, height, wishes) if width >= WIDE else _narrow(width, height, wishes)
    return {name: box for name, box in boxes.items() if box.height > 0}


def share_out(height: int, wishes: list[Wish]) -> list[int]:
    """Lines for each wish, first come first served: first what all need, then what they would fill."""
    given = [0] * len(wishes)
    for level in ("least", "full"):
        for index, wish in enumerate(wishes):
            more = min(getattr(wish, level) - given[index], height - sum(given))
            given[index] += max(0, more)
    return given


def _narrow(width: int, height: int, wishes: Mapping[str, Wish]) -> dict[str, Box]:
    names = ("cores", "compile", "training", "alerts")
    log = min(LOG_LEAST, max(0, height - sum(wishes[name].least for name in names)))
    boxes, y = _column(names, wishes, 0, width, height - log)
    return {**boxes, "log": Box(0, y, width, height - y)}


def _wide(width: int, height: int, wishes: Mapping[str, Wish]) -> dict[str, Box]:
    left = max(60, width * 11 // 20)
    columns = ((("cores", "training"), 0, left), (("compile", "alerts"), left + GAP, width - left - GAP))
    room = height - min(max(LOG_LEAST, height // 4), height)
    boxes: dict[str, Box] = {}
    lowest = 0
    for names, x, size in columns:
        placed, y = _column(names, wishes, x, size, room)
        boxes, lowest = boxes | placed, max(lowest, y)
    return {**boxes, "log": Box(0, lowest, width, height - lowest)}


def _column(
    names: tuple[str, ...], wishes: Mapping[str, Wish], x: int, width: int, height: int
) -> tuple[dict[str, Box], int]:
    """Panels one below the other, and the first line below them."""
    boxes, y = {}, 0
    for name, given in zip(names, share_out(height, [wishes[name] for name in names]), strict=True):
        lines = wishes[name].used(given)
        boxes[name] = Box(x, y, width, lines)
        y += lines
    return boxes, y
