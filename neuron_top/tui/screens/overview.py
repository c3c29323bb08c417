"""The overview: cores, compile and cache, training, alerts and the end of the log on one screen."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, ClassVar

from textual import events
from textual.containers import Container
from textual.geometry import Offset, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.strip import Strip
from textual.widget import Widget

from neuron_top.tui.arrange import Box, SizeRequest, arrange, width_of_alerts
from neuron_top.tui.host import host_of
from neuron_top.tui.keys import screen_bindings
from neuron_top.tui.panels import alerts, compiling, cores, reason, training, welcome
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines
from neuron_top.tui.widgets.log import LogTail
from neuron_top.views.core_rows import CoreRow
from neuron_top.views.model import Run
from neuron_top.views.overview import Header, Overview, overview
from neuron_top.views.welcome import is_idle

Draw = Callable[[Theme, Overview, int, int], Sequence[Strip]]


class CoresDrawn:
    """The cores panel, drawn anew only when a core told something: with 128 of them it is most of a drawing."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._rows: tuple[CoreRow, ...] = ()
        self._strips: Sequence[Strip] = ()

    def __call__(self, theme: Theme, view: Overview, width: int, height: int) -> Sequence[Strip]:
        """The lines, those of last time if they would be the same."""
        absent = tuple(f"{source.name}: {source.text}" for source in view.sources if not source.available)
        key = theme, width, height, len(view.cores), absent
        same = key == self._key and all(map(operator.is_, view.cores, self._rows))
        if not same or any(core.stale for core in view.cores):
            self._key, self._rows = key, view.cores
            self._strips = cores.cores_panel(theme, view.cores, view.now, width, height, absent)
        return self._strips


PANELS: dict[str, tuple[Draw, str]] = {
    "reason": (reason.reason_panel, "alerts"),
    "cores": (CoresDrawn(), "cores"),
    "compile": (lambda theme, view, w, h: compiling.compile_panel(theme, view.compile, view.cache, w, h), "compile"),
    "training": (
        lambda theme, view, w, h: training.training_panel(theme, view.training, w, h, view.header.over),
        "logs",
    ),
    "alerts": (
        lambda theme, view, w, h: alerts.alerts_panel(
            theme, view.alerts, view.header.until or view.now, w, h, view.alerts_handled
        ),
        "alerts",
    ),
    "welcome": (welcome.welcome_panel, "runs"),
}
"""Every panel: how it is drawn, and the screen (or the page of all alerts) that a click on it opens."""


class Panel(Lines):
    """One panel of the overview."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._draw, self._goes_to = PANELS[name]
        self._view: Overview | None = None

    def show(self, view: Overview) -> None:
        """Take a newer view."""
        self._view = view
        self.redraw()

    def draw(self, width: int, height: int) -> Sequence[Strip]:
        """What the panel's function draws."""
        return self._draw(self.theme, self._view, width, height) if self._view is not None else ()

    def on_click(self, event: events.Click) -> None:
        """Open the screen that shows more of this."""
        if self._goes_to == "alerts":
            self.host.show_alerts()
        else:
            self.host.go(self._goes_to)


class Arranged(Layout):
    """Places the panels where `arrange` says; others get no room."""

    name = "arranged"

    def __init__(self) -> None:
        self.requests: dict[str, SizeRequest] = {}

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Placements in the order of the children."""
        boxes = arrange(size.width, size.height, self.requests) if self.requests else {}
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
        super().__init__(*(Panel(name) for name in PANELS), LogTail(), id="body")
        self._arranged = Arranged()

    @property
    def layout(self) -> Layout:
        """Our own, which style sheets have no name for."""
        return self._arranged

    def render_lines(self, crop: Region) -> list[Strip]:
        """What shows between the panels; Textual would work it out line by line."""
        return [Strip.blank(crop.width, host_of(self).render_theme.text)] * crop.height

    def place(self, requests: dict[str, SizeRequest]) -> None:
        """Place the panels anew when what they need has changed."""
        if requests != self._arranged.requests:
            self._arranged.requests = requests
            self.children[0].refresh(layout=True)  # from a child: Textual forgets the arrangement of its ancestors


class OverviewScreen(LiveScreen):
    """The first screen."""

    NAME: ClassVar[str] = "overview"
    BINDINGS = screen_bindings("overview")

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

    def read(self, run: Run, now: float) -> Overview:
        """The view."""
        return overview(run, now, self.host.estimator, self.host.limits)

    def show(self, view: Any) -> None:
        """Hand the view to the panels, and the log its lines."""
        self.query_one(Board).place(requests(view, self.size.width))
        for panel in self.query(Panel):
            panel.show(view)
        log = self.query_one(LogTail)
        log.ended(last_line_text(view.header))
        log.show(self.host.log_tail(log.wanted))


def last_line_text(header: Header) -> str:
    """When the last line was, of a log that has been silent for long; "" while it may well go on."""
    if header.silent is None or header.last_line is None:
        return ""
    return f"last line {datetime.fromtimestamp(header.last_line).astimezone():%Y-%m-%d %H:%M:%S}"


def requests(view: Overview, width: int) -> dict[str, SizeRequest]:
    """What each panel needs on a screen of so many columns; nothing while nothing runs: the welcome has it then."""
    if is_idle(view):
        return {}
    return {
        "reason": reason.size_request(view, width),
        "cores": cores.size_request(view.cores),
        "compile": compiling.size_request(view.compile, view.cache),
        "training": training.size_request(view.training),
        "alerts": alerts.size_request(view.alerts, width_of_alerts(width)),
    }


SCREEN = OverviewScreen
