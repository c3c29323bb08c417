"""Draws lines cell by cell: text that fits, bars, stacked bars, sparklines, charts. Pure functions.

A line is built left to right with `Line` and never gets wider than it was asked to be. All text passes through
`put`, which makes control characters visible: nothing in a log or a file name reaches the terminal as a command.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.strip import Strip

from neuron_top.escapes import visible
from neuron_top.tui.theme import Theme
from neuron_top.views.colors import Hue

_JOINED_BLANKS = 3
_LONGEST_WORD = 16
"""A longer word is a name, and is cut at the end of the line."""


class Line:
    """One line of exactly `width` cells, filled from the left; what does not fit is cut with a mark."""

    def __init__(self, theme: Theme, width: int, selected: bool = False) -> None:
        self.theme, self.width, self._selected = theme, max(0, width), selected
        self._segments: list[Segment] = []
        self.used = 0
        self._is_cut = False

    @property
    def left(self) -> int:
        """How many cells are still free."""
        return 0 if self._is_cut else self.width - self.used

    def put(self, text: str, style: Style | None = None, width: int | None = None, right: bool = False) -> Line:
        """Add `text`, in a column of `width` cells when given (cut with a mark, padded; to the right if asked).

        Text that is cut by the end of the line ends it, so that no second mark follows.
        """
        room = self.left if width is None else min(width, self.left)
        if not (text.isascii() and text.isprintable()):
            text = self.theme.to_ascii(safe(text))
        cells = cells_in(text)
        if cells > room:
            text = fit(text, room, self.theme.glyphs.more)
            cells = cells_in(text)
            self._is_cut = width is None
        if width is not None and cells < room:
            pad = " " * (room - cells)
            text, cells = pad + text if right else text + pad, room
        if text:
            self._add(text, cells, style)
        return self

    def gap(self, count: int = 1) -> Line:
        """Add blanks. A few are joined to the text before them, since a separate piece costs forty bytes to send."""
        count = min(count, self.left)
        last = self._segments[-1] if self._segments else None
        if 0 < count <= _JOINED_BLANKS and last is not None and last.style is not None and not last.style.reverse:
            self.used += count
            self._segments[-1] = Segment(last.text + " " * count, last.style)
        elif count > 0:
            self._add(" " * count, count)
        return self

    def to(self, column: int) -> Line:
        """Fill with blanks up to `column`."""
        return self.gap(max(0, column - self.used))

    def column(self, pieces: Sequence[tuple[str, Style]], width: int, right: bool = False) -> Line:
        """Ready pieces in a column of `width` cells: cut with a mark, padded; to the right if asked."""
        stop = self.used + min(width, self.left)
        if right:
            self.gap(stop - self.used - sum(cells_in(text) for text, _ in pieces))
        for text, style in pieces:
            self.put(text, style, min(cells_in(text), stop - self.used))
        return self.to(stop)

    def add(self, segments: Sequence[tuple[str, Style]]) -> Line:
        """Add ready pieces (a bar, a sparkline)."""
        for text, style in segments:
            self.put(text, style)
        return self

    def end(self, text: str, style: Style | None = None) -> Line:
        """Put `text` at the right end if there is room for it."""
        length = cell_len(self.theme.to_ascii(safe(text)))
        return self.to(self.width - length).put(text, style) if length <= self.left else self

    def strip(self) -> Strip:
        """The finished line."""
        self._is_cut = False
        return Strip(self.gap(self.left)._segments, self.width)

    def _add(self, text: str, cells: int, style: Style | None = None) -> None:
        self.used += cells
        style = self.theme.text if style is None else style
        if self._selected:
            style = self.theme.selected(style)
        last = self._segments[-1] if self._segments else None
        if last is not None and last.style is style:
            self._segments[-1] = Segment(last.text + text, style)
        else:
            self._segments.append(Segment(text, style))


def paragraph(theme: Theme, text: str, width: int, style: Style | None = None, left: int = 2) -> list[Strip]:
    """`text` on as many lines as it needs, all beginning at column `left`."""
    parts = lines_of(text, max(20, width - left)) or [""]
    return [Line(theme, width).gap(left).put(part, style).strip() for part in parts]


def fact(theme: Theme, label: str, text: str, width: int, style: Style | None = None, cells: int = 12) -> list[Strip]:
    """A label in a column of `cells`, followed by a text on as many lines as it needs."""
    first, *others = lines_of(text, max(20, width - cells - 3)) or [""]
    line = Line(theme, width).gap(2).put(label, theme.quiet, cells).gap().put(first, style)
    return [line.strip(), *(Line(theme, width).gap(cells + 3).put(part, style).strip() for part in others)]


def message(theme: Theme, title: str, text: str, width: int) -> list[Strip]:
    """A page that has only a text yet: its title, and why."""
    return [rule(theme, width, title), *paragraph(theme, text, width, theme.quiet)]


def short_command(command: str) -> str:
    """A command line without what is the same for every process: folders of programs and scripts, and `python -u`."""
    words = [word.rpartition("/")[2] or word if word.startswith("/") else word for word in command.split(" ")]
    return " ".join(words[_script(words) :])


def _script(words: Sequence[str]) -> int:
    """Where the script or the module begins that Python runs; 0 for another program, and for code after `-c`."""
    if not words[0].startswith("python"):
        return 0
    for index, word in enumerate(words[1:], 1):
        if word == "-c":
            return 0
        if word == "-m":
            return min(index + 1, len(words) - 1)
        if not word.startswith("-") and words[index - 1] not in ("-W", "-X"):
            return index
    return 0


def without_backticks(text: str) -> str:
    """A sentence of ours without the backticks around commands, which a terminal cannot typeset."""
    return text.replace("`", "")


def safe(text: str) -> str:
    """`text` with control characters made visible."""
    return text if text.isprintable() else visible(text)


def cells_in(text: str) -> int:
    """How many cells a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def lines_of(text: str, width: int, indent: int = 0) -> list[str]:
    """`text` in lines of at most `width` cells, broken between words; all but the first are indented."""
    text = safe(text)
    lines = textwrap.wrap(text, width, subsequent_indent=" " * indent, break_on_hyphens=False)
    if all(cells_in(line) <= width for line in lines):
        return lines
    # Textual counts cells, of which characters as those of Chinese take two.
    first = Content(text).wrap(width)[0].plain
    rest = Content(text[len(first) :].lstrip()).wrap(width - indent)
    return [first, *(f"{' ' * indent}{line.plain}" for line in rest)]


