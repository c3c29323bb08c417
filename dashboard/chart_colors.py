"""Colors of the charts, one table for dark and one for light; the style sheet holds the same for everything else.

Every pair of text and ground keeps a contrast of at least 4.5; a color never stands alone: words go with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class ChartColors(NamedTuple):
    """One theme. `kinds` color the parts of one whole, in order; `heat` goes from nothing to everything."""

    name: str
    ground: str
    text: str
    quiet: str
    line: str
    accent: str
    good: str
    warn: str
    bad: str
    kinds: tuple[str, ...]
    heat: tuple[str, ...]


DARK = ChartColors(
    "dark", "#151b23", "#e6edf3", "#9aa7b4", "#2b3440", "#58b6ff", "#4ac26b", "#e0af3f", "#ff7b72",
    ("#58b6ff", "#ffa657", "#4ac26b", "#d2a8ff", "#e3d06b", "#56d4dd", "#f778ba", "#9aa7b4"),
    ("#1d2733", "#14496f", "#1d7bb8", "#4fb3d9", "#a8dba8", "#f2d16b", "#ff9a57"),
)  # fmt: skip
LIGHT = ChartColors(
    "light", "#ffffff", "#1a2128", "#57616c", "#d8dee4", "#0a62b0", "#187a34", "#8a5a00", "#b8251d",
    ("#0a62b0", "#b35900", "#187a34", "#7d3fc2", "#7a6a00", "#0b7285", "#b0326e", "#57616c"),
    ("#eef2f6", "#c3dcf0", "#8fc1e3", "#4f9bd0", "#1f6fb0", "#c98a1a", "#b8481d"),
)  # fmt: skip
PALETTES = {palette.name: palette for palette in (DARK, LIGHT)}


def chart_colors(theme: str | None) -> ChartColors:
    """The palette of a theme; dark when it is none of ours."""
    return PALETTES.get(theme or "", DARK)


def kind_colors(colors: ChartColors, kinds: Iterable[str]) -> dict[str, str]:
    """A color for each kind of memory: the same in every chart of a run. Grey, the last, is what is unattributed."""
    return {kind: colors.kinds[place % (len(colors.kinds) - 1)] for place, kind in enumerate(sorted(kinds))}


def graph_color(colors: ChartColors, state: str) -> str:
    """The color of a graph's state, or of a timeline bar's outcome."""
    return {
        "hit": colors.accent,
        "compiled": colors.good,
        "compiling": colors.warn,
        "waiting": colors.kinds[3],
        "failed": colors.bad,
        "cached failure": colors.bad,
        "interrupted": colors.quiet,
    }.get(state, colors.quiet)
