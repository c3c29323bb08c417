"""The rule: which findings are failures, which of them were overcome, and which is the cause. All of it is here.

**Not a failure**: a doubtful finding (`Doubt`: an unknown error line, a warning about other workers) after which the
job went on: with steps, or many more lines; where there is much doubt, also with compiles.

**Overcome**: its own recovery was seen (the graph compiled later, the lock came free); the log ends in success after
it; the program that logged it goes on with its ordinary lines; a launcher started its workers again, and those made a
step; or at least five steps were made after it. What a tool retries counts only if nothing else explains why the job
failed.

**Order** of the rest: what explains more comes first (`Weight`: a reason stated by compiler, runtime, driver or kernel;
a known wording or an exception; an unknown error line; a death; a consequence), then what was printed first. So the
compiler's and the device's statement comes before the framework's, and the first rank before those that repeat it. A
collective that timed out explains no more than the exception of which another worker had died before, and less than an
exception of a rank that did not wait itself.

**Consequences** (`Weight.CASCADE`: engine died, worker exited, exit status of a wrapper, closed connections, quotations
of a failure that is retried) are no causes if anything else states one. Otherwise the first is named, with low
confidence; last of all what a launcher prints at every end: that it stops its workers, and an exit code above the
job's last lines. For a log that ends inside a traceback, or in which nothing failed but the last line says why a
program would end, that line is named.
"""

from __future__ import annotations

import functools
import signal
from typing import NamedTuple

import msgspec

from neuron_top.diagnose.advice import LAST_LINE, TORN_TRACEBACK, CauseAdvice, CodedDiagnosis, Remark
from neuron_top.diagnose.class_of_words import class_of
from neuron_top.diagnose.ending import End, LastLine
from neuron_top.diagnose.exceptions import reads_as_exception
from neuron_top.diagnose.findings import Finding, JobProgress
from neuron_top.diagnose.last_wait import last_wait
from neuron_top.diagnose.recognizers import (
    BY_SCHEDULER,
    CRASHED,
    ENDED_BELOW,
    LAUNCHERS_REPORT,
    STOPPED,
    STOPS_TASKS,
    STOPS_WORKERS,
    Doubt,
    ReasonGiven,
    Weight,
    recognize,
)
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.tracebacks import COMPILERS_FRAME
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.escapes import visible
from neuron_top.events.diagnosis import MOST_CAUSES, Cause, CauseClass, Confidence, Diagnosis, JobEnd
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.wrapper import MINUTES_WAITED

_STEPS_OF_A_LIVING_JOB = 5
_STEPS_BEHIND_WORDS = 2
"""The same after an exception that was only printed: a program that prints one without its traceback has caught it."""
_MINUTES_TO_EXPLAIN = 10.0
"""From here on a wait for another process's compile explains why a job that was stopped during it had achieved
nothing."""
_MINUTES_TO_FAIL = 60.0
"""From here on a wait for another process's compile that does not end is a failure by itself."""
_TOOLS_ERROR = late_pattern(
    r"(?:[\w./-]{1,80}(?: [\w-]{1,40}){0,2}: ){0,2}(?:(?:[a-z]{1,20} )?error|fatal(?: error)?|ERROR|FATAL): "
    r"|(?:[\d-]{10} [\d:]{8} )?ERROR \d{3}: \S|ssh: connect to host \S|FAILED: Build did NOT complete successfully$"
    r"|g?make(?:\[\d+\])?: \*\*\* |Compilation failed!$|\w{1,20}\.pl: .{1,60} failed, log is in \S"
    r"|\s*\.\. \S{1,200} pid \d+: Test failure |\[end of output\]$|Error applying plan:$"
    r"|to show complete usage, run with -h$|main: exiting due to \S"
)
"""How a command-line tool says why it exits, or that it does: a logger puts more in front of `error:`."""
_STOPPED = frozenset(
    status for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM) for status in (-each, 128 + each)
)
"""Exit codes of jobs that somebody asked to end; those above 128 are how a shell reports a signal."""
_OWN_REASONS = frozenset(
    {
        CauseClass.SCRIPT_ERROR,
        CauseClass.MISSING_DEPENDENCY,
        CauseClass.BAD_USAGE,
        CauseClass.RUNTIME_OOM,
        CauseClass.HOST_OOM,
    }
)
"""Classes of exceptions that do not come from waiting for another worker, or from being stopped."""
_LINES_TO_CRASH = 5
"""From an unknown error line to the crash that it may explain."""
_LINES_BEHIND = {Doubt.SOME: 300, Doubt.MUCH: 60}
"""After this many more lines a doubtful finding counts as harmless."""


