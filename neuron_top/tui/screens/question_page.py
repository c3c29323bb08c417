"""A page that asks before something is changed: its lines, below them the buttons, and a word that must be typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from rich.style import Style
from textual.events import Key
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.tui.drawing import Line, cells_in
from neuron_top.tui.keys import QUESTION, screen_bindings
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.page import Page
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.views.model import Run

_LEAST_LINES = 2
"""Of the buttons and what stands below them, so that nothing moves when a question is answered."""


class QuestionPage(LiveScreen):
    """Subclasses draw the lines and the two rows of buttons, and do what was chosen."""

    NAME: ClassVar[str] = QUESTION
    IS_PAGE: ClassVar[bool] = True
    BINDINGS = screen_bindings(QUESTION)
    may_leave = False

    def __init__(self) -> None:
        super().__init__()
        self.chosen = 0
        """The button that is selected; the first one changes nothing."""
        self.typed = ""

    @property
    def asked_word(self) -> str:
        """What must be typed for the selected button; "" where no letters are expected now."""
        raise NotImplementedError

    @property
    def buttons(self) -> int:
        """How many buttons can be selected now."""
        raise NotImplementedError

    def select(self, button: int) -> None:
        """Select a button."""
        self.chosen, self.typed = button, ""
        self._redraw()

    def body(self) -> Iterable[Widget]:
        """The lines, and below them the buttons."""
        yield Page(self._draw_lines)
        yield RenderWidget("choice", lambda theme, _lines, width, _height: self._draw_choice(theme, width), int)

    def on_mount(self) -> None:
        """Draw the question; it has nothing to wait for."""
        self._redraw()

    def on_resize(self) -> None:
        """The buttons may need fewer or more lines now."""
        self._redraw()

    def read(self, run: Run, now: float) -> Any:
        """Returns None: the page does not depend on the run."""

    def show(self, view: Any) -> None:
        """Does nothing: the page does not depend on the run."""

    def on_key(self, event: Key) -> None:
        """Take the letters of the word that must be typed; none of them is a command meanwhile."""
        word = self.asked_word
        if not word:
            return
        if event.key == "backspace":
            self.typed = self.typed[:-1]
        elif event.character and event.character.isprintable():
            self.typed = (self.typed + event.character)[: len(word)]
        else:
            return
        event.stop()
        event.prevent_default()
        self._redraw()

    def action_shift(self, by: int) -> None:
        """Select the next button."""
        if self.buttons > 1:
            self.select((self.chosen + (1 if by > 0 else -1)) % self.buttons)

    def action_press(self, button: int) -> None:
        """Select a button that was clicked; do what it says if it was selected already, or changes nothing."""
        if button in (0, self.chosen):
            self.chosen = button
            self.action_open()
        elif button < self.buttons:
            self.select(button)

    def action_open(self) -> None:
        """Do what is selected."""
        raise NotImplementedError

    def action_move(self, by: int) -> None:
        """Scroll."""
        self.query_one(Page).move(by)

    def action_page(self, by: int) -> None:
        """Scroll by pages."""
        self.query_one(Page).page(by)

    def action_edge(self, end: int) -> None:
        """To the top or the bottom."""
        self.query_one(Page).edge(end)

    def copied(self) -> str:
        """The whole page as text."""
        return self.query_one(Page).text

    def _redraw(self) -> None:
        self.query_one(Page).redraw()
        lines = self._draw_choice(self.host.render_theme, self.size.width)
        self.query_one("#choice", RenderWidget).show(max(_LEAST_LINES, len(lines)))
        self.query_one(KeyBar).show_typing(bool(self.asked_word))

    def _draw_lines(self, theme: Theme, width: int) -> list[Strip]:
        raise NotImplementedError

    def _draw_choice(self, theme: Theme, width: int) -> list[Strip]:
        raise NotImplementedError


def button_lines(theme: Theme, width: int, texts: Sequence[str], chosen: int) -> list[Strip]:
    """The buttons, on as many lines as they need."""
    lines = [Line(theme, width).gap(2)]
    for number, text in enumerate(texts):
        if number and cells_in(text) + 2 * len("[ ") > lines[-1].left:
            lines.append(Line(theme, width).gap(2))
        put_button(lines[-1], theme, text, f"press({number})", chosen=number == chosen).gap(3)
    return [line.strip() for line in lines]


def put_button(line: Line, theme: Theme, text: str, action: str, *, chosen: bool) -> Line:
    """A button that does `action` of the screen when it is clicked; brackets mark the chosen one where colors don't."""
    style = clickable(theme.key if chosen else theme.quiet, action)
    return line.put(f"[ {text} ]" if chosen else f"  {text}  ", style)


def clickable(style: Style, action: str) -> Style:
    """The style of a text that does `action` of the screen when it is clicked."""
    return style + Style(meta={"@click": f"screen.{action}"})
