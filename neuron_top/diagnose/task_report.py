"""Nextflow's report of a task that failed: a heading, then sections with titles, whose lines are indented.

The reason is what the task printed (`Command error:`); where it printed nothing, what Nextflow names (`Caused by:`), of
a task that was tried again what it said first. The task's script is quoted between them and says nothing.
"""

from __future__ import annotations

from enum import Enum, auto

import msgspec

from neuron_top.diagnose import no_failures
from neuron_top.diagnose.advice import ERROR_LINE
from neuron_top.diagnose.recognizers import Doubt, Weight
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.verdicts import CauseVerdict, without_reason
from neuron_top.events.diagnosis import CauseClass, Confidence
from neuron_top.late_pattern import late_pattern

WORDS: tuple[bytes, ...] = (b"command executed", b"command exit status:", b"command output:", b"command error:")
"""Where a log begins inside a report, one of its titles begins it; its heading has words of a failure."""
_EXECUTING = "rror executing process > "
_HEADING = late_pattern(r"(?:~ )?Error executing process > \S")
_TITLE = late_pattern(
    r"(?P<title>Caused by|Command (?:executed(?: \[.{1,300}\])?|exit status|output|error|wrapper)|Work dir|Container):$"
)
_BEHIND = late_pattern(r"Tip: |-- Check ")
"""What Nextflow prints below the last section."""
_INDENT = 2
"""Of each line in a section."""
_MOST_LINES = 2000
_TRIES_AGAIN = " -- Execution is retried"
_RETRIED = late_pattern(r"Process `(.{1,300}?)` terminated .{1,80} -- Execution is retried \(\d")
_OF_PROCESS = late_pattern(r"Process `(.{1,300}?)` terminated ")
_MOST_RETRIED = 256
_SAYS_LITTLE = late_pattern(r"Process `.{1,300}` terminated with an error exit status|Failed to submit process to \S")
"""Causes of which what was printed says more."""
_RULE = late_pattern(r"\W*$")
_NOTHING = "(empty)"
_ABORTED = "MPI_ABORT was invoked "
"""How Open MPI begins what it prints when a program ends all processes: the reason stands above."""


NEAREST = CauseVerdict(CauseClass.SCRIPT_ERROR, Weight.MESSAGE, ERROR_LINE, Confidence.LOW, doubt=Doubt.SOME)
"""What a line means that is the nearest to a reason."""


def may_begin(text: str) -> bool:
    """Whether a line may begin a report, or tell of a task that is tried again; most do not."""
    return "xecut" in text or text[:8] == "Command "


class _In(Enum):
    """Which section the next line stands in."""

    HEADING = auto()
    CAUSE = auto()
    QUOTED = auto()
    """The script, or where it ran."""
    OUTPUT = auto()
    ERROR = auto()


_SECTIONS = {
    "Caused by": _In.CAUSE,
    "Command output": _In.OUTPUT,
    "Command wrapper": _In.OUTPUT,
    "Command error": _In.ERROR,
}


class TaskPart(Enum):
    """What a line is in a report."""

    OUTSIDE = auto()
    QUOTED = auto()
    """A title, or part of the script: says nothing."""
    CAUSE = auto()
    """What Nextflow names."""
    PRINTED = auto()
    """By the task."""


class TaskReport:
    """Reads the lines of one log for the report that is open."""

    def __init__(self) -> None:
        self._in: _In | None = None
        self._is_indented = False
        """The lines of the section are: pages and issues drop that."""
        self._left = 0
        self._is_aborted = False
        """Open MPI has said in this section that the program ended all processes."""
        self._last: dict[_In, Statement] = {}
        """What the task printed last on each of its streams."""
        self._is_known = False
        """The reason was found among what it printed, or in what Nextflow names."""
        self._retried: dict[str, Statement] = {}
        """Where Nextflow said first that a task failed, by the task's name."""

    @property
    def open(self) -> bool:
        """Whether the next line may belong to a report."""
        return self._in is not None

    def read(self, statement: Statement) -> tuple[TaskPart, Statement | None]:
        """What a line is in the report, and where the report ends, the line that is nearest to a reason if none was
        found; takes the indentation of a section off its lines."""
        text = statement.text
        if self._in is None:
            if _TRIES_AGAIN in text and (retried := _RETRIED.search(text)) and len(self._retried) < _MOST_RETRIED:
                self._retried.setdefault(retried[1], statement)
            title = _TITLE.match(text) if text.startswith("Command ") else None
            if title is not None or (_EXECUTING in text and _HEADING.match(text)):
                self._begin(_In.HEADING if title is None else _section(title["title"]))
            return (TaskPart.OUTSIDE if title is None else TaskPart.QUOTED), None
        self._left -= 1
        if self._left <= 0 or _HEADING.match(text) or _BEHIND.match(text):
            return TaskPart.OUTSIDE, self._end()
        title = None if statement.indented else _TITLE.match(text)
        if title is not None:
            self._in, self._is_indented, self._is_aborted = _section(title["title"]), False, False
            return TaskPart.QUOTED, None
        if not text:
            return TaskPart.OUTSIDE, None
        if self._is_indented and not statement.indented:
            return TaskPart.OUTSIDE, self._end()
        self._is_indented = statement.indented
        return self._part(statement), None

    def found(self, weight: Weight) -> None:
        """Take what a line of the report was found to be."""
        self._is_known |= self.open and weight < Weight.DEATH

    @property
    def nearest(self) -> Statement | None:
        """What the task printed last, where a report is open and no reason was found in it."""
        if self._in is None or self._is_known:
            return None
        return self._last.get(_In.ERROR, self._last.get(_In.OUTPUT))

    def said_first(self, statement: Statement) -> Statement:
        """Where the failure of the task that this cause names was said first: at an earlier try, or here."""
        found = _OF_PROCESS.match(statement.text)
        return statement if found is None else self._retried.get(found[1], statement)

    def _begin(self, section: _In) -> None:
        self._in, self._is_indented, self._left = section, False, _MOST_LINES
        self._last, self._is_known, self._is_aborted = {}, False, False

    def _end(self) -> Statement | None:
        nearest, self._in = self.nearest, None
        return nearest

    def _part(self, statement: Statement) -> TaskPart:
        if self._in is _In.HEADING:
            return TaskPart.OUTSIDE
        if self._in is _In.QUOTED:
            return TaskPart.QUOTED
        statement.indent = max(0, statement.indent - _INDENT)
        statement.indented = statement.indented and statement.indent > 0
        if self._in is _In.CAUSE:
            return TaskPart.CAUSE
        if _ABORTED in statement.text:
            self._is_aborted = True
        is_words = not self._is_aborted and statement.text != _NOTHING and not _RULE.match(statement.text)
        if is_words and not statement.level.is_mild and not no_failures.is_noise(statement):
            self._last[self._in or _In.OUTPUT] = msgspec.structs.replace(statement)
        return TaskPart.PRINTED


def _section(title: str) -> _In:
    return _SECTIONS.get(title, _In.QUOTED)


def cause(statement: Statement, known: CauseVerdict | None) -> CauseVerdict:
    """What Nextflow's cause means: a task's exit status, whose reason the task has printed, or a reason of its own;
    `known` is what the line means by itself."""
    if _SAYS_LITTLE.match(statement.text):
        return without_reason()._replace(cause_class=CauseClass.SCRIPT_ERROR if known is None else known.cause_class)
    return known if known is not None and known.weight <= Weight.MESSAGE else NEAREST
