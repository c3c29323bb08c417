"""The line at the bottom that asks for a filter, on every screen that has rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from neuron_top.errors import UsageError
from neuron_top.filters import MOST_CHARACTERS, words_filter
from neuron_top.tui.screens.single_paint import SinglePaintScreen
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.table import Table

if TYPE_CHECKING:
    from textual.widgets import Input


class FilteredScreen(SinglePaintScreen):
    """A screen whose rows can be filtered while typing."""

    FILTER_HINT: ClassVar[str] = "words to keep; !word to leave out"

    @property
    def table(self) -> Table[Any] | None:
        """The table that the moving keys move, if the screen has one."""
        return None

    async def action_filter(self) -> None:
        """Open the line that asks for a filter; made at the first time, as its module is a slow import.

        In the line itself the key is a character: an expression stands between two of them.
        """
        if self._asked is not None and self.focused is self._asked:
            self._asked.insert_text_at_cursor("/")
        elif self.can_filter:
            asked = await self.filter_line()
            asked.add_class("open")
            self.set_focus(asked)

    async def filter_line(self) -> Input:
        """The filter's line, made if there is none yet."""
        asked = self._asked
        if asked is None:
            from textual.widgets import Input

            asked = Input(placeholder=self.FILTER_HINT, id="filter", compact=True, max_length=MOST_CHARACTERS)
            await self.mount(asked, before=self.query_one(KeyBar))
        return asked

    @property
    def _asked(self) -> Input | None:
        """The filter's line, once it was needed."""
        found = self.query("#filter")
        return cast("Input", found.first()) if found else None

    @property
    def can_filter(self) -> bool:
        """Whether there is anything to filter."""
        return self.table is not None

    def close_filter(self) -> bool:
        """Drop the filter; False when there was none."""
        asked = self._asked
        if asked is None or (not asked.value and not asked.has_class("open")):
            return False
        asked.value = ""
        asked.remove_class("open")
        self.set_focus(None)
        self.filtered("")
        return True

    def on_input_changed(self, message: Input.Changed) -> None:
        """Filter while typing. A filter that cannot be carried out leaves the rows as they are, and says why."""
        try:
            self.filtered(message.value)
        except UsageError as problem:
            self.query_one(KeyBar).notice(str(problem))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Enter keeps the filter and gives the keys back to the rows."""
        if not message.value:
            message.input.remove_class("open")
        self.set_focus(None)

    def filtered(self, query: str) -> None:
        """Apply a filter to the rows."""
        if self.table is not None:
            self.table.filter(query, words_filter(query) if query.strip() else None)
