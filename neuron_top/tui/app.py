"""The terminal program: it reads a feed, shows it on a screen, and limits how often it draws.

`TopApp(feed, settings).run()` returns the exit status. The feed's threads announce changes; at most ten times
a second the screen in front reads its frozen view under the feed's lock, and widgets send the lines that changed. While
nothing but logs has grown, the view is read once a second, and only their lines are drawn meanwhile. Screens are
imported when they are first switched to.
"""

from __future__ import annotations

import importlib
import locale
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from textual.app import App, SystemCommand
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Callback
from textual.screen import Screen

from neuron_top.errors import NeuronTopError
from neuron_top.services.feeds import Feed, LogLine
from neuron_top.settings import Settings
from neuron_top.tui import ui_state
from neuron_top.tui.alert_keeper import AlertKeeper
from neuron_top.tui.driver import LastingDriver
from neuron_top.tui.job_list import JobList
from neuron_top.tui.keys import FLEET, SCREENS, Key, ScreenSpec, app_bindings, keys_for
from neuron_top.tui.output_gate import OutputGate
from neuron_top.tui.refresh import Drawn, Refresher
from neuron_top.tui.replay_controller import ReplayController
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.screens.table_screen import TableScreen
from neuron_top.tui.services import Services
from neuron_top.tui.style_sheet import StyleSheet
from neuron_top.tui.theme import DARK, HIGH_CONTRAST, LIGHT, THEMES, Theme, choose, palette_for, textual_theme
from neuron_top.tui.ui_state import TableState, UiState
from neuron_top.tui.widgets.header import Band
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.views.handled_alerts import AlertHistory, job_key, without_handled
from neuron_top.views.jobs import JobCard
from neuron_top.views.model import Estimator, Limits, Run
from neuron_top.views.overview import header, overview
from neuron_top.views.verdict import Verdict, verdict

if TYPE_CHECKING:  # screens are imported when they are first switched to
    from textual.command import Provider

    from neuron_top.tui.screens.logs import LogsScreen


def _finder() -> type[Provider]:
    """The `Finder` of the command palette; imported when the palette is first opened."""
    from neuron_top.tui.finder import Finder

    return Finder


class _DatedVerdict(NamedTuple):
    """A verdict, with its run, when it was made (monotonic seconds), and what was handled then."""

    run: Run
    made_at: float
    verdict: Verdict
    history: AlertHistory

    def holds(self, run: Run, history: AlertHistory) -> bool:
        """Whether it may be shown still: for a second of wall-clock time, as the clock of a replay stops at its end."""
        return self.run is run and self.history is history and time.monotonic() - self.made_at < 1.0


