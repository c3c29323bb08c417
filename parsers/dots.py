"""Progress dots of the compiler: one at once, then about one each 20 seconds, without a line end.

They stand alone on a line or in front of something another process printed. Ellipses in prose and in tensor dumps
are not counted: those are indented, or have a word in front.
"""

from __future__ import annotations

from neuron_top.events import AnyEvent, CompilerProgress
from neuron_top.parsers.base import DOTS, LineFamily, Record, common

NAME = "dots"


class Dots(LineFamily):
    """Reads what `base.records` has cut off as dots."""

    name = NAME

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Their number."""
        if record.shape != DOTS:
            return None
        return [CompilerProgress(**common(record), dots=len(record.text))]