class ReadLog(NamedTuple):
    """A log that was read to its end, or so far."""

    source: str
    lines: int
    findings: list[Finding]
    progress: JobProgress
    end: End
    in_traceback: bool
    """A traceback has begun in it whose exception has not come."""
    is_torn: bool
    """It ends inside a traceback."""
    named_by_heading: Statement | None
    """The exception that the heading of the last traceback names."""
    ends_in_reason: bool
    """Its last line says why a program would end."""
    recommends_pages: bool
    """The runtime recommends larger pages in it."""


def diagnosis(log: ReadLog, exit_code: int | None = None) -> CodedDiagnosis:
    """The diagnosis of a log; `exit_code` where the job's own is known."""
    log = _until_told(log)
    succeeded = exit_code == 0 or log.end.success_line is not None
    is_stopped = exit_code in _STOPPED
    ended = [finding for finding in log.findings if not _is_short_wait(finding, log.findings, is_stopped=is_stopped)]
    failures = _open_failures(ended, log, exit_code)
    is_torn = log.is_torn and not failures and exit_code is None
    ends_in_reason = log.ends_in_reason and not (failures or is_torn or succeeded) and exit_code is None
    failed = bool(failures) or is_torn or ends_in_reason or (exit_code not in (None, 0))
    overcome = [finding for finding in ended if _was_failure(finding, log.progress)]
    causes = _ordered(failures if failed else overcome)
    causes = _with_wait_first(_with_scheduler_first(causes, failures), failures)
    if failed and not causes and is_torn:
        causes = _torn(log.end, log.named_by_heading)
    elif failed and not causes:
        causes = _last_words(log.end) if ends_in_reason else _by_exit_code(exit_code, log.end)
    causes = list(map(_with_class, causes[:MOST_CAUSES]))
    answer = Diagnosis(
        failed=failed,
        recovered=not failed and bool(overcome),
        job_ended=_job_end(failures, log, exit_code, succeeded=succeeded),
        causes=tuple(_cause(finding, log.source) for finding in causes),
    )
    if not failed and answer.job_ended is JobEnd.UNKNOWN:
        wait = last_wait(log.findings, log.progress, log.end, log.lines, log.source)
        answer = answer if wait is None else msgspec.structs.replace(answer, last_wait=wait)
    return CodedDiagnosis(answer, tuple(_advice(finding, log.recommends_pages) for finding in causes))


def _until_told(log: ReadLog) -> ReadLog:
    """The log, with progress and success up to the line that reports the job's end, if its output is quoted after
    that."""
    told = next((finding for finding in log.findings if finding.verdict.advice == ENDED_BELOW), None)
    if told is None:
        return log
    success, programs = (
        line if line is not None and line < told.last_line else None
        for line in (log.end.success_line, log.end.programs_line)
    )
    until = JobProgress(told.last_steps, told.last_compiles)
    return log._replace(progress=until, end=log.end._replace(success_line=success, programs_line=programs))


def _open_failures(findings: list[Finding], log: ReadLog, exit_code: int | None) -> list[Finding]:
    """Those that are failures, and that the job did not overcome."""
    real = [finding for finding in findings if not _went_on(finding, log.progress, log.lines)]
    failures = [finding for finding in real if not _overcome(finding, log.progress, log.end, exit_code)]
    if failures and all(finding.weight is Weight.CASCADE for finding in failures):
        # Buffered output is printed after the traceback: the steps in it were made before the job ended.
        failures += [finding for finding in real if finding not in failures and not finding.recovered]
    if (failures or exit_code not in (None, 0)) and all(_leaves_why(finding) for finding in failures):
        went_on = [finding for finding in real if finding.goes_on_at and not finding.recovered]
        failures += [finding for finding in went_on if finding not in failures]
    return failures