class TopApp(App[int], inherit_bindings=False):
    """The program, and the `Host` of its screens; `feed` is live or a replay, `first` the screen to open on."""

    CSS_PATH = "app.tcss"
    TITLE = "neuron-top"
    BINDINGS = app_bindings()
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {}
    ENABLE_COMMAND_PALETTE = True
    COMMANDS = App.COMMANDS | {_finder}
    ALLOW_SELECT = False

    def __init__(
        self,
        feed: Feed,
        settings: Settings | None = None,
        first: str = "",
        *,
        past: Callable[[], Estimator] | None = None,
        services: Services | None = None,
        caches: Sequence[str] | None = (),
        state_folder: Path | None = None,
        is_demo: bool = False,
    ) -> None:
        """`past` gives past compile times, read in a thread after the first frame; `services` are by default
        this user's, `caches` those caches that were named, None: list none of this machine. `state_folder`
        keeps the last screen and theme, and how each screen's rows were arranged; None keeps nothing. `is_demo`:
        the recording is a copy that goes with the program.
        """
        self.settings = settings or Settings()
        self.is_demo = is_demo
        self._state_folder = state_folder
        state = ui_state.load(state_folder) if state_folder is not None else UiState()
        theme = state.theme if state.theme in THEMES else self.settings.theme
        self.table_states: dict[str, TableState] = state.tables
        first = first or (state.screen if state.screen in [spec.name for spec in self.screens] else "overview")
        self._theme_name, no_color = theme, bool(os.environ.get("NO_COLOR"))
        self.MODES = {spec.name: partial(_screen, spec.name) for spec in (*SCREENS, FLEET)}  # type: ignore[misc]
        self.DEFAULT_MODE = first  # type: ignore[misc]
        super().__init__(ansi_color=True if no_color else None)
        encoding, colors = locale.getpreferredencoding(False), self.console.color_system
        self.render_theme = choose(theme, self.settings.ascii, encoding, no_color, colors)
        self.playback = ReplayController(feed, self._feed_changed)
        self._jobs = JobList(self)
        self.alert_keeper = AlertKeeper(self)
        self.fleet_words = ""
        self._gate = OutputGate(self, self._send)
        self.services = services or Services(self.settings, caches)
        self.estimator, self._past = Estimator(), past
        self.limits = Limits(memory_headroom=self.settings.memory_headroom)
        self.problem: NeuronTopError | None = None
        """Why it has ended by itself."""
        self.while_stopped: Callable[[], AbstractContextManager[object]] = nullcontext
        """Entered while Ctrl-Z has stopped the program: what must not go on without it."""
        self.begun = threading.Event()
        """The first frame is drawn and the feed moves."""
        self._refresher: Refresher | None = None
        self._begun_at = time.monotonic()
        self._drawn: Drawn | None = None
        self._is_asked = False
        """Something else than the feed has changed since it was drawn."""
        self._verdict: _DatedVerdict | None = None
        for palette in (DARK, LIGHT, HIGH_CONTRAST):
            self.register_theme(textual_theme(palette))
        self.theme = "ansi-dark" if no_color else f"neurontop-{theme}"
        self.stylesheet = StyleSheet(variables=self.get_css_variables())

    def get_driver_class(self) -> type[Driver]:
        """Textual's driver; if it uses a terminal, our variant that outlives the terminal."""
        chosen = super().get_driver_class()
        return LastingDriver if chosen is LinuxDriver else chosen

    # From the first frame to the last

    def on_load(self) -> None:
        """Hold output back until the first screen shows its view."""
        self._gate.hold()

    def on_ready(self) -> None:
        """Called after the first frame; start the feed then."""
        self._refresher = Refresher(self._draw_in_turn)
        if self.front is not None and self._gate.is_held:
            self.front.arrive()
        self.call_after_refresh(self._begin)

    def _draw_in_turn(self) -> None:
        """Draw after the messages that are queued already, so that a key is answered before the next drawing."""
        # Not by call_later, which looks at the method's signature each time.
        self.post_message(Callback(self._draw_changes))

    @property
    def begun_seconds(self) -> float:
        """Seconds since the first frame."""
        return time.monotonic() - self._begun_at

    def _begin(self) -> None:
        self._begun_at = time.monotonic()
        self.begun.set()
        self.playback.start()
        self.set_interval(1.0, self._tick)
        self.announce()
        if self._past is not None:
            self.run_worker(self._learn, thread=True)

    def _learn(self) -> None:
        if self._past is not None:
            self.estimator = self._past()

    def leave(self) -> None:
        """Exit, but only once the first screen was made, as Textual fails when it exits before."""
        self.call_later(self.exit, 0)

    def exit(self, *args: Any, **options: Any) -> None:
        """Exit; save how the rows are arranged first, while the screens still exist."""
        screens = [screen for stack in self._screen_stacks.values() for screen in stack]
        self.table_states |= {
            screen.NAME: screen.table_state() for screen in screens if isinstance(screen, TableScreen)
        }
        super().exit(*args, **options)

    async def on_unmount(self) -> None:
        """End the feed's threads before the terminal is given back."""
        if self._state_folder is not None:
            ui_state.save(
                self._state_folder,
                UiState(
                    screen=self.current_mode if self.playback.clock is None else "",
                    theme=self._theme_name if self._theme_name != self.settings.theme else "",
                    tables=self.table_states,
                ),
            )
        self.playback.stop()
        self.services.close()

    # Drawing

    def announce(self) -> None:
        """Something changed: draw soon. May be called from any thread."""
        self._is_asked = True
        self._feed_changed()

    def _feed_changed(self) -> None:
        if self._refresher is not None:
            self._refresher.announce()

    def _tick(self) -> None:
        self._jobs.tick()
        self.alert_keeper.tick()
        if self._refresher is not None:
            self._refresher.tick()

    def _draw_changes(self) -> None:
        """Draw what the feed has changed: while logs only grow, their lines, and all else once a second."""
        if not self._may_show_lines() or self.front is None or not self.front.show_new_lines():
            self.draw()

    def _may_show_lines(self) -> bool:
        drawn = self._drawn
        if self._is_asked or drawn is None or drawn.screen is not self.front:
            return False
        with suppress(NeuronTopError):  # `draw` meets it again, and shows it
            return drawn.is_fresh and self.feed.read(drawn.still_holds)
        return False

    def draw(self) -> None:
        """Read the view of the screen in front and show it."""
        screen = self.front
        if screen is None or not screen.is_mounted or not screen.is_attached:  # not mounted yet, or removed already
            return
        self._is_asked = False
        try:
            shown = self.feed.read(partial(self._band_and_view, screen))
        except NeuronTopError as problem:
            self._give_up(problem)
        else:
            screen.update(*shown)

    def _give_up(self, problem: NeuronTopError) -> None:
        """Stop showing a recording that cannot be read: return to what was shown before, else exit."""
        if self.leave_replay():
            self.call_after_refresh(self._notice, str(problem))
        else:
            self.problem = problem
            self.call_later(self.exit, 0, problem.exit_code)

    def _notice(self, text: str) -> None:
        if self.front is not None:
            self.front.notice(text)

    def _band_and_view(self, screen: LiveScreen, run: Run, now: float) -> tuple[Band, Any]:
        """The header of a screen, and its own view.

        The verdict may be a second old, as it checks every alert; on the overview it belongs to the moment that the
        panels show.
        """
        self._drawn = Drawn.now(screen, run)
        view = screen.read(run, now)
        shown = screen.overview_of(view)
        latest = self._verdict
        if shown is not None or latest is None or not latest.holds(run, self.alert_keeper.history):
            whole = shown or overview(run, now, self.estimator, self.limits)
            history = self.alert_keeper.take(job_key(run), whole.alerts)
            whole = without_handled(whole, history)
            view = screen.with_overview(view, whole) if shown is not None else view
            made = verdict(whole, replayed=self.playback.clock is not None)
            self._verdict = latest = _DatedVerdict(run, time.monotonic(), made, history)
        return Band(header(run, now), latest.verdict), view

    def delay_update(self, delay: float = 0.05) -> None:
        """Send nothing until the screen that is switched to has its view; Textual would wait for the whole delay."""
        self._gate.hold(delay)

    def arrived(self) -> None:
        """Called when the screen in front shows its view: send it to the terminal."""
        self._gate.release()

    def _send(self) -> None:
        if self.front is not None:  # none once the program is left
            self.screen.refresh()

    @property
    def front(self) -> LiveScreen | None:
        """The nearest live screen, below the command palette."""
        stack = self.screen_stack if self._running and self._current_mode in self._screen_stacks else []
        return next((screen for screen in reversed(stack) if isinstance(screen, LiveScreen)), None)

    def prepare_screen(self, name: str) -> None:
        """Make a screen before it is switched to, so that it is already styled then."""
        self._init_mode(name)
        for screen in self._screen_stacks[name]:
            screen._css_update_count = self._css_update_count

    # Navigation

    @property
    def screens(self) -> tuple[ScreenSpec, ...]:
        """The screens that there are: that of the fleet only where there is one."""
        return (*SCREENS, FLEET) if self.settings.store else SCREENS

    def go(self, name: str) -> None:
        """Show another screen, without the pages that were open on it."""
        self.go_back(name)
        while isinstance(self.screen, DetailPage):
            self.pop_screen()

    def go_back(self, name: str) -> None:
        """Show another screen and the page that was open on it."""
        if name != self.current_mode:
            self.switch_mode(name)

    def open(self, page: Screen[None]) -> None:
        """Put a page in front of the screen; it is sent when it has its view."""
        self._gate.hold()
        self.push_screen(page)

    def open_graph(self, key: str) -> None:
        """Open the page of a graph or a cache entry."""
        from neuron_top.tui.screens.graph_detail import GraphDetail

        self.open(GraphDetail(key))

    def show_alerts(self) -> None:
        """Open the page of all alerts."""
        self.action_alerts()

    def show_log_line(self, source: str, offset: int) -> None:
        """Show the log at one line; escape comes back."""
        self._show_in_log(lambda log, origin: log.show_line(source, offset, origin))

    def show_log_lines(self, query: str) -> None:
        """Show the log lines that match; escape comes back."""
        self._show_in_log(lambda log, origin: log.show_lines(query, origin))

    def _show_in_log(self, show: Callable[[LogsScreen, str], None]) -> None:
        origin = self.current_mode
        self.go("logs")
        # By then a key that was pressed meanwhile may have put a page in front of the screen.
        self.call_after_refresh(lambda: show(cast("LogsScreen", self.get_screen_stack("logs")[0]), origin))

    # What is shown, and its time

    @property
    def feed(self) -> Feed:
        """What is shown: live, or a recording."""
        return self.playback.feed

    @property
    def paused(self) -> bool:
        """Whether the screen is paused."""
        return self.playback.paused

    @property
    def is_replay(self) -> bool:
        """Whether a recording is shown."""
        return self.playback.clock is not None

    @property
    def paused_at(self) -> float | None:
        """When the pause began, monotonic seconds."""
        return self.playback.paused_at

    @property
    def time_texts(self) -> tuple[str, ...]:
        """What the header says about time."""
        return self.playback.texts

    def play(self, run: str) -> None:
        """Show a recording on these screens; escape on the overview goes back to what was shown before."""
        try:
            recording = self.services.runs.replay(run)
        except NeuronTopError as problem:
            self._notice(str(problem))
            return
        self.playback.play(recording)
        self._show_other_feed()

    def jobs(self) -> tuple[JobCard, ...]:
        """The jobs that can be shown; at most a second old."""
        return self._jobs.cards()

    def show_job(self, job: str) -> None:
        """Show a job on these screens; it stays until another one is chosen."""
        from neuron_top.services.jobs import PREFIX, job_feed_of

        try:
            feed = job_feed_of(self.playback.first, job) if job.startswith(PREFIX) else self.services.runs.open(job)
        except NeuronTopError as problem:
            self._notice(str(problem))
            return
        self.playback.play(feed)
        self._show_other_feed()

    def leave_replay(self) -> bool:
        """Show what the program was started with; False when that is shown already."""
        if not self.playback.leave():
            return False
        self._show_other_feed()
        return True

    def _show_other_feed(self) -> None:
        """Show the overview of another feed; its logs are followed, also where those before stood still."""
        for logs in self._screen_stacks.get("logs", [])[:1]:
            cast("LogsScreen", logs).follow_other_feed()
        self.go("overview")
        self.announce()
        if self.front is not None:  # other keys do something now
            self.front.redraw_all()

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The newest log lines."""
        return self.feed.log_tail(count, source) if count > 0 else []

    # Keys that work on every screen

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Ignore keys of other screens while a question must be answered first."""
        if action in ("go", "next_screen") and self.front is not None:
            return self.front.may_leave
        return super().check_action(action, parameters)

    def action_go(self, name: str) -> None:
        """Go to another screen, where there is one of this name."""
        if name in [spec.name for spec in self.screens]:
            self.go(name)

    def action_next_screen(self, by: int) -> None:
        """The next screen (1), or the one before (-1)."""
        names = [spec.name for spec in self.screens]
        self.go(names[(names.index(self.current_mode) + by) % len(names)])

    def action_help(self) -> None:
        """The keys of the screen in front."""
        from neuron_top.tui.screens.help import HelpPage

        if self.front is not None:
            self.open(HelpPage(self.front.NAME))

    def action_jobs(self) -> None:
        """The list of jobs."""
        from neuron_top.tui.screens.jobs import JobsPage

        if self.front is not None and not isinstance(self.front, JobsPage):
            self.open(JobsPage())

    def action_alerts(self) -> None:
        """All alerts, each with its whole text."""
        from neuron_top.tui.screens.alerts import AlertsPage

        if self.front is not None and not isinstance(self.front, AlertsPage):
            self.open(AlertsPage(self.limits))

    def action_pause(self) -> None:
        """Pause the screen, or a replay's clock; the same key resumes."""
        self.playback.toggle_pause()
        self.announce()
        if self.front is not None:
            self.front.redraw_all()

    def action_seek(self, seconds: int) -> None:
        """Move a replay."""
        self.playback.seek(float(seconds))
        self._clock_changed()

    def action_speed(self, by: int) -> None:
        """Change the speed of a replay."""
        self.playback.change_speed(by)
        self._clock_changed()

    def _clock_changed(self) -> None:
        self.announce()
        if self.front is not None:
            self.front.redraw_all()

    async def action_quit(self) -> None:
        """Leave."""
        self.leave()

    def action_suspend_process(self) -> None:
        """Stop, as Ctrl-Z does to any program, and come back with `fg`."""
        from neuron_top.tui.stopping import stop_until_in_front

        if not isinstance(self._driver, LinuxDriver):
            return
        with self.while_stopped(), self.suspend():
            is_back = stop_until_in_front(self._driver.fileno)
        if not is_back:
            self._notice("no shell is there to go back to: none with job control started neurontop")

    def action_next_theme(self) -> None:
        """The next of dark, light, high contrast."""
        if not self.no_color:
            self.use_theme(THEMES[(THEMES.index(self._theme_name) + 1) % len(THEMES)])

    def key_label(self, key: Key) -> str:
        """A key's word on the bottom line."""
        return "continue" if key.action == "app.pause" and self.paused else key.label

    def key_usable(self, key: Key) -> bool:
        """Whether a key does anything now; others are not offered."""
        if self.no_color and key.action == "app.next_theme":
            return False
        if self.settings.read_only and key.action.startswith(("plan", "pin", "undo", "room", "bring_back")):
            return False
        if self.front is not None and not self.front.offers(key.action):
            return False
        return self.playback.clock is not None or not key.action.startswith(("app.seek", "app.speed"))

    def use_theme(self, name: str) -> None:
        """Draw everything in another palette."""
        self._theme_name = name
        self.render_theme = Theme(palette_for(name, self.console.color_system), self.render_theme.glyphs)
        self.theme = f"neurontop-{name}"
        if self.front is not None:
            self.front.redraw_all()

    def action_command_palette(self) -> None:
        """The command palette, in the characters that may be drawn."""
        from neuron_top.tui.palette import AsciiCommandFinder, CommandFinder

        if not isinstance(self.screen, CommandFinder):
            front = self.screen
            self._show_palette_keys(front, is_open=True)
            finder = AsciiCommandFinder() if self.render_theme.is_ascii else CommandFinder()
            self.push_screen(finder, lambda _chosen: self._show_palette_keys(front, is_open=False))

    def _show_palette_keys(self, behind: Screen[Any], *, is_open: bool) -> None:
        """Name the keys of the palette on the bottom line of the screen behind it."""
        for keys in behind.query(KeyBar):
            keys.show_palette(is_open)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The command palette: all keys that make sense without a cursor, and the themes, where there are colors."""
        front, plain = self.front, self.render_theme.to_ascii
        for key in keys_for(front.NAME) if front is not None else ():
            if key.action != "app.command_palette" and self.key_usable(key):
                about = plain(f"{key.text} ({key.shown})")
                yield SystemCommand(key.label.capitalize(), about, partial(self._do, key.action))
        for name in () if self.no_color else THEMES:
            yield SystemCommand(
                f"Theme: {name}", f"Draw everything in the {name} palette", partial(self.use_theme, name)
            )

    async def _do(self, action: str) -> None:
        if self.front is not None:
            await self.front.run_action(action)


def _screen(name: str) -> Screen[Any]:
    module = importlib.import_module(f"neuron_top.tui.screens.{name}")
    screen: Screen[Any] = module.SCREEN()
    return screen
