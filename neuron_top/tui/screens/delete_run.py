"""Asks before a recording is deleted: what it is, what is deleted, what is kept. Cancel is selected at first."""

from __future__ import annotations

from collections.abc import Callable

from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, count_text, duration_text
from neuron_top.views.runs import RunRow

CHOICES = ("Cancel", "Delete")
DELETE = 1


class DeleteRunPage(DetailPage):
    """One recording; `delete` is called once, when Delete is selected and enter pressed."""

    def __init__(self, row: RunRow, delete: Callable[[RunRow], None]) -> None:
        super().__init__(lambda run, now: row, self._lines, "")
        self._row, self._delete = row, delete
        self.chosen = 0

    def _lines(self, theme: Theme, row: RunRow, width: int) -> list[Strip]:
        facts = (
            ("recording", row.id),
            ("name", row.name or " ".join(row.command)),
            ("result", f"{row.state_text}, after {duration_text(row.seconds)}"),
            ("deleted", f"{count_text(row.events)} events ({bytes_text(row.bytes)}) and the folder {row.folder}"),
            ("kept", "compile caches, and the compile times that estimates use"),
        )
        strips = [rule(theme, width, "Delete this recording?", "this cannot be undone")]
        for label, value in facts:
            strips.append(Line(theme, width).gap(2).put(label, theme.quiet, 10).gap().put(value).strip())
        choice = Line(theme, width).gap(2)
        for index, word in enumerate(CHOICES):
            here = index == self.chosen
            choice.put(f"{theme.glyphs.cursor if here else ' '} {word}", theme.title if here else theme.quiet).gap(3)
        keys = Line(theme, width).gap(2).put("← → select · enter confirms · esc cancels", theme.quiet).strip()
        return [*strips, Line(theme, width).strip(), choice.strip(), keys]

    def action_shift(self, by: int) -> None:
        """Select the other choice."""
        self.chosen = 0 if by < 0 else 1
        self.show(self._row)

    def action_open(self) -> None:
        """Do what is selected."""
        self.dismiss()
        if self.chosen == DELETE:
            self._delete(self._row)
