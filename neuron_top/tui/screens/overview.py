"""The overview: cores, compile and cache, training, alerts and the end of the log on one screen."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import events
from textual.containers import Container
from textual.geometry import Offset, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.tui.arrange import NOTHING, Box, SizeRequest, arrange, width_of_alerts
from neuron_top.tui.host import host_of
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.panels import (
    alerts,
    compiling,
    cores,
    missing,
    reason,
    timeline,
    training,
    welcome,
)
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines
from neuron_top.tui.widgets.log import LogTail
from neuron_top.views.core_rows import CoreRow
from neuron_top.views.main_panel import Details, details, main_panels
from neuron_top.views.model import Run
from neuron_top.views.overview import Header, Overview, overview
from neuron_top.views.verdict import VerdictState, alerts_besides_failure, state_of
from neuron_top.views.welcome import is_idle

if TYPE_CHECKING:  # it knows the store, which the first frame does not wait for
    from neuron_top.tui.screens.poller import Poller
    from neuron_top.views.runs import RunRow


class Shown(NamedTuple):
    """What the panels draw."""

    view: Overview
    details: Details
    recent: Sequence[RunRow] = ()
    """Recordings, newest first; read while nothing runs."""


RECENT_PERIOD = 3.0
"""Seconds between two reads of the recordings while nothing runs."""
MOST_GRAPHS, MOST_RANKS = 12, 8
"""Lines of the slowest graphs, and of ranks."""
Draw = Callable[[Theme, Shown, int, int], Sequence[Strip]]


class CoresDrawn:
    """Draws the cores panel, anew only when a core has reported: with 128 cores it is most of a frame."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._rows: tuple[CoreRow, ...] = ()
        self._strips: Sequence[Strip] = ()

    def __call__(self, theme: Theme, shown: Shown, width: int, height: int) -> Sequence[Strip]:
        """The lines, those of last time if they would be the same."""
        view = shown.view
        key = theme, width, height, len(view.cores)
        same = key == self._key and all(map(operator.is_, view.cores, self._rows))
        if not same or any(core.stale for core in view.cores):
            self._key, self._rows = key, view.cores
            self._strips = cores.cores_panel(theme, view.cores, view.now, width, height)
        return self._strips


class DetailsDrawn:
    """A panel that draws details alone, anew only when they were read again."""

    def __init__(self, draw: Callable[[Theme, Details, int, int], Sequence[Strip]]) -> None:
        self._draw = draw
        self._key: tuple[object, ...] = ()
        self._details: Details | None = None
        self._strips: Sequence[Strip] = ()

    def __call__(self, theme: Theme, shown: Shown, width: int, height: int) -> Sequence[Strip]:
        """The lines, those of last time if they would be the same."""
        key = theme, width, height
        if shown.details is not self._details or key != self._key:
            self._key, self._details = key, shown.details
            self._strips = self._draw(theme, shown.details, width, height)
        return self._strips


def _alerts(theme: Theme, shown: Shown, width: int, height: int) -> Sequence[Strip]:
    view = shown.view
    others = alerts_besides_failure(view)
    above = len(view.alerts) - len(others)  # the panel of the reason shows these
    return alerts.alerts_panel(
        theme, others, view.now, width, height, view.alerts_handled, above, until=view.header.until
    )


def _graphs(theme: Theme, more: Details, width: int, height: int) -> Sequence[Strip]:
    from neuron_top.tui.panels import slowest

    return slowest.slowest_panel(theme, more.graphs, width, height)


def _ranks(theme: Theme, more: Details, width: int, height: int) -> Sequence[Strip]:
    from neuron_top.tui.panels import rank_steps

    return rank_steps.stragglers_panel(theme, more.ranks, width, height)


PANELS: dict[str, tuple[Draw, str]] = {
    "reason": (
        lambda theme, shown, w, h: reason.reason_panel(theme, shown.view, w, h, shown.details.filled),
        "alerts",
    ),
    "cores": (CoresDrawn(), "cores"),
    "compile": (
        lambda theme, shown, w, h: compiling.compile_panel(theme, shown.view.compile, shown.view.cache, w, h),
        "compile",
    ),
    "timeline": (
        DetailsDrawn(lambda theme, more, w, h: timeline.timeline_panel(theme, more.timeline, w, h, more.hits)),
        "compile",
    ),
    "graphs": (DetailsDrawn(_graphs), "compile"),
    "training": (
        lambda theme, shown, w, h: training.training_panel(theme, shown.view.training, w, h, shown.details.marks),
        "logs",
    ),
    "ranks": (DetailsDrawn(_ranks), "cores"),
    "alerts": (_alerts, "alerts"),
    "welcome": (lambda theme, shown, w, h: welcome.welcome_panel(theme, shown.view, w, h, shown.recent), "runs"),
    "missing": (lambda theme, shown, w, h: missing.missing_panel(theme, shown.view, w, h), "cores"),
}
"""Every panel: how it is drawn, and the screen (or the page of all alerts) that a click on it opens."""