def fit(text: str, width: int, mark: str) -> str:
    """`text` cut to `width` cells, a sentence between two words; a cut text ends in `mark`.

    Scripts whose characters take two cells have no blanks between words.
    """
    if cells_in(text) <= width:
        return text
    if width <= 0:
        return ""
    kept = set_cell_size(text, width - 1)
    between = kept.rfind(" ") + 1
    ends_in_word = kept[-1:].isalpha() and cells_in(kept[-1:]) == 1 and text[len(kept) : len(kept) + 1].isalpha()
    return (kept[:between] if between and ends_in_word and len(kept) - between < _LONGEST_WORD else kept) + mark


def fit_start(text: str, width: int, mark: str) -> str:
    """Like `fit`, but cut the beginning and keep the end, as is best for paths."""
    if cell_len(text) <= width:
        return text
    kept = text[max(0, len(text) - width + 1) :]
    while cells_in(kept) >= max(1, width):
        kept = kept[1:]
    return mark + kept if width > 0 else ""


def bar(theme: Theme, share: float | None, width: int, style: Style | None = None) -> list[tuple[str, Style]]:
    """A bar of `width` cells, filled to `share` (0…1); an unknown share is an empty track with a mark."""
    if share is None:
        return [(f"{theme.glyphs.unknown:^{width}}"[:width], theme.faint)]
    filled = filled_cells(theme, min(1.0, max(0.0, share)), width)
    return [(filled, style or theme.accent), (theme.glyphs.track * (width - len(filled)), theme.faint)]


def filled_cells(theme: Theme, share: float, width: int) -> str:
    """The filled cells of a bar; at least one if the share is above 0."""
    cells = round(share * width)
    return theme.glyphs.bar * (max(1, cells) if share > 0 else cells)


class BarPart(NamedTuple):
    """A part of a whole: its share of the full width, its color, its glyph ("": a full cell)."""

    share: float
    style: Style
    glyph: str = ""


SMALL = 10
"""Bars of fewer cells show only the total, as their cells are too coarse to tell parts apart."""


def stacked(theme: Theme, parts: Sequence[BarPart], width: int, peak: float | None = None) -> list[tuple[str, Style]]:
    """A stacked bar: the parts by largest remainder, then the track, with a mark at `peak`."""
    if len(parts) > 1 and width < SMALL:
        parts = [BarPart(sum(max(0.0, part.share) for part in parts), theme.hues[Hue.BLUE])]
    counts = cells_by_largest_remainder([part.share for part in parts], width)
    cells = [((part.glyph or theme.glyphs.bar) * n, part.style) for part, n in zip(parts, counts, strict=True) if n]
    if not cells and any(part.share > 0 for part in parts):
        first = next(part for part in parts if part.share > 0)
        cells = [(first.glyph or theme.glyphs.bar, first.style)]
    return cells + _track(theme, sum(len(text) for text, _ in cells), width, peak)


def _track(theme: Theme, start: int, width: int, peak: float | None) -> list[tuple[str, Style]]:
    mark = None if peak is None else min(width - 1, int(peak * width))
    if mark is None or mark < start:
        return [(theme.glyphs.track * (width - start), theme.faint)]
    before, after = theme.glyphs.track * (mark - start), theme.glyphs.track * (width - mark - 1)
    return [(before, theme.faint), (theme.glyphs.peak, theme.quiet), (after, theme.faint)]


