"""Bars of memory by kind. Each kind has the color and the hatching that terminal and pages give it."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_top.report.svg import BarShape
from neuron_top.units import bytes_text
from neuron_top.views.colors import Hue, memory_sign
from neuron_top.views.compare import TOTAL

_MIB = 1024.0**2
_PATTERN = (
    '<pattern id="hatched-{hue}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect class="hue-{hue}" width="4" height="6"/></pattern>'
)


def memory_class(kind: str) -> str:
    """The classes of a kind in the style sheet."""
    if kind == TOTAL:
        return "done"
    sign = memory_sign(kind)
    return f"hue-{sign.hue} hatched" if sign.hatched else f"hue-{sign.hue}"


def memory_legend(kinds: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(class, name) of each kind."""
    return tuple((memory_class(kind), kind.replace("_", " ")) for kind in kinds)


def memory_bars(sizes: Iterable[tuple[str, float | None]]) -> list[BarShape]:
    """A bar per kind behind the one before, in MiB."""
    bars, reach = [], 0.0
    for kind, size in sizes:
        end = reach + (size or 0.0) / _MIB
        bars.append(BarShape(reach, end, memory_class(kind), f"{kind.replace('_', ' ')}: {bytes_text(size)}"))
        reach = end
    return bars


def with_hatching(svg: str) -> str:
    """The picture with the patterns that the style sheet names for hatched kinds."""
    patterns = "".join(_PATTERN.format(hue=hue) for hue in Hue if f"hue-{hue} hatched" in svg)
    return svg.replace("</svg>", f"<defs>{patterns}</defs></svg>") if patterns else svg
