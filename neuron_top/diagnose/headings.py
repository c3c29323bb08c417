"""Follows headings to the reason below them: `Fatal error:`, an exception whose message begins on the next line, a C++
condition that names no reason.

The finding of a heading is moved down to the line that states the reason.
"""

from __future__ import annotations

from enum import Enum, auto

import msgspec

from neuron_top.diagnose import exceptions, reasons_below
from neuron_top.diagnose.findings import Finding, move
from neuron_top.diagnose.recognizers import Doubt, ReasonGiven, Weight, recognize
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.tracebacks import FRAME
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.events.diagnosis import Confidence
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import json_lines

_LINES_TO_REASON = 2
"""From a heading down to what it announces: one line between may be empty."""
_LINES_TO_QUOTED = 100
"""From an exception down to the one that it announces, with frames of Python and C++ between."""
_LINES_OF_SOURCE = 200
"""Of a kernel, down to the mark."""
_LINES_TO_GRAPHS_WORDS = 2000
"""Of stacks of the program, one for each operation that failed."""
_USER_CODE = ": in user code:"
_RULE = late_pattern(r"[-=*#~_]{3,}$")
_WHAT = "what():"
"""The heading of a C++ exception's words: it has ended the process."""
_MARK = "^"
"""A line that shows the place in the source above it."""
_TITLE = late_pattern(r"- |.{1,80}:$")
"""A line between two rules that is only the title of what follows."""
_TVMS_BOX = late_pattern(r"An error occurred during the execution of TVM\.$|For more information, please see: \S+$")
"""What TVM prints between two rules above the reason."""
_PLAIN_HEADING = f"{json_lines.HEADING}:"
"""The heading of a traceback that Python itself prints; one that is quoted in a message has a name before it."""


class Expects(Enum):
    """What a heading expects below."""

    REASON = auto()
    WORDS = auto()
    """The exception's own message."""
    PANICS_WORDS = auto()
    """What Rust prints below the place of a panic, whatever it looks like."""
    QUOTED = auto()
    """An exception that it quotes; until that comes, the heading's own text counts."""
    SOURCE = auto()
    """What is wrong with the source that is printed below, under a mark."""
    GRAPH = auto()
    """The exception's own words, below where TensorFlow says which operation failed, and where that was made."""
    LABELED = auto()
    """What a line right below a banner names as the reason."""


class Below(Enum):
    """What a line is to the heading above it."""

    OTHER = auto()
    PART = auto()
    """Between a heading and its reason, and without a meaning of its own."""
    REASON = auto()
    """The reason: the finding stands here now."""


class _Heading(msgspec.Struct):
    finding: Finding
    statement: Statement
    expects: Expects
    line: int
    """The last one that belongs to the heading."""
    is_ruled: bool = False
    """That line is a rule."""
    source_ends: int = 0
    """The line of the mark below printed source; 0: it has not come."""


