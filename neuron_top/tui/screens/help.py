"""The keys of a screen on a page of their own, and what its words and signs mean; made from the key table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding
from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.keys import EVERYWHERE, FLEET, MOVING, SCREENS, Key, keys_for
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.theme import NO_COLOR, Theme
from neuron_top.tui.widgets.page import Page
from neuron_top.views.model import GraphState, State
from neuron_top.views.words import TERMS, entry_state_words, graph_state_words

_KEY_CELLS = 10
"""Cells of a key, in front of its text."""
_WORD_CELLS = 20
"""Cells of a word, in front of its meaning."""


class HelpPage(DetailPage):
    """Help for one screen, without its header and keys; escape, `q` and `?` close it."""

    BINDINGS = [Binding("q,question_mark,f1", "back", "close", show=False)]

    def __init__(self, screen: str) -> None:
        super().__init__(lambda run, now: screen, lambda theme, name, width: help_lines(theme, width, name), "")
        self._screen_name = screen

    def compose(self) -> ComposeResult:
        """One page of lines."""
        yield Page(lambda theme, width: help_lines(theme, width, self._screen_name))

    def update(self, header: Any, view: Any) -> None:
        """Does nothing, as the page does not change while it is open."""

    def notice(self, text: str) -> None:
        """Does nothing, as there is no bottom line."""


def help_lines(theme: Theme, width: int, screen: str) -> list[Strip]:
    """The page: keys in two columns where there is room, then what words and signs mean."""
    title = next((row.title for row in (*SCREENS, FLEET) if row.name == screen), "this page")
    strips: list[Strip] = []
    keys = [key for key in keys_for(screen) if key.action != "app.next_theme" or theme.palette is not NO_COLOR]
    for heading, rows in _sections(title, keys):
        strips += [Line(theme, width).strip()] if strips else []
        strips += [rule(theme, width, heading, "" if strips else "esc closes"), *_key_lines(theme, width, rows)]
    words = _words(screen)
    if words:
        strips += [Line(theme, width).strip(), rule(theme, width, "Words")]
        strips += [strip for word in words for strip in _word_lines(theme, width, *word)]
    strips += [Line(theme, width).strip(), rule(theme, width, "Signs")]
    strips += [
        Line(theme, width).gap(2).put(sign, style, width=10).put(text, theme.quiet).strip()
        for sign, style, text in _signs(theme)
    ]
    return strips


def _sections(title: str, keys: Sequence[Key]) -> Iterator[tuple[str, list[Key]]]:
    """The sections; keys that only some screens have come first, as these are what a person looks for."""
    shared = {key for key in keys if key.screens == MOVING}
    everywhere = {key for key in keys if key.screens == EVERYWHERE or key.action.startswith("app.")}
    for heading, rows in (
        (f"Keys of {title}", [key for key in keys if key not in shared | everywhere]),
        ("In lists", [key for key in keys if key in shared]),
        ("On every screen", [key for key in keys if key in everywhere]),
    ):
        if rows:
            yield heading, rows


def _key_lines(theme: Theme, width: int, keys: Sequence[Key]) -> Iterator[Strip]:
    """Keys and their texts, in two columns where there is room."""
    columns = 2 if width >= 110 else 1
    size = width // columns
    rows = [row for key in keys for row in _key_rows(key, size)]
    half = -(-len(rows) // columns)
    while half < len(rows) and not rows[half][0]:  # do not split one text between the columns
        half += 1
    for left, right in zip_longest(rows[:half], rows[half:], fillvalue=("", "")):
        line = Line(theme, width)
        for start, (shown, text) in ((0, left), (size, right)):
            line.to(start).gap(2).put(shown, theme.key, width=_KEY_CELLS).put(text, theme.text)
        yield line.strip()


def _key_rows(key: Key, width: int) -> list[tuple[str, str]]:
    """A key and its text in a column of `width` cells, on as many rows as the text needs."""
    texts = textwrap.wrap(key.text, max(20, width - _KEY_CELLS - 3))
    return [(key.shown if index == 0 else "", text) for index, text in enumerate(texts)]


_TERMS = {
    "overview": ("graph", "lookup", "hit rate"),
    "compile": ("graph", "artifact", "lookup", "hit", "miss", "hit rate", "compile time", "time left", "waited"),
    "runs": ("hit rate", "compile share"),
}
"""What a screen speaks of."""
_OF_LOGS = (
    ("× 104", "so many equal lines; x shows each"),
    ("× 9 alike", "warnings or errors that differ in numbers alone"),
    ("4 ×", "so many ranks or processes wrote it"),
)


def _words(screen: str) -> list[tuple[str, str]]:
    """Words of a screen, with what they mean."""
    terms = [(term, TERMS[term]) for term in _TERMS.get(screen, ())]
    if screen == "compile":
        return [*terms, *((state.value, graph_state_words(state)) for state in GraphState)]
    if screen == "cache":
        return [(state.value, entry_state_words(state)) for state in State]
    return [*_OF_LOGS] if screen == "logs" else terms


def _word_lines(theme: Theme, width: int, word: str, meaning: str) -> list[Strip]:
    parts = textwrap.wrap(meaning, max(20, width - _WORD_CELLS - 3))
    return [
        Line(theme, width).gap(2).put("" if index else word, theme.key, width=_WORD_CELLS).put(part, theme.text).strip()
        for index, part in enumerate(parts)
    ]


def _signs(theme: Theme) -> list[tuple[str, Style, str]]:
    glyphs = theme.glyphs
    return [
        (glyphs.done, theme.good, "done, or found in the cache"),
        (glyphs.running, theme.accent, "running, compiling"),
        (glyphs.waiting, theme.warn, "locked, or waiting for another process's lock"),
        (glyphs.queued, theme.quiet, "known, extracted or queued"),
        (glyphs.failed, theme.bad, "failed, or corrupt"),
        (glyphs.warn, theme.warn, "a warning, or left unfinished"),
        (glyphs.mark, theme.accent, "marked by you"),
        (glyphs.unknown, theme.quiet, "not known; never counted as zero"),
        (
            glyphs.track * 3 + glyphs.peak + glyphs.track * 3,
            theme.quiet,
            "the mark on a memory bar is the highest use so far",
        ),
    ]
