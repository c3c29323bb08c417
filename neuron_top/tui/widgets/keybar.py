"""The bottom line: what can be done here, as keys that a mouse can press too."""

from __future__ import annotations

from textual import events
from textual.strip import Strip

from neuron_top.tui.drawing import Line, cells_in, lines_of, safe
from neuron_top.tui.keys import TYPING, Key, keys_for
from neuron_top.tui.widgets.lines import Lines

ALWAYS = frozenset({"app.help", "app.quit", "back"})
"""Actions that are named however narrow the line is."""
_NOTICE_SECONDS = 4.0
_READ_PER_SECOND = 20
"""Characters of a notice: a long one stays longer."""
_MOST_LINES = 4
"""Of a notice."""


class KeyBar(Lines):
    """Keys of a screen; a notice takes the right end for a while, or as many lines as it needs."""

    def __init__(self, place: str, *, is_page: bool = False) -> None:
        """A page also says that escape closes it."""
        super().__init__(id="keybar")
        self._keys = [key for key in keys_for(place) if key.footer or (is_page and key.action == "back")]
        self._spans: list[tuple[int, int, Key]] = []
        self._notice = ""
        self._is_typing = self._is_behind_palette = False

    def show_typing(self, is_typing: bool) -> None:
        """Offer the keys that work while letters are text, or those of the screen again."""
        if is_typing is not self._is_typing:
            self._is_typing = is_typing
            self.redraw()

    def show_palette(self, is_open: bool) -> None:
        """The same while the palette is in front."""
        self._is_behind_palette = is_open
        self.redraw()

    def notice(self, text: str) -> None:
        """Show a sentence for as long as it takes to read it; "" removes the one that is shown."""
        self._notice = text
        self._fit()
        if text:
            self.set_timer(max(_NOTICE_SECONDS, len(text) / _READ_PER_SECOND), lambda: self.withdraw(text))

    @property
    def noticed(self) -> str:
        """The sentence that is shown; "" without one."""
        return self._notice

    def withdraw(self, text: str) -> None:
        """Stop showing this sentence, if it is the one that is shown."""
        if self._notice == text:
            self._notice = ""
            self._fit()

    def on_resize(self) -> None:
        """A notice may need fewer or more lines now."""
        if self._notice:
            self._fit()

    def _fit(self) -> None:
        """Take the lines that the notice needs, and draw."""
        lines = len(self._wrapped(self.size.width, _MOST_LINES))
        if self.styles.height is None or self.styles.height.value != lines:
            self.styles.height = lines
        self.redraw()

    def _wrapped(self, width: int, most: int) -> list[str]:
        """The lines of the notice, at most `most`: what is behind them is left to the last one, which is cut."""
        text = self.theme.to_ascii(safe(self._notice))
        if not text or cells_in(text) <= width:
            return [text]
        parts = lines_of(text, max(8, width - 2))
        return [*parts[: most - 1], " ".join(parts[most - 1 :])] if len(parts) > most else parts

    def draw(self, width: int, height: int) -> list[Strip]:
        """One line: ` q quit  ? help …`, and the notice; a longer notice has the lines by itself."""
        parts = self._wrapped(width, max(1, height))
        if len(parts) > 1 or cells_in(parts[0]) > width:
            self._spans = []
            return [Line(self.theme, width).gap().put(part, self.theme.warn).strip() for part in parts]
        line = Line(self.theme, width)
        self._spans = []
        for key in self._fitting(width):
            label = self.host.key_label(key)
            start = line.gap().used
            line.put(key.shown, self.theme.key).gap()
            line.put(label, self.theme.quiet).gap()
            self._spans.append((start, line.used, key))
        if self._notice:
            if line.left < cells_in(parts[0]) + 1:
                line, self._spans = Line(self.theme, width), []
            line.end(parts[0], self.theme.warn)
        return [line.strip()]

    def _fitting(self, width: int) -> list[Key]:
        """As many keys that do something now as there is room for; those that help and lead away are never left out."""
        keys = [
            key
            for key in (TYPING if self._is_typing or self._is_behind_palette else self._keys)
            if self.host.key_usable(key)
        ]
        sizes = {key: len(key.shown) + len(self.host.key_label(key)) + 3 for key in keys}
        always = [key for key in keys if key.action in ALWAYS]
        left = width - sum(sizes[key] for key in always)
        fitting = []
        for key in (key for key in keys if key not in always):
            if sizes[key] > left:
                break
            left -= sizes[key]
            fitting.append(key)
        return [*fitting, *always]

    async def on_click(self, event: events.Click) -> None:
        """Press the key under the mouse."""
        for start, stop, key in self._spans:
            if start <= event.x < stop:
                await self.screen.run_action(key.action)
                return
