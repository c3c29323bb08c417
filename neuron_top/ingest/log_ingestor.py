"""Turns the bytes of logs into events: one reader per log, whatever source the bytes come from.

An offset in an event is one in the file, even if reading began in its middle, or again after a rotation.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from neuron_top.events import AnyEvent, OutputGrew, Rotation, SourceRotated
from neuron_top.events.log_sources import log_source
from neuron_top.ingest import rotated
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_diagnosis import LogDiagnosis
from neuron_top.ingest.log_span import LogSpan
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.lines import LineSplitter
from neuron_top.parsers.reader import LogReader
from neuron_top.run.clock import zone_offset
from neuron_top.run.log_activity import OLD_SECONDS

QUIET_SECONDS = 0.2
"""How long a log must have been quiet before what its reader holds back is reported."""
LAST_LINE_SECONDS = 5.0
"""How long a log must have been quiet before its unfinished last line is read as it is."""
BAR_SECONDS = 1.0
"""How often the states of a progress bar are read, which overwrites its line for hours and ends it once."""
GREW_SECONDS = 0.1
"""OutputGrew comes at most this often per log."""
_DOTS = late_pattern(rb"\.+")


class LogIngestor:
    """One followed log."""

    def __init__(
        self,
        path: str,
        buffer: LogBuffer,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        written: float | None = None,
        size: int | None = None,
        last_clock: float | None = None,
    ) -> None:
        """`written`: the last change of a file that exists already; what is read until `caught_up` is that old.
        `size`: the bytes that it holds, where it is not read at once.
        `last_clock`: the last timestamp in it. Only with that do timestamps of the job's own logger count: in a pipe or
        a new file they may be in any zone, and a line was written when it arrives, unless the first timestamp shows
        that the log is an old one."""
        self.path, self._now = path, now
        self._written, self._size, self._last_clock = written, size, last_clock
        self.source = log_source(path)
        self._buffer, self._clock = buffer, clock
        self._span: LogSpan | None = None
        """The span of what was there already, or of what a pipe brings; None before the first bytes, and for lines that
        come after `caught_up`."""
        self._splitter: LineSplitter | None = None
        """Splits lines for the buffer and the reader; None before the first bytes of a file, which show where reading
        begins."""
        self._reader = self._new_reader(0)
        self._diagnosis = LogDiagnosis(self.source, clock)
        self._end = 0
        self._lines = 0
        self._reported_end = 0
        self._reported_at = float("-inf")
        self._fed_at = self._bar_read_at = float("-inf")
        self._within_line = False
        """Whether what the splitter holds goes on with text of its line that was read already."""
        self._settled = True

    def take(self, offset: int, data: bytes) -> list[AnyEvent]:
        """Events that these bytes complete."""
        if self._splitter is None:
            self._span = LogSpan(self._written if self._written is not None else self._now())
            self._span.take(data)
            if self._last_clock is None:
                self._last_clock = self._old_clock(self._span.first)
            self._splitter, self._reader = LineSplitter(offset=offset), self._new_reader(offset)
        elif self._span is not None:
            self._span.take(data)
        self._end = offset + len(data)
        begin, block = self._splitter.offset, self._splitter.take(data)
        self._lines = self._buffer.add(self.source, begin, block, self._splitter.peek())
        events = self._marked(self._reader.feed_block(block))
        self._fed_at = self._clock()
        events += self._diagnosis.take(block)
        if block:
            self._within_line = not block.endswith(b"\n")
        if self._fed_at - self._bar_read_at >= BAR_SECONDS:
            self._bar_read_at = self._fed_at
            events += self._piece(self._splitter.overwritten())
        self._settled = not (self._reader.spanning or self._diagnosis.is_new or self._may_be_last or self._has_dots)
        return [*events, *self.grew()]

    def _old_clock(self, first: float | None) -> float | None:
        """The first timestamp of a log, if it is old in whatever zone."""
        lag = self._now() - first if first is not None else 0.0
        return first if lag > OLD_SECONDS and not zone_offset(lag) else None

    def _new_reader(self, offset: int) -> LogReader:
        is_old = self._last_clock is not None
        until = self._span.until if is_old and self._span is not None else None
        return LogReader(self.source, offset=offset, loggers_clocks=is_old, until=until)

    def found(self) -> list[AnyEvent]:
        """The event that the file was there already, to be sent before any of it is read: it shows the log's zone."""
        return [self._growth(at=self._last_clock)]

    def waits(self) -> list[AnyEvent]:
        """The same event again where nothing was read yet: other logs are read before this one, which is not silent."""
        return self.found() if self._size and not self._end else []

    @property
    def settled(self) -> bool:
        """Whether nothing is held back that would be reported after a moment of quiet."""
        return self._settled

    def quiet(self) -> list[AnyEvent]:
        """Events that the reader held back, once the log has been quiet for long enough. Call it repeatedly."""
        quiet = self._clock() - self._fed_at
        if self._settled or quiet < QUIET_SECONDS:
            return []
        is_last = quiet >= LAST_LINE_SECONDS
        events = self._last_line() if is_last else []
        if self._splitter is not None and self._has_dots:
            events += self._piece(self._splitter.rest())
        events += [*self._marked(self._reader.flush_idle()), *self._diagnosis.ask()]
        self._settled = not self._diagnosis.is_new and (is_last or not self._may_be_last)
        return events

    @property
    def _may_be_last(self) -> bool:
        """Whether the unfinished line may be the job's last message. A compiler's dots are not: they go on."""
        return self._splitter is not None and bool(self._splitter.peek().strip(b". \r"))

    @property
    def _has_dots(self) -> bool:
        """Whether the unfinished line is a compiler's dots: for minutes they alone show that it works."""
        if self._splitter is None or self._within_line:
            return False
        return _DOTS.fullmatch(self._splitter.peek()) is not None

    def _piece(self, piece: bytes) -> list[AnyEvent]:
        """Read what the splitter has just given of an unfinished line."""
        if not piece or self._splitter is None:
            return []
        begin, rest = self._splitter.offset - len(piece), self._splitter.peek()
        self._lines = self._buffer.add(self.source, begin, piece, rest)
        self._diagnosis.take_piece(piece)
        return self._marked(self._reader.feed_block(piece))

    def _last_line(self) -> list[AnyEvent]:
        """Read the unfinished line, since nothing has followed for long; what follows after all is read as its rest."""
        if self._splitter is None or not self._may_be_last:
            return []
        begin, rest = self._splitter.offset, self._splitter.rest()
        self._lines, self._within_line = self._buffer.add(self.source, begin, rest), True
        return [*self._marked(self._reader.feed_block(rest)), *self._diagnosis.end(rest)]

    def grew(self, *, at_once: bool = False) -> list[AnyEvent]:
        """The event of how far the log has grown, if it is time for one."""
        now = self._clock()
        if self._end == self._reported_end or not (at_once or now - self._reported_at >= GREW_SECONDS):
            return []
        self._reported_at, self._reported_end = now, self._end
        return [self._growth()]

    def caught_up(self) -> list[AnyEvent]:
        """Note that all of the existing file was read: what comes from now on is being written now."""
        if self._written is None:
            return []
        self._size = self._end if self._size is not None else None  # somebody may have shortened it
        growth = self._growth_of(self._span)
        is_old = self._now() - self._written >= LAST_LINE_SECONDS
        self._written, self._size, self._reported_end, self._span = None, None, self._end, None
        events = self._last_line() if is_old else []
        return [*events, *self._diagnosis.ask(at_once=True), growth] if self._end else []

    def ended(self, exit_code: int) -> list[AnyEvent]:
        """Events once the command that wrote the log has ended with this code; call it after `flush`."""
        return self._diagnosis.end(b"", exit_code)

    def closed(self) -> list[AnyEvent]:
        """Events once the writer has closed its end of the pipe."""
        old = self._span if self._last_clock is not None else None
        return [*self.flush(), self._growth_of(old, closed=True)]

    def _growth_of(self, span: LogSpan | None, *, closed: bool = False) -> OutputGrew:
        if span is None:
            return self._growth(closed=closed)
        return self._growth(at=span.last, began=span.first, closed=closed)

    def _growth(self, *, at: float | None = None, began: float | None = None, closed: bool = False) -> OutputGrew:
        return OutputGrew(
            path=self.path,
            end=self._end,
            lines=self._lines,
            written=self._written,
            size=self._size,
            at=at,
            began=began,
            closed=closed,
            source=self.source,
        )

    def flush(self) -> list[AnyEvent]:
        """Events that the reader still holds; call it when nothing more can come."""
        rest = self._splitter.rest() if self._splitter is not None else b""
        events = [*self._reader.feed_block(rest), *self._reader.flush()]
        return [*self._marked(events), *self._diagnosis.end(rest), *self.grew(at_once=True)]

    def on_rotation(self, how: Rotation) -> list[AnyEvent]:
        """Events of a file that was replaced or truncated, or is gone."""
        rotation: AnyEvent = SourceRotated(path=self.path, how=how, source=self.source)
        if how is Rotation.VANISHED:
            return [rotation]
        events = [*self.flush(), rotation]
        last = self._buffer.last_line(self.source)
        self._buffer.restart(self.source, rotated.moved_to(self.path, *last) if last else None)
        self._reader, self._splitter, self._within_line = self._new_reader(0), None, False
        self._end = self._reported_end = 0
        return [*events, *self._diagnosis.begin_anew()]

    def _marked(self, events: list[AnyEvent]) -> list[AnyEvent]:
        self._buffer.mark(self.source, events)
        return events
