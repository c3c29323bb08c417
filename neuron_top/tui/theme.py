"""Palettes and glyphs, chosen once at the start and handed to everything that draws.

The colors are all of the 256-color cube, because that is what an SSH session usually gets; sixteen colors are found
from them by the nearest match. A color never stands alone: every state also has a symbol and a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rich.style import Style
from textual.theme import Theme as TextualTheme

from neuron_top.escapes import PLAIN
from neuron_top.views.colors import HUES, Hue, Sign, memory_sign, state_sign
from neuron_top.views.model import GraphState


@dataclass(frozen=True)
class Palette:
    """Colors as `#rrggbb`; None throughout when NO_COLOR is set. `hues`: what categories have (`views/colors.py`)."""

    name: str
    dark: bool
    background: str | None
    text: str | None
    quiet: str | None
    faint: str | None
    accent: str | None
    good: str | None
    warn: str | None
    bad: str | None
    selected: str | None
    hues: Mapping[Hue, str | None]


@dataclass(frozen=True)
class Glyphs:
    """Every character that is not a letter; `spark` goes from least to most, without the empty one."""

    bar: str
    hatched: str
    hollow: str
    track: str
    spark: str
    shades: str
    kinds: str
    """A glyph for each hue, for terminals without colors."""
    rule: str
    done: str
    failed: str
    running: str
    live: str
    waiting: str
    queued: str
    warn: str
    note: str
    peak: str
    more: str
    unknown: str
    cursor: str
    dot: str
    hit: str
    checkpoint: str
    mark: str
    """Of a row that was marked: no state has it."""


UNICODE = Glyphs(
    bar="■", hatched="▒", hollow="□", track="·", spark="▁▂▃▄▅▆▇█", shades="█▓▒░▞▌", kinds="█▒▞▓▌▚░▐", rule="─",
    done="✓", failed="✗", running="▶", live="●", waiting="◷", queued="○", warn="▲", note="•", peak="│", more="…",
    unknown="—", cursor="›", dot="·", hit="◆", checkpoint="◇", mark="◉",
)  # fmt: skip
ASCII = Glyphs(
    bar="#", hatched="%", hollow="=", track=".", spark="_.:-=+*#", shades="#%=-+:", kinds="#%=+:x-o", rule="-",
    done="+", failed="x", running=">", live="*", waiting="~", queued="o", warn="!", note="*", peak="|", more="~",
    unknown="-", cursor=">", dot="-", hit="+", checkpoint="^", mark="@",
)  # fmt: skip

DARK = Palette(
    "dark", True, "#121212", "#d0d0d0", "#8a8a8a", "#444444", "#5fd7ff", "#87d75f", "#ffd75f", "#ff8787", "#303030",
    HUES["dark"],
)  # fmt: skip
LIGHT = Palette(
    "light", False, "#ffffff", "#262626", "#626262", "#bcbcbc", "#005f87", "#005f00", "#875f00", "#af0000", "#d7d7ff",
    HUES["light"],
)  # fmt: skip
HIGH_CONTRAST = Palette(
    "high-contrast", True, "#000000", "#ffffff", "#d0d0d0", "#8a8a8a", "#00ffff", "#00ff00", "#ffff00", "#ff8787",
    "#00005f", HUES["high-contrast"],
)  # fmt: skip
NO_COLOR = Palette("no-color", True, None, None, None, None, None, None, None, None, None, dict.fromkeys(Hue))
PALETTES = {palette.name: palette for palette in (DARK, LIGHT, HIGH_CONTRAST, NO_COLOR)}
_SIXTEEN_ON_DARK = {Hue.ORANGE: "#af8700", Hue.GREEN: "#5fff5f", Hue.PURPLE: "#ff5fff"}
SIXTEEN = {
    "dark": replace(DARK, text="#ffffff", hues={**DARK.hues, **_SIXTEEN_ON_DARK}),
    "light": replace(LIGHT, accent="#0000af", selected="#d0d0d0", hues={**LIGHT.hues, Hue.GREEN: "#008700"}),
    "high-contrast": replace(HIGH_CONTRAST, faint="#5f5f5f", hues={**HIGH_CONTRAST.hues, **_SIXTEEN_ON_DARK}),
}
"""The same for terminals of sixteen colors, where text would be quiet, the row under the cursor like any other, and
some hues gray or like another one."""
THEMES = ("dark", "light", "high-contrast")
"""Palettes that can be chosen, in the order of the key."""


class Theme:
    """Palette and glyphs as ready styles; all of them carry the background, so that a line needs no later pass."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        self.palette, self.glyphs = palette, glyphs
        plain = palette.background is None
        self.text = self._style(palette.text)
        self.quiet = self._style(palette.quiet, dim=plain)
        self.faint = self._style(palette.faint, dim=plain)
        self.title = self._style(palette.accent, bold=True)
        self.accent = self._style(palette.accent)
        self.strong = self._style(palette.text, bold=True)
        self.good = self._style(palette.good)
        self.warn = self._style(palette.warn, bold=plain)
        self.bad = self._style(palette.bad, bold=True)
        self.key = self._style(palette.accent, bold=True)
        self.hues = {hue: self._style(color) for hue, color in palette.hues.items()}

    def _style(self, color: str | None, bold: bool = False, dim: bool = False) -> Style:
        return Style(color=color, bgcolor=self.palette.background, bold=bold or None, dim=dim or None)

    @property
    def is_ascii(self) -> bool:
        """Whether only ASCII characters may be drawn."""
        return self.glyphs is ASCII

    def to_ascii(self, text: str) -> str:
        """`text` in the characters this terminal has: in ASCII, typography becomes its plain form, the rest `?`."""
        if text.isascii() or not self.is_ascii:
            return text
        return text.translate(PLAIN).encode("ascii", "replace").decode()

    def selected(self, style: Style) -> Style:
        """The same style on the row under the cursor."""
        if self.palette.selected is None:
            return style + Style(reverse=True)
        return style + Style(bgcolor=self.palette.selected)

    def memory(self, kind: str) -> Style:
        """The color of a kind of memory, the same wherever it stands."""
        return self.hues[memory_sign(kind).hue]

    def memory_glyph(self, kind: str) -> str:
        """The second sign of a kind of memory: full or hatched; without colors a shade of its own."""
        return self._glyph(memory_sign(kind))

    def state(self, state: str) -> Style:
        """The color of a graph's state."""
        return self.hues[state_sign(state).hue]

    def graph_sign(self, state: GraphState) -> tuple[str, Style]:
        """Symbol and color of a graph's state."""
        glyphs = self.glyphs
        return {
            GraphState.COMPILING: (glyphs.running, self.state(state)),
            GraphState.WAITING: (glyphs.waiting, self.state(state)),
            GraphState.HIT: (glyphs.done, self.state(state)),
            GraphState.COMPILED: (glyphs.done, self.state(state)),
            GraphState.FAILED: (glyphs.failed, self.state(state)),
            GraphState.CACHED_FAILURE: (glyphs.failed, self.state(state)),
            GraphState.INTERRUPTED: (glyphs.note, self.state(state)),
        }.get(state, (glyphs.queued, self.quiet))

    def _glyph(self, sign: Sign) -> str:
        if self.palette.text is None:
            return self.glyphs.kinds[tuple(Hue).index(sign.hue) - sign.hatched]
        return self.glyphs.hatched if sign.hatched else self.glyphs.bar

    def level(self, level: str) -> Style:
        """The style of a severity: `error`, `warning`, `event`, `info` or anything else."""
        return {
            "error": self.bad,
            "critical": self.bad,
            "warning": self.warn,
            "event": self.accent,
        }.get(level, self.text)

    def load(self, share: float | None) -> Style:
        """The style of a share of a limit: calm, then a warning from 85 %, then bad from 95 %."""
        if share is None:
            return self.quiet
        return self.bad if share >= 0.95 else self.warn if share >= 0.85 else self.text


def choose(theme: str, ascii_only: bool, encoding: str, no_color: bool, color_system: str | None = None) -> Theme:
    """The theme for a terminal: ASCII where asked for or where the locale's encoding has no box characters."""
    unicode = encoding.lower().replace("-", "").replace("_", "") in ("utf8", "utf16", "gb18030")
    palette = NO_COLOR if no_color else palette_for(theme, color_system)
    return Theme(palette, UNICODE if unicode and not ascii_only else ASCII)


def palette_for(theme: str, color_system: str | None) -> Palette:
    """The palette of a theme in the colors of a terminal, which has as many as Rich's `color_system` says."""
    return (SIXTEEN if color_system == "standard" else PALETTES)[theme]


def textual_theme(palette: Palette) -> TextualTheme:
    """A palette as Textual's own theme, for what Textual draws itself: the command palette, a filter's line."""
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