def _went_on(finding: Finding, progress: JobProgress, lines: int) -> bool:
    """Whether a doubtful finding turned out to be no failure, since the job went on."""
    doubt = Doubt.MUCH if finding.weight is Weight.CASCADE else finding.verdict.doubt
    if doubt is Doubt.NONE:
        return False
    behind = lines - finding.last_line
    if progress.steps > finding.last_steps or behind > _LINES_BEHIND[doubt]:
        return True
    return doubt is Doubt.MUCH and progress.compiles > finding.last_compiles


def _overcome(finding: Finding, progress: JobProgress, end: End, exit_code: int | None) -> bool:
    """Whether the job overcame it."""
    if finding.recovered or exit_code == 0:
        return True
    if finding.verdict.advice == ENDED_BELOW:
        return False
    if finding.goes_on_at > finding.last_line:
        return True
    success_line = end.programs_line if finding.terminal else end.success_line
    if success_line is not None and (success_line > finding.last_line or _is_farewell(finding)):
        return True
    if _made_steps_again(finding, progress):
        return True
    steps, compiles = progress.steps - finding.last_steps, progress.compiles - finding.last_compiles
    if finding.verdict.cause_class in (CauseClass.LOCK_TIMEOUT, CauseClass.NETWORK) and steps + compiles > 0:
        return True
    is_printed = not finding.terminal and reads_as_exception(finding.text)
    return steps >= (_STEPS_BEHIND_WORDS if is_printed else _STEPS_OF_A_LIVING_JOB)


def _made_steps_again(finding: Finding, progress: JobProgress) -> bool:
    """Whether a launcher started its workers again after it, and those made a step."""
    return finding.restarted_at > finding.last_line and progress.steps > finding.restarted_steps


def _was_failure(finding: Finding, progress: JobProgress) -> bool:
    """Whether it was a failure for certain, in a job that did not fail: also a doubtful one whose recovery was seen."""
    was_seen = finding.recovered or finding.goes_on_at > finding.last_line or _made_steps_again(finding, progress)
    is_certain = finding.verdict.doubt is Doubt.NONE or was_seen
    return finding.weight < Weight.CASCADE and is_certain


def _leaves_why(finding: Finding) -> bool:
    """Whether it explains less than an exception that a program logged and seemed to survive."""
    return finding.weight in (Weight.MESSAGE, Weight.CASCADE)


def _is_short_wait(finding: Finding, findings: list[Finding], *, is_stopped: bool) -> bool:
    """Whether it is a wait that may still end: shorter than an hour, and nobody has stopped the job during it."""
    if not finding.is_wait:
        return False
    waited = MINUTES_WAITED.search(finding.text)
    minutes = float(waited[1]) if waited is not None else 0.0
    if minutes >= _MINUTES_TO_FAIL:
        return False
    if minutes < _MINUTES_TO_EXPLAIN:
        return True
    return not is_stopped and not any(_stops(other) and other.line > finding.line for other in findings)


def _stops(finding: Finding) -> bool:
    return finding.verdict.cause_class is CauseClass.INTERRUPTED and not finding.recovered


def _with_scheduler_first(causes: list[Finding], open_failures: list[Finding]) -> list[Finding]:
    """The causes; if the first one is that a program was interrupted, what its scheduler says of that comes first."""
    first = causes[0] if causes else None
    if first is None or not _stops(first):
        return causes
    told = next((cause for cause in causes if _stops(cause) and BY_SCHEDULER.search(cause.text)), None)
    if told is None:
        steps = (found for found in open_failures if found.verdict.advice == STOPS_TASKS and _stops(found))
        told = next((step for step in steps if step.line < first.line), first)
    return [told, *(cause for cause in causes if cause is not told)]


def _with_wait_first(causes: list[Finding], open_failures: list[Finding]) -> list[Finding]:
    """The causes, with the wait first if the job was stopped during one: it is why the job had achieved nothing."""
    wait = next((finding for finding in open_failures if finding.is_wait), None)
    first = causes[0] if causes else None
    if wait is None or first is None or not (_stops(first) and first.line > wait.line):
        return causes
    return [wait, *(cause for cause in causes if cause is not wait)]


def _is_farewell(finding: Finding) -> bool:
    """Whether it only reports that another process has gone, or a request to end, as the last processes do even when
    all went well."""
    is_of_others = finding.verdict.cause_class in (CauseClass.COLLECTIVE, CauseClass.INTERRUPTED)
    return finding.weight is Weight.CASCADE and is_of_others


