"""The least that a Textual program costs which follows a log, the peer of our screen: `bare_screen.py FILE`.

It reads what was appended and draws the last lines, as often as ours, and does nothing else: no events, no panels, no
clocks.
"""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from typing import BinaryIO

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.ingest.wakeup import POLL_SECONDS

LINES_SHOWN = 43
"""As many as ours shows in a terminal of 48 rows while its panels are empty, as they are with the benchmark's log."""


class Tail(Widget):
    """The last lines."""

    DEFAULT_CSS = f"Tail {{ height: {LINES_SHOWN}; dock: bottom; }}"

    def __init__(self) -> None:
        super().__init__()
        self.texts: deque[str] = deque(maxlen=LINES_SHOWN)

    def render_lines(self, crop: Region) -> list[Strip]:
        """As they are."""
        shown = [Strip([Segment(text.ljust(crop.width)[: crop.width])], crop.width) for text in self.texts]
        blank = Strip.blank(crop.width)
        return [*shown, *[blank] * (crop.height - len(shown))][: crop.height]


class Bare(App[None]):
    """One widget and one timer."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self._tail = file, Tail()

    def compose(self) -> ComposeResult:
        """The lines."""
        yield self._tail

    def on_mount(self) -> None:
        """Look as often as ours does at a file that grows all the time."""
        self._tail.texts.append("Overview")  # what the benchmark waits for
        self.set_interval(POLL_SECONDS, self._look)

    def _look(self) -> None:
        data = self._file.read()
        if data:
            self._tail.texts.extend(data.decode().splitlines())
            self._tail.refresh()


def main() -> None:
    """Follow the file until the terminal closes."""
    with Path(sys.argv[1]).open("rb") as file:
        Bare(file).run()


if __name__ == "__main__":
    main()
