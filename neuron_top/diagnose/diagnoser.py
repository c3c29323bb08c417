"""`Diagnoser`: turns the bytes of one log, in any portions, into its diagnosis. One pass, bounded memory, pure.

All words of all recognizers are searched at once in the raw bytes; only lines that hold one are parsed. While a
traceback or the message of a failed compile is open, every line is. A wording that came before is only counted.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

import ahocorasick_rs
import msgspec

from neuron_top.diagnose import (
    condor_jobs,
    ending,
    exceptions,
    general,
    messages,
    no_failures,
    ranking,
    reasons_below,
    recognizers,
    recovery,
    slurm_steps,
    steps_and_compiles,
    suspects,
    task_report,
)
from neuron_top.diagnose.advice import NCCL_WARNED, CodedDiagnosis
from neuron_top.diagnose.condor_jobs import CondorJobs
from neuron_top.diagnose.findings import Finding, Findings, JobProgress, move
from neuron_top.diagnose.headings import Below, Expects, Headings
from neuron_top.diagnose.java_causes import JavaCauses
from neuron_top.diagnose.launcher_report import LauncherReport
from neuron_top.diagnose.messages import CompilerMessage
from neuron_top.diagnose.printed_objects import PrintedObjects
from neuron_top.diagnose.recognizers import Doubt, ReasonGiven, Weight
from neuron_top.diagnose.recovery import DONE_LATER, Recovery
from neuron_top.diagnose.slurm_steps import SlurmSteps
from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.diagnose.statements import statements
from neuron_top.diagnose.steps_and_compiles import word_search
from neuron_top.diagnose.surroundings import Surroundings
from neuron_top.diagnose.suspects import EmptyOptions, Suspects
from neuron_top.diagnose.task_report import ReportPart, TaskReport
from neuron_top.diagnose.tracebacks import TracebackPart, Tracebacks
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.escapes import strip_ansi
from neuron_top.events.diagnosis import CauseClass
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import own_lines, prefixes, wide
from neuron_top.parsers.lines import LINE_LIMIT, LineSplitter
from neuron_top.parsers.runtime import SUPPORT_FUNCTIONS

_WINDOW = 1 << 20
_STARTED = "Call compiler with cmd"
"""Printed by a process that compiles a graph itself; the newest log format has no such line."""
_FAILURES = tuple(
    dict.fromkeys(
        (
            *recognizers.WORDS,
            *general.WORDS,
            *recovery.WORDS,
            *suspects.WORDS,
            *task_report.WORDS,
            *condor_jobs.WORDS,
            *slurm_steps.WORDS,
            b"failed compilation with",
            b"cached failed neff",
            b"in the previous run",
            _STARTED.encode().lower(),
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
_NUMBERS = late_pattern(rb"\d{5,}|\d+[:.][\d:.]+")
"""Timestamps, process ids, sizes: what differs between copies of a line. Exit codes and statuses are shorter."""
_RECOGNIZABLE = 60
"""Characters by which a statement is found in its line, in which a progress bar may come first."""
_MOST_SHAPES = 8192
_LONGEST_SHAPE = 1000
_READ_ANYWAY = 1000
"""Copies of a finding's line that are read for their rank; the others are only counted."""
_LINES_TO_ABORT = 2
"""Between an error line and the one which says that the program aborts because of it."""
_MOST_MODULES = 64
_MOST_STARTED = 4096
_QUOTE = late_pattern(rb"^> ?", re.MULTILINE)
_PLAIN = late_pattern(rb"^(?=[^> \t\r\n])", re.MULTILINE)
_HEADING = b"Traceback ("
_LINES_OF_A_STACK = 200
"""Between a C++ exception and the banner of the compiler whose back end it ended."""


