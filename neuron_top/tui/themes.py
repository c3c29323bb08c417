"""Our palettes as Textual's themes: what Textual draws itself (the palette of commands, a filter's line) fits ours."""

from __future__ import annotations

from textual.theme import Theme as TextualTheme

from neuron_top.tui import look as looks

THEMES = ("dark", "light", "high-contrast")


def theme_of(palette: looks.Palette) -> TextualTheme:
    """The theme of a palette."""
    return TextualTheme(
        name=f"neurontop-{palette.name}",
        primary=palette.accent or "",
        accent=palette.accent,
        warning=palette.warn,
        error=palette.bad,
        success=palette.good,
        foreground=palette.text,
        background=palette.background,
        surface=palette.background,
        panel=palette.selected,
        dark=palette.dark,
    )
