"""The Hugging Face hub cache (optimum-neuron): entries it does not hold. Not a local miss, but in G3 the only sign
of a compile before it ends."""

from __future__ import annotations

import re

from neuron_top.events import AnyEvent, HubMissed
from neuron_top.parsers import paths
from neuron_top.parsers.base import LineFamily, Record, clip, common, malformed

NAME = "hub"
_MISSED = re.compile(
    r"(\S{1,1000}) not found in ([\w.-]{1,100}/[\w.-]{1,100}): the corresponding graph will be recompiled"
)
_WORDS = "the corresponding graph will be recompiled"


class Hub(LineFamily):
    """Reads them; keeps nothing."""

    name = NAME

    def feed(self, record: Record) -> list[AnyEvent] | None:
        """Events of one record."""
        if _WORDS not in record.text:
            return None
        events: list[AnyEvent] = []
        for found in _MISSED.finditer(record.text):
            where = paths.place(found[1])
            events.append(
                HubMissed(
                    **common(record), module=where.module, compiler=where.compiler,
                    file=clip(found[1].rpartition("/")[2]), repo=clip(found[2]),
                )
            )  # fmt: skip
        return events or [malformed(NAME, record, "no file named")]
