"""`FailureReader`: finds the failures in what a log says, one statement after the other.

It knows what has begun and is not over: tracebacks, the message of a failed compile, reports, headings. What becomes of
its findings is decided by `ranking`, once the log has ended.
"""

from __future__ import annotations

import re

import msgspec

from neuron_top.diagnose import exceptions, general, messages, no_failures, reasons_below, recognizers, task_report
from neuron_top.diagnose.advice import NCCL_WARNED
from neuron_top.diagnose.condor_jobs import CondorJobs
from neuron_top.diagnose.done_without import DoneWithout
from neuron_top.diagnose.error_stacks import ErrorStacks, heads_stack
from neuron_top.diagnose.failed_graphs import FailedGraphs
from neuron_top.diagnose.findings import Finding, Findings, move
from neuron_top.diagnose.headings import Below, Expects, Headings
from neuron_top.diagnose.java_causes import JavaCauses
from neuron_top.diagnose.launcher_report import LauncherReport
from neuron_top.diagnose.log_place import LogPlace
from neuron_top.diagnose.messages import CompilerMessage
from neuron_top.diagnose.npm_report import NpmReport, heads_report
from neuron_top.diagnose.printed_objects import PrintedObjects
from neuron_top.diagnose.recognizers import Doubt, ReasonGiven, Weight
from neuron_top.diagnose.recovery import DONE_LATER, Recovery
from neuron_top.diagnose.slurm_steps import SlurmSteps
from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.diagnose.suspects import EmptyOptions, LastTry, Suspects
from neuron_top.diagnose.task_report import TaskPart, TaskReport
from neuron_top.diagnose.tracebacks import TracebackPart, Tracebacks
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.events.diagnosis import CauseClass
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.failure_signs import FAILURE

_LINES_TO_ABORT = 2
"""Between an error line and the one which says that the program aborts because of it."""
_CALLS_ABORT = late_pattern(r"\bMPI_ABORT was invoked\b|\bcalled MPI_Abort\(")
_LINES_TO_MPI_ABORT = 20
"""Between a program's message and the line in which MPI says that it ended all processes."""
_LINES_OF_A_STACK = 200
"""Between a C++ exception and the banner of the compiler whose back end it ended."""