class Panel(Lines):
    """One panel of the overview."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._draw, self._goes_to = PANELS[name]
        self._shown: Shown | None = None

    def show(self, shown: Shown) -> None:
        """Take a newer view."""
        self._shown = shown
        self.redraw()

    def draw(self, width: int, height: int) -> Sequence[Strip]:
        """What the panel's function draws."""
        return self._draw(self.theme, self._shown, width, height) if self._shown is not None else ()

    def on_click(self, event: events.Click) -> None:
        """Open the log at the moment that is clicked at, or the page of a graph, else the screen that shows more."""
        if self._shows_log(event.x, event.y):
            return
        graph = self._graph_at(event.y)
        if graph is not None:
            self.host.open_graph(graph)
            return
        if self._goes_to == "alerts":
            self.host.show_alerts()
        else:
            self.host.go(self._goes_to)

    def _shows_log(self, x: int, y: int) -> bool:
        screen = self.screen
        if self.id != "timeline" or self._shown is None or y == 0 or not isinstance(screen, LiveScreen):
            return False
        return screen.show_log_at(timeline.moment_at(self._shown.details.timeline, x, self.size.width))

    def _graph_at(self, y: int) -> str | None:
        """The key of the graph that has this line."""
        if self._shown is None or y >= self.size.height:
            return None
        if self.id == "graphs":
            rows = self._shown.details.graphs
            return rows[y - 1].key if 0 < y <= len(rows) else None
        if self.id == "compile":
            view = self._shown.view
            return compiling.graph_at(view.compile, view.cache, self.size.height, y)
        return None


