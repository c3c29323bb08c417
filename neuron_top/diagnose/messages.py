"""Finds the line that names the reason in the message of a failed compile, on the header's line or on those after it.

A failure that is stored in the cache is quoted the same way; without a retry the quotation is why the job stopped.
"""

from __future__ import annotations

import re

import msgspec

from neuron_top.diagnose import no_failures
from neuron_top.diagnose.advice import FAILED_WITHOUT_MESSAGE
from neuron_top.diagnose.recognizers import ReasonGiven, Weight, recognize
from neuron_top.diagnose.statement import Speaker, Statement
from neuron_top.diagnose.tracebacks import FRAME
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers.compiler import DETAIL
from neuron_top.parsers.failure_signs import FAILURE
from neuron_top.parsers.own_lines import MARK

_CACHED = ("Got a cached failed neff at", "There was a compilation error for this graph in the previous run")
BANNER = late_pattern(r"(?i)an internal compiler error has occurred")
_THROWN = late_pattern(r"An exception was thrown:$")
"""The heading of the stack of the compiler's back end; what was thrown stands below that."""
_STACKS_LINE = late_pattern(r"\d{1,3}# |-{5,}$")
RETRYING = late_pattern(r"[Ww]ith er+or log: ?\[|Retrying\.\.\.")
"""A cached failure that is compiled once more; its quotation ends in the latter."""
_ARGV = late_pattern(FAILURE + r" \[.{0,20000}?(?:'\]|\"\]|\S\])(?::\s*|\s*$)", re.DOTALL)
_HEADER = late_pattern(rf"(?:with eror log: )?\[?\s*(?:{FAILURE}\b|$)")
_LABEL_PATTERN = r"Error message:\s*"
_LABEL = late_pattern(_LABEL_PATTERN)
_QUOTED_TRACEBACK = late_pattern(_LABEL_PATTERN + r"Traceback \(")
_CLASS = late_pattern(r"Error class:\s*\w")
"""The exception's name, which stands below its message: all there is of a failure whose message is empty."""
_DATE = late_pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\s*")
_END = late_pattern(r"\[libneuronxla [^\]]{1,80}\]")
_FOREIGN = late_pattern(
    r"\.+$|\.*Compiler status|Completed run_backend|Traceback \(|\d{1,3}%\||To fix the error"
    r"|Subcommand returned|\d\. |INFO:|DEBUG:|\[rank|[\w.]{0,80}_RemoteTraceback:|" + MARK
)
_ARGUMENT = late_pattern(r"['\"][^'\"]*['\"],?\]?:?$|['\"-]")
_REMARK = late_pattern(r"(?i:warning|note|info): ")
_USAGE = late_pattern(r"usage: \S|\[--?\w")
"""How the compiler lists its options, before it says which one it refuses."""
_MOST_LINES = 12
_MOST_LINES_OF_OTHERS = 100
"""Lines of other processes that may stand inside it."""
MODULE = late_pattern(r"MODULE_[0-9a-f]{8,64}(?:\+[0-9a-f]{8})?")


def announces_message(text: str) -> bool:
    """Whether the compiler states the reason of its failure below this line."""
    return BANNER.search(text) is not None or _THROWN.match(text) is not None


def is_cached(text: str) -> bool:
    """Whether it says that this failure is stored in the cache."""
    return any(words in text for words in _CACHED)


