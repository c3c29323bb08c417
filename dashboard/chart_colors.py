"""Colors of the charts, one table for dark and one for light; the style sheet holds the same for everything else.

Every pair of text and ground keeps a contrast of at least 4.5; a color never stands alone: words go with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from neuron_top.views.colors import BUSY, HUES, SEVERITIES, Hue, Sign, memory_sign, state_sign


class ChartColors(NamedTuple):
    """One theme. `hues` are what categories have everywhere; `heat` goes from nothing to everything."""

    name: str
    ground: str
    text: str
    quiet: str
    line: str
    accent: str
    good: str
    warn: str
    bad: str
    hues: Mapping[Hue, str]
    heat: tuple[str, ...]


def _theme(name: str, ground: str, text: str, quiet: str, line: str, accent: str) -> ChartColors:
    hues = HUES[name]
    good, warn, bad = (hues[SEVERITIES[severity]] for severity in ("good", "warning", "error"))
    return ChartColors(name, ground, text, quiet, line, accent, good, warn, bad, hues, BUSY[name])


DARK = _theme("dark", "#151b23", "#e6edf3", "#9aa7b4", "#2b3440", "#58b6ff")
LIGHT = _theme("light", "#ffffff", "#1a2128", "#57616c", "#d8dee4", "#0a62b0")
PALETTES = {palette.name: palette for palette in (DARK, LIGHT)}


def chart_colors(theme: str | None) -> ChartColors:
    """The palette of a theme; dark when it is none of ours."""
    return PALETTES.get(theme or "", DARK)


def readable(fill: str, colors: ChartColors) -> str:
    """The color, of text or ground, with the higher contrast to a filled part."""
    return max((colors.text, colors.ground), key=lambda color: contrast(color, fill))


def contrast(one: str, other: str) -> float:
    """The contrast of two colors by WCAG, 1 to 21."""
    dark, bright = sorted((_luminance(one), _luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def memory_marker(colors: ChartColors, kind: str) -> dict[str, Any]:
    """How bars of a kind of memory are filled."""
    return _marker(colors, memory_sign(kind))


def memory_area(colors: ChartColors, kind: str) -> dict[str, Any]:
    """How the area of a kind of memory is filled and its line drawn."""
    sign = memory_sign(kind)
    color = colors.hues[sign.hue]
    pattern = {"fillpattern": {"shape": "/", "fgcolor": color, "bgcolor": colors.ground}} if sign.hatched else {}
    return {"line": {"width": 0.8, "color": color}, "fillcolor": color, **pattern}


def state_marker(colors: ChartColors, state: str) -> dict[str, Any]:
    """How bars of a graph's state are filled."""
    return _marker(colors, state_sign(state))


def state_color(colors: ChartColors, state: str) -> str:
    """The color of a graph's state, or of a stretch of a timeline."""
    return colors.hues[state_sign(state).hue]


def _marker(colors: ChartColors, sign: Sign) -> dict[str, Any]:
    return {"color": colors.hues[sign.hue], "pattern": {"shape": "/" if sign.hatched else ""}}
