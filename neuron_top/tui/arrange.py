"""Arranges the panels of the overview: one column when narrow, two above the log when wide. Pure.

Each panel says how many lines it needs at least and how many it would fill; one that needs none is left out. First all
get their least number of lines, in order of importance; then those that matter most in this phase of the job get what
they would fill, then the others; the log takes the rest. What matters most stands over the whole width, below both
columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

WIDE = 110
"""Columns from which on panels stand side by side."""
GAP = 2
LOG_WANTS = 4
"""Lines that the log asks for."""
LOG_LEAST = 2
"""With fewer the log is left out: its heading alone shows nothing."""
TALL = 12
"""From this many lines of cores on, training stands beside them in the other column."""
FIRST_PART = 55
"""Percent of the lines for the most important panel, before the others get what they would fill."""
LEAST_MAIN = 3
"""A less important panel that would get fewer lines is left out."""
SIDES = ("cores", "compile", "training", "alerts")
"""Panels of the columns, in the order of one column."""


class SizeRequest(NamedTuple):
    """Lines a panel needs at least (0: it can be left out) and lines it would fill."""

    least: int
    full: int
    items: int = 0
    """Those lines of `full` that can be placed side by side if there is not enough room."""
    cells: int = 1
    """Columns that each of those needs then."""

    def used(self, given: int, width: int) -> int:
        """How many lines the panel fills if it is given this many."""
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


NOTHING = SizeRequest(0, 0)


class Box(NamedTuple):
    """Place and size of a panel in cells."""

    x: int
    y: int
    width: int
    height: int


def arrange(width: int, height: int, requests: Mapping[str, SizeRequest], main: Sequence[str] = ()) -> dict[str, Box]:
    """Boxes for the panels and the `log`; a panel without a line is left out, as is a log of one.

    `reason` stands first, `missing` last; `main` are the panels that matter most, the first one first.
    """
    reason, missing = (requests.get(name, NOTHING) for name in ("reason", "missing"))
    top = min(reason.full, max(reason.least, height // 3), height)
    bottom = min(missing.full, height - top)
    place = _wide if width >= WIDE else _narrow
    requested = defaultdict(lambda: NOTHING, requests)
    large = [name for name in main if requested[name].full]
    for name in large[1:]:
        requested[name] = requested[name]._replace(least=requested[name].least if name in SIDES else 0)
    between = place(width, height - top - bottom, requested, large)
    below = {name: box._replace(y=box.y + top) for name, box in between.items()}
    boxes = {"reason": Box(0, 0, width, top), **below, "missing": Box(0, height - bottom, width, bottom)}
    if boxes["log"].height < LOG_LEAST:
        boxes = _without_log(boxes)
    return {name: box for name, box in boxes.items() if box.height > 0}


def _without_log(boxes: Mapping[str, Box]) -> dict[str, Box]:
    """The boxes without that of the log, whose line goes to the panels above it."""
    log = boxes["log"]
    return {
        name: box._replace(height=box.height + log.height) if box.height and box.y + box.height == log.y else box
        for name, box in boxes.items()
        if name != "log"
    }


def width_of_alerts(width: int, requests: Mapping[str, SizeRequest], main: Sequence[str] = ()) -> int:
    """The width of the alerts on a screen of this width: that of their column, or all of it."""
    if width < WIDE:
        return width
    if _stands_beside_cores(requests, main):
        return _left(width)
    cores, training = (requests.get(name, NOTHING).full for name in ("cores", "training"))
    return width - _left(width) - GAP if cores or (training and "training" not in main) else width


def _stands_beside_cores(requests: Mapping[str, SizeRequest], main: Sequence[str]) -> bool:
    """Whether training stands in the column beside many cores, which are as high as it, and not below both columns."""
    return "training" in main and requests.get("cores", NOTHING).full >= TALL


def _left(width: int) -> int:
    """The width of the left one of two columns."""
    return max(60, width * 11 // 20)


def share_out(
    height: int, requests: Sequence[SizeRequest], first: Sequence[int] = (), part: int = FIRST_PART
) -> list[int]:
    """Lines for each request: what all need at least, then what they would fill.

    Those of `first` come before the others, but take no more than `part` percent of the room before those have theirs.
    """
    given = [0] * len(requests)
    others = [index for index in range(len(requests)) if index not in first]

    def give(index: int, most: int) -> None:
        given[index] += max(0, min(most - given[index], height - sum(given)))

    for index in (*first, *others):
        give(index, requests[index].least)
    for index in first:
        give(index, min(requests[index].full, height * part // 100))
    for index in (*others, *first):
        give(index, requests[index].full)
    return given


def _narrow(width: int, height: int, requests: Mapping[str, SizeRequest], main: Sequence[str]) -> dict[str, Box]:
    requests = {name: each._replace(least=0) if name in main[1:] else each for name, each in requests.items()}
    beside = [name for name in SIDES if name not in main and name in requests]
    above = [name for name in beside if name in SIDES[:2]]
    names = [*above, *main, *(name for name in beside if name not in above)]
    log = min(LOG_WANTS, max(0, height - sum(requests[name].least for name in names)))
    boxes, y = _column(names, requests, Box(0, 0, width, height - log), main[:1])
    return {**boxes, "log": Box(0, y, width, height - y)}


def _wide(width: int, height: int, requests: Mapping[str, SizeRequest], main: Sequence[str]) -> dict[str, Box]:
    """Two columns, then what matters most; cores that have no room in a column stand above both."""
    room = height - min(max(LOG_WANTS, height // 4), height)
    lefts = [name for name in ("cores", "training") if name not in main and requests[name].full]
    rights = [name for name in ("compile", "alerts") if requests[name].full]
    if _stands_beside_cores(requests, main):
        lefts += [name for name in rights if name == "alerts"]
        rights = ["training", *(name for name in rights if name != "alerts")]
        main = [name for name in main if name != "training"]
    left = _left(width) if lefts and rights else width
    boxes: dict[str, Box] = {}
    top = 0
    if lefts[:1] == ["cores"] and not requests["cores"].fits(room, left):
        lefts = lefts[1:]
        below = _least(requests, main) + max(_least(requests, lefts), _least(requests, rights))
        boxes, top = _column(["cores"], requests, Box(0, 0, width, max(0, room - below)))
        left = _left(width) if lefts and rights else width
    columns = [(lefts, 0, left), (rights, left + GAP if lefts else 0, width - left - GAP if lefts else width)]
    beside = max(sum(requests[name].full for name in names) for names, _x, _size in columns)
    least = max(_least(requests, names) for names, _x, _size in columns)
    rest = room - top
    wanted = sum(requests[name].full for name in main)
    given = min(wanted, max(rest // 2, rest - beside), max(0, rest - least))
    lowest = top
    for names, x, size in columns:
        placed, y = _column(names, requests, Box(x, top, size, rest - given))
        boxes, lowest = boxes | placed, max(lowest, y)
    placed, lowest = _column(main, requests, Box(0, lowest, width, room - lowest), main[:1], 100)
    return {**boxes, **placed, "log": Box(0, lowest, width, height - lowest)}


def _least(requests: Mapping[str, SizeRequest], names: Sequence[str]) -> int:
    return sum(requests[name].least for name in names)


def _column(
    names: Sequence[str],
    requests: Mapping[str, SizeRequest],
    room: Box,
    first: Sequence[str] = (),
    part: int = FIRST_PART,
) -> tuple[dict[str, Box], int]:
    """Panels one below the other, and the first line below them; those of `first` get what they would fill first."""
    given = share_out(room.height, [requests[name] for name in names], [names.index(name) for name in first], part)
    boxes, y = {}, room.y
    for name, lines in zip(names, given, strict=True):
        used = requests[name].used(lines, room.width)
        if not requests[name].least and used < min(LEAST_MAIN, requests[name].full):
            used = 0
        boxes[name] = Box(room.x, y, room.width, used)
        y += used
    return boxes, y
