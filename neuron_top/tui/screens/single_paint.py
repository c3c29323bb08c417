"""A screen that is painted once for each change, and only where its lines are.

Textual paints a screen that is gone to before it has anything to show, paints it twice when both its layout and a
line have changed, fills what lies under the widgets, and works out styles anew whenever it comes to the front. On a
screen of 160×48 each of these costs some milliseconds of the fifty in which a key is to be answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import events
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip

if TYPE_CHECKING:
    from neuron_top.tui.app import TopApp


class SinglePaintScreen(Screen[None]):
    """A screen that is covered by its widgets, all of them `Lines`."""

    @property
    def top(self) -> TopApp:
        """The application, by its own type."""
        return cast("TopApp", self.app)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Styles follow from the style sheet alone; a new theme has them worked out when it comes."""
        event.refresh_styles = False

    def render_lines(self, crop: Region) -> list[Strip]:
        """What lies under the widgets is seen by nobody."""
        return [Strip.blank(crop.width, self.top.look.text)] * crop.height

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """A new layout is painted as it is made: what else is to be painted goes with it."""
        if self._repaint_required:
            self._dirty_widgets.add(self)
            self._repaint_required = False
        super()._refresh_layout(size, scroll)

    def _compositor_refresh(self) -> None:
        """While nothing is sent, nothing is made either."""
        if not self.app._batch_count:
            super()._compositor_refresh()
