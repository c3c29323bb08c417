"""The Hugging Face hub cache (optimum-neuron): entries that it does not hold. That is no local miss, but in G3 the only
sign of a compile before it ends."""

from __future__ import annotations

from neuron_top.events import AnyEvent, HubMissed
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import paths
from neuron_top.parsers.base import LineFamily, Record, clip, common, malformed

NAME = "hub"
_MISSED = late_pattern(r" not found in ([\w.-]{1,100}/[\w.-]{1,100}): the corresponding graph will be recompiled")
_LONGEST = 1000
_WORDS = "the corresponding graph will be recompiled"


class HfHub(LineFamily):
    """Reads these lines; keeps no state."""

    name = NAME

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        if _WORDS not in record.text:
            return None
        events: list[AnyEvent] = []
        for found in _MISSED.finditer(record.text):
            path = (record.text[max(0, found.start() - _LONGEST) : found.start()].split() or [""])[-1]
            where = paths.place(path)
            events.append(
                HubMissed(
                    **common(record),
                    module=where.module,
                    compiler=where.compiler,
                    file=clip(path.rpartition("/")[2]),
                    repo=clip(found[1]),
                )
            )
        return events or [malformed(NAME, record, "no file named")]
