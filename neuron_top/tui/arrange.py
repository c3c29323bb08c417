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


class SizeRequest(NamedTuple):
    """Lines a panel needs at least (0: it can be left out) and lines it would fill."""

    least: int
    full: int
    items: int = 0
    """Of `full`, the lines that can stand side by side when there is not enough room."""
    cells: int = 1
    """Columns that each of those needs then."""

    def used(self, given: int, width: int) -> int:
        """Lines that are really filled when so many are given."""
        room = given - (self.full - self.items) if self.items else given
        if self.items <= room or room < 1 or given < 2:  # a line for the title and one for items, at least
            return min(given, self.full)
        across = min(-(-self.items // (given - 1)), self._across(width))
        return min(given, 1 + -(-self.items // across))

    def fits(self, given: int, width: int) -> bool:
        """Whether all items have a place."""
        return self.items <= max(0, given - 1) * self._across(width)

    def _across(self, width: int) -> int:
        return max(1, width // self.cells)


class Box(NamedTuple):
    """Place and size of a panel in cells."""

    x: int
    y: int
    width: int
    height: int


def arrange(width: int, height: int, requests: Mapping[str, SizeRequest]) -> dict[str, Box]:
    """Boxes for `reason`, `cores`, `compile`, `training`, `alerts` and `log`; a panel without a line is left out."""
    reason = requests.get("reason", SizeRequest(0, 0))
    top = min(reason.full, max(reason.least, height // 5), height)
    place = _wide if width >= WIDE else _narrow
    below = {name: box._replace(y=box.y + top) for name, box in place(width, height - top, requests).items()}
    boxes = {"reason": Box(0, 0, width, top), **below}
    return {name: box for name, box in boxes.items() if box.height > 0}


def width_of_alerts(width: int) -> int:
    """Columns that the alerts have on a screen of so many: the right column of two, or all."""
    return width - _left(width) - GAP if width >= WIDE else width


def _left(width: int) -> int:
    """Columns of the left one of two."""
    return max(60, width * 11 // 20)


def share_out(height: int, requests: list[SizeRequest]) -> list[int]:
    """Lines for each request, in their order: first what all need at least, then what they would fill."""
    given = [0] * len(requests)
    for level in ("least", "full"):
        for index, request in enumerate(requests):
            more = min(getattr(request, level) - given[index], height - sum(given))
            given[index] += max(0, more)
    return given


def _narrow(width: int, height: int, requests: Mapping[str, SizeRequest]) -> dict[str, Box]:
    names = ("cores", "compile", "training", "alerts")
    log = min(LOG_LEAST, max(0, height - sum(requests[name].least for name in names)))
    boxes, y = _column(names, requests, Box(0, 0, width, height - log))
    return {**boxes, "log": Box(0, y, width, height - y)}


def _wide(width: int, height: int, requests: Mapping[str, SizeRequest]) -> dict[str, Box]:
    """Two columns; cores that have no room in one of them stand above both."""
    left = _left(width)
    room = height - min(max(LOG_LEAST, height // 4), height)
    lowest = top = 0
    boxes: dict[str, Box] = {}
    lefts: tuple[str, ...] = ("cores", "training")
    if not requests["cores"].fits(room - requests["training"].least, left):
        lefts = ("training",)
        below = max(requests["training"].least, requests["compile"].least + requests["alerts"].least)
        boxes, lowest = _column(("cores",), requests, Box(0, 0, width, max(0, room - below)))
        top = lowest
    columns = ((lefts, 0, left), (("compile", "alerts"), left + GAP, width - left - GAP))
    for names, x, size in columns:
        placed, y = _column(names, requests, Box(x, top, size, room - top))
        boxes, lowest = boxes | placed, max(lowest, y)
    return {**boxes, "log": Box(0, lowest, width, height - lowest)}


def _column(names: tuple[str, ...], requests: Mapping[str, SizeRequest], room: Box) -> tuple[dict[str, Box], int]:
    """Panels one below the other, and the first line below them."""
    boxes, y = {}, room.y
    for name, given in zip(names, share_out(room.height, [requests[name] for name in names]), strict=True):
        lines = requests[name].used(given, room.width)
        boxes[name] = Box(room.x, y, room.width, lines)
        y += lines
    return boxes, y
