"""Textual's style sheet, parsed anew only when a color in it has changed.

Textual parses all of it again whenever it looks at a theme, at the start even twice for the theme that is there: a
tenth of the time to the first frame.
"""

from __future__ import annotations

from textual.css.stylesheet import Stylesheet


class StyleSheet(Stylesheet):
    """The same rules, from fewer readings."""

    _as_parsed = False

    def set_variables(self, variables: dict[str, str]) -> None:
        """Take the colors of a theme, if they are others."""
        self._as_parsed = variables == self._variables
        if not self._as_parsed:
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse everything again, unless no color has changed since."""
        if not self._as_parsed:
            super().reparse()