class Diagnoser:
    """Reads one log; `source` names it in the causes."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._head: bytes | None = b""
        self._wide: wide.WideLines | None = None
        self._buffer = LineSplitter()
        self._offset = 0
        self._lines = 0
        """Line ends before the block that is being read."""
        self._surroundings = Surroundings()
        self._progress = JobProgress()
        self._base = JobProgress()
        """The progress before the block; counted from the first finding on."""
        self._signs: tuple[list[int], list[int]] | None = None
        """Where steps and compiles stand in the block; None until they are needed."""
        self._here = (b"", 0)
        """The block being read, and where its line begins."""
        self._findings = Findings()
        self._tracebacks = Tracebacks()
        self._recovery = Recovery(self._findings, self._steps_made)
        self._depends_on_place = False
        """What the line being read means depends on its place: it belongs to a traceback or announces one, or it shows
        what became of earlier failures."""
        self._report = LauncherReport()
        self._task_report = TaskReport()
        self._headings = Headings()
        self._java_causes = JavaCauses()
        self._condor_jobs = CondorJobs()
        self._slurm_steps = SlurmSteps()
        self._objects = PrintedObjects()
        self._message: CompilerMessage | None = None
        self._suspects = Suspects()
        self._empty_options = EmptyOptions()
        self._shapes: dict[bytes, Finding | None] = {}
        self._modules: dict[str, Finding] = {}
        """By graph whose compile failed, the finding: it has recovered if the graph compiles later."""
        self._compiling: dict[str, None] = {}
        """Graphs whose compile began in this log: a process that waits for one of them waits for its own job."""
        self._module_search: ahocorasick_rs.BytesAhoCorasick | None = None
        self._recommends_pages = False
        """The runtime has recommended a larger Scratchpad page."""
        self._indent: int | None = None
        """By how much the whole log is indented, as web pages and test runners do; None before the first block."""
        self._quoted_until: int | None = None
        """Where the first line begins that is not quoted with `>`; None: none has come."""

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
            self._block(self._buffer.take(data[start : start + _WINDOW]))

    def flush(self) -> None:
        """The end of the log: its last line may have no line end."""
        if self._head:
            self.feed(self._decide())
        if self._wide is not None:
            self._wide_lines(self._wide.rest())
        self._block(self._buffer.rest())
        self._here, self._signs = (b"", 0), ([], [])
        self._close_message()
        self._add_nearest(self._task_report.nearest)

    def diagnosis(self, exit_code: int | None = None) -> CodedDiagnosis:
        """The diagnosis of the log after `flush`; `exit_code` where the job's own is known."""
        return self._diagnosis(self._findings, exit_code, is_torn=self._is_torn())

    def so_far(self, exit_code: int | None = None) -> CodedDiagnosis:
        """The diagnosis of a log that is still being written, as if it ended after its last whole line.

        A failed compile whose message is still open counts; a traceback whose exception has not come does not. Reading
        goes on unaffected.
        """
        findings = self._findings
        said = None if self._message is None else _statement_of(self._message)
        nearest = self._task_report.nearest
        if said is not None or nearest is not None:
            findings = findings.copy()
        if self._message is not None and said is not None:
            _blame_compiler(findings, self._message, said[1])
            self._add_so_far(findings, *said)
        if nearest is not None:
            self._add_so_far(findings, nearest, task_report.NEAREST)
        return self._diagnosis(findings, exit_code)

    def _add_so_far(self, findings: Findings, statement: Statement, verdict: CauseVerdict) -> None:
        finding, is_new = findings.add(statement, verdict, self._progress)
        if is_new and self._wide is None:
            self._surroundings.add_so_far(finding, self._offset)

    def _diagnosis(self, findings: Findings, exit_code: int | None, *, is_torn: bool = False) -> CodedDiagnosis:
        whole = self._surroundings.tail[-ending.TAIL_BYTES :]
        if len(whole) < self._offset:  # cut off in front: perhaps in the middle of a line
            whole = whole[whole.find(b"\n") + 1 :]
        end = ending.read(whole, self._lines - whole.count(b"\n") + 1, self._offset - len(whole))
        return ranking.diagnosis(
            findings.all,
            self._progress,
            end,
            self._lines,
            self.source,
            exit_code,
            in_traceback=self._tracebacks.in_frames,
            is_torn=is_torn,
            recommends_pages=self._recommends_pages,
        )

    def _is_torn(self) -> bool:
        """Whether the log ends inside a traceback: at most one line, the rest of a frame, follows the last frame."""
        behind = self._lines - self._tracebacks.last_frame + 1
        if not self._tracebacks.is_torn or behind <= 0:
            return self._tracebacks.is_torn
        rest = self._surroundings.tail.split(b"\n")[-behind:]
        return sum(bool(line.strip()) for line in rest) <= 1

    def _decide(self) -> bytes:
        head, self._head = self._head or b"", None
        encoding = wide.encoding_of(head)
        self._wide = wide.WideLines(encoding) if encoding is not None else None
        return head

    def _wide_lines(self, lines: list[tuple[bytes, int]]) -> None:
        for line, offset in lines:
            self._offset = offset
            self._block(line)

    def _block(self, block: bytes) -> None:
        """Read whole lines."""
        if not block:
            return
        if self._indent is None:
            self._indent = _common_indent(_QUOTE.sub(b"", block))
        if self._quoted_until is None and (plain := _PLAIN.search(block)) is not None:
            self._quoted_until = self._offset + plain.start()
        self._signs = None
        self._surroundings.begin(block, self._lines + 1)
        self._walk(block, _failures(block))
        if self._findings.all:
            steps, compiles = self._steps_and_compiles(block)
            self._base.steps += len(steps)
            self._base.compiles += len(compiles)
            self._progress = JobProgress(self._base.steps, self._base.compiles)
        self._lines += block.count(b"\n")
        self._offset += len(block)
        self._surroundings.end(block)

    def _steps_and_compiles(self, block: bytes) -> tuple[list[int], list[int]]:
        """Where steps and compiles stand in the block; searched only once something has failed."""
        if self._signs is None:
            self._signs = steps_and_compiles.found_in(block)
        return self._signs

    def _walk(self, block: bytes, marks: list[int]) -> None:
        """Read the lines that hold a mark, and all while something is open."""
        position = counted = 0
        line = self._lines + 1
        named_by: ahocorasick_rs.BytesAhoCorasick | None = None
        named: list[int] = []
        while position < len(block):
            if not self._spanning:
                if self._module_search is not None and named_by is not self._module_search:
                    named_by = self._module_search
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
            index = bisect_right(named, position)
            self._line(block, position, end, line, is_named=index < len(named) and named[index] <= end)
            position = end + 1

    @property
    def _spanning(self) -> bool:
        """Whether the next line may belong to something that has begun: then no line is skipped."""
        is_open = self._tracebacks.open or self._headings.open or self._objects.open or self._task_report.open
        return is_open or self._message is not None or self._recovery.is_quoting

    def _line(self, block: bytes, position: int, end: int, line: int, *, is_named: bool) -> None:
        """Read one physical line; `is_named`: it names a graph that has failed, so it is read even if it is a copy."""
        raw = block[position : min(end, position + LINE_LIMIT)]
        if self._quoted_until is None or self._offset + position < self._quoted_until:
            raw = _QUOTE.sub(b"", raw)
        if not self._recommends_pages and b"cratchpad" in raw:
            self._recommends_pages = any(words in raw.lower() for words in _SCRATCHPAD)
        is_copy = not (self._spanning or is_named or _STARTED.encode() in raw) and len(raw) <= _LONGEST_SHAPE
        shape = _NUMBERS.sub(b"#", raw) if is_copy else None
        if shape is not None and shape in self._shapes:
            known = self._shapes[shape]
            if known is None:
                return
            if known.count >= _READ_ANYWAY:
                self._mark_progress(block, position)
                known.count += 1
                known.last_line, known.last_steps = line, self._progress.steps
                known.last_compiles = self._progress.compiles
                return
        self._here = (block, position)
        self._depends_on_place = False
        if _HEADING in raw:
            self._read_above(block, position, line)
        found = []
        if not own_lines.repeats(prefixes.split(strip_ansi(raw.decode("utf-8", "replace")))[1]):
            found = list(map(self._statement, statements(raw, line, self._offset + position, self._indent or 0)))
        if shape is not None and len(found) <= 1 and not (self._spanning or self._depends_on_place):
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[shape] = found[0] if found else None

    def _read_above(self, block: bytes, position: int, line: int) -> None:
        """Show `tracebacks` the line above a heading, which was skipped if it holds no word of a failure."""
        above = self._statement_above(block, position, line)
        if above is not None:
            found = next((each for each in reversed(self._findings.all) if each.last_line == line - 1), None)
            self._tracebacks.precede(above, found)

    def _statement_above(self, block: bytes, position: int, line: int) -> Statement | None:
        before = block[max(0, position - LINE_LIMIT) : position] or self._surroundings.tail[-LINE_LIMIT:]
        raw = before.removesuffix(b"\n").rpartition(b"\n")[2]
        return next(statements(raw, line - 1, 0, self._indent or 0), None)

    def _steps_made(self) -> int:
        """The number of steps up to the line that is being read."""
        self._mark_progress(*self._here)
        return self._progress.steps

    def _mark_progress(self, block: bytes, position: int) -> None:
        """Set the progress to that before this position of the block."""
        steps, compiles = self._steps_and_compiles(block)
        self._progress = JobProgress(
            self._base.steps + bisect_right(steps, position), self._base.compiles + bisect_right(compiles, position)
        )

    def _statement(self, statement: Statement) -> Finding | None:
        if self._task_report.open or task_report.may_begin(statement.text):
            section, nearest = self._task_report.read(statement)
            self._add_nearest(nearest)
            if section in (ReportPart.QUOTED, ReportPart.CAUSE):
                return self._add_task_cause(statement) if section is ReportPart.CAUSE else None
        return None if self._is_of_object(statement) else self._outside_reports(statement)

    def _outside_reports(self, statement: Statement) -> Finding | None:
        if self._message is not None:
            if self._message.accepts(statement):
                if not statement.text:
                    return None
                return self._close_message() if self._message.take(statement) else None
            self._message.patience -= 1
            is_foreign = statement.speaker not in (Speaker.UNKNOWN, Speaker.WRAPPER)
            if self._message.patience <= 0 or (statement.text and not is_foreign):
                self._close_message()
        self._headings.pass_traceback(statement)
        part, raised = self._tracebacks.read(statement)
        if part is TracebackPart.INSIDE:
            self._depends_on_place = True
            return None
        if part is TracebackPart.EXCEPTION:
            return self._exception(statement, raised) if raised is not None else None
        self._report.read(statement)
        self._follow_modules(statement)
        if messages.FAILED in statement.text or messages.is_cached(statement.text):
            return self._failed_compile(statement)
        if statement.speaker is Speaker.COMPILER and messages.announces_message(statement.text):
            self._close_message()
            self._message = CompilerMessage(statement, is_cached=False)
            return None
        is_overcome = self._recovery.read(statement)
        self._depends_on_place |= self._recovery.depends_on_place
        if "Job " in statement.text:
            self._depends_on_place |= self._condor_jobs.read(statement) or self._slurm_steps.read(statement)
        if is_overcome:
            return None
        return self._judged(statement)

    def _add_task_cause(self, statement: Statement) -> Finding:
        """What Nextflow names as the cause of a task's end: the task's exit status, or a reason of its own."""
        verdict = task_report.cause(statement, general.judge(statement))
        return self._add(self._task_report.said_first(statement), verdict)

    def _add_nearest(self, statement: Statement | None) -> None:
        """Take what a task printed last as the nearest to a reason, where none was found in its report."""
        if statement is not None:
            finding, _ = self._findings.add(statement, task_report.NEAREST, self._progress)
            self._add_evidence(finding, self._here[0])

    def _is_of_object(self, statement: Statement) -> bool:
        """Whether a line belongs to an object that an error above has announced."""
        is_part, moved = self._objects.read(statement)
        if moved is not None:
            self._add_evidence(moved, self._here[0])
        return is_part

    def _judged(self, statement: Statement) -> Finding | None:
        """The finding of a line outside tracebacks and messages, if it has one."""
        verdict = general.judge(statement)
        if verdict is None:
            self._depends_on_place |= self._suspects.note(statement)
        below, headed = self._headings.read(statement, verdict)
        if below is Below.REASON and headed is not None:
            self._add_evidence(headed, self._here[0])
        if below is not Below.OTHER:
            return None
        if verdict is None and not self._findings.all:
            verdict = general.rest_of_banner(statement)
        if verdict is None or self._recovery.ends_to_begin_again(statement, verdict):
            return None
        logged_at = self._java_logs_at(statement)
        if logged_at in general.FOR_DEVELOPERS:
            return None
        finding = self._add(statement, verdict)
        if logged_at is LogLevel.WARNING and (finding.goes_on_at or finding.line == statement.line):
            finding.goes_on_at = statement.line + 1
        self._java_causes.read(statement, finding)
        if exceptions.is_relayed(statement):
            self._tracebacks.announce(finding)
        self._objects.expect(finding, statement)
        if finding.line == statement.line:
            self._await_below(statement, verdict, finding)
        if reasons_below.leaves_reason(statement.text):
            self._await_reason(statement, finding)
        return finding

    def _await_below(self, statement: Statement, verdict: CauseVerdict, finding: Finding) -> None:
        """Expect on the next lines what a line only heads."""
        if reasons_below.is_banner(statement.text):
            self._headings.expect(finding, statement, Expects.LABELED)
        elif reasons_below.heads_reason(statement, verdict):
            self._headings.expect(finding, statement)
        elif exceptions.is_bare(statement.text):
            self._headings.expect(finding, statement, Expects.WORDS)
        else:
            return
        self._depends_on_place = True

    def _java_logs_at(self, statement: Statement) -> LogLevel:
        """The level of the line above an exception of Java, whose logger prints it there: with its stack, below the
        words."""
        if statement.level is not LogLevel.NOTSET or not exceptions.is_of_java(statement.text):
            return LogLevel.NOTSET
        self._depends_on_place = True
        above = self._statement_above(*self._here, statement.line)
        return LogLevel.NOTSET if above is None else above.level

    def _await_reason(self, statement: Statement, finding: Finding) -> None:
        """Expect on the next lines why a condition that ended the process did not hold."""
        finding.terminal = self._depends_on_place = True
        if finding.line == statement.line and finding.weight is Weight.DEATH:
            self._headings.expect(finding, statement)

    def _announced(self, statement: Statement) -> None:
        """Give an error line just before a program aborts as much weight as the line with which it aborts."""
        for finding in self._findings.all:
            is_near = 0 < statement.line - finding.last_line <= _LINES_TO_ABORT
            if is_near and finding.verdict.row is None and finding.weight is Weight.MESSAGE:
                finding.verdict = finding.verdict._replace(weight=Weight.STATEMENT)

    def _exception(self, statement: Statement, raised: re.Match[str]) -> Finding | None:
        verdict = exceptions.exception(statement, raised, self._tracebacks.raised_in(statement))
        if exceptions.is_lost_connection(raised, verdict) and self._tracebacks.is_in_thread(statement):
            return None
        finding = self._add(statement, verdict)
        finding.terminal = True
        self._tracebacks.found(
            statement, finding, is_probe=exceptions.is_probe(raised), announces=exceptions.announces(raised)
        )
        self._headings.raised(statement, verdict)
        if reasons_below.leaves_reason(statement.text):
            self._await_reason(statement, finding)
        elif finding.line == statement.line and reasons_below.heads_graphs_words(statement.text):
            self._headings.expect(finding, statement, Expects.GRAPH)
        elif finding.line == statement.line and verdict.weight is Weight.STATEMENT and verdict.row is None:
            self._await_words(statement, raised, finding)
        return finding

    def _await_words(self, statement: Statement, raised: re.Match[str], finding: Finding) -> None:
        """Expect below an exception what it announces: its own message if its name has none, else the exception that it
        quotes."""
        if statement.text.endswith(":"):
            self._headings.expect(finding, statement, Expects.QUOTED if raised["text"] else Expects.WORDS)

    def _follow_modules(self, statement: Statement) -> None:
        if _STARTED in statement.text:
            for module in messages.MODULE.findall(statement.text):
                if len(self._compiling) < _MOST_STARTED:
                    self._compiling[module] = None
        if self._modules:
            self._recovered_module(statement)

    def _failed_compile(self, statement: Statement) -> Finding | None:
        """Read the header of a failed compile, fresh or stored in the cache; a quotation of either counts the same."""
        is_cached = messages.is_cached(statement.text)
        if statement.level in (LogLevel.DEBUG, LogLevel.INFO) and not is_cached:
            return None
        is_retried = bool(messages.RETRYING.search(statement.text))
        text = messages.reason(statement.text) if messages.FAILED in statement.text else ""
        if text:
            said = msgspec.structs.replace(statement, text=text, level=LogLevel.NOTSET)
            verdict = messages.verdict(said, is_cached=is_cached, is_retried=is_retried)
            return self._with_modules(self._add(said, verdict), statement)
        self._message = CompilerMessage(statement, is_cached, is_retried=is_retried)
        return None

    def _close_message(self) -> Finding | None:
        """The finding of a failed compile whose message has ended."""
        message, self._message = self._message, None
        if message is None:
            return None
        said, verdict = _statement_of(message)
        _blame_compiler(self._findings, message, verdict)
        return self._with_modules(self._add(said, verdict), message.header)

    def _with_modules(self, finding: Finding, statement: Statement) -> Finding:
        for module in messages.MODULE.findall(statement.text):
            if len(self._modules) < _MOST_MODULES:
                self._modules[module] = finding
                finding.modules.add(module)
                self._search_modules()
        return finding

    def _search_modules(self) -> None:
        """From now on, read every line that names a graph that has failed."""
        words = [module.encode() for module in self._modules]
        self._module_search = word_search(tuple(words)) if words else None

    def _recovered_module(self, statement: Statement) -> None:
        """Note that a graph whose compile failed was compiled later, or found in the cache."""
        if "Successfully Completed" not in statement.text and "Using a cached neff" not in statement.text:
            return
        for module in messages.MODULE.findall(statement.text):
            finding = self._modules.pop(module, None)
            if finding is not None:
                finding.modules.discard(module)
                finding.recovered = not finding.modules
                self._search_modules()

    def _add(self, statement: Statement, verdict: CauseVerdict) -> Finding:
        block, position = self._here
        end = block.find(b"\n", position)
        said_at = block.find(statement.text[:_RECOGNIZABLE].encode(), position, len(block) if end < 0 else end)
        self._mark_progress(block, max(position, said_at))
        finding, is_new = self._findings.add(statement, verdict, self._progress)
        self._task_report.found(finding.weight)
        self._condor_jobs.found(statement, finding)
        self._slurm_steps.found(statement, finding)
        if verdict.row is not None:
            finding.terminal |= verdict.row.name in recognizers.TERMINAL
            finding.recovered &= verdict.row.name not in DONE_LATER
        finding.terminal |= general.ends_process(statement.text)
        if statement.level is LogLevel.FATAL and statement.speaker is Speaker.FRAMEWORK:  # aborts
            finding.terminal = True
            self._announced(statement)
        if verdict.row is not None and verdict.row.name == recognizers.NCCL_WITHOUT_REASON:
            self._warned_by_nccl(statement)
        if verdict.row is not None and verdict.row.name == recognizers.TRIED_AGAIN:
            finding.goes_on_at = statement.line + 1
        is_moved = self._report.found(statement, verdict, finding) or self._waits(statement, finding)
        if is_moved or is_new:
            self._add_evidence(finding, block)
        self._empty_options.read(statement, finding)
        if (suspect := self._suspects.reason(statement, verdict)) is not None:
            reason, _ = self._findings.add(*suspect, self._progress)
            self._add_evidence(reason, block)
        return finding

    def _warned_by_nccl(self, statement: Statement) -> None:
        """Make NCCL's first warning the reason of the status that it returned, which names none."""
        warned = (each for each in self._findings.all if each.verdict.advice == NCCL_WARNED)
        first = min((each for each in warned if each.line < statement.line), key=lambda each: each.line, default=None)
        if first is not None:
            verdict = first.verdict
            first.verdict = verdict._replace(weight=Weight.STATEMENT, reason=ReasonGiven.STATED, doubt=Doubt.SOME)

    def _waits(self, statement: Statement, finding: Finding) -> bool:
        """Whether it reports how long a process has waited for another one's compile; the latest report then counts."""
        if not finding.is_wait:
            return False
        move(finding, statement)
        finding.recovered = any(module in self._compiling for module in messages.MODULE.findall(statement.text))
        return True

    def _add_evidence(self, finding: Finding, block: bytes) -> None:
        """Keep the lines around a new finding; in a log in UTF-16, only those of the block that is being read."""
        if self._wide is None or finding.offset >= self._offset:
            self._surroundings.add(finding, block, self._offset)


