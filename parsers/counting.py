"""`CountingReader`: makes a log's tally and nothing else, several times faster than with events.

Only families that count are asked, no unknown line is kept as a sample, and once a log turns out to be long, its most
common lines are counted in bulk. A line that may belong to something that spans lines, or that a duration may depend
on, is read like any other.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from neuron_top.events import AnyEvent
from neuron_top.parsers import log_events
from neuron_top.parsers.base import OF_GLOG
from neuron_top.parsers.families import COUNTED, COUNTED_KEYWORDS, search
from neuron_top.parsers.json_lines import HEADING
from neuron_top.parsers.lines import ZERO
from neuron_top.parsers.reader import LogReader, keyword_ends, line_of
from neuron_top.parsers.tally import Tally

if TYPE_CHECKING:
    from neuron_top.parsers.bulk import Bulk

LONG = 8 << 20
"""Bytes after which a log is worth loading the tools for counting in bulk."""
_SEARCH = search(
    (*COUNTED_KEYWORDS, HEADING.encode(), log_events.HEADING.encode(), *(words.encode() for words in OF_GLOG))
)
"""Headings of tracebacks and headers of PyTorch give no count, but show the label of each line."""


class CountingReader(LogReader):
    """Fed like a `LogReader`, but `feed` does not return all events. The tally is complete after `flush`."""

    def __init__(self, source: str, *, long: int = LONG) -> None:
        super().__init__(source, rows=COUNTED)
        self.tally.wants_samples = False
        self._long = long
        self._bulk: Bulk | None = None

    def flush(self) -> list[AnyEvent]:
        """End the stream, and add to the tally what was counted in bulk."""
        events = super().flush()
        if self._bulk is not None:
            self._add_bulk(self._bulk)
        return events

    def _keywords(self, block: bytes) -> list[int]:
        return keyword_ends(_SEARCH, block)

    def _read(self, block: bytes) -> list[AnyEvent]:
        if self._offset < self._long:
            return super()._read(block)
        if self._bulk is None:
            from neuron_top.parsers.bulk import Bulk

            self._bulk = Bulk()
        self.tally.measure(block)
        events = self._sift(block, self._bulk) if block.strip(ZERO) else []
        self._passed(block)
        if self._bulk.full:
            self._add_bulk(self._bulk)
        return events

    def _sift(self, block: bytes, bulk: Bulk) -> list[AnyEvent]:
        """Take the common lines out, then read those of the rest that hold a keyword."""
        events: list[AnyEvent] = []
        if self.tally.durations.in_order:
            return self._walk(block, self._keywords(block))
        sifted = bulk.sift(block, begins_a_line=self._line_start == self._offset)
        keywords = self._keywords(sifted.rest)
        position = counted = index = 0
        while position < len(block):
            if self.spanning or self.tally.durations.in_order:
                sifted.count(bulk.said, counted, position)
                position = counted = self._line(block, position, events)
                continue
            place = sifted.place(position)
            index = bisect_right(keywords, place, index)
            if index == len(keywords):
                break
            position = self._line(block, sifted.origin(line_of(sifted.rest, place, keywords[index])), events)
        sifted.count(bulk.said, counted, len(block))
        return events

    def _add_bulk(self, bulk: Bulk) -> None:
        """Read each distinct message once, and count it as often as it came."""
        reader = LogReader("", rows=COUNTED)
        for line, times in bulk.lines():
            reader.tally = Tally()
            reader.feed(line)
            self.tally.merge(reader.tally, times)
        self.tally.span(*bulk.span, bulk.pids)
        bulk.forget()
