"""Asks what is wanted of which nodes of the fleet: the action, nodes, modules, where a pull comes from, the cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from neuron_top.services.fleet_actions import FLEET_ACTIONS, FleetRequest
from neuron_top.tui.drawing import paragraph, rule
from neuron_top.tui.keys import QUESTION, screen_bindings
from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.fleet_change import FleetChangePage
from neuron_top.tui.screens.question_page import button_lines, clickable
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.render_widget import Draw, RenderWidget
from neuron_top.views.model import Run

ACTION, NODES, MODULES, SOURCE, ROOT, EXCLUSIVE = "action", "nodes", "modules", "source", "root", "exclusive"
FIELDS = (ACTION, NODES, MODULES, SOURCE, ROOT, EXCLUSIVE)
TYPED = {
    NODES: "Nodes: names or patterns with commas; * is all that report",
    MODULES: "Modules: names or patterns; empty: all that are concerned",
    SOURCE: "Source of a pull: s3://bucket/prefix, or a shared folder",
    ROOT: "Cache; empty: the one in force on each node",
}
"""Input fields, with their titles."""
PULL = "pull"


class FleetRequestPage(LiveScreen):
    """A form; enter asks the nodes to plan it, and nothing is done yet."""

    NAME: ClassVar[str] = QUESTION
    IS_PAGE: ClassVar[bool] = True
    may_leave = False
    BINDINGS = [
        *screen_bindings(QUESTION),
        *(Binding(key, f"next_field({by})", priority=True) for key, by in
          (("tab", 1), ("down", 1), ("shift+tab", -1), ("up", -1))),
    ]  # fmt: skip

    def __init__(self, nodes: Sequence[str], modules: Sequence[str] = ()) -> None:
        """The arguments are the initial values of the fields."""
        super().__init__()
        self._first = {NODES: ",".join(nodes), MODULES: " ".join(modules)}
        self._names = tuple(FLEET_ACTIONS)
        self.chosen = 0
        self.field = ACTION
        self.assume_exclusive = False

    def body(self) -> Iterable[Widget]:
        """The form, which scrolls to its field where the terminal is too low for all of it."""
        yield VerticalScroll(*self._fields(), id="form", can_focus=False)

    def _fields(self) -> Iterable[Widget]:
        """The actions, a title and a line for each field, and what enter does."""
        yield RenderWidget(ACTION, self._draw_actions, self._lines_of_actions)
        for name in TYPED:
            yield self._drawn(f"label-{name}", self._draw_label)
            yield Input(self._first.get(name, ""), id=name, classes="field", compact=True)
        yield self._drawn(EXCLUSIVE, self._draw_exclusive)

    def _drawn(self, name: str, draw: Draw) -> RenderWidget:
        """A part that is as high as what it draws in the width of the terminal."""
        return RenderWidget(name, draw, lambda view: len(draw(self.host.render_theme, view, self.size.width, 0)))

    def _lines_of_actions(self, action: str) -> int:
        """Those of the action that has most to say: nothing below moves when another one is chosen."""
        theme, width = self.host.render_theme, self.size.width
        return max(len(self._draw_actions(theme, name, width, 0)) for name in self._names)

    def on_mount(self) -> None:
        """Draw it once; it has nothing to wait for."""
        self._redraw()

    def on_resize(self) -> None:
        """Parts may need fewer or more lines now."""
        self._redraw()

    def read(self, run: Run, now: float) -> Any:
        """Returns None: the page does not depend on the run."""

    def show(self, view: Any) -> None:
        """Does nothing: the page does not depend on the run."""

    @property
    def action(self) -> str:
        """The chosen action."""
        return self._names[self.chosen]

    @property
    def request(self) -> FleetRequest:
        """The request by the fields of the form."""
        return FleetRequest(
            action=self.action,
            modules=tuple(self._typed(MODULES).replace(",", " ").split()),
            root=self._typed(ROOT),
            source=self._typed(SOURCE) if self.action == PULL else "",
            assume_exclusive=self.assume_exclusive,
        )

    def _typed(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()

    # Keys

    def action_next_field(self, by: int) -> None:
        """The next field."""
        fields = [name for name in FIELDS if name != SOURCE or self.action == PULL]
        self.field = fields[(fields.index(self.field) + by) % len(fields)]
        self.set_focus(self.query_one(f"#{self.field}", Input) if self.field in TYPED else None)
        self._redraw()

    def action_press(self, action: int) -> None:
        """Choose an action that was clicked."""
        self.set_focus(None)
        self.field, self.chosen = ACTION, action
        self._redraw()

    def action_state(self) -> None:
        """The other answer, which was clicked."""
        self.set_focus(None)
        self.field, self.assume_exclusive = EXCLUSIVE, not self.assume_exclusive
        self._redraw()

    def action_shift(self, by: int) -> None:
        """The next action, or the other answer."""
        if self.field == ACTION:
            self.chosen = (self.chosen + (1 if by > 0 else -1)) % len(self._names)
        elif self.field == EXCLUSIVE:
            self.assume_exclusive = not self.assume_exclusive
        self._redraw()

    def watch_focused(self, focused: Widget | None) -> None:
        """Name other keys while a field takes the letters; keys go on from the field that was clicked."""
        for keys in self.query(KeyBar):
            keys.show_typing(isinstance(focused, Input))
        if isinstance(focused, Input) and focused.id and focused.id != self.field:
            self.field = focused.id
            self._redraw()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Enter in a field asks, too."""
        message.stop()
        self.action_open()

    def action_open(self) -> None:
        """Ask the nodes."""
        if not self._typed(NODES):
            self.notice("name a node, or * for all that report")
        elif self.action == PULL and not self._typed(SOURCE):
            self.notice("name the source of the pull")
        else:
            host, page = self.host, FleetChangePage.asking(self.request, self._typed(NODES))
            self.dismiss()
            host.open(page)

    def action_back(self) -> None:
        """Close; nothing was asked."""
        self.dismiss()

    # Drawing

    def _redraw(self) -> None:
        self.query_one(f"#{ACTION}", RenderWidget).show(self.action)
        for name in TYPED:
            is_usable = name != SOURCE or self.action == PULL
            self.query_one(f"#label-{name}", RenderWidget).show((name, is_usable, self.field == name))
            self.query_one(f"#{name}", Input).disabled = not is_usable
        self.query_one(f"#{EXCLUSIVE}", RenderWidget).show((self.assume_exclusive, self.field == EXCLUSIVE))
        if self.field not in TYPED:  # a field with the focus comes into sight by itself
            self.query_one(f"#{self.field}").scroll_visible(animate=False)

    def _draw_actions(self, theme: Theme, action: str, width: int, height: int) -> list[Strip]:
        keys = "← → chooses" if self.field == ACTION else "↑ here to choose another"
        about = f"{FLEET_ACTIONS[action].fleet_help}. {keys}"
        head = rule(theme, width, "Ask nodes for a change", "nothing is done yet")
        buttons = button_lines(theme, width, self._names, self.chosen)
        return [head, *buttons, *paragraph(theme, about, width, theme.quiet)]

    def _draw_label(self, theme: Theme, view: tuple[str, bool, bool], width: int, height: int) -> list[Strip]:
        name, is_usable, is_here = view
        style = theme.title if is_here else theme.text if is_usable else theme.faint
        return paragraph(theme, TYPED[name], width, style)

    def _draw_exclusive(self, theme: Theme, view: tuple[bool, bool], width: int, height: int) -> list[Strip]:
        stated, is_here = view
        text = f"[{'x' if stated else ' '}] no other host or container uses these caches (← →)"
        keys = "enter asks for plans · ↑ ↓ moves · esc closes"
        return [
            *paragraph(theme, text, width, clickable(theme.title if is_here else theme.text, "state")),
            *paragraph(theme, keys, width, theme.quiet),
        ]
