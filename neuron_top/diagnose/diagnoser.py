"""`Diagnoser`: turns the bytes of one log, in any portions, into its diagnosis. One pass, bounded memory, pure.

All words of all recognizers are searched at once in the raw bytes; only lines that hold one are parsed. While a
traceback or the message of a failed compile is open, every line is. A wording that came before is only counted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import ahocorasick_rs

from neuron_top.diagnose import (
    condor_jobs,
    done_without,
    ending,
    general,
    last_line,
    margin,
    ranking,
    recognizers,
    recovery,
    slurm_steps,
    suspects,
    task_report,
)
from neuron_top.diagnose.advice import CodedDiagnosis
from neuron_top.diagnose.failed_graphs import COMPILE_STARTS
from neuron_top.diagnose.failure_reader import FailureReader
from neuron_top.diagnose.findings import Finding, Findings
from neuron_top.diagnose.log_place import LogPlace
from neuron_top.diagnose.steps_and_compiles import word_search
from neuron_top.escapes import strip_ansi
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import own_lines, prefixes, wide
from neuron_top.parsers.lines import ZERO, LineSplitter
from neuron_top.parsers.runtime import SUPPORT_FUNCTIONS

_WINDOW = 1 << 20
_COMPILE_STARTS = COMPILE_STARTS.encode()
_FAILURES = tuple(
    dict.fromkeys(
        (
            *recognizers.WORDS,
            *general.WORDS,
            *recovery.WORDS,
            *done_without.WORDS,
            *suspects.WORDS,
            *task_report.WORDS,
            *condor_jobs.WORDS,
            *slurm_steps.WORDS,
            b"failed compilation with",
            b"cached failed neff",
            b"in the previous run",
            _COMPILE_STARTS.lower(),
        )
    )
)


_SUPPORT = tuple(
    f"error  {component}:{function} ".encode()
    for component in ("tdrv", "nrt")
    for function in sorted(SUPPORT_FUNCTIONS)
)
"""How lines begin that the runtime prints for its support, thousands a second: by themselves they show no failure."""
_SCRATCHPAD = (b"scratchpad page siz", b"overflow scratchpad")
"""Advice that explains why a device's memory is full; no failure by itself."""
_FAILURE_SEARCH = word_search((*_SUPPORT, *_SCRATCHPAD, *_FAILURES))
_OLD_CODE = late_pattern(rb"\[[a-z]{3}\d{3}\]")
_NUMBERS = late_pattern(rb"\b0x[0-9a-f]{9,16}\b|\d{5,}|\d+[:.][\d:.]+")
"""Addresses, timestamps, process ids, sizes: what differs between copies of a line. Exit codes and statuses are
shorter."""
_MOST_SHAPES = 8192
_LONGEST_SHAPE = 1000
_READ_ANYWAY = 1000
"""Copies of a finding's line that are read for their rank; the others are only counted."""
_HEADING = b"Traceback ("


