"""Arranges a diagnosis for one screen, the reason first."""

from __future__ import annotations

import msgspec

from neuron_top.diagnose import Cause, CauseClass, Confidence, Diagnosis, JobEnd, LastWait, Unreadable
from neuron_top.escapes import shortened
from neuron_top.run.severity import Severity
from neuron_top.units import count_text, duration_text, moment_text

_CLOCK_OF_LOG = "%Y-%m-%d %H:%M"
"""Date and time without a zone: a log without one is read as UTC."""
_MOST_OTHERS = 8
_LONGEST_LINE = 300
_WORDS = {
    CauseClass.COMPILE_ERROR: "the compiler rejected a graph",
    CauseClass.COMPILE_KILLED: "the compiler was killed",
    CauseClass.COMPILE_CRASHED: "the compiler crashed",
    CauseClass.COMPILE_TIMEOUT: "a compile took too long",
    CauseClass.CACHED_FAILURE: "the cache has a stored failure of a compile",
    CauseClass.LOCK_TIMEOUT: "a lock of the cache was not released in time",
    CauseClass.MISSING_DEPENDENCY: "something is not installed",
    CauseClass.BAD_USAGE: "wrong arguments or versions",
    CauseClass.RUNTIME_INIT: "the Neuron runtime did not start",
    CauseClass.RUNTIME_OOM: "device memory ran out",
    CauseClass.RUNTIME_EXEC: "an execution on the device failed",
    CauseClass.COLLECTIVE: "the workers did not connect to each other",
    CauseClass.HOST_OOM: "the host ran out of memory",
    CauseClass.SCRIPT_ERROR: "the program raised an error",
    CauseClass.NETWORK: "the network or a server failed",
    CauseClass.TOOL_ERROR: "a tool failed",
    CauseClass.INTERRUPTED: "the job was stopped from outside",
}
_UNSTATED = "the log does not state why"
_GOES_ON = "no failure so far; the job goes on"
_ENDS = {JobEnd.FINISHED: "the job finished", JobEnd.FAILED: "the job ended", JobEnd.UNKNOWN: "the log just stops"}
_UNREADABLE = {
    Unreadable.EMPTY: "the log is empty: nothing says how the job went",
    Unreadable.NOT_TEXT: "this is no text: it cannot be read as a log",
}
_NEXT_OF_UNREADABLE = {
    Unreadable.EMPTY: "See where the job writes its output, and how it ended (sacct, kubectl describe pod, dmesg, the "
    "exit code)",
    Unreadable.NOT_TEXT: "Give the console output of the job; a log that gzip, bzip2, xz or zstd has packed is read as "
    "it is",
}


class EvidenceLine(msgspec.Struct, frozen=True):
    """A line as a screen shows it."""

    line: int
    text: str
    is_cause: bool


class OtherFinding(msgspec.Struct, frozen=True):
    """Something else that was seen."""

    line: int
    what: str
    text: str
    count: int


