"""`LogReader`: turns console output into events. Pure: the same bytes give the same events, in whatever portions.

Most lines of a log mean nothing to any family. All keywords of all families are searched at once in the raw bytes
(Aho-Corasick, the engine ripgrep uses); only lines that hold one are decoded and offered to the families. While a
family is inside something that spans lines, every line is looked at. A line that came before, word for word, is
answered from a cache.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

import ahocorasick_rs

from neuron_top import escapes
from neuron_top.events import AnyEvent
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import base, families, json_lines, log_events, own_lines, timestamps, wide
from neuron_top.parsers.base import PLAIN, Family, RecordShape
from neuron_top.parsers.compiler import error_codes
from neuron_top.parsers.families import FAMILIES, KEYWORDS, FamilyRow
from neuron_top.parsers.labels import LineLabels
from neuron_top.parsers.line_cache import LineCache
from neuron_top.parsers.line_unwrapper import LineUnwrapper
from neuron_top.parsers.lines import LINE_LIMIT, ZERO, LineSplitter
from neuron_top.parsers.tally import Tally
from neuron_top.parsers.training import Training

_LONGEST_FRONT = 200
"""Characters before an object of JSON in which its prefix must end."""
_WINDOW = 1 << 20
"""Bytes searched at once: bounds the list of matches."""
_SEARCH = families.search((*KEYWORDS, log_events.HEADING.encode()))
_LAST_DOT = late_pattern(rb"\.$", re.MULTILINE)
"""The last character of a line that may be one dot behind a prefix. Only a pattern that begins with one certain
character is searched for fast, so the blank before it is looked at afterwards."""
_OLD_CODE = late_pattern(rb"\[[A-Z]{3}\d{3}\]")
"""The compiler's older error codes, which have no letters in common to search for."""


