"""Lines at the bottom of a screen that ask for a text: a filter, a name, a note, an amount."""

from __future__ import annotations

from collections.abc import Callable

from textual.widgets import Input

from neuron_top.filters import MOST_CHARACTERS


class FilterInput(Input):
    """Hands what is typed to `typed` at each key; enter keeps the filter and gives the keys back to the rows."""

    def __init__(self, hint: str, typed: Callable[[str], None]) -> None:
        super().__init__(placeholder=hint, id="filter", compact=True, max_length=MOST_CHARACTERS)
        self._typed = typed

    def close(self) -> bool:
        """Empty and hide the line; False when it was empty and hidden."""
        if not self.value and not self.has_class("open"):
            return False
        self.value = ""
        self.remove_class("open")
        return True

    def on_input_changed(self, message: Input.Changed) -> None:
        """Filter while typing."""
        message.stop()
        self._typed(message.value)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Keep the filter; an empty line is hidden."""
        message.stop()
        if not message.value:
            self.remove_class("open")
        self.screen.set_focus(None)


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