class DiagnosisView(msgspec.Struct, frozen=True, kw_only=True):
    """What a screen shows of a diagnosis."""

    failed: bool
    is_unreadable: bool = False
    """A file was given that is empty or no text."""
    verdict: str
    """One line: `failed: the compiler was killed`."""
    where: str = ""
    """`line 12, said 8 times by ranks 0, 1`."""
    text: str = ""
    lines: tuple[EvidenceLine, ...] = ()
    next_step: str = ""
    certainty: str = ""
    """`likely` behind the line where the cause is not certain; a mere guess is called one in the verdict itself."""
    others: tuple[OtherFinding, ...] = ()
    more: int = 0
    """Further findings that are not in `others`."""


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a screen about a job."""

    severity: Severity
    text: str
    reason: str
    """The text without the word that says that it failed."""
    next_step: str


def headline(diagnosis: Diagnosis | None, *, over: bool) -> Headline | None:
    """The reason why a job failed, or what it has overcome; None if there is none to show.

    Of a job that goes on only what is nearly certain is reported, as what was seen so far: it may be overcome yet.
    """
    if diagnosis is None or not (diagnosis.failed or diagnosis.causes):
        return None
    first = diagnosis.causes[0] if diagnosis.causes else None
    if not over and (first is None or (diagnosis.failed and first.confidence is Confidence.LOW)):
        return None
    severity = Severity.INFO if not diagnosis.failed else Severity.ERROR if over else Severity.WARNING
    if diagnosis.interrupted_by:
        severity = Severity.WARNING
    text, reason = one_line(diagnosis), _reason(diagnosis, diagnosis_view(diagnosis))
    if diagnosis.is_wait:
        severity, text = Severity.WARNING, reason
    return Headline(
        severity=severity,
        text=text if over or not diagnosis.failed else f"so far {text}",
        reason=reason,
        next_step=_advice(diagnosis),
    )


def describe(cause_class: CauseClass, confidence: Confidence = Confidence.HIGH) -> str:
    """A class in words; a guess says so first, as a title or a narrow column shows the beginning alone."""
    return f"perhaps {_WORDS[cause_class]}" if confidence is Confidence.LOW else _WORDS[cause_class]


def cause_text(
    cause_class: CauseClass, line: str, *, stated: bool = True, confidence: Confidence = Confidence.HIGH
) -> str:
    """What went wrong, with the line of the log: that states it, or that is the last where none does."""
    return f"{describe(cause_class, confidence)}: {line}" if stated else f"{_UNSTATED}; its last line: {line}"


def one_line(diagnosis: Diagnosis) -> str:
    """A diagnosis on one line: `failed: the compiler was killed: <what the log says> (line 12)`."""
    view = diagnosis_view(diagnosis)
    if diagnosis.interrupted_by or not diagnosis.causes:
        return view.verdict
    return f"{_ended(diagnosis)}: {_reason(diagnosis, view)}"


def _ended(diagnosis: Diagnosis) -> str:
    return "failed" if diagnosis.failed else "recovered"


def _reason(diagnosis: Diagnosis, view: DiagnosisView) -> str:
    """Why the job failed, or what it recovered from, and the line that states it."""
    if diagnosis.interrupted_by:
        return view.verdict
    if not diagnosis.causes:
        return _UNSTATED
    text = sentence_part(shortened(view.text, _LONGEST_LINE))
    certainty = f", {view.certainty}" if view.certainty else ""
    cause = diagnosis.causes[0]
    what = cause_text(cause.cause_class, text, stated=cause.stated, confidence=cause.confidence)
    return f"{what} (line {count_text(cause.line)}{certainty})"


def _interrupted_text(signal: str) -> str:
    from neuron_top.run.state import JobState  # most diagnoses are read by a tally, which needs no run
    from neuron_top.views.states import job_text

    return job_text(JobState.INTERRUPTED, signal=signal)


def _advice(diagnosis: Diagnosis) -> str:
    """What to do next; nothing where a person stopped the job."""
    return diagnosis.causes[0].advice if diagnosis.causes and not diagnosis.interrupted_by else ""


def sentence_part(line: str) -> str:
    """A line of a log for use inside a sentence: without a clause that ends in a colon and introduces further lines."""
    kept = line.rstrip(" :,")
    if line.rstrip().endswith(":") and ", " in kept:
        kept = kept.rpartition(", ")[0]
    return kept


def other_findings(view: DiagnosisView, longest: int = _LONGEST_LINE) -> tuple[str, ...]:
    """What else was seen, a line each; `longest`: characters of what a log says."""
    cause_lines = tuple(
        f"line {count_text(other.line)}: {other.what}: {shortened(other.text, longest)}"
        + (f" (× {count_text(other.count)})" if other.count > 1 else "")
        for other in view.others
    )
    return (*cause_lines, f"… and {count_text(view.more)} more") if view.more else cause_lines


def diagnosis_view(diagnosis: Diagnosis, *, goes_on: bool = False) -> DiagnosisView:
    """A diagnosis as it is shown; `goes_on`: of a job whose recording is still being made."""
    if isinstance(diagnosis.unreadable, Unreadable):
        return DiagnosisView(
            failed=False,
            is_unreadable=True,
            verdict=_UNREADABLE[diagnosis.unreadable],
            next_step=_NEXT_OF_UNREADABLE[diagnosis.unreadable],
        )
    signal = diagnosis.interrupted_by or ""
    if signal and not (diagnosis.causes and diagnosis.causes[0].stated):
        return DiagnosisView(failed=diagnosis.failed, verdict=_interrupted_text(signal))
    if diagnosis.last_wait and not diagnosis.causes:
        return _waiting(diagnosis.last_wait, goes_on=goes_on)
    if not diagnosis.causes:
        fine = _GOES_ON if goes_on else f"no failure; {_ENDS[diagnosis.job_ended]}"
        verdict = f"failed; {_UNSTATED}" if diagnosis.failed else fine
        return DiagnosisView(failed=diagnosis.failed, verdict=verdict)
    cause, *others = diagnosis.causes
    what = describe(cause.cause_class, cause.confidence) if cause.stated else _UNSTATED
    lines = (*_evidence(cause), EvidenceLine(cause.line, cause.text, True))
    return DiagnosisView(
        failed=diagnosis.failed,
        verdict=_interrupted_text(signal) if signal else f"{_ended(diagnosis)}: {what}",
        where=_where(cause),
        text=cause.text,
        lines=tuple(sorted(lines, key=lambda line: line.line)),
        next_step=_advice(diagnosis),
        certainty="likely" if cause.stated and cause.confidence is Confidence.MEDIUM else "",
        others=tuple(
            OtherFinding(other.line, describe(other.cause_class, other.confidence), other.text, other.count)
            for other in others[:_MOST_OTHERS]
        ),
        more=max(0, len(others) - _MOST_OTHERS),
    )


def _waiting(wait: LastWait, *, goes_on: bool) -> DiagnosisView:
    """A log that ends in a wait: for whose compile, since when, and what to do."""
    entry = wait.module or "a graph"
    since = "" if wait.since is None else f", since {moment_text(wait.since, _CLOCK_OF_LOG)} by the log's clock"
    fine = "no failure so far; the job waits" if goes_on else "no failure; the log ends in a wait"
    return DiagnosisView(
        failed=False,
        verdict=f"{fine} for another process's compile of {entry}",
        where=f"line {count_text(wait.line)}, waited {duration_text(wait.minutes * 60.0)} by then{since}",
        text=wait.text,
        next_step=wait.advice,
    )


def _evidence(cause: Cause) -> tuple[EvidenceLine, ...]:
    """The lines without the indentation that all of them share, so that carets stay below what they point at."""
    kept = [line for line in cause.evidence if line.line != cause.line]
    margin = min((len(line.text) - len(line.text.lstrip()) for line in kept), default=0)
    return tuple(EvidenceLine(line.line, line.text[margin:], False) for line in kept)


def _where(cause: Cause) -> str:
    if not cause.stated:
        return f"line {count_text(cause.line)}, the last one"
    said = f", said {count_text(cause.count)} times" if cause.count > 1 else ""
    if not cause.ranks:
        return f"line {count_text(cause.line)}{said}"
    shown = ", ".join(map(str, cause.ranks[:8])) + (", …" if len(cause.ranks) > 8 else "")
    return f"line {count_text(cause.line)}{said} by rank{'s' if len(cause.ranks) > 1 else ''} {shown}"
