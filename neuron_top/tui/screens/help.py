"""The keys of a screen on a page of their own, and what its signs mean; made from the key table."""

from __future__ import annotations

from rich.style import Style
from textual.app import ComposeResult
from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.keys import SCREENS, Key, keys_for
from neuron_top.tui.look import Theme
from neuron_top.tui.screens.base import bindings_for
from neuron_top.tui.screens.single_paint import SinglePaintScreen
from neuron_top.tui.widgets.page import Page


class HelpPage(SinglePaintScreen):
    """Help for one screen; escape, `q` and `?` close it, arrows move it."""

    BINDINGS = bindings_for("detail")
    AUTO_FOCUS = ""

    def __init__(self, place: str) -> None:
        super().__init__()
        self._place = place

    def compose(self) -> ComposeResult:
        """One page of lines."""
        yield Page(lambda look, width: help_lines(look, width, self._place))

    def action_move(self, by: int) -> None:
        """Scroll."""
        self.query_one(Page).move(by)

    def action_page(self, by: int) -> None:
        """Scroll by pages."""
        self.query_one(Page).page(by)

    def action_edge(self, end: int) -> None:
        """To the top or the bottom."""
        self.query_one(Page).edge(end)

    def action_back(self) -> None:
        """Close."""
        self.dismiss()

    def action_help(self) -> None:
        """Close: the key that opened it."""
        self.dismiss()

    async def action_quit(self) -> None:
        """Close: `q` leaves the page first."""
        self.dismiss()


def help_lines(look: Theme, width: int, place: str) -> list[Strip]:
    """The page: keys in two columns where there is room, then the signs."""
    title = next((row.title for row in SCREENS if row.name == place), "Help")
    keys = keys_for(place)
    strips = [rule(look, width, f"Keys of {title}", "esc closes")]
    if width >= 110:
        half = (len(keys) + 1) // 2
        for index in range(half):
            line = Line(look, width)
            _key(line, keys[index], 0, width // 2)
            if index + half < len(keys):
                _key(line, keys[index + half], width // 2, width)
            strips.append(line.strip())
    else:
        for key in keys:
            line = Line(look, width)
            _key(line, key, 0, width)
            strips.append(line.strip())
    strips += [Line(look, width).strip(), rule(look, width, "Signs")]
    strips += [
        Line(look, width).gap(2).put(sign, style, width=10).put(text, look.quiet).strip()
        for sign, style, text in _signs(look)
    ]
    return strips


def _key(line: Line, key: Key, start: int, end: int) -> None:
    line.to(start).gap(2).put(key.shown, line.look.key, width=10).put(key.text, line.look.text, width=end - start - 13)


def _signs(look: Theme) -> list[tuple[str, Style, str]]:
    glyphs = look.glyphs
    return [
        (glyphs.done, look.good, "done, or found in the cache"),
        (glyphs.running, look.accent, "running, compiling"),
        (glyphs.waiting, look.warn, "waiting for another process's lock"),
        (glyphs.queued, look.quiet, "known, extracted or queued"),
        (glyphs.failed, look.bad, "failed"),
        (glyphs.warn, look.warn, "a warning"),
        (glyphs.unknown, look.quiet, "not known; never counted as zero"),
        (
            glyphs.track * 3 + glyphs.peak + glyphs.track * 3,
            look.quiet,
            "the mark on a memory bar is the highest use so far",
        ),
    ]