def _ordered(findings: list[Finding]) -> list[Finding]:
    """Root cause first; consequences only where nothing else is known."""
    deaths = [finding for finding in findings if _is_death_with_reason(finding)]
    crash = max((finding.line for finding in findings if finding.verdict.advice == CRASHED), default=0)
    ordered = sorted(
        (finding for finding in findings if not _came_long_before(finding, crash)),
        key=lambda finding: (
            _explains(finding, deaths),
            _came_late(finding, deaths),
            _is_vague(finding),
            finding.line,
        ),
    )
    stated = ordered[0].line if ordered and ordered[0].weight is Weight.REASON else None
    causes = [finding for finding in ordered if finding.weight is not Weight.CASCADE and not _follows(finding, stated)]
    if any(finding.verdict.advice != ENDED_BELOW for finding in causes):
        return causes
    return sorted(ordered, key=functools.partial(_says_little, reported=_reported_ranks(ordered)))[:1]


def _came_long_before(finding: Finding, crash: int) -> bool:
    """Whether it is an unknown error line, and a signal ended the program only many lines later, in this line."""
    is_unknown = finding.weight is Weight.MESSAGE and finding.verdict.row is None and not finding.terminal
    return is_unknown and crash - max(finding.line, finding.last_line) > _LINES_TO_CRASH


def _came_late(finding: Finding, deaths: list[Finding]) -> bool:
    """Whether somebody pressed Ctrl-C only while another process of the job was already ending."""
    is_key = finding.verdict.cause_class is CauseClass.INTERRUPTED and finding.terminal
    return is_key and any(death.before_interrupt for death in deaths)


def _is_vague(finding: Finding) -> bool:
    """Whether it states what failed, but leaves the reason to another line."""
    return finding.weight is Weight.REASON and finding.verdict.reason is ReasonGiven.MISSING


def _reported_ranks(findings: list[Finding]) -> set[int]:
    """The workers whose end a launcher reports."""
    return {rank for finding in findings if finding.verdict.advice == LAUNCHERS_REPORT for rank in finding.ranks}


def _says_little(finding: Finding, reported: set[int]) -> tuple[bool, bool, bool]:
    """Sort key: first the exception with which a worker in a launcher's report ended, then the line about one worker in
    such a report, then others; last what a launcher prints at every end."""
    is_of_every_end = finding.stops_others or finding.verdict.advice in (STOPS_WORKERS, ENDED_BELOW)
    is_report = finding.verdict.advice == LAUNCHERS_REPORT
    is_its_exception = finding.terminal and not is_report and not reported.isdisjoint(finding.ranks)
    return is_of_every_end, not is_its_exception, not (is_report and finding.ranks)


def _is_death_with_reason(finding: Finding) -> bool:
    """Whether it is an exception that ended a worker for another reason than waiting for others."""
    return (
        finding.terminal
        and finding.weight is Weight.STATEMENT
        and finding.verdict.cause_class is not CauseClass.COLLECTIVE
    )


def _explains(finding: Finding, deaths: list[Finding]) -> Weight:
    """Its weight; that of an exception for a collective that waited for a worker which had died by then.

    The logs of ranks may follow one another in the file, so an exception that cannot come from waiting counts wherever
    it stands, if it is from ranks that did not wait.
    """
    if finding.weight is not Weight.REASON or finding.verdict.cause_class is not CauseClass.COLLECTIVE:
        return finding.weight
    if any(_is_of_others(death, finding) for death in deaths):
        return Weight.MESSAGE
    return Weight.STATEMENT if any(death.line < finding.line for death in deaths) else finding.weight


def _is_of_others(death: Finding, waiting: Finding) -> bool:
    is_own = death.verdict.cause_class in _OWN_REASONS
    return is_own and bool(death.ranks) and bool(waiting.ranks) and death.ranks.isdisjoint(waiting.ranks)


def _follows(finding: Finding, stated: int | None) -> bool:
    """Whether it is an error line that no row matches, after one that states the reason."""
    return (
        stated is not None and finding.verdict.row is None and finding.weight > Weight.REASON and finding.line > stated
    )


