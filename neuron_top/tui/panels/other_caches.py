"""Below the catalog's entries: PyTorch's own cache, summed up in two lines, with the command that lists it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.look import Theme
from neuron_top.units import bytes_text, count_text
from neuron_top.views.other_caches import COMMAND, READ_ONLY, OtherCache

_EACH = 2


def height(view: Sequence[OtherCache]) -> int:
    """Lines that they take: none where there is no such cache."""
    return _EACH * len(view)


def lines(look: Theme, view: Sequence[OtherCache], width: int, rows: int) -> list[Strip]:
    """A title and a line of sums for each."""
    return [strip for one in view for strip in (rule(look, width, READ_ONLY, one.root), _sums(look, one, width))][:rows]


def _sums(look: Theme, one: OtherCache, width: int) -> Strip:
    line = Line(look, width).gap(2)
    if not one.kinds:
        return line.put("empty", look.quiet).strip()
    line.put(f"{count_text(one.entries)} entries · {bytes_text(one.bytes)}", look.text)
    line.put(f" · listed by `{COMMAND}`", look.quiet)
    for kind in one.kinds:
        line.put(f" · {kind.kind} {count_text(kind.entries)}, {bytes_text(kind.bytes)}", look.quiet)
    return line.strip()
