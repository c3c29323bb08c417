"""The terminal program: a feed that moves, a screen that shows it, and the time between two drawings.

`TopApp(feed, settings).run()` returns the exit status. The feed's threads announce changes; at most every 150 ms
the screen in front reads its frozen view under the feed's lock, and widgets send the lines that changed. Screens are
imported when they are first gone to.
"""

from __future__ import annotations

import importlib
import locale
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import SystemCommand
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen

from neuron_top.ingest.feed import Feed
from neuron_top.ingest.log_line import LogLine
from neuron_top.run.alerts import Limits
from neuron_top.run.estimate import Estimator
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.tui import look as looks
from neuron_top.tui.driver import LastingDriver
from neuron_top.tui.keys import KEYS, SCREENS, Key
from neuron_top.tui.protocols import Library
from neuron_top.tui.refresh import Refresher
from neuron_top.tui.replay_controller import ReplayController
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.style_sheet import StyleSheet
from neuron_top.tui.themes import THEMES, theme_of
from neuron_top.tui.ui_state import Kept, Remembered, recall, remember

if TYPE_CHECKING:  # what only the runs and cache screens need is not imported before the first frame
    from neuron_top.actions.desk import CacheService
    from neuron_top.tui.screens.logs import LogsScreen


class TopApp(ReplayController):
    """The program; `feed` is live or a replay, `first` the screen to open on."""

    CSS_PATH = "app.tcss"
    TITLE = "neuron-top"
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {}
    ENABLE_COMMAND_PALETTE = True
    ALLOW_SELECT = False

    def __init__(
        self,
        feed: Feed,
        settings: Settings | None = None,
        first: str = "",
        *,
        past: Callable[[], Estimator] | None = None,
        library: Library | None = None,
        caches: Sequence[str] = (),
        memory: Path | None = None,
        desk: CacheService | None = None,
    ) -> None:
        """`past` tells past compile times, asked in a thread after the first frame; `library` has recordings and
        caches (`caches`: those that were named), `desk` acts on caches: by default this user's. `memory` is the folder
        that keeps the last screen and theme, and how each screen's rows were arranged; None keeps nothing.
        """
        self.settings = settings or Settings()
        self._memory = memory
        known = recall(memory) if memory is not None else Remembered()
        theme = known.theme if known.theme in THEMES else self.settings.theme
        self.kept: dict[str, Kept] = known.tables
        first = first or (known.screen if known.screen in [place.name for place in SCREENS] else "overview")
        no_color = bool(os.environ.get("NO_COLOR"))
        encoding = locale.getpreferredencoding(False)
        self.look = looks.choose(theme, self.settings.ascii, encoding, no_color)
        self.MODES = {place.name: partial(_screen, place.name) for place in SCREENS}  # type: ignore[misc]
        self.DEFAULT_MODE = first  # type: ignore[misc]
        super().__init__(ansi_color=True if no_color else None)
        self.feed = feed
        self._home = feed
        self._library, self._desk, self._caches = library, desk, tuple(caches)
        self.estimator, self._past = Estimator(), past
        self.limits = Limits(memory_headroom=self.settings.memory_headroom)
        self.begun = threading.Event()
        """The first frame is drawn and the feed moves."""
        self._refresher: Refresher | None = None
        for palette in (looks.DARK, looks.LIGHT, looks.HIGH_CONTRAST):
            self.register_theme(theme_of(palette))
        self.theme = "ansi-dark" if no_color else f"neurontop-{theme}"
        self.stylesheet = StyleSheet(variables=self.get_css_variables())

    def get_driver_class(self) -> type[Driver]:
        """Textual's choice, but one that outlives its terminal where it would talk to one."""
        chosen = super().get_driver_class()
        return LastingDriver if chosen is LinuxDriver else chosen

    def on_ready(self) -> None:
        """The first frame; the feed begins after it."""
        self._refresher = Refresher(self._draw_in_turn)
        if self.front is not None and self._held is not None:
            self.front.arrive()
        self.call_after_refresh(self._begin)

    def _draw_in_turn(self) -> None:
        """Draw after the messages that wait already: a key is answered before the next drawing."""
        self.call_later(self.draw)

    def _begin(self) -> None:
        self.begun.set()
        self.feed.start(self.announce)
        self.set_interval(1.0, self._tick)
        self.announce()
        if self._past is not None:
            self.run_worker(self._learn, thread=True)

    def _learn(self) -> None:
        if self._past is not None:
            self.estimator = self._past()

    def exit(self, *args: Any, **options: Any) -> None:
        """Leave; what the screens were like is asked for while they are still there."""
        screens = [screen for stack in self._screen_stacks.values() for screen in stack]
        self.kept |= {one.PLACE: one.arranged() for one in screens if isinstance(one, LiveScreen) and one.table}
        super().exit(*args, **options)

    async def on_unmount(self) -> None:
        """End the feed's threads before the terminal is given back."""
        if self._memory is not None:
            changed = self.look.palette.name if self.look.palette.name != self.settings.theme else ""
            screen = self.current_mode if self.replay is None else ""
            remember(self._memory, Remembered(screen=screen, theme=changed, tables=self.kept))
        for feed in {id(self.feed): self.feed, id(self._home): self._home}.values():
            feed.stop()

    def announce(self) -> None:
        """Something changed: draw soon. May be called from any thread."""
        if self._refresher is not None:
            self._refresher.announce()

    def _tick(self) -> None:
        if self._refresher is not None:
            self._refresher.tick()

    def draw(self) -> None:
        """Read the view of the screen in front and show it."""
        screen = self.front
        if screen is None or not screen.is_mounted or (self.paused and self.replay is None):
            return
        header, view = self.feed.read(partial(_both, screen))
        screen.update(header, view)

    @property
    def front(self) -> LiveScreen | None:
        """The nearest live screen, below help or palette."""
        stack = self.screen_stack if self._running and self._current_mode in self._screen_stacks else []
        return next((screen for screen in reversed(stack) if isinstance(screen, LiveScreen)), None)

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The newest log lines."""
        return self.feed.log_tail(count, source) if count > 0 else []

    # Actions that screens hand on

    def go(self, name: str) -> None:
        """Show another screen."""
        if name != self.current_mode:
            self.switch_mode(name)
        while isinstance(self.screen, DetailPage):
            self.pop_screen()

    def go_back(self, name: str) -> None:
        """To a screen and the page that was open on it."""
        if name != self.current_mode:
            self.switch_mode(name)

    @property
    def log_screen(self) -> LogsScreen:
        """The log screen, which must be in front."""
        return cast("LogsScreen", self.front)

    async def action_quit(self) -> None:
        """Leave; also what Textual's own key for it does."""
        self.exit(0)

    def show_alerts(self) -> None:
        """The page of all alerts."""
        if self.front is not None:
            self.front.action_alerts()

    def action_go(self, name: str) -> None:
        """The same, for the palette and the mouse."""
        self.go(name)

    @property
    def library(self) -> Library:
        """Recordings and caches; imported only when a screen asks for them."""
        if self._library is None:
            from neuron_top.ingest.repository import Library as OfThisUser

            self._library = OfThisUser(self.settings, self._caches)
        return self._library

    @property
    def desk(self) -> CacheService:
        """What acts on caches; imported only when a key asks for it."""
        if self._desk is None:
            from neuron_top.actions.desk import CacheService as OfThisUser

            self._desk = OfThisUser(self.settings, read_only=self.settings.read_only)
        return self._desk

    def key_label(self, key: Key) -> str:
        """A key's word on the bottom line."""
        return "go on" if key.action == "pause" and self.paused else key.label

    def key_usable(self, key: Key) -> bool:
        """Whether a key does anything now; others are drawn dim."""
        if self.settings.read_only and key.action.startswith(("plan", "pin", "undo")):
            return False
        return self.replay is not None or not key.action.startswith(("seek", "speed"))

    def next_theme(self) -> None:
        """The next of dark, light, high contrast."""
        if self.no_color:
            return
        name = self.look.palette.name
        self.use_theme(THEMES[(THEMES.index(name) + 1) % len(THEMES)])

    def use_theme(self, name: str) -> None:
        """Draw everything in another palette."""
        self.look = looks.Theme(looks.PALETTES[name], self.look.glyphs)
        self.theme = f"neurontop-{name}"
        if self.front is not None:
            self.front.redraw_all()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The command palette: every row of the key table that makes sense without a cursor, and the themes."""
        front = self.front
        for key in KEYS:
            if front is not None and front.PLACE in key.places and key.action != "command_palette":
                yield SystemCommand(key.label.capitalize(), f"{key.text} ({key.shown})", partial(self._do, key.action))
        for name in THEMES:
            yield SystemCommand(
                f"Theme: {name}", f"Draw everything in the {name} palette", partial(self.use_theme, name)
            )

    async def _do(self, action: str) -> None:
        if self.front is not None:
            await self.front.run_action(action)


def _both(screen: LiveScreen, run: Run, now: float) -> tuple[Any, Any]:
    from neuron_top.views.overview import header

    return header(run, now), screen.read(run, now)


def _screen(name: str) -> Screen[Any]:
    module = importlib.import_module(f"neuron_top.tui.screens.{name}")
    screen: Screen[Any] = module.SCREEN()
    return screen
