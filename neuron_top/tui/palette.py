"""The command palette; where only ASCII may be drawn, without Textual's own signs and lines."""

from __future__ import annotations

from textual.binding import Binding
from textual.command import CommandList, CommandPalette, SearchIcon
from textual.events import Key
from textual.widgets import Input, LoadingIndicator

PLACEHOLDER = "commands, jobs, graphs, cores, ranks, recordings, cache entries"


class CommandFinder(CommandPalette):
    """Finds commands, and things by their names.

    It has no id: where a page opens late in front of it, it may be opened once more.
    """

    BINDINGS = [Binding("ctrl+c", "app.quit", "quit", show=False, priority=True)]
    """As on every screen; in an input line the key would copy."""

    def __init__(self) -> None:
        super().__init__(placeholder=PLACEHOLDER)

    def on_key(self, event: Key) -> None:
        """Take letters that came before the input line had the focus, as those typed right behind the key."""
        if event.character and event.is_printable and self.focused is None:
            self.query_one(Input).insert_text_at_cursor(event.character)
            event.stop()


class AsciiCommandFinder(CommandFinder):
    """The same in ASCII: its bars of blocks, its glass and its dots would be holes or question marks there."""

    def on_mount(self) -> None:
        """Other lines and signs; nothing turns while it looks, and the list scrolls with the cursor."""
        self.query_one(SearchIcon).icon = ">"
        self.query_one("#--input").styles.border = ("ascii", "gray")
        found = self.query_one(CommandList)
        found.styles.border = ("none", "gray")
        found.styles.scrollbar_size_vertical = 0
        self.query_one(LoadingIndicator).styles.display = "none"