class Arranged(Layout):
    """Places the panels where `arrange` says; others get no room."""

    name = "arranged"

    def __init__(self) -> None:
        self.requests: dict[str, SizeRequest] = {}
        self.main: Sequence[str] = ()

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Placements in the order of the children."""
        boxes = arrange(size.width, size.height, self.requests, self.main) if self.requests else {}
        if not boxes:
            boxes = {"welcome": Box(0, 0, size.width, size.height)}
        nowhere = Box(0, 0, 0, 0)
        return [
            WidgetPlacement(Region(*boxes.get(child.id or "", nowhere)), Offset(0, 0), Spacing(), child)
            for child in children
        ]


class Board(Container):
    """The body: all panels, placed by their requests."""

    def __init__(self) -> None:
        self.panels = [Panel(name) for name in PANELS]
        super().__init__(*self.panels, LogTail(), id="body")
        self._arranged = Arranged()

    @property
    def layout(self) -> Layout:
        """Our own, which style sheets have no name for."""
        return self._arranged

    def render_lines(self, crop: Region) -> list[Strip]:
        """Blank lines for the gaps between the panels, which Textual would compute line by line."""
        return [Strip.blank(crop.width, host_of(self).render_theme.text)] * crop.height

    def place(self, requests: dict[str, SizeRequest], main: Sequence[str]) -> None:
        """Place the panels anew when what they need, or which matter most, has changed."""
        if (requests, main) != (self._arranged.requests, self._arranged.main):
            self._arranged.requests, self._arranged.main = requests, main
            self.children[0].refresh(layout=True)  # a child's refresh clears the layout of its ancestors


class OverviewScreen(LiveScreen):
    """The first screen."""

    NAME: ClassVar[str] = "overview"
    BINDINGS = screen_bindings("overview")

    def __init__(self) -> None:
        super().__init__()
        self._details = RarelyRead(details)
        self._recent: Sequence[RunRow] = ()
        self._poller: Poller[tuple[RunRow, ...]] | None = None
        self._idle = self._silent = False

    def on_mount(self) -> None:
        """Look for recordings now and then, well after the first frame."""
        self.set_interval(RECENT_PERIOD, self._look_for_recent)

    def _look_for_recent(self) -> None:
        if not self._idle:
            return
        if self._poller is None:
            from neuron_top.tui.screens.poller import Poller

            self._poller = Poller(self, lambda: self.host.services.runs.rows(), self._on_recent, period=RECENT_PERIOD)
        self._poller.poll()

    def _on_recent(self, rows: tuple[RunRow, ...] | Exception) -> None:
        if not isinstance(rows, Exception):
            self._recent = rows
            self.host.draw()

    def body(self) -> Iterable[Widget]:
        """One board."""
        yield Board()

    def action_why(self) -> None:
        """Open the page that explains every miss of the run."""
        from neuron_top.tui.screens.misses import misses_page
        from neuron_top.views.miss_explanation import questions

        queries = self.host.feed.read(questions)
        self.host.open(misses_page(lambda: self.host.services.misses.misses(queries)))

    def action_ranks(self) -> None:
        """Open the page of ranks × steps."""
        from neuron_top.tui.screens.rank_steps import RunSteps

        self.host.open(RunSteps())

    def read(self, run: Run, now: float) -> Shown:
        """The view."""
        return Shown(overview(run, now, self.host.estimator, self.host.limits), self._details(run, now), self._recent)

    def overview_of(self, view: Any) -> Overview | None:
        """What the panels draw."""
        return view.view if isinstance(view, Shown) else None

    def with_overview(self, view: Any, whole: Overview) -> Any:
        """The same details beside it."""
        return view._replace(view=whole)

    def show(self, view: Any) -> None:
        """Hand the view to the panels, and the log its lines."""
        self._idle, self._silent = is_idle(view.view), view.view.header.silent is not None
        board = self.query_one(Board)
        board.place(requests(view, self.size.width, self.size.height), main_panels(view.view))
        for panel in board.panels:
            panel.show(view)
        log = self.query_one(LogTail)
        log.ended(last_line_text(view.view.header))
        log.follow()

    def show_new_lines(self) -> bool:
        """Show them, unless the first line, or the first after a long silence, changes what stands beside them."""
        if self._idle or self._silent:
            return False
        self.query_one(LogTail).follow()
        return True


class RarelyRead:
    """Reads a costly view again only after twenty times the duration of the last read; for a small run, each time."""

    def __init__(self, read: Callable[[Run, float], Details]) -> None:
        self._read = read
        self._run: Run | None = None
        self._last: Details | None = None
        self._next = 0.0

    def __call__(self, run: Run, now: float) -> Details:
        """The view of this run; read again where enough time has passed."""
        begun = time.monotonic()
        if self._last is not None and run is self._run and begun < self._next:
            return self._last
        used = time.thread_time()
        self._run, self._last = run, self._read(run, now)
        self._next = begun + 20 * (time.thread_time() - used)
        return self._last


def last_line_text(header: Header) -> str:
    """When the last line of a log came that has been silent for long; "" while it may still go on."""
    if header.silent is None or header.last_line is None:
        return ""
    return f"last line {datetime.fromtimestamp(header.last_line).astimezone():%Y-%m-%d %H:%M:%S}"


def requests(shown: Shown, width: int, height: int) -> dict[str, SizeRequest]:
    """What each panel needs on a screen of this size; nothing while nothing runs: the welcome has it then."""
    view, more = shown.view, shown.details
    if is_idle(view):
        return {}
    failed = state_of(view.header) is VerdictState.FAILED
    sizes = {
        "reason": reason.size_request(view, width, more.filled),
        "cores": cores.size_request(view.cores),
        "compile": compiling.size_request(view.compile, view.cache),
        "timeline": timeline.size_request(more.timeline),
        "graphs": _listed(len(more.graphs), MOST_GRAPHS) if more.graphs else NOTHING,
        "training": training.size_request(view.training, more.marks, tall=not failed, height=height),
        "ranks": _listed(len(more.ranks) + 1, MOST_RANKS + 1) if len(more.ranks) > 1 else NOTHING,
        "missing": missing.size_request(view, width),
    }
    room = width_of_alerts(width, sizes, main_panels(view))
    return sizes | {"alerts": alerts.size_request(alerts_besides_failure(view), room, view.alerts_handled)}


def _listed(lines: int, most: int) -> SizeRequest:
    """The size of a panel with a title and so many lines, all of which may be left out."""
    return SizeRequest(0, 1 + min(lines, most))


SCREEN = OverviewScreen
