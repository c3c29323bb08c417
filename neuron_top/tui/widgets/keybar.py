"""The bottom line: what can be done here, as keys that a mouse can press too."""

from __future__ import annotations

from textual import events
from textual.strip import Strip

from neuron_top.tui.drawing import Line
from neuron_top.tui.keys import Key, keys_for
from neuron_top.tui.widgets.lines import Lines

ALWAYS = 2
"""The last rows of every screen's keys: help and quit."""


class KeyBar(Lines):
    """Keys of a screen; a notice takes the right end for a while."""

    def __init__(self, place: str) -> None:
        super().__init__(id="keybar")
        self._keys = [key for key in keys_for(place) if key.footer]
        self._spans: list[tuple[int, int, Key]] = []
        self._notice = ""

    def notice(self, text: str) -> None:
        """Show a sentence for four seconds."""
        self._notice = text
        self.redraw()
        self.set_timer(4.0, lambda: self.withdraw(text))

    def withdraw(self, text: str) -> None:
        """Stop showing this sentence, if it is the one that is shown."""
        if self._notice == text:
            self._notice = ""
            self.redraw()

    def draw(self, width: int, height: int) -> list[Strip]:
        """One line: ` q quit  ? help …`, and the notice."""
        line = Line(self.theme, width)
        self._spans = []
        for key in self._fitting(width):
            label = self.host.key_label(key)
            start = line.gap().used
            line.put(key.shown, self.theme.key).gap()
            line.put(label, self.theme.quiet).gap()
            self._spans.append((start, line.used, key))
        if self._notice:
            if line.left < len(self._notice) + 1:
                line = Line(self.theme, width)
            line.end(self._notice, self.theme.warn)
        return [line.strip()]

    def _fitting(self, width: int) -> list[Key]:
        """As many keys that do something now as there is room for; help and quit are never among those left out."""
        keys = [key for key in self._keys if self.host.key_usable(key)]
        sizes = {key: len(key.shown) + len(self.host.key_label(key)) + 3 for key in keys}
        left = width - sum(sizes[key] for key in keys[-ALWAYS:])
        fitting = []
        for key in keys[:-ALWAYS]:
            if sizes[key] > left:
                break
            left -= sizes[key]
            fitting.append(key)
        return [*fitting, *keys[-ALWAYS:]]

    async def on_click(self, event: events.Click) -> None:
        """Press the key under the mouse."""
        for start, stop, key in self._spans:
            if start <= event.x < stop:
                await self.screen.run_action(key.action)
                return