class LogReader:
    """Reads one stream of lines; `source` becomes the `source` of its events (`log:<path>`)."""

    def __init__(
        self,
        source: str,
        *,
        offset: int = 0,
        rows: Sequence[FamilyRow] = FAMILIES,
        loggers_clocks: bool = True,
        until: float | None = None,
    ) -> None:
        """`offset`: where in its file the stream begins. `loggers_clocks`: whether the timestamps of a job's own logger
        count as the times of lines; those of compiler and runtime always do. `until`: no line was written later, which
        gives timestamps without a year theirs; None: those are not read."""
        self.source, self._loggers_clocks, self._until = source, loggers_clocks, until
        self._begins = offset
        self.tally = Tally()
        self._head: bytes | None = b""
        """The first bytes, until there are enough to determine the encoding; None from then on."""
        self._wide: wide.WideLines | None = None
        """Set for a log in UTF-16."""
        self._buffer = LineSplitter()
        self._labels = LineLabels()
        self._unwrapper = LineUnwrapper(self._labels.split)
        self._log_events = log_events.LogEvents()
        self._offset = self._line_start = offset
        """`_offset`: where the next block begins. `_line_start`: where its first line begins, which is before the block
        if that line came in pieces."""
        made = [(row.make(), row) for row in rows]
        self._families = [family for family, _ in made]
        self._line_cache = LineCache(next((each for each in self._families if isinstance(each, Training)), None))
        self._readers = {shape: [family for family, row in made if shape in row.shapes] for shape in RecordShape}
        self._plain = [(families.bit(row), family) for family, row in made if PLAIN in row.shapes]
        self._by_keywords: dict[int, list[Family]] = {}
        """The families of `_plain` to ask, by the bits of those whose keywords a line holds."""
        self._records: list[base.Record] = []
        """Of the last line."""
        self._open: list[Family] = []
        """Families inside something that spans lines."""
        self.spanning = False
        """True while the next line may belong to something begun: then no line is skipped."""

    def feed(self, data: bytes) -> list[AnyEvent]:
        """The events that these bytes complete. Never raises, whatever the bytes."""
        if self._head is not None:
            data = self._begin(data)
        if self._wide is not None:
            return self._wide_lines(self._wide.take(data))
        events: list[AnyEvent] = []
        for start in range(0, len(data), _WINDOW):
            block = self._buffer.take(data[start : start + _WINDOW])
            if block:
                events += self._read(block)
        return events

    def feed_block(self, block: bytes) -> list[AnyEvent]:
        """As `feed`, for a block from a LineSplitter. A reader is fed either blocks or portions, never both."""
        if self._head is not None:
            block = self._begin(block)
        if self._wide is not None:
            return self._wide_lines(self._wide.take(block))
        return self._read(block) if block else []

    def flush(self) -> list[AnyEvent]:
        """Events at the end of the stream: of the unfinished line, and of what families kept."""
        events = self.feed(self._decide(self._head)) if self._head else []
        events += self._wide_lines(self._wide.rest()) if self._wide else self._read(self._buffer.rest())
        for text, offset, parts in self._unwrapper.flush():
            events += self._whole(text, offset, parts)
        for family in self._families:
            events += self._counted(family.flush())
        self._open, self.spanning = [], False
        return events

    def flush_idle(self) -> list[AnyEvent]:
        """Events of what is kept, once the stream is quiet: a failure at its end need not wait for another line.

        If its message goes on after all, those lines are read by themselves.
        """
        events: list[AnyEvent] = []
        for text, offset, parts in self._unwrapper.flush():
            events += self._whole(text, offset, parts)
        for family in self._open:
            events += self._counted(family.flush_idle())
        self._open = [family for family in self._families if family.open]
        self.spanning = bool(self._open) or self._log_events.open
        return events

    @property
    def pending(self) -> str:
        """The unfinished last line, safe to show: a compiler's dots stay without a line end for minutes."""
        rest = self._wide.peek() if self._wide else (self._head or b"") + self._buffer.peek()
        return escapes.visible(escapes.strip_ansi(rest[-4096:].decode("utf-8", "replace")))

    def _begin(self, data: bytes) -> bytes:
        """The bytes to read; none until there are enough to determine the encoding."""
        head = (self._head or b"") + data
        if wide.undecided(head):
            self._head = head
            return b""
        return self._decide(head)

    def _decide(self, head: bytes) -> bytes:
        encoding = wide.encoding_of(head)
        self._head, self._wide = None, wide.WideLines(encoding) if encoding is not None else None
        text, begins = wide.after_mark(head)
        self._offset = self._line_start = self._offset + begins
        return text

    def _wide_lines(self, lines: list[tuple[bytes, int]]) -> list[AnyEvent]:
        """Events of lines of a log in UTF-16, each given with its offset in the stream."""
        events: list[AnyEvent] = []
        for line, offset in lines:
            self.tally.measure(line)
            if self.spanning or self.tally.wants_samples or self._keywords(line):
                self._line_start = self._begins + offset
                self._line(line, 0, events)
        return events

    def _read(self, block: bytes) -> list[AnyEvent]:
        """Events of a block that begins where a line (or a piece of a long one) begins."""
        self.tally.measure(block)
        if not block.strip(ZERO):
            self._offset = self._line_start = self._offset + len(block)
            return []
        events = self._walk(block, self._keywords(block))
        self._passed(block)
        return events

    def _keywords(self, block: bytes) -> list[int]:
        """Where the keywords of a block end, in order."""
        ends = keyword_ends(_SEARCH, block)
        if single := _single_dots(block):
            ends = sorted(ends + single)
        # The keyword of dots begins with the line end before them, which belongs to the previous block.
        return [1, *ends] if block[:1] == b"." else ends

    def _walk(self, block: bytes, keywords: list[int]) -> list[AnyEvent]:
        events: list[AnyEvent] = []
        index, position, size = 0, 0, len(block)
        while position < size:
            if not (self.spanning or self.tally.wants_samples):
                index = bisect_right(keywords, position, index)
                if index == len(keywords):
                    break
                position = line_of(block, position, keywords[index])
            position = self._line(block, position, events)
        return events

    def _passed(self, block: bytes) -> None:
        """Move on to the end of a block."""
        if (last := block.rfind(b"\n")) >= 0:
            self._line_start = self._offset + last + 1
        self._offset += len(block)

    def _line(self, block: bytes, position: int, events: list[AnyEvent]) -> int:
        """Read the line at `position`; returns where the next begins."""
        end = block.find(b"\n", position)
        end = len(block) if end < 0 else end
        offset = self._offset + position if position else self._line_start
        raw = block[position:end]
        if raw.startswith(ZERO):
            raw = raw.lstrip(ZERO)
            offset = self._offset + end - len(raw)
            if not raw:
                return end + 1
        if len(raw) > LINE_LIMIT:
            for start in range(0, len(raw), LINE_LIMIT):
                events += self._text(raw[start : start + LINE_LIMIT], offset)
        elif self.spanning:
            events += self._text(raw, offset)
        else:
            again = self._line_cache.repeat(raw, offset, self.tally)
            events += self._learned(raw, offset) if again is None else again
        return end + 1

    def _learned(self, raw: bytes, offset: int) -> list[AnyEvent]:
        """Events of a line that came while nothing spans lines; remembers it if nothing begins with it either."""
        known = self.tally.known
        events = self._text(raw, offset)
        if not self.spanning:
            self._line_cache.learn(raw, self._records, events, known=self.tally.known > known)
        return events

    def _text(self, raw: bytes, offset: int) -> list[AnyEvent]:
        text = escapes.strip_ansi(raw.decode("utf-8", "replace"))
        events: list[AnyEvent] = []
        for printed in self._log_events.take(text):
            for line in self._unpacked(printed) if '{"' in printed[:_LONGEST_FRONT] else (printed,):
                for whole, begin, parts in self._unwrapper.take(line, offset):
                    events += self._whole(whole, begin, parts)
        self.spanning = bool(self._open) or self._unwrapper.holding or self._log_events.open
        return events

    def _unpacked(self, text: str) -> list[str]:
        """The lines in a line, which a shipper or a structured logger may have put into JSON, also behind a prefix."""
        front, brace, rest = text.partition('{"')
        if front and (not rest.rstrip().endswith("}") or self._labels.split(text)[1] != brace + rest):
            return [text]
        return [front + line for line in json_lines.marked_lines(brace + rest)]

    def _whole(self, text: str, offset: int, parts: int) -> list[AnyEvent]:
        """Events of a whole line, which came in `parts` physical lines."""
        events: list[AnyEvent] = []
        claimed = False
        bits = families.families_in(text)
        if "\r" in text:
            segments = filter(None, text.split("\r"))
            self._records = [record for segment in segments for record in self._records_of(segment, offset)]
        else:
            self._records = self._records_of(text, offset)
        for record in self._records:
            made = self._record(record, bits)
            claimed = claimed or made is not None
            events += made or []
        self.tally.add_line(text, parts if claimed else 0)
        return self._counted(events)

    def _records_of(self, segment: str, offset: int) -> list[base.Record]:
        known = len(self._labels)
        found = base.records(segment, offset, self.source, self._labels)
        if len(self._labels) > known:
            self._line_cache.clear()  # lines that came before a label was known
        if found and own_lines.is_own(found[0].text):  # a header may stand in what it quotes
            return []
        if self._until is not None and found and found[-1].at is not None:
            self._until = found[-1].at + timestamps.HALF_YEAR
        if self._loggers_clocks and len(found) == 1 and found[0].shape is PLAIN:
            found[0].at = timestamps.leading(segment, self._until)
        return found

    def _record(self, record: base.Record, bits: int) -> list[AnyEvent] | None:
        """Events of a record, and of what it ends; None if no family knows it."""
        self.tally.add_record(record)
        self.tally.scan_text(record.text)
        ended = [event for family in self._open for event in family.ended_by(record)] if self._open else []
        codes = error_codes(record)
        asked = self._families_for(record.shape, bits)
        made = _offer(record, asked)
        if self._open or any(family.open for family in asked):  # it may begin something, and leave the line to others
            self._open = [family for family in self._families if family.open]
        if made is None and not codes:
            return ended or None
        return ended + (made or []) + codes

    def _families_for(self, shape: RecordShape, bits: int) -> list[Family]:
        """The families that a record is offered to: without a header, those whose keywords its line holds (`bits`), and
        those in the middle of something."""
        if shape is not PLAIN:
            return self._readers[shape]
        if self._open:
            return [family for bit, family in self._plain if bits & bit or family.open]
        asked = self._by_keywords.get(bits)
        if asked is None:
            asked = self._by_keywords[bits] = [family for bit, family in self._plain if bits & bit]
        return asked

    def _counted(self, events: list[AnyEvent]) -> list[AnyEvent]:
        for event in events:
            self.tally.add(event)
        return events


def _offer(record: base.Record, asked: Sequence[Family]) -> list[AnyEvent] | None:
    """Events of the first family that knows the record."""
    for family in asked:
        events = family.feed(record)
        if events is not None:
            return events
    return None


def keyword_ends(search: ahocorasick_rs.BytesAhoCorasick, block: bytes) -> list[int]:
    """Where the keywords of a block and the compiler's older error codes end, in order."""
    ends = [end for _, _, end in search.find_matches_as_indexes(block)]
    codes = [found.end() for found in _OLD_CODE.finditer(block)]
    return sorted(ends + codes) if codes else ends


def _single_dots(block: bytes) -> list[int]:
    """Where the lines end that may be one dot. As keywords, these would take the line end from the next line's dots."""
    return [found.end() for found in _LAST_DOT.finditer(block) if block[found.start() - 1] in b" \t"]


def line_of(block: bytes, position: int, keyword: int) -> int:
    """Where the line begins that holds the keyword ending at `keyword`, but not before `position`."""
    return block.rfind(b"\n", position, keyword) + 1 or position