class CompilerMessage(msgspec.Struct):
    """A failed compile whose message goes on in the next lines."""

    header: Statement
    is_cached: bool
    left: int = _MOST_LINES
    patience: int = _MOST_LINES_OF_OTHERS
    best: Statement | None = None
    is_retried: bool = False
    in_traceback: bool = False
    """The compiler quotes a traceback as its message: the exception at its end is the reason."""

    def accepts(self, statement: Statement) -> bool:
        """Whether a statement continues the message."""
        if self.left <= 0 or statement.speaker not in (Speaker.UNKNOWN, Speaker.COMPILER):
            return False
        if BANNER.search(statement.text):
            return False
        is_same = statement.rank in (None, self.header.rank) and statement.task == self.header.task
        return is_same and not _FOREIGN.match(statement.text)

    def take(self, statement: Statement) -> bool:
        """Read a line of it; True where it ends there."""
        if self._is_of_traceback(statement):
            self.patience -= 1
            return self.patience <= 0
        body = reason(statement.text)
        if _USAGE.match(body):
            return False
        self.left -= 1
        self.is_retried = self.is_retried or bool(RETRYING.search(statement.text))
        text = _LABEL.sub("", _END.sub("", body)).replace("Retrying...", "").strip()
        text = "" if text.strip("[]., ") == "" else text
        if text and not (_ARGUMENT.match(text) and self.best is None and "rror" not in text):
            self._keep(msgspec.structs.replace(statement, text=text, level=LogLevel.NOTSET))
        if self.best is not None and announces_message(self.header.text):
            return True
        ended = "Retrying..." in statement.text or (not self.is_retried and bool(_END.search(statement.text)))
        return self.left <= 0 or ended

    def conclusion(self) -> tuple[Statement, CauseVerdict]:
        """The statement that names the reason, and what it means, from as much of the message as has come."""
        if self.best is None:
            return self.header, without_reason(is_cached=self.is_cached, is_retried=self.is_retried)
        return self.best, verdict(self.best, is_cached=self.is_cached, is_retried=self.is_retried)

    def _is_of_traceback(self, statement: Statement) -> bool:
        """Whether it is the heading or a frame of a quoted traceback, or of the back end's stack."""
        if statement.speaker is Speaker.COMPILER and _QUOTED_TRACEBACK.match(statement.text):
            self.in_traceback = True
        elif self.in_traceback:
            self.in_traceback = statement.indented or FRAME.match(statement.text) is not None
        return self.in_traceback or _STACKS_LINE.match(statement.text) is not None

    def _keep(self, statement: Statement) -> None:
        """Keep the first line, or a later one in which the compiler names the reason."""
        if self.best is None or (_named(statement) and not _named(self.best)):
            if _REMARK.match(statement.text):
                return
            is_detail = DETAIL.match(statement.text) and not _CLASS.match(statement.text)
            if no_failures.NOISE.search(statement.text) or is_detail:
                return
            self.best = statement


def reason(text: str) -> str:
    """What follows the argv of a failed compile, unless its options are listed there; the text itself where it has no
    argv."""
    at = text.find(FAILURE)
    if at < 0:
        return _DATE.sub("", text, count=1) if _DATE.match(text) else text
    found = _ARGV.match(text, at)
    if found is None:
        return ""
    said = _DATE.sub("", text[found.end() :], count=1).strip().rstrip('",')
    return "" if _USAGE.match(said) else said


def verdict(statement: Statement, *, is_cached: bool, is_retried: bool = False) -> CauseVerdict:
    """What the reason of a failed compile means."""
    row = recognize(statement)
    named = CauseVerdict(CauseClass.COMPILE_ERROR, Weight.REASON, "", Confidence.HIGH)
    if row is not None and row.weight < Weight.DEATH and row.cause_class is not CauseClass.SCRIPT_ERROR:
        weight = Weight.REASON if row.reason is ReasonGiven.STATED else Weight.STATEMENT
        named = CauseVerdict(row.cause_class, weight, row.name, row.confidence, row.reason, row=row)
    if not is_cached:
        return named
    weight = Weight.CASCADE if is_retried else Weight.REASON
    return CauseVerdict(
        CauseClass.CACHED_FAILURE,
        weight,
        named.advice,
        Confidence.HIGH,
        named.reason,
        stored_reason=bool(named.advice),
    )


def without_reason(*, is_cached: bool, is_retried: bool) -> CauseVerdict:
    """What a failed compile means whose message was not printed."""
    if is_cached:
        weight = Weight.CASCADE if is_retried else Weight.STATEMENT
        return CauseVerdict(CauseClass.CACHED_FAILURE, weight, "", Confidence.MEDIUM, ReasonGiven.MISSING)
    return CauseVerdict(
        CauseClass.COMPILE_ERROR, Weight.STATEMENT, FAILED_WITHOUT_MESSAGE, Confidence.LOW, ReasonGiven.MISSING
    )


def _named(statement: Statement) -> bool:
    row = recognize(statement)
    return row is not None and row.weight is Weight.REASON