class Headings:
    """Reads the lines outside tracebacks, and keeps the one heading that is open."""

    def __init__(self) -> None:
        self._open: _Heading | None = None

    @property
    def open(self) -> bool:
        """Whether the next line may be what a heading announces."""
        return self._open is not None

    def expect(self, finding: Finding, statement: Statement, expects: Expects = Expects.REASON) -> None:
        """Look on the next lines for what this finding's line announces."""
        self._open = _Heading(finding, statement, expects, statement.line)

    def read(self, statement: Statement, verdict: CauseVerdict | None) -> tuple[Below, Finding | None]:
        """What this line is to the open heading, and the heading's finding; `verdict` is what it means by itself."""
        heading = self._open
        if heading is None or (not statement.text and self._may_go_on(heading, statement)):
            return Below.OTHER, None
        if _is_of_user_code(heading, statement):
            self._open = None
            move(heading.finding, statement)
            _take_meaning(heading.finding, statement)
            return Below.REASON, heading.finding
        if self._is_between(heading, statement, verdict):
            heading.line = statement.line
            return Below.PART, None
        self._open = None
        if heading.expects is Expects.LABELED:
            return self._labeled(heading, statement, verdict), heading.finding
        if heading.expects is Expects.PANICS_WORDS:
            return _panics_words(heading, statement), heading.finding
        if heading.expects is Expects.REASON and verdict is None:
            return _headed(heading, statement), heading.finding
        if heading.expects in (Expects.WORDS, Expects.GRAPH, Expects.SOURCE):
            return self._words(heading, statement, verdict), heading.finding
        if heading.expects is Expects.QUOTED and verdict is not None and verdict.row is not None:
            is_next = statement.line - heading.line == 1 and statement.process == heading.statement.process
            heading.finding.demoted |= is_next and verdict.weight <= Weight.STATEMENT
        return Below.OTHER, None

    def pass_traceback(self, statement: Statement) -> None:
        """Close the heading if this line begins a traceback of Python itself, which does not belong to it."""
        if self._open is not None and statement.text == _PLAIN_HEADING:
            self._open = None

    def raised(self, statement: Statement, verdict: CauseVerdict) -> None:
        """Take an exception, which may be what an exception above has announced."""
        heading = self._open
        if heading is None or heading.expects is Expects.REASON or verdict.weight is Weight.CASCADE:
            return
        self._open = None
        is_near = 0 < statement.line - heading.statement.line <= _LINES_TO_QUOTED
        heading.finding.demoted |= is_near and statement.process == heading.statement.process

    @staticmethod
    def _may_go_on(heading: _Heading, statement: Statement) -> bool:
        return statement.line - heading.line <= 1 or heading.expects in (Expects.QUOTED, Expects.SOURCE, Expects.GRAPH)

    @staticmethod
    def _is_between(heading: _Heading, statement: Statement, verdict: CauseVerdict | None) -> bool:
        """Whether the line only leads from the heading to what it announces."""
        text, lines = statement.text, statement.line - heading.line
        if heading.expects is Expects.REASON:
            return lines == 1 and reasons_below.labels_reason(text, heading.statement.text)
        if heading.expects in (Expects.LABELED, Expects.PANICS_WORDS):
            return False
        if heading.expects is Expects.GRAPH:
            is_near = statement.line - heading.statement.line <= _LINES_TO_GRAPHS_WORDS
            return is_near and verdict is None and (statement.indented or reasons_below.names_operation(text))
        if heading.expects is Expects.SOURCE:
            if heading.source_ends or statement.line - heading.statement.line > _LINES_OF_SOURCE:
                return False
            heading.source_ends = statement.line if text == _MARK else 0
            return True
        if heading.expects is Expects.QUOTED:
            is_near = statement.line - heading.statement.line <= _LINES_TO_QUOTED
            return is_near and (statement.indented or FRAME.match(text) is not None)
        was_ruled, heading.is_ruled = heading.is_ruled, _RULE.match(text) is not None
        is_title = _TVMS_BOX.match(text) is not None or (was_ruled and _TITLE.match(text) is not None)
        return lines <= _LINES_TO_REASON and (heading.is_ruled or is_title)

    @staticmethod
    def _labeled(heading: _Heading, statement: Statement, verdict: CauseVerdict | None) -> Below:
        is_near = statement.line - heading.line <= 1 and statement.process == heading.statement.process
        is_more = verdict is not None and verdict.weight < heading.finding.weight
        if not is_near or is_more or not reasons_below.names_reason(statement.text):
            return Below.OTHER
        move(heading.finding, statement)
        return Below.REASON

    @staticmethod
    def _words(heading: _Heading, statement: Statement, verdict: CauseVerdict | None) -> Below:
        """What a line is to an exception above it that has no message beside its name."""
        is_near = 0 < statement.line - heading.line <= _LINES_TO_REASON or heading.expects is Expects.GRAPH
        if not is_near or statement.process != heading.statement.process or statement.level.is_mild:
            return Below.OTHER
        if heading.expects is Expects.SOURCE and heading.source_ends != heading.line:
            return Below.OTHER
        is_known = verdict is not None and (verdict.row is not None or verdict.weight is not Weight.MESSAGE)
        if verdict is not None and is_known:
            heading.finding.demoted |= verdict.weight <= Weight.STATEMENT
            if verdict.weight is Weight.CASCADE:  # its only words sum up what failed before
                heading.finding.verdict = heading.finding.verdict._replace(weight=Weight.CASCADE)
            return Below.OTHER
        is_apart = heading.statement.indented and not statement.indented
        if is_apart or FRAME.match(statement.text) or not any(map(str.isalpha, statement.text)):
            return Below.OTHER
        move(heading.finding, statement)
        if heading.finding.verdict.row is None:
            _take_meaning(heading.finding, statement)
        return Below.REASON


def _is_of_user_code(heading: _Heading, statement: Statement) -> bool:
    """Whether it is the exception that TensorFlow quotes, indented, below the frames of the code that it traced."""
    is_near = statement.line - heading.statement.line <= _LINES_TO_QUOTED
    is_quotation = heading.expects is Expects.QUOTED and heading.statement.text.endswith(_USER_CODE)
    is_same = statement.indented and statement.process == heading.statement.process
    return is_near and is_quotation and is_same and exceptions.reads_as_exception(statement.text)


def _panics_words(heading: _Heading, statement: Statement) -> Below:
    """Move the finding of a panic to the next line, which says why."""
    if statement.line - heading.line > 1 or statement.process != heading.statement.process:
        return Below.OTHER
    move(heading.finding, statement)
    _take_meaning(heading.finding, statement)
    return Below.REASON


def _take_meaning(finding: Finding, statement: Statement) -> None:
    """Let a finding mean what known words of the line say that it was moved to."""
    known = recognize(statement)
    if known is not None and known.weight < Weight.CASCADE:
        finding.verdict = finding.verdict._replace(cause_class=known.cause_class, advice=known.name)


def _headed(heading: _Heading, statement: Statement) -> Below:
    """Move the heading's finding to this line, if it states the reason; OTHER if it does not."""
    finding, above = heading.finding, heading.statement
    is_near = 0 < statement.line - heading.line <= _LINES_TO_REASON and statement.process == above.process
    if is_near and not finding.terminal and reasons_below.states_nothing(statement):
        finding.recovered = True
        return Below.PART
    finding.demoted |= is_near and reasons_below.names_compiler(statement.text)
    if not is_near or finding.demoted or not reasons_below.states_reason(statement):
        return Below.OTHER
    move(finding, statement)
    if finding.terminal:
        if finding.verdict.row is not None:
            _take_meaning(finding, statement)
        finding.verdict = finding.verdict._replace(
            weight=Weight.STATEMENT, reason=ReasonGiven.STATED, confidence=Confidence.MEDIUM
        )
    elif above.text == _WHAT:
        finding.verdict = finding.verdict._replace(weight=Weight.STATEMENT, confidence=Confidence.MEDIUM)
    elif finding.weight is not Weight.STATEMENT:
        finding.verdict = finding.verdict._replace(weight=Weight.MESSAGE, doubt=Doubt.MUCH)
    return Below.REASON
