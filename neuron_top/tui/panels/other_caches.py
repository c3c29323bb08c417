"""Below the catalog's entries: PyTorch's own cache, summed up in two lines, with the command that lists it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, count_text
from neuron_top.views.other_caches import COMMAND, READ_ONLY, OtherCache

_EACH = 2


def height(view: Sequence[OtherCache]) -> int:
    """Lines that they take: none where there is no such cache."""
    return _EACH * len(view)


def lines(theme: Theme, view: Sequence[OtherCache], width: int, rows: int) -> list[Strip]:
    """A title and a line of sums for each."""
    pairs = ((rule(theme, width, READ_ONLY, cache.root), _sums(theme, cache, width)) for cache in view)
    return [strip for pair in pairs for strip in pair][:rows]


def _sums(theme: Theme, cache: OtherCache, width: int) -> Strip:
    line = Line(theme, width).gap(2)
    if not cache.kinds:
        return line.put("empty", theme.quiet).strip()
    line.put(f"{count_text(cache.entries)} entries · {bytes_text(cache.bytes)}", theme.text)
    line.put(f" · listed by `{COMMAND}`", theme.quiet)
    for kind in cache.kinds:
        line.put(f" · {kind.kind} {count_text(kind.entries)}, {bytes_text(kind.bytes)}", theme.quiet)
    return line.strip()
