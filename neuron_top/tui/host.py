"""`Host`: the protocol of the application for its screens and widgets.

Screens and widgets import only this protocol, and only the application imports them, so there are no import cycles.
"""

from __future__ import annotations

from typing import Protocol, cast

from textual.dom import DOMNode
from textual.screen import Screen

from neuron_top.services.feeds import Feed, LogLine
from neuron_top.settings import Settings
from neuron_top.tui.alert_keeper import AlertKeeper
from neuron_top.tui.keys import Key, ScreenSpec
from neuron_top.tui.services import Services
from neuron_top.tui.theme import Theme
from neuron_top.tui.ui_state import TableState
from neuron_top.views.jobs import JobCard
from neuron_top.views.model import Estimator, Limits


class Host(Protocol):
    """The application, as its screens and widgets see it."""

    settings: Settings
    render_theme: Theme
    """Palette and glyphs in force."""
    estimator: Estimator
    limits: Limits
    alert_keeper: AlertKeeper
    """The history of the shown job's alerts: what people did about them."""
    fleet_words: str
    """The fleet in a few words, as last read; "" before."""
    is_demo: bool
    """Whether this is `neurontop demo`, which plays a copy of its recording."""
    table_states: dict[str, TableState]
    """How the rows of each screen were arranged when the program was left."""

    @property
    def feed(self) -> Feed:
        """The shown feed: live, or a recording."""

    @property
    def services(self) -> Services:
        """The services; every call reads disks."""

    @property
    def is_replay(self) -> bool:
        """Whether a recording is shown."""

    # Navigation

    @property
    def screens(self) -> tuple[ScreenSpec, ...]:
        """The screens that there are: that of the fleet only where there is one."""

    @property
    def current_mode(self) -> str:
        """The name of the screen in front, or of the one below the page in front."""

    def go(self, name: str) -> None:
        """Show another screen, without the pages that were open on it."""

    def go_back(self, name: str) -> None:
        """Show another screen and the page that was open on it."""

    def open(self, page: Screen[None]) -> None:
        """Put a page in front of the screen."""

    def open_graph(self, key: str) -> None:
        """Open the page of a graph or a cache entry."""

    def show_alerts(self) -> None:
        """Open the page of all alerts."""

    def show_log_line(self, source: str, offset: int) -> None:
        """Show the log at one line; escape comes back."""

    def show_log_lines(self, query: str) -> None:
        """Show the log lines that match; escape comes back."""

    def play(self, run: str) -> None:
        """Show a recording in place of what is shown."""

    def jobs(self) -> tuple[JobCard, ...]:
        """The jobs that can be shown; at most a second old."""

    def show_job(self, job: str) -> None:
        """Show a job, of the list of jobs, in place of what is shown."""

    def leave_replay(self) -> bool:
        """Show what the program was started with; False when that is shown already."""

    # Drawing

    @property
    def paused(self) -> bool:
        """Whether the screen is paused."""

    @property
    def paused_at(self) -> float | None:
        """When the pause began, in monotonic seconds; None if not paused."""

    @property
    def time_texts(self) -> tuple[str, ...]:
        """What the header says about time: paused, or a replay's position and speed; from the longest wording to the
        shortest, () live."""

    def draw(self) -> None:
        """Read the view of the screen in front and show it."""

    def arrived(self) -> None:
        """The screen in front shows its view: send it to the terminal."""

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The newest log lines."""

    def key_label(self, key: Key) -> str:
        """The label of a key on the bottom line."""

    def key_usable(self, key: Key) -> bool:
        """Whether a key has an effect now."""


def host_of(node: DOMNode) -> Host:
    """The application that shows a screen or a widget."""
    return cast("Host", node.app)