def spark(theme: Theme, values: Sequence[float | None], width: int, top: float | None = None) -> str:
    """The last `width` values as one line, right-aligned; unknown is blank. `top` is the full height (default: max)."""
    shown = values[-width:]
    highest = top if top is not None else max((value for value in shown if value is not None), default=0.0)
    steps, last = theme.glyphs.spark, len(theme.glyphs.spark) - 1
    scale = len(steps) / highest if highest > 0 else 0.0
    levels = [" " if value is None else steps[min(last, max(0, int(value * scale)))] for value in shown]
    return "".join(levels).rjust(width)


def chart(theme: Theme, values: Sequence[float | None], width: int, height: int, top: float) -> list[str]:
    """A column chart of `height` lines, top line first: the history of one thing on a page of its own."""
    shown = list(values[-width:])
    steps = theme.glyphs.spark
    lines = []
    for row in range(height - 1, -1, -1):
        cells = []
        for value in shown:
            if value is None or top <= 0:
                cells.append(" ")
                continue
            eighths = value / top * height * len(steps) - row * len(steps)
            floor = 1 if row == 0 and value > 0 else 0
            cells.append(" " if eighths < 1 and not floor else steps[min(len(steps), max(floor, int(eighths))) - 1])
        lines.append("".join(cells).rjust(width))
    return lines


_DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""Bits of a Braille pattern for its left and right column, from the bottom up."""


def curve(values: Sequence[float | None], width: int, height: int, low: float, high: float) -> list[str]:
    """A line chart of `height` lines, top line first, over the whole width, in Braille: 2 by 4 points a character.

    Neighbors are connected; unknown values leave a gap. For ASCII use `chart`.
    """
    points = _points(values, 2 * width)
    top, span = 4 * height - 1, high - low
    heights = [
        None if value is None else round(min(1.0, max(0.0, (value - low) / span if span > 0 else 0.5)) * top)
        for value in points
    ]
    bits = [[0] * width for _ in range(height)]
    before: int | None = None
    for column, place in enumerate(heights):
        if place is not None:
            start = place if before is None else before
            for dot in range(min(start, place), max(start, place) + 1):
                if dot == place or dot != start:  # not the point of the column before, which is drawn already
                    bits[height - 1 - dot // 4][column // 2] |= _DOTS[column % 2][dot % 4]
        before = place
    return ["".join(chr(0x2800 + cell) if cell else " " for cell in row) for row in bits]


def _points(values: Sequence[float | None], count: int) -> list[float | None]:
    """One value per column of points: means if there are more values, interpolated if there are fewer."""
    known = downsample(values, count)
    last = len(known) - 1
    if last < 1:
        return known * count if known else [None] * count
    found: list[float | None] = []
    for column in range(count):
        whole, part = divmod(column * last, count - 1) if count > 1 else (0, 0)
        one, two = known[whole], known[min(whole + 1, last)]
        if one is None or two is None:
            found.append(one if not part else None)
        else:
            found.append(one + (two - one) * part / (count - 1) if part else one)
    return found


def downsample(values: Sequence[float | None], count: int) -> list[float | None]:
    """At most `count` values, each the mean of a part of the series, so that hours fit the width of a screen."""
    if len(values) <= count:
        return list(values)
    means: list[float | None] = []
    for index in range(count):
        part = values[index * len(values) // count : (index + 1) * len(values) // count]
        known = [value for value in part if value is not None]
        means.append(sum(known) / len(known) if known else None)
    return means


def rule(
    theme: Theme, width: int, title: str, right: str | Sequence[tuple[str, Style]] = "", focused: bool = False
) -> Strip:
    """The title line of a panel: `Title ─────── summary`. The summary is a text, or pieces that have styles."""
    line = Line(theme, width)
    line.put(title, theme.title if not focused else theme.title + Style(reverse=True)).gap()
    pieces = [(right, theme.quiet)] if isinstance(right, str) else right
    cells = sum(cell_len(safe(text)) for text, _style in pieces)
    room = line.left - (cells + 1 if cells else 0)
    if room < 0:
        return line.add(pieces).strip()
    line.put(theme.glyphs.rule * room, theme.faint)
    return line.gap().add(pieces).strip() if cells else line.strip()


def cells_by_largest_remainder(shares: Sequence[float], cells: int) -> list[int]:
    """Whole cells for each share (0…1 of `cells`): together as many as their sum rounds to, by largest remainder.

    For equal remainders the earlier part gets the cell, so bars with equal parts look the same.
    """
    exact = [max(0.0, share) * cells for share in shares]
    whole = min(cells, round(sum(exact)))
    given = [int(value) for value in exact]
    over = sum(given) - whole
    for index in range(len(given) - 1, -1, -1):  # if the parts exceed the whole, the last ones are shortened
        less = min(given[index], max(0, over))
        given[index] -= less
        over -= less
    order = sorted(range(len(exact)), key=lambda index: (-round(exact[index] - int(exact[index]), 9), index))
    for index in order[: max(0, whole - sum(given))]:
        given[index] += 1
    return given


def whole_clauses(text: str, room: int) -> str:
    """As many whole clauses as there is room for; the first one is cut if it alone is too long."""
    first, *others = text.split(" · ")
    for clause in others:
        if cells_in(first) + 3 + cells_in(clause) > room:
            break
        first += f" · {clause}"
    return first