def _statement_of(message: CompilerMessage) -> tuple[Statement, CauseVerdict]:
    """The statement and the verdict of a failed compile, from as much of its message as has come."""
    flags = {"is_cached": message.is_cached, "is_retried": message.is_retried}
    if message.best is None:
        return message.header, messages.without_reason(**flags)
    return message.best, messages.verdict(message.best, **flags)


def _blame_compiler(findings: Findings, message: CompilerMessage, verdict: CauseVerdict) -> None:
    """Count a C++ exception shortly before the compiler's banner as a crash of the compiler, if its message states no
    reason."""
    if verdict.reason is ReasonGiven.STATED or not messages.BANNER.search(message.header.text):
        return
    for finding in findings.all:
        if no_failures.WHAT.match(finding.text) and message.header.line - finding.last_line <= _LINES_OF_A_STACK:
            finding.verdict = finding.verdict._replace(cause_class=CauseClass.COMPILE_CRASHED)


def _failures(block: bytes) -> list[int]:
    """The positions in a block at which words of failures end, in order."""
    lower = b"\n%b\n" % block.lower()  # some words begin with a line end; this makes every position one too large
    ends = [
        end - 1
        for word, _, end in _FAILURE_SEARCH.find_matches_as_indexes(lower)
        if word >= len(_SUPPORT) or b"failure:" in lower[end : lower.index(b"\n", end)]
    ]
    codes = [found.end() - 1 for found in _OLD_CODE.finditer(lower)]
    return sorted(ends + codes) if codes else ends


def _common_indent(block: bytes) -> int:
    lines = [line for line in block[:8192].split(b"\n")[:60] if line.strip()]
    return min((len(line) - len(line.lstrip()) for line in lines), default=0)
