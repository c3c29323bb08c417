"""`LogPlace`: where a log is being read. It knows the bytes around, and how far the job had come by then."""

from __future__ import annotations

import re
from bisect import bisect_right

from neuron_top.diagnose import steps_and_compiles
from neuron_top.diagnose.findings import Finding, JobProgress
from neuron_top.diagnose.margin import NO_MARGIN, QUOTE
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.statements import statements
from neuron_top.diagnose.surroundings import Surroundings
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.lines import LINE_LIMIT

_RECOGNIZABLE = 60
"""Characters by which a statement is found in its line, in which a progress bar may come first."""
_PLAIN = late_pattern(rb"^(?=[^> \t\r\n])", re.MULTILINE)


class LogPlace:
    """The block of whole lines that is being read, and the position of the line in it."""

    def __init__(self) -> None:
        self.block = b""
        self.offset = 0
        """Where the block begins in the log; in a log in UTF-16, in its bytes."""
        self.lines = 0
        """Line ends before the block."""
        self.progress = JobProgress()
        """How far the job had come before the line, counted from the first finding on."""
        self.is_wide = False
        """The log is in UTF-16: a line's place in the block is not its place in the log."""
        self._position = 0
        self._base = JobProgress()
        """The progress before the block."""
        self._signs: tuple[list[int], list[int]] | None = None
        """Where steps and compiles stand in the block; None until they are needed."""
        self._surroundings = Surroundings()
        self.margin = NO_MARGIN
        """What stands before every line, once the beginning of the log has shown that."""
        self._quoted_until: int | None = None
        """Where the first line begins that is not quoted with `>`; None: none has come."""

    @property
    def tail(self) -> bytes:
        """The end of what was read before the block."""
        return self._surroundings.tail

    def begin(self, block: bytes) -> None:
        """Go to the next block."""
        self.block, self._position, self._signs = block, 0, None
        if self._quoted_until is None and (plain := _PLAIN.search(block)) is not None:
            self._quoted_until = self.offset + plain.start()
        self._surroundings.begin(block, self.lines + 1)

    def end(self, *, counts_progress: bool) -> None:
        """Leave the block, which was read."""
        if counts_progress:
            steps, compiles = self._steps_and_compiles()
            self._base.steps += len(steps)
            self._base.compiles += len(compiles)
            self.progress = JobProgress(self._base.steps, self._base.compiles)
        self.lines += self.block.count(b"\n")
        self.offset += len(self.block)
        self._surroundings.end(self.block)

    def end_of_log(self) -> None:
        """Go behind the last block."""
        self.block, self._position, self._signs = b"", 0, ([], [])

    def at(self, position: int) -> None:
        """Go to the line that begins at this position of the block."""
        self._position = position

    def line_until(self, end: int) -> bytes:
        """The line being read, bounded, without the mark of a quotation."""
        raw = self.block[self._position : min(end, self._position + LINE_LIMIT)]
        is_quoted = self._quoted_until is None or self.offset + self._position < self._quoted_until
        return QUOTE.sub(b"", raw) if is_quoted else raw

    def learn_margin(self, raw: bytes) -> None:
        """Learn what stands before every line from this one, too."""
        self.margin = self.margin.shown_by(raw)

    def without_margin(self, raw: bytes) -> bytes:
        """A line without what stands before every line."""
        return self.margin.split(raw).line

    def statements_in(self, raw: bytes, line: int) -> list[Statement]:
        """What was printed in the line being read."""
        return self._said(raw, line, self.offset + self._position)

    def statement_above(self, line: int) -> Statement | None:
        """The first thing that was printed in the line above this one, which is being read."""
        before = self.block[max(0, self._position - LINE_LIMIT) : self._position] or self.tail[-LINE_LIMIT:]
        raw = before.removesuffix(b"\n").rpartition(b"\n")[2]
        return next(iter(self._said(raw, line - 1, 0)), None)

    def keep_around(self, finding: Finding) -> None:
        """Keep the lines around a new finding; in a log in UTF-16, only those of the block."""
        if not self.is_wide or finding.offset >= self.offset:
            self._surroundings.add(finding, self.block, self.offset)

    def keep_so_far(self, finding: Finding) -> None:
        """Keep the lines around a finding between two blocks, without waiting for more."""
        if not self.is_wide:
            self._surroundings.add_so_far(finding, self.offset)

    def steps_made(self) -> int:
        """The number of steps up to the line being read."""
        self.count_progress()
        return self.progress.steps

    def count_progress(self, text: str = "") -> None:
        """Set the progress to that before the line being read, or to the end of this text in it."""
        position = self._position
        if text:
            end = self.block.find(b"\n", position)
            end = len(self.block) if end < 0 else end
            start = self.block.find(text[:_RECOGNIZABLE].encode(), position, end)
            position = position if start < 0 else min(end, start + len(text.encode()))
        steps, compiles = self._steps_and_compiles()
        self.progress = JobProgress(
            self._base.steps + bisect_right(steps, position), self._base.compiles + bisect_right(compiles, position)
        )

    def _steps_and_compiles(self) -> tuple[list[int], list[int]]:
        """Where steps and compiles stand in the block; searched only once something has failed."""
        if self._signs is None:
            self._signs = steps_and_compiles.found_in(self.block)
        return self._signs

    def _said(self, raw: bytes, line: int, offset: int) -> list[Statement]:
        words = self.margin.split(raw)
        found = list(statements(words.line, line, offset))
        for statement in found:
            statement.task, statement.printer = words.task, words.printer
            statement.rank = words.rank if statement.rank is None else statement.rank
        return found
