"""The keys of a screen on a page of their own, and what its signs mean; made from the key table."""

from __future__ import annotations

from typing import Any

from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding
from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.keys import SCREENS, Key, keys_for
from neuron_top.tui.look import Theme
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.widgets.page import Page


class HelpPage(DetailPage):
    """Help for one screen, without its header and keys; escape, `q` and `?` close it."""

    BINDINGS = [Binding("q,question_mark,f1", "back", "close", show=False)]

    def __init__(self, screen: str) -> None:
        super().__init__(lambda run, now: screen, lambda look, name, width: help_lines(look, width, name), "")
        self._screen_name = screen

    def compose(self) -> ComposeResult:
        """One page of lines."""
        yield Page(lambda look, width: help_lines(look, width, self._screen_name))

    def update(self, header: Any, view: Any) -> None:
        """Nothing changes while the page is open."""

    def notice(self, text: str) -> None:
        """There is no bottom line to show it on."""


def help_lines(look: Theme, width: int, screen: str) -> list[Strip]:
    """The page: keys in two columns where there is room, then the signs."""
    title = next((row.title for row in SCREENS if row.name == screen), "Help")
    keys = keys_for(screen)
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
