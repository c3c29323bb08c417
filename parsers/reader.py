"""`LogReader`: console output in any portions → events. Pure: the same bytes give the same events, however cut.

Most lines of a log say nothing to us. All marks of all families are searched at once in the raw bytes
(Aho-Corasick, the engine ripgrep uses); only lines that hold one are decoded and offered to the families. While a
family is inside something that spans lines, every line is looked at.
"""

from __future__ import annotations

from bisect import bisect_right

import ahocorasick_rs
import msgspec

from neuron_top.events import AnyEvent
from neuron_top.parsers import base, escapes, json_lines
from neuron_top.parsers.base import Family
from neuron_top.parsers.bulk import Bulk
from neuron_top.parsers.compiler import error_codes
from neuron_top.parsers.families import FAMILIES, MARKS
from neuron_top.parsers.lines import LINE_LIMIT, LineBuffer
from neuron_top.parsers.tally import Tally
from neuron_top.parsers.wraps import Wraps

_WINDOW = 1 << 20
"""Bytes searched at once: bounds the list of matches."""
_SEARCH = ahocorasick_rs.BytesAhoCorasick(MARKS, matchkind=ahocorasick_rs.MatchKind.LeftmostFirst)


class LogReader:
    """Reads one stream of lines; `source` becomes the `source` of its events (`log:<path>`).

    With `count_only`, the tally is all that is wanted: commonest lines give no events, and the tally is complete
    after `flush`.
    """

    def __init__(self, source: str, *, count_only: bool = False) -> None:
        self._bulk = Bulk() if count_only else None
        self.source = source
        self.tally = Tally()
        self._buffer = LineBuffer()
        self._offset = 0
        self._line_start = 0
        """Where the first line of the next block begins: before the block, if that line came in pieces."""
        made = [(row.make(), row.shapes) for row in FAMILIES]
        self._wraps = Wraps()
        self._families = [family for family, _ in made]
        self._readers = {
            shape: [family for family, shapes in made if shape in shapes]
            for shape in {s for _, all_ in made for s in all_}
        }
        self._open: list[Family] = []
        """Families inside something that spans lines: while there is one, no line is skipped."""

    def feed(self, data: bytes) -> list[AnyEvent]:
        """The events that these bytes complete. Never raises, whatever the bytes."""
        events: list[AnyEvent] = []
        for start in range(0, len(data), _WINDOW):
            block = self._buffer.take(data[start : start + _WINDOW])
            if block:
                events += self._read(block)
        return events

    def flush(self) -> list[AnyEvent]:
        """The end of the stream: the unfinished line, and what families kept."""
        events = self._read(self._buffer.rest())
        for text, offset, parts in self._wraps.flush():
            events += self._whole(text, offset, parts)
        for family in self._families:
            events += self._stamped(family.flush())
        self._open = []
        if self._bulk is not None:
            self._settle(self._bulk)
        return events

    @property
    def pending(self) -> str:
        """The unfinished last line, safe to show: a compiler's dots stand there for minutes."""
        return escapes.visible(escapes.strip_ansi(self._buffer.peek()[-4096:].decode("utf-8", "replace")))

    def _read(self, block: bytes) -> list[AnyEvent]:
        """Lines of a block that begins where a line (or a piece of a long one) begins."""
        self.tally.measure(block)
        events: list[AnyEvent] = []
        marks = [end for _, _, end in _SEARCH.find_matches_as_indexes(block)]
        if block[:1] == b".":
            marks.insert(0, 1)  # dots are marked by the line end in front of them, which the block before has
        index, position = 0, 0
        while position < len(block):
            if not self._open and not self.tally.wants_samples and not self._wraps.holding:
                index = bisect_right(marks, position, index)
                if index == len(marks):
                    break
                position = max(position, block.rfind(b"\n", position, marks[index]) + 1)
            counted = self._count(block, position)
            position = counted or self._line(block, position, events)
        if (last := block.rfind(b"\n")) >= 0:
            self._line_start = self._offset + last + 1
        self._offset += len(block)
        return events

    def _count(self, block: bytes, position: int) -> int:
        """Where the next line begins if this one could be counted in bulk, else 0."""
        if self._bulk is None or self._open or self._wraps.holding or self.tally.durations.waiting:
            return 0
        if position == 0 and self._line_start != self._offset:
            return 0  # the rest of a long line
        if self._bulk.full:
            self._settle(self._bulk)
        return self._bulk.take(block, position)

    def _settle(self, bulk: Bulk) -> None:
        """Read each wording once and count it as often as it came."""
        for line, times in bulk.lines():
            reader = LogReader("")
            reader.feed(line)
            reader.flush()
            self.tally.merge(reader.tally, times)
        bulk.settle(self.tally)

    def _line(self, block: bytes, position: int, events: list[AnyEvent]) -> int:
        """Read the line at `position`; returns where the next begins."""
        end = block.find(b"\n", position)
        end = len(block) if end < 0 else end
        offset = self._line_start if position == 0 else self._offset + position
        for start in range(position, max(end, position + 1), LINE_LIMIT):
            events += self._text(block[start : min(start + LINE_LIMIT, end)], offset)
        return end + 1

    def _text(self, raw: bytes, offset: int) -> list[AnyEvent]:
        text = escapes.strip_ansi(raw.decode("utf-8", "replace"))
        events: list[AnyEvent] = []
        for line in json_lines.lines(text) if text.startswith('{"') else (text,):
            for whole, begin, parts in self._wraps.take(line, offset):
                events += self._whole(whole, begin, parts)
        return events

    def _whole(self, text: str, offset: int, parts: int) -> list[AnyEvent]:
        """Events of a line that came in so many parts."""
        events: list[AnyEvent] = []
        claimed = False
        for segment in filter(None, text.split("\r")) if "\r" in text else (text,):
            for record in base.records(segment, offset):
                made = self._record(record)
                claimed = claimed or made is not None
                events += made or []
        self.tally.read(text, parts if claimed else 0)
        return self._stamped(events)

    def _record(self, record: base.Record) -> list[AnyEvent] | None:
        """Events of a record, and of what it ends; None if nobody knows it."""
        self.tally.meet(record)
        self.tally.look(record.text)
        ended = [event for family in self._open for event in family.ended_by(record)]
        codes = error_codes(record)
        made = self._offer(record)
        if self._open or made is not None:
            self._open = [family for family in self._families if family.open]
        if made is None and not codes:
            return ended or None
        return ended + (made or []) + codes

    def _offer(self, record: base.Record) -> list[AnyEvent] | None:
        """Events of the first family that knows the record."""
        for family in self._readers[record.shape]:
            events = family.feed(record)
            if events is not None:
                return events
        return None

    def _stamped(self, events: list[AnyEvent]) -> list[AnyEvent]:
        for event in events:
            msgspec.structs.force_setattr(event, "source", self.source)
            self.tally.add(event)
        return events