def _by_exit_code(exit_code: int | None, end: End) -> list[Finding]:
    """The last line, as the closest to a failure that only the exit code reports."""
    if end.last is None:
        return []
    if exit_code in _STOPPED:
        cause_class, advice = CauseClass.INTERRUPTED, STOPPED
    else:
        row = recognize(Statement(f"exit code {exit_code}", end.last.number, end.last.offset))
        cause_class = row.cause_class if row is not None else CauseClass.SCRIPT_ERROR
        advice = row.name if row is not None else ""
    verdict = CauseVerdict(cause_class, Weight.DEATH, advice, Confidence.LOW, ReasonGiven.MISSING, exit_code=exit_code)
    return [_at_last_line(end.last, verdict)]


def _torn(end: End, named: Statement | None) -> list[Finding]:
    """The heading that names the exception, else the last line: the closest to a message that the log does not hold."""
    if end.last is None:
        return []
    if named is not None:
        row = recognize(named)
        whose = CauseClass.SCRIPT_ERROR if row is None else row.cause_class
        nearest = LastLine(named.line, named.offset, named.text)
    else:
        whose = CauseClass.COMPILE_ERROR if COMPILERS_FRAME.search(end.last.text) else CauseClass.SCRIPT_ERROR
        nearest = end.last
    verdict = CauseVerdict(whose, Weight.DEATH, TORN_TRACEBACK, Confidence.LOW, ReasonGiven.MISSING)
    return [_at_last_line(nearest, verdict)]


def _last_words(end: End) -> list[Finding]:
    """The last line, as why a program ended of which nothing else failed."""
    if end.last is None:
        return []
    return [_at_last_line(end.last, CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.DEATH, LAST_LINE, Confidence.LOW))]


def _at_last_line(last: LastLine, verdict: CauseVerdict) -> Finding:
    line, offset, text = last
    return Finding(verdict, line, offset, visible(text), last_line=line, last_steps=0, last_compiles=0, count=1)


def _job_end(failures: list[Finding], log: ReadLog, exit_code: int | None, *, succeeded: bool) -> JobEnd:
    end = log.end
    if exit_code is not None:
        return JobEnd.FAILED if exit_code else JobEnd.FINISHED
    if log.in_traceback or any(finding.terminal or _is_last_exception(finding, end) for finding in failures):
        return JobEnd.FAILED
    if failures:
        return JobEnd.FAILED if end.over or _is_tools_error(end) else JobEnd.UNKNOWN
    return JobEnd.FINISHED if succeeded or end.over else JobEnd.UNKNOWN


def _is_last_exception(finding: Finding, end: End) -> bool:
    """Whether an exception stands in the last line: of its traceback, only that was kept."""
    return end.last is not None and end.last.number == finding.last_line and reads_as_exception(finding.text)


def _is_tools_error(end: End) -> bool:
    """Whether the last line is an error as command-line tools print it before they exit."""
    return end.last is not None and _TOOLS_ERROR.match(end.last.text) is not None


def _with_class(finding: Finding) -> Finding:
    """The finding, with the class that its words are about where it has none of its own."""
    verdict = finding.verdict._replace(cause_class=class_of(finding.verdict, finding.text))
    return msgspec.structs.replace(finding, verdict=verdict)


def _cause(finding: Finding, source: str) -> Cause:
    verdict = finding.verdict
    confidence = Confidence.LOW if finding.weight is Weight.CASCADE else verdict.confidence
    return Cause(
        cause_class=verdict.cause_class,
        line=finding.line,
        offset=finding.offset,
        source=source,
        text=finding.text,
        count=finding.count,
        ranks=tuple(sorted(finding.ranks)),
        confidence=confidence,
        advice="",
        evidence=tuple(sorted(finding.evidence, key=lambda line: line.line)),
        stated=verdict.exit_code is None,
    )


def _advice(finding: Finding, recommends_pages: bool) -> CauseAdvice:
    verdict = finding.verdict
    holds = {
        Remark.STORED: verdict.stored_reason,
        Remark.ONLY_EXIT_CODE: verdict.exit_code is not None,
        Remark.NOT_STATED: verdict.reason is ReasonGiven.MISSING,
        Remark.LARGER_PAGES: recommends_pages and verdict.cause_class is CauseClass.RUNTIME_OOM,
    }
    remarks = frozenset(remark for remark, said in holds.items() if said)
    return CauseAdvice(verdict.cause_class, verdict.advice, remarks, verdict.exit_code)
