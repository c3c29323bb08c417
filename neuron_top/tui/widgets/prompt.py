"""Lines at the bottom of a screen that ask for a text: a filter, a name, a note, an amount."""

from __future__ import annotations

from collections.abc import Callable

from textual.binding import Binding
from textual.widgets import Input

from neuron_top.filters import MOST_CHARACTERS


class FilterInput(Input):
    """Hands what is typed to `typed`; enter keeps the filter and gives the keys back to the rows."""

    # With priority, as the keys behind it are those of the rows: they must not queue here.
    BINDINGS = [Binding("enter", "accept", show=False, priority=True)]

    def __init__(self, hint: str, typed: Callable[[str], None]) -> None:
        super().__init__(placeholder=hint, id="filter", compact=True, max_length=MOST_CHARACTERS)
        self._typed = typed

    def close(self) -> bool:
        """Empty and hide the line; False when it was empty and hidden."""
        if not self.value and not self.has_class("open"):
            return False
        with self.prevent(Input.Changed):  # who closes it filters anew; the message would come after what follows
            self.value = ""
        self.remove_class("open")
        return True

    def on_input_changed(self, message: Input.Changed) -> None:
        """Filter while typing; what was typed on since is filtered by the message behind this one."""
        message.stop()
        if message.value == self.value:
            self._typed(message.value)

    def action_accept(self) -> None:
        """Keep the filter; a line that is empty, once the letters in front of the key have arrived, is hidden."""
        self.screen.set_focus(None)
        self.call_later(lambda: self.set_class(bool(self.value), "open"))


class Prompt(Input):
    """Hands the text to `answered` when enter is pressed; escape closes it without."""

    def __init__(self) -> None:
        super().__init__(id="prompt", compact=True, max_length=2000, select_on_focus=False)
        self._answered: Callable[[str], None] = lambda _text: None

    def ask(self, hint: str, value: str, answered: Callable[[str], None]) -> None:
        """Open, with a text to change."""
        self._answered = answered
        self.placeholder, self.value = hint, value
        self.cursor_position = len(value)
        self.add_class("open")
        self.screen.set_focus(self)

    def close(self) -> bool:
        """Hide; False when it was hidden."""
        if not self.has_class("open"):
            return False
        self.remove_class("open")
        self.screen.set_focus(None)
        return True

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """The answer."""
        message.stop()
        self.close()
        self._answered(message.value)