class FailureReader:
    """Reads the statements of one log, in order."""

    def __init__(self, place: LogPlace) -> None:
        self.findings = Findings()
        self.graphs = FailedGraphs()
        self.tracebacks = Tracebacks()
        self.depends_on_place = False
        """What the line being read means depends on its place: it belongs to a traceback or announces one, or it shows
        what became of earlier failures."""
        self._place = place
        self._recovery = Recovery(self.findings, place.steps_made)
        self._done_without = DoneWithout(self.findings)
        self._report = LauncherReport()
        self._task_report = TaskReport()
        self._headings = Headings()
        self._java_causes = JavaCauses()
        self._condor_jobs = CondorJobs()
        self._slurm_steps = SlurmSteps()
        self._objects = PrintedObjects()
        self._stacks = ErrorStacks()
        self._npm_report = NpmReport()
        self._message: CompilerMessage | None = None
        self._suspects = Suspects()
        self._empty_options = EmptyOptions()
        self._last_try = LastTry()

    @property
    def is_open(self) -> bool:
        """Whether the next line may belong to something that has begun."""
        followers = (
            self.tracebacks, self._headings, self._objects, self._stacks, self._npm_report, self._task_report,
        )  # fmt: skip
        is_open = any(follower.open for follower in followers)
        return is_open or self._message is not None or self._recovery.is_quoting

    def read_above(self, line: int) -> None:
        """Show `tracebacks` the line above a heading, which was skipped if it holds no word of a failure."""
        above = self._place.statement_above(line)
        if above is not None:
            self.tracebacks.precede(above, self._finding_in(line - 1))

    def _finding_in(self, line: int) -> Finding | None:
        """The newest finding that this line has, or repeats."""
        return next((each for each in reversed(self.findings.all) if each.last_line == line), None)

    def end(self) -> None:
        """The log has ended: so has what was open."""
        self._close_message()
        self._add_nearest(self._task_report.nearest)

    def so_far(self) -> Findings:
        """The findings as if the log ended here. Reading goes on unaffected.

        A failed compile whose message is still open counts; a traceback whose exception has not come does not.
        """
        nearest = self._task_report.nearest
        if self._message is None and nearest is None:
            return self.findings
        findings = self.findings.copy()
        if self._message is not None:
            said, verdict = self._message.conclusion()
            _blame_compiler(findings, self._message, verdict)
            self._add_so_far(findings, said, verdict)
        if nearest is not None:
            self._add_so_far(findings, nearest, task_report.NEAREST)
        return findings

    def _add_so_far(self, findings: Findings, statement: Statement, verdict: CauseVerdict) -> None:
        finding, is_new = findings.add(statement, verdict, self._place.progress)
        if is_new:
            self._place.keep_so_far(finding)

    def read(self, statement: Statement) -> Finding | None:
        """The finding of a statement, if it has one."""
        if self._task_report.open or task_report.may_begin(statement.text):
            section, nearest = self._task_report.read(statement)
            self._add_nearest(nearest)
            if section in (TaskPart.QUOTED, TaskPart.CAUSE):
                return self._add_task_cause(statement) if section is TaskPart.CAUSE else None
        return None if self._is_announced(statement) else self._read_outside_reports(statement)

    def _read_outside_reports(self, statement: Statement) -> Finding | None:
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
        part, raised = self.tracebacks.read(statement)
        if part is TracebackPart.INSIDE:
            self.depends_on_place = True
            return None
        if part is TracebackPart.EXCEPTION:
            return self._read_exception(statement, raised) if raised is not None else None
        self._report.read(statement)
        self.graphs.read(statement)
        if FAILURE in statement.text or messages.is_cached(statement.text):
            return self._read_failed_compile(statement)
        if statement.speaker is Speaker.COMPILER and messages.announces_message(statement.text):
            self._close_message()
            self._message = CompilerMessage(statement, is_cached=False)
            return None
        self.depends_on_place |= self._done_without.read(statement)
        is_overcome = self._recovery.read(statement)
        self.depends_on_place |= self._recovery.depends_on_place
        if "Job " in statement.text:
            self.depends_on_place |= self._condor_jobs.read(statement) or self._slurm_steps.read(statement)
        if is_overcome:
            return None
        return self._judge(statement)

    def _add_task_cause(self, statement: Statement) -> Finding:
        """What Nextflow names as the cause of a task's end: the task's exit status, or a reason of its own."""
        verdict = task_report.cause(statement, general.judge(statement))
        return self._add(self._task_report.said_first(statement), verdict)

    def _add_nearest(self, statement: Statement | None) -> None:
        """Take what a task printed last as the nearest to a reason, where none was found in its report."""
        if statement is not None:
            finding, _ = self.findings.add(statement, task_report.NEAREST, self._place.progress)
            self._place.keep_around(finding)

    def _is_announced(self, statement: Statement) -> bool:
        """Whether a line belongs to an object or a stack of errors that an error above has announced."""
        for follower in (self._stacks, self._npm_report, self._objects):
            is_part, moved = follower.read(statement)
            if is_part:
                break
        if moved is not None:
            self._place.keep_around(moved)
        return is_part

    def _judge(self, statement: Statement) -> Finding | None:
        """The finding of a line outside tracebacks and messages, if it has one."""
        verdict = self._compilers_death(statement) or general.judge(statement)
        if verdict is None:
            self.depends_on_place |= self._suspects.note(statement)
        below, headed = self._headings.read(statement, verdict)
        if below is Below.REASON and headed is not None:
            self._place.keep_around(headed)
        if below is not Below.OTHER:
            return None
        if verdict is None and not self.findings.all:
            verdict = general.rest_of_banner(statement)
        if verdict is None or self._recovery.is_wanted_end(statement, verdict):
            return None
        logged_at = self._java_level(statement)
        if logged_at in general.FOR_DEVELOPERS:
            return None
        finding = self._add(statement, verdict)
        self._note_going_on(statement, finding, logged_at)
        if logged_at.is_error and (heading := self._finding_in(statement.line - 1)) is not None:
            self._java_causes.log(heading, finding)
        self._java_causes.read(statement, finding)
        if exceptions.is_relayed(statement):
            self.tracebacks.announce(finding)
        self._objects.expect(finding, statement)
        if finding.line == statement.line:
            self._await_below(statement, verdict, finding)
        if reasons_below.leaves_reason(statement.text):
            self._await_reason(statement, finding)
        return finding

    def _compilers_death(self, statement: Statement) -> CauseVerdict | None:
        """What a line means that reports a signal, below the command of a build that calls a compiler."""
        above = self._statement_above(statement) if general.reports_signal(statement.text) else None
        return None if above is None else general.compilers_death(statement, above.text)

    def _note_going_on(self, statement: Statement, finding: Finding, logged_at: LogLevel) -> None:
        """Note where the program says, at this line, that it goes on without what failed."""
        if logged_at is LogLevel.WARNING and (finding.goes_on_at or finding.line == statement.line):
            finding.goes_on_at = statement.line + 1
        elif not finding.terminal:
            finding.goes_on_at = self._done_without.goes_on_at(statement) or finding.goes_on_at

    def _await_below(self, statement: Statement, verdict: CauseVerdict, finding: Finding) -> None:
        """Expect on the next lines what a line only heads."""
        if heads_stack(statement.text):
            self._stacks.expect(finding, statement)
        elif heads_report(statement.text):
            self._npm_report.expect(finding, statement)
        elif reasons_below.heads_reason(statement, verdict):
            self._headings.expect(finding, statement)
        elif reasons_below.is_banner(statement.text):
            self._headings.expect(finding, statement, Expects.LABELED)
        elif general.heads_panics_words(statement.text):
            self._headings.expect(finding, statement, Expects.PANICS_WORDS)
        elif exceptions.is_bare(statement.text) or _is_name_in_report(statement, verdict):
            self._headings.expect(finding, statement, Expects.WORDS)
        else:
            return
        self.depends_on_place = True

    def _java_level(self, statement: Statement) -> LogLevel:
        """The level of the line above an exception of Java, whose logger prints it there: with its stack, below the
        words."""
        if statement.level is not LogLevel.NOTSET or not exceptions.is_of_java(statement.text):
            return LogLevel.NOTSET
        above = self._statement_above(statement)
        return LogLevel.NOTSET if above is None else above.level

    def _statement_above(self, statement: Statement) -> Statement | None:
        """The line above, on which the meaning of this one depends."""
        self.depends_on_place = True
        return self._place.statement_above(statement.line)

    def _await_reason(self, statement: Statement, finding: Finding) -> None:
        """Expect on the next lines why a condition that ended the process did not hold."""
        finding.terminal = self.depends_on_place = True
        if finding.line == statement.line and finding.weight is Weight.DEATH:
            self._headings.expect(finding, statement)

    def _strengthen_before_abort(self, statement: Statement) -> None:
        """Give an error line just before a program aborts as much weight as the line with which it aborts."""
        for finding in self.findings.all:
            is_near = 0 < statement.line - finding.last_line <= _LINES_TO_ABORT
            if is_near and finding.verdict.row is None and finding.weight is Weight.MESSAGE:
                finding.verdict = finding.verdict._replace(weight=Weight.STATEMENT)

    def _trust_before_mpi_abort(self, statement: Statement) -> None:
        """Take away what is doubtful about the message shortly before a program that calls MPI_Abort: it is why."""
        near = [
            each
            for each in self.findings.all
            if each.weight is Weight.MESSAGE and 0 < statement.line - each.last_line <= _LINES_TO_MPI_ABORT
        ]
        if near:
            reason = max(near, key=lambda each: each.last_line)
            reason.verdict, reason.terminal = reason.verdict._replace(doubt=Doubt.NONE), True

    def _read_exception(self, statement: Statement, raised: re.Match[str]) -> Finding | None:
        once, copies = exceptions.without_copies(statement.text)
        again = raised.re.match(once) if copies > 1 else None
        if again is not None:
            statement.text, statement.repeats, raised = once, statement.repeats * copies, again
        if exceptions.is_wanted_exit(statement.text):
            return None
        verdict = exceptions.exception(statement, raised, self.tracebacks.raised_in(statement))
        is_threads = exceptions.is_lost_connection(raised, verdict) and self.tracebacks.is_in_thread(statement)
        if is_threads or self._recovery.is_wanted_end(statement, verdict):
            return None
        finding = self._add(statement, verdict)
        finding.terminal = True
        self.tracebacks.found(
            statement, finding, is_probe=exceptions.is_probe(raised), announces=exceptions.announces(raised)
        )
        self._headings.raised(statement, verdict)
        if reasons_below.leaves_reason(statement.text):
            self._await_reason(statement, finding)
        elif finding.line == statement.line and reasons_below.heads_graphs_words(statement.text):
            self._headings.expect(finding, statement, Expects.GRAPH)
        elif finding.line == statement.line and reasons_below.heads_source(statement.text):
            self._headings.expect(finding, statement, Expects.SOURCE)
        elif finding.line == statement.line and verdict.weight is Weight.STATEMENT and verdict.row is None:
            self._await_words(statement, raised, finding)
        return finding

    def _await_words(self, statement: Statement, raised: re.Match[str], finding: Finding) -> None:
        """Expect below an exception what it announces: its own message if its name has none, else the exception that it
        quotes."""
        if statement.text.endswith(":"):
            self._headings.expect(finding, statement, Expects.QUOTED if raised["text"] else Expects.WORDS)

    def _read_failed_compile(self, statement: Statement) -> Finding | None:
        """Read the header of a failed compile, fresh or stored in the cache; a quotation of either counts the same."""
        is_cached = messages.is_cached(statement.text)
        if statement.level in (LogLevel.DEBUG, LogLevel.INFO) and not is_cached:
            return None
        is_retried = bool(messages.RETRYING.search(statement.text))
        text = messages.reason(statement.text) if FAILURE in statement.text else ""
        if text:
            said = msgspec.structs.replace(statement, text=text, level=LogLevel.NOTSET)
            verdict = messages.verdict(said, is_cached=is_cached, is_retried=is_retried)
            finding = self._add(said, verdict)
            self.graphs.add(finding, statement)
            return finding
        self._message = CompilerMessage(statement, is_cached, is_retried=is_retried)
        return None

    def _close_message(self) -> Finding | None:
        """The finding of a failed compile whose message has ended."""
        message, self._message = self._message, None
        if message is None:
            return None
        said, verdict = message.conclusion()
        _blame_compiler(self.findings, message, verdict)
        finding = self._add(said, verdict)
        self.graphs.add(finding, message.header)
        return finding

    def _add(self, statement: Statement, verdict: CauseVerdict) -> Finding:
        self._place.count_progress(statement.text)
        finding, is_new = self.findings.add(statement, verdict, self._place.progress)
        self._task_report.found(finding.weight)
        self._condor_jobs.found(statement, finding)
        self._slurm_steps.found(statement, finding)
        if verdict.row is not None:
            finding.terminal |= verdict.row.name in recognizers.TERMINAL
            finding.recovered &= verdict.row.name not in DONE_LATER
        finding.terminal |= general.ends_process(statement.text)
        if statement.level is LogLevel.FATAL and statement.speaker is Speaker.FRAMEWORK:  # aborts
            finding.terminal = True
            self._strengthen_before_abort(statement)
        if _CALLS_ABORT.search(statement.text):
            self._trust_before_mpi_abort(statement)
        if verdict.row is not None and verdict.row.name == recognizers.NCCL_WITHOUT_REASON:
            self._take_nccl_warning(statement)
        if verdict.row is not None and verdict.row.name in (recognizers.TRIED_AGAIN, recognizers.MODEL_LEFT_OUT):
            finding.goes_on_at = statement.line + 1
        is_moved = self._report.found(statement, verdict, finding) or self._update_wait(statement, finding)
        if is_moved or is_new:
            self._place.keep_around(finding)
        self._empty_options.read(statement, finding)
        self._last_try.read(statement, finding)
        if (suspect := self._suspects.reason(statement, verdict)) is not None:
            reason, _ = self.findings.add(*suspect, self._place.progress)
            self._place.keep_around(reason)
        return finding

    def _take_nccl_warning(self, statement: Statement) -> None:
        """Make NCCL's first warning the reason of the status that it returned, which names none."""
        warned = (each for each in self.findings.all if each.verdict.advice == NCCL_WARNED)
        first = min((each for each in warned if each.line < statement.line), key=lambda each: each.line, default=None)
        if first is not None:
            verdict = first.verdict
            first.verdict = verdict._replace(weight=Weight.STATEMENT, reason=ReasonGiven.STATED, doubt=Doubt.SOME)

    def _update_wait(self, statement: Statement, finding: Finding) -> bool:
        """Let the latest report of a wait for another process's compile count; False for a finding of another kind."""
        if not finding.is_wait:
            return False
        move(finding, statement)
        finding.recovered = self.graphs.started_here(statement)
        return True


def _is_name_in_report(statement: Statement, verdict: CauseVerdict) -> bool:
    """Whether an exception's name stands alone in an indented report, as Poetry prints it above its words."""
    is_exception = verdict.row is None and verdict.weight is Weight.STATEMENT
    return is_exception and statement.indented and exceptions.is_name(statement.text)


def _blame_compiler(findings: Findings, message: CompilerMessage, verdict: CauseVerdict) -> None:
    """Count a C++ exception shortly before the compiler's banner as a crash of the compiler, if its message states no
    reason."""
    if verdict.reason is ReasonGiven.STATED or not messages.BANNER.search(message.header.text):
        return
    for finding in findings.all:
        if no_failures.WHAT.match(finding.text) and message.header.line - finding.last_line <= _LINES_OF_A_STACK:
            finding.verdict = finding.verdict._replace(cause_class=CauseClass.COMPILE_CRASHED)