class Diagnoser:
    """Reads one log; `source` names it in the causes."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._head: bytes | None = b""
        """What came first, until it shows whether the log is in UTF-16."""
        self._wide: wide.WideLines | None = None
        self._buffer = LineSplitter()
        self._beginning: list[tuple[bytes, int | None]] | None = []
        """The first lines and where they begin, unread as long as they are too few to show the margin of all; then
        None."""
        self._place = LogPlace()
        self._failures = FailureReader(self._place)
        self._shapes: dict[bytes, Finding | None] = {}
        """Lines without their numbers, and what was found in them: copies are only counted."""
        self._recommends_pages = False
        """The runtime has recommended a larger Scratchpad page."""

    def feed(self, data: bytes) -> None:
        """Read these bytes. Never raises."""
        if self._head is not None:
            self._head += data
            if wide.undecided(self._head):
                return
            data = self._decide()
        if self._wide is not None:
            self._wide_lines(self._wide.take(data))
            return
        for start in range(0, len(data), _WINDOW):
            self._take(self._buffer.take(data[start : start + _WINDOW]), None)

    def flush(self) -> None:
        """The end of the log: its last line may have no line end."""
        if self._head:
            self.feed(self._decide())
        if self._wide is not None:
            self._wide_lines(self._wide.rest())
        self._take(self._buffer.rest(), None)
        self._read_beginning()
        self._place.end_of_log()
        self._failures.end()

    def diagnosis(self, exit_code: int | None = None) -> CodedDiagnosis:
        """The diagnosis of the log after `flush`; `exit_code` where the job's own is known."""
        return self._diagnosis(self._failures.findings, exit_code, is_whole=True)

    def so_far(self, exit_code: int | None = None) -> CodedDiagnosis:
        """The diagnosis of a log that is still being written, as if it ended after its last whole line.

        A failed compile whose message is still open counts; a traceback whose exception has not come does not. Reading
        goes on unaffected.
        """
        if self._beginning:
            shorter = Diagnoser(self.source)
            shorter._beginning, shorter._place.is_wide = self._beginning, self._place.is_wide
            shorter._read_beginning()
            return shorter.so_far(exit_code)
        return self._diagnosis(self._failures.so_far(), exit_code)

    def _diagnosis(self, findings: Findings, exit_code: int | None, *, is_whole: bool = False) -> CodedDiagnosis:
        place = self._place
        whole = place.tail[-ending.TAIL_BYTES :]
        if whole.count(b"\n") < place.lines:  # cut off in front: perhaps in the middle of a line
            whole = whole[whole.find(b"\n") + 1 :]
        begins = place.offset - len(whole)
        end = ending.read(whole, place.lines - whole.count(b"\n") + 1, begins, place.margin)
        ends_in_reason = False
        if is_whole and end.last is not None:
            raw = whole[end.last.offset - begins :].partition(b"\n")[0]
            ends_in_reason = last_line.states_reason(raw, end.last, place.margin)
        log = ranking.ReadLog(
            source=self.source,
            lines=place.lines,
            findings=findings.all,
            progress=place.progress,
            end=end,
            in_traceback=self._failures.tracebacks.in_frames,
            is_torn=is_whole and self._is_torn(),
            named_by_heading=self._failures.tracebacks.named_by_heading,
            ends_in_reason=ends_in_reason,
            recommends_pages=self._recommends_pages,
        )
        return ranking.diagnosis(log, exit_code)

    def _is_torn(self) -> bool:
        """Whether the log ends inside a traceback: at most one line, the rest of a frame, follows the last frame."""
        tracebacks = self._failures.tracebacks
        behind = self._place.lines - tracebacks.last_frame + 1
        if not tracebacks.is_torn or behind <= 0:
            return tracebacks.is_torn
        rest = self._place.tail.split(b"\n")[-behind:]
        return sum(bool(line.strip()) for line in rest) <= 1

    def _decide(self) -> bytes:
        head, self._head = self._head or b"", None
        encoding = wide.encoding_of(head)
        self._wide = wide.WideLines(encoding) if encoding is not None else None
        self._place.is_wide = self._wide is not None
        text, self._place.offset = wide.after_mark(head)
        return text

    def _wide_lines(self, lines: list[tuple[bytes, int]]) -> None:
        for line, offset in lines:
            self._take(line, offset)

    def _take(self, block: bytes, offset: int | None) -> None:
        """Read whole lines, or keep them until the margin of all shows; `offset`: where they begin, if not behind the
        last ones."""
        if self._beginning is None:
            self._block(block, offset)
            return
        self._beginning.append((block, offset))
        if margin.is_shown_by(b"".join(kept for kept, _ in self._beginning)):
            self._read_beginning()

    def _read_beginning(self) -> None:
        """Read what was kept back; from now on the log's margin is known."""
        if self._beginning is None:
            return
        kept, self._beginning = self._beginning, None
        self._place.margin = margin.margin_of(b"".join(block for block, _ in kept))
        for block, offset in kept:
            self._block(block, offset)

    def _block(self, block: bytes, offset: int | None) -> None:
        if not block:
            return
        self._place.offset = self._place.offset if offset is None else offset
        self._place.begin(block)
        if block.strip(ZERO):
            self._walk(block, _words_of_failures(self._place.margin.behind(block)))
        self._place.end(counts_progress=bool(self._failures.findings.all))

    def _walk(self, block: bytes, marks: list[int]) -> None:
        """Read the lines that hold a mark, and all while something is open."""
        position = counted = 0
        line = self._place.lines + 1
        named_by: ahocorasick_rs.BytesAhoCorasick | None = None
        named: list[int] = []
        while position < len(block):
            if not self._failures.is_open:
                search = self._failures.graphs.search
                if search is not None and named_by is not search:
                    named_by = search
                    named = [place for _, _, place in named_by.find_matches_as_indexes(block)]
                    marks = sorted({*marks, *named})
                index = bisect_left(marks, position)
                if index == len(marks):
                    return
                position = max(position, block.rfind(b"\n", position, marks[index]) + 1)
            line += block.count(b"\n", counted, position)
            counted = position
            end = block.find(b"\n", position)
            end = len(block) if end < 0 else end
            if block.startswith(ZERO, position):
                position = end - len(block[position:end].lstrip(ZERO))
            index = bisect_right(named, position)
            self._place.at(position)
            self._line(self._place.line_until(end), line, is_named=index < len(named) and named[index] <= end)
            position = end + 1

    def _line(self, raw: bytes, line: int, *, is_named: bool) -> None:
        """Read one physical line; `is_named`: it names a graph that has failed, so it is read even if it is a copy."""
        failures = self._failures
        if not self._recommends_pages and b"cratchpad" in raw:
            self._recommends_pages = any(words in raw.lower() for words in _SCRATCHPAD)
        may_be_copy = not (failures.is_open or is_named or _COMPILE_STARTS in raw) and len(raw) <= _LONGEST_SHAPE
        shape = _NUMBERS.sub(b"#", raw) if may_be_copy else None
        if shape is not None and shape in self._shapes:
            known = self._shapes[shape]
            if known is None:
                return
            if known.count >= _READ_ANYWAY:
                self._count_copy(known, line)
                return
        failures.depends_on_place = False
        if _HEADING in raw:
            failures.read_above(line)
        found = []
        self._place.learn_margin(raw)
        words = self._place.without_margin(raw).decode("utf-8", "replace")
        if not own_lines.repeats(prefixes.split(strip_ansi(words))[1]):
            found = list(map(failures.read, self._place.statements_in(raw, line)))
        if shape is not None and len(found) <= 1 and not (failures.is_open or failures.depends_on_place):
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[shape] = found[0] if found else None

    def _count_copy(self, known: Finding, line: int) -> None:
        self._place.count_progress()
        progress = self._place.progress
        known.count += 1
        known.last_line, known.last_steps, known.last_compiles = line, progress.steps, progress.compiles


def _words_of_failures(block: bytes) -> list[int]:
    """The positions in a block at which words of failures end, in order."""
    lower = b"\n%b\n" % block.lower()  # some words begin with a line end; this makes every position one too large
    ends = [
        end - 1
        for word, _, end in _FAILURE_SEARCH.find_matches_as_indexes(lower)
        if word >= len(_SUPPORT) or b"failure:" in lower[end : lower.index(b"\n", end)]
    ]
    codes = [found.end() - 1 for found in _OLD_CODE.finditer(lower)]
    return sorted(ends + codes) if codes else ends
