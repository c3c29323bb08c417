"""Follows Python's tracebacks, by process: the heading, the frames, the exception at the end, and chains of them.

A log may begin inside a traceback: then the first frame stands in for the heading, but does not prove a traceback.

Python prints the innermost cause first; a chain goes on after "During handling of …" or "The above exception …". So
the first exception of a chain is the cause, unless it only means that a lookup found nothing (`is_probe`), or the next
one was raised by the same line of code: then something was tried again, and the last attempt counts.
"""

from __future__ import annotations

import re
from enum import Enum

import msgspec

from neuron_top.diagnose import exceptions
from neuron_top.diagnose.exceptions import RaisedIn
from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.learned_prefixes import LONGEST_PREFIX, LearnedPrefixes, rank_in
from neuron_top.diagnose.open_traceback import LINK_LINES, MOST_LINES, LoggedTraceback, OpenTraceback
from neuron_top.diagnose.recognizers import LEFT_OUT, Doubt
from neuron_top.diagnose.statement import Process, Speaker, Statement
from neuron_top.events.diagnosis import CauseClass
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

_BEGIN = late_pattern(r"Traceback \(most recent call last\)(?! [a-z])|^Traceback:?$|goroutine \d+ \[running\]")
_NOTEBOOKS_FRONT = late_pattern(r"(?P<type>(?:[A-Za-z_]\w{0,80}\.){0,12}[A-Z]\w{0,80}) {2,80}")
"""What notebooks print in front of a heading: the exception that stands at the end, without its message."""
_HEADLESS = late_pattern(r"File \"[^\"\n]{1,400}\", line \d{1,7}, in \S")
"""A frame; where no traceback is open, one whose heading was cut off."""
_FRAMES_INDENT = "  "
_DESTRUCTOR = ", in __del__"
"""How the outermost frame ends where an object is destroyed: Python ignores what is raised there. The line in which it
says so may be hidden behind other processes' output."""
_IGNORED = late_pattern(
    r"Exception ignored in|^--- Logging error ---$|^Error in atexit\._run_exitfuncs:|\bJax plugin configuration error: "
    r"|\b[Dd]isabling \w{1,30} to prevent further exceptions\b"
    r"|^Error checking for conflicts\.$|\bException in callback \S{0,80}\._call_connection_lost\("
)
"""How Python heads a traceback after which it goes on: from a destructor, a line that could not be logged, or a handler
that runs at exit. JAX does the same with a plug-in that it does without, pip with a check after its work, and
asyncio on Windows with connections that the other side has closed."""
_IN_THREAD = late_pattern(r"Exception in thread [^\"\n]{1,200}?:(?:$| {2,}\|)")
"""The heading of a traceback that ended a thread; the process goes on. A progress bar may be left behind it."""
_READS_METRICS = late_pattern(r"File \"[^\"]{0,300}[\\/]ts[\\/]metrics[\\/]metric_collector\.py\"")
"""The outermost frame of what TorchServe starts to read metrics; it serves without them."""
COMPILERS_FRAME = late_pattern(r"File \"(?:[^\"]{0,300}/)?(?:neuronx?cc|torch_neuron/ops)/")
"""A frame of the compiler, or of what converts a model's operators for it."""
_INSTALLED = "-packages/"
"""In the path of a package that pip or a distribution has installed."""
_STARTS_PROGRAM = late_pattern(r"File \"[^\"]{0,300}subprocess\.py\", line \d{1,7}, in _execute_child")
_ORIGINAL = "Original exception was:"
"""What Python prints before an exception whose report failed, behind the exception of `sys.excepthook`."""
_LINK = late_pattern(
    r"(?P<handling>During handling of the above exception)|The above exception was the direct cause of the following"
)
FRAME = late_pattern(
    r"File \"|File .{1,300}:\d+, in |\[bt\] \(\d|-{2,}> ?\d|\.{3} |\d+ (?!root error)|[~^ ]+$|\[Previous line repeated"
    r"|Thread 0x|<ipython|/\S+ in \S+\("
    r"|[│╭╰┃┏┗❱]|\S+\.py in \S+|Cell In|Input In|\"{3}$|-+$|={3,}|\(\S+ pid=|ray::"
)
"""Lines between the heading and the exception, besides those that are indented."""
_PREFIX = late_pattern(r"(?:(?P<number>\d{1,5})|[\w.-]{1,60}): ")
"""A launcher's prefix, which every line has."""
_BAZELS_END = late_pattern(r"Error in [a-z_]{1,40}: |\w{1,20} Configuration Error: ")
"""The last line of a traceback in Bazel's language: the function that failed, and its message."""
_KEY_PRESSED = "^C"
"""What a terminal shows for Ctrl-C, before the heading only."""
_BOX = "╭─┏━ "
"""What rich draws around a traceback."""
_MOST_PROCESSES = 512
_FRAMES_OF_A_TRACEBACK = 3
"""This many frames at the end of a log are the middle of a traceback, even without a heading."""
_LINES_TO_IGNORED = 20
"""From such a line of Python down to the heading of its traceback, with lines of others between."""
_LINES_OF_A_CUT = 3
"""From another process's line that cuts a traceback in two, down to the next frame or the exception."""
_LINES_TO_ANNOUNCED = 3
"""From an exception that quotes another one down to the traceback of that one."""
_PATIENCE, _PATIENCE_BEHIND = 2000, 200
"""Lines of others after which a process is assumed to have ended its traceback: inside one, and after one."""
_PURGE_EVERY = 50
_LOGGED_AT = (LogLevel.WARNING, LogLevel.ERROR)
"""Levels at which programs log an exception that they have caught, but also one that ends them."""
_INTERRUPTED = "KeyboardInterrupt"
_HYDRAS_FORMATTING = late_pattern(r"hydra[/\\]_internal[/\\]utils\.py\", line \d{1,6}, in run_and_report$")
"""Where Hydra fails at shortening the traceback of the program; the program's own follows."""
_POLLS = late_pattern(
    r"(?:[\w.]{1,120}\.)?(?:\w{0,40}[Tt]imeout(?:Error)?|Again|Empty|Full|BlockingIOError|StopIteration"
    r"|KeyboardInterrupt)\b"
)
"""Exceptions of polling, which is in the middle of handling them when an interrupt comes."""


def _whose(frame: str) -> RaisedIn:
    if COMPILERS_FRAME.match(frame):
        return RaisedIn.COMPILER
    if _INSTALLED in frame:
        return RaisedIn.LIBRARY
    return RaisedIn.SUBPROCESS if _STARTS_PROGRAM.match(frame) else RaisedIn.PROGRAM


def _is_done_without(frame: str) -> bool:
    """Whether a program goes on if an exception leaves this outermost frame."""
    return frame.endswith(_DESTRUCTOR) or _READS_METRICS.match(frame) is not None


def _name(raised: re.Match[str]) -> str:
    """The name of an exception, without its module."""
    return raised["type"].rpartition(".")[2]


class TracebackPart(Enum):
    """What a line is in a traceback."""

    OUTSIDE = 0
    INSIDE = 1
    """A heading, a frame, or a line between two tracebacks of a chain."""
    EXCEPTION = 2


_Read = tuple[TracebackPart, re.Match[str] | None]
"""What a statement is; for an exception also its parts, None if it is to be ignored."""


class Tracebacks:
    """Reads the statements of a log, and keeps which of its processes are inside a traceback."""

    def __init__(self) -> None:
        self._open: dict[Process, OpenTraceback] = {}
        self._lines = 0
        self._ignored: int | None = None
        """Line in which Python last reported that it ignores the exception that it prints next."""
        self._ignored_text: str | None = None
        """The last exception that Python ignored: several processes may print the same one."""
        self._ignored_end = -LINK_LINES
        """Its line: its chain may go on below."""
        self._next_in_thread = False
        self._warning: tuple[int, str] = (0, "")
        """Line and text of the last warning."""
        self._above: tuple[Statement, Finding | None] | None = None
        """The line above a heading that is read next, and its finding."""
        self._relayed: tuple[int, Finding] | None = None
        """Line and finding of an exception without a traceback that announces one."""
        self._prefixes = LearnedPrefixes()
        self.last_frame = 0
        """The line that holds the last heading or frame."""
        self.named_by_heading: Statement | None = None
        """The last heading if it names its exception, as those of notebooks do: then its text is that name."""
        self._since_frame: int | None = None
        """Lines with text since the last heading or frame; None: its exception has come, or none is open."""

    @property
    def open(self) -> bool:
        """Whether the next line may belong to a traceback: then no line is skipped."""
        return bool(self._open)

    @property
    def in_frames(self) -> bool:
        """Whether a traceback has begun whose exception has not come."""
        return any(state.in_frames and not (state.ignored or state.headless) for state in self._open.values())

    @property
    def is_torn(self) -> bool:
        """Whether what was read ends inside a traceback: with its heading, a frame, or the rest of one after it.

        Only lines that were read count; `last_frame` shows how many there are in all.
        """
        return self._since_frame is not None and self._since_frame <= 1

    def precede(self, statement: Statement, finding: Finding | None) -> None:
        """Take the line above a heading, which is read next: if a logger printed it, the traceback was logged."""
        self._above = statement, finding

    def read(self, statement: Statement) -> _Read:
        """What the statement is; for an exception also its parts, None if it is to be ignored."""
        self._next_line(statement)
        key = statement.process
        state = self._open.get(key)
        begin = _BEGIN.search(statement.text)
        if begin is not None:
            self._begin_below(statement, begin.start())
            return TracebackPart.INSIDE, None
        if _IGNORED.search(statement.text) or (state is None and self._goes_on_with_ignored(statement)):
            self._ignored = statement.line
            return TracebackPart.INSIDE, None
        if LEFT_OUT in statement.text:
            self._ignored = statement.line
        if statement.level is LogLevel.WARNING:
            self._warning = statement.line, statement.text
        if _IN_THREAD.match(statement.text):
            self._next_in_thread = True
            return TracebackPart.INSIDE, None
        if self._is_ignored_without_frames(statement):
            self._ignored = None
            return TracebackPart.INSIDE, None
        if state is None:
            is_part = statement.text == self._ignored_text or self._without_heading(statement)
            return (TracebackPart.INSIDE if is_part else TracebackPart.OUTSIDE), None
        if self._is_of_torn_heading(state, statement):
            del self._open[key]
            return TracebackPart.INSIDE, None
        if state.twin is not None and (statement.indented or FRAME.match(statement.text)):
            self._open.pop(state.twin, None)
            state.twin = None
        state.left -= 1
        state.last = self._lines
        if state.left <= 0:
            del self._open[key]
            return TracebackPart.OUTSIDE, None
        return self._inside(key, state, statement) if state.in_frames else self._behind(key, state, statement)

    def _next_line(self, statement: Statement) -> None:
        """Count a line, drop now and then those that have printed nothing for long, and take a known prefix off."""
        self._lines += 1
        if self._since_frame is not None and statement.text:
            self._since_frame += 1
        if self._open and self._lines % _PURGE_EVERY == 0:
            self._purge()
        if self._open:
            self._prefixes.remove(statement)

    def _heading(self, statement: Statement, start: int) -> None:
        """Begin a traceback with its heading, which starts at this position of the statement's text."""
        front = statement.text[:start].removesuffix(_KEY_PRESSED)
        front = "" if not front.strip(_BOX) else front
        prefix = _PREFIX.fullmatch(front)
        plain = statement.process
        if prefix is not None:
            self._prefixes.learn(front, int(prefix["number"]) if prefix["number"] else None, statement)
            self._enter(statement)
            return
        state = self._enter(statement)
        state.indent = statement.indent
        if front.strip() and start <= LONGEST_PREFIX and not statement.host:
            ignored = state.ignored
            self._prefixes.learn(front, rank_in(front), statement)
            twin = self._enter(statement)
            twin.ignored = ignored
            self._open[plain].twin, twin.twin = statement.process, plain

    def _logged(self, statement: Statement) -> LoggedTraceback | None:
        """A new `LoggedTraceback` if the traceback with this heading is one that a program has logged, else None."""
        above, self._above = self._above, None
        if above is None or above[0].line != statement.line - 1 or above[0].process != statement.process:
            return None
        is_loggers = above[0].level in _LOGGED_AT and "Warning: " not in above[0].text
        return LoggedTraceback(above[1]) if is_loggers else None

    def announce(self, finding: Finding) -> None:
        """Take an exception that has no traceback in the log, and quotes the one that follows."""
        self._relayed = finding.last_line, finding

    def _begin_below(self, statement: Statement, start: int) -> None:
        """Begin a traceback with its heading, and note what stands right above it."""
        named = _NOTEBOOKS_FRONT.fullmatch(statement.text, 0, start)
        self.named_by_heading = None if named is None else msgspec.structs.replace(statement, text=named["type"])
        logged = self._logged(statement)
        relayed, self._relayed = self._relayed, None
        self._heading(statement, start)
        state = self._open[statement.process]
        twin = self._open.get(state.twin) if state.twin is not None else None
        for each in (state, twin):  # its lines may fit either reading
            if each is not None:
                each.logged = logged
                if relayed is not None and relayed[0] == statement.line - 1:
                    each.announced = relayed[1]

    def _without_heading(self, statement: Statement) -> bool:
        """Begin a traceback with a frame, where the log begins inside one; True if the statement is part of one.

        A frame in the compiler's banner begins none: there the message comes before the frames.
        """
        if statement.speaker is Speaker.COMPILER and statement.level.is_error:
            return False
        frame = _HEADLESS.search(statement.text)
        if frame is None or self._is_ignored(statement):
            return False
        front = statement.text[: frame.start()]
        if front.strip():
            if len(front) > LONGEST_PREFIX or not front.endswith(_FRAMES_INDENT) or statement.host:
                return False
            front = front.removesuffix(_FRAMES_INDENT)
            self._prefixes.learn(front, rank_in(front), statement)
        if statement.process in self._open:
            return True
        state = self._begin(statement.process, statement)
        state.headless = state.names_source = True
        state.frames = 1
        if not front.strip():
            state.indent = max(0, statement.indent - len(_FRAMES_INDENT))
        return True

    def _is_of_torn_heading(self, state: OpenTraceback, statement: Statement) -> bool:
        """Begin again with the first frame, if it has a prefix that the heading has lost; True if so."""
        if not state.in_frames or state.frames or state.twin is not None:
            return False
        frame = _HEADLESS.search(statement.text)
        if frame is None or not statement.text[: frame.start()].strip() or not self._without_heading(statement):
            return False
        begun = self._open[statement.process]
        begun.headless, begun.ignored, begun.in_thread = False, state.ignored, state.in_thread
        return True

    def _enter(self, statement: Statement) -> OpenTraceback:
        """The state of a process whose heading was just read."""
        key = statement.process
        state = self._open.get(key)
        if state is None or state.in_frames or not state.left:
            before = state
            state = self._begin(key, statement)
            if before is not None:
                state.caused_by, state.handled = before.caused_by, before.handled
                state.handled_at = before.handled_at
                state.chain, state.is_linked = before.chain, before.is_linked
        elif state.announced is not None and statement.line - state.announced.last_line > _LINES_TO_ANNOUNCED:
            state.announced = None
        state.in_frames, state.left = True, MOST_LINES
        self._mark_frame(state, statement)
        return state

    def _is_ignored(self, statement: Statement) -> bool:
        """Whether a traceback that begins here is one that Python ignores."""
        return self._ignored is not None and statement.line - self._ignored <= _LINES_TO_IGNORED

    def _goes_on_with_ignored(self, statement: Statement) -> bool:
        """Whether the next traceback belongs to the chain of the exception that Python ignored last."""
        return statement.line - self._ignored_end <= LINK_LINES and _LINK.search(statement.text) is not None

    def _is_ignored_without_frames(self, statement: Statement) -> bool:
        """Whether it is an exception that Python prints without a traceback, below the line that says it is ignored."""
        return (
            self._ignored is not None
            and statement.line == self._ignored + 1
            and exceptions.EXCEPTION.match(statement.text) is not None
        )

    def _mark_frame(self, state: OpenTraceback, statement: Statement) -> None:
        is_stack = not state.headless or state.frames >= _FRAMES_OF_A_TRACEBACK
        if is_stack and not (state.ignored or state.in_thread or state.level.is_mild):
            self._since_frame, self.last_frame = 0, statement.line

    def _begin(self, key: Process, statement: Statement) -> OpenTraceback:
        if len(self._open) >= _MOST_PROCESSES:
            self._open.clear()
            self._prefixes.clear()
        state = OpenTraceback(ignored=self._is_ignored(statement), header=(statement.level, statement.speaker))
        state.last = self._lines
        state.in_thread = self._next_in_thread
        line, warning = self._warning
        state.warned_of = warning if statement.line - line == 1 else ""
        self._ignored, self._next_in_thread = None, False
        self._open[key] = state
        return state

    def _purge(self) -> None:
        """Drop processes that have printed nothing for long."""
        for key, state in list(self._open.items()):
            if self._lines - state.last > (_PATIENCE if state.in_frames else _PATIENCE_BEHIND):
                del self._open[key]
        if not self._open:
            self._prefixes.clear()

    def _inside(self, key: Process, state: OpenTraceback, statement: Statement) -> _Read:
        is_deeper = statement.indented and statement.indent > state.indent
        if not statement.text or is_deeper or FRAME.match(statement.text):
            if state.level.is_mild and statement.text and statement.level is state.level is not LogLevel.WARNING:
                state.level, state.relayed = LogLevel.NOTSET, True
            state.names_source = statement.text.startswith("File ")
            if state.names_source:
                state.frames += 1
                state.raised_in, state.raised_at = _whose(statement.text), statement.text
                state.ignored = state.ignored or (state.frames == 1 and _is_done_without(statement.text))
            found = exceptions.EXCEPTION.match(statement.text) if statement.text.startswith("E  ") else None
            if found is None:
                if statement.text:
                    self._mark_frame(state, statement)
                return TracebackPart.INSIDE, None
        raised = exceptions.raised_by(statement)
        is_source, state.names_source = state.names_source, False
        if state.headless and not is_source and (raised is None or not exceptions.names_exception(raised)):
            del self._open[key]  # no traceback, or that of another process
            return TracebackPart.OUTSIDE, None
        if raised is None:
            # Another process's line, or the source of a frame that lost its indentation.
            is_own = is_source and (statement.level, statement.speaker) == state.header
            is_others = not is_own and (statement.speaker or statement.level.is_error)
            is_others = is_others or _BAZELS_END.match(statement.text) is not None
            return (TracebackPart.OUTSIDE if is_others else TracebackPart.INSIDE), None
        state.in_frames, state.headless, state.left, self._since_frame = False, False, LINK_LINES, None
        if state.twin is not None:
            self._open.pop(state.twin, None)
            state.twin = None
        is_caught = re.search(rf"\b{re.escape(_name(raised))}\b", state.warned_of) is not None
        if state.ignored:
            self._ignored_text, self._ignored_end = statement.text, statement.line
        if state.ignored or is_caught or state.level.is_mild:
            del self._open[key]
            return TracebackPart.EXCEPTION, None
        if state.relayed:
            statement.level = LogLevel.NOTSET
        return TracebackPart.EXCEPTION, raised

    def _behind(self, key: Process, state: OpenTraceback, statement: Statement) -> _Read:
        if state.vague is not None and (raised := self._behind_a_cut(state, statement)) is not None:
            return raised
        if statement.text == _ORIGINAL:
            for finding in state.chain:
                finding.demoted = True
        link = _LINK.search(statement.text)
        if link is None:
            quoted = self._quoted(state, statement)
            if state.logged is not None and statement.text and state.logged.goes_on(statement):
                for finding in state.logged.findings:
                    finding.goes_on_at = statement.line
            return (TracebackPart.OUTSIDE if quoted is None else TracebackPart.EXCEPTION), quoted
        state.in_frames, state.left = True, MOST_LINES
        state.is_linked = True
        state.caused_by = state.previous
        state.handled = state.latest if link["handling"] else None
        state.handled_at = state.raised_at if link["handling"] else ""
        if link["handling"] and state.previous is not None and state.previous_is_probe:
            state.previous.demoted = True
        return TracebackPart.INSIDE, None

    @staticmethod
    def _behind_a_cut(state: OpenTraceback, statement: Statement) -> _Read | None:
        """What a line is to a traceback that seemed to end in a line without an exception's name; None if it did end
        there."""
        vague = state.vague
        if vague is None or not statement.text:
            return None
        raised = None if statement.indented else exceptions.raised_by(statement)
        is_named = raised is not None and exceptions.names_exception(raised)
        is_frame = _HEADLESS.match(statement.text) is not None
        if statement.line - vague.line > _LINES_OF_A_CUT or not (is_frame or is_named):
            return None
        vague.demoted, state.vague = True, None
        if state.previous is vague:
            state.previous = None
        if is_frame:
            state.in_frames, state.names_source, state.left = True, True, MOST_LINES
            state.raised_in = _whose(statement.text)
        return (TracebackPart.INSIDE, None) if is_frame else (TracebackPart.EXCEPTION, raised)

    @staticmethod
    def _quoted(state: OpenTraceback, statement: Statement) -> re.Match[str] | None:
        """The exception that the one on the line before has announced, without a traceback of its own."""
        if state.announced is None or statement.line - state.announced.last_line != 1:
            return None
        raised = exceptions.EXCEPTION.match(statement.text)
        return raised if raised is not None and exceptions.is_named_as_exception(raised) else None

    def is_in_thread(self, statement: Statement) -> bool:
        """Whether the exception that was just read ended a thread other than the main one."""
        state = self._open.get(statement.process)
        return state is not None and state.in_thread

    def raised_in(self, statement: Statement) -> RaisedIn:
        """Whose code raised the exception that was just read."""
        state = self._open.get(statement.process)
        return state.raised_in if state is not None else RaisedIn.PROGRAM

    def found(self, statement: Statement, finding: Finding, *, is_probe: bool, announces: bool) -> None:
        """Take the finding of the exception that was just read."""
        state = self._open.get(statement.process)
        if state is None:
            return
        raised = exceptions.EXCEPTION.match(statement.text)
        is_vague = raised is not None and not exceptions.names_exception(raised) and finding.line == statement.line
        state.vague = finding if is_vague else None
        if state.logged is not None:
            state.logged.findings.append(finding)
        if state.announced is not None:
            state.announced.demoted = True
            if exceptions.is_of_graph_compiler(state.announced.text) and finding.verdict.row is None:
                finding.verdict = finding.verdict._replace(cause_class=CauseClass.COMPILE_ERROR)
        state.announced = finding if announces else None
        wrapped = state.caused_by
        if wrapped is not None and wrapped is not finding:
            is_of_signal = exceptions.died_of_signal(wrapped.text) and finding.verdict.row is None
            if is_of_signal:
                wrapped.verdict = wrapped.verdict._replace(doubt=Doubt.NONE)  # it was not caught
            finding.demoted |= is_of_signal or finding.text.endswith(wrapped.text)
        state.chain = [*state.chain, finding] if state.is_linked else [finding]
        state.is_linked = False
        if exceptions.sums_up(statement.text):
            for led in state.chain[:-1]:
                led.demoted |= led is not finding and led.verdict.cause_class is CauseClass.NETWORK
        if state.previous is None:
            state.previous = finding
            state.previous_is_probe = is_probe or _HYDRAS_FORMATTING.search(state.raised_at) is not None
        handled, state.handled, state.latest = state.handled, None, finding
        if handled is not None and handled is not finding:
            is_same_code = state.handled_at == state.raised_at != ""
            # Then this one is of the next attempt, which ended it.
            handled.demoted |= is_same_code or exceptions.is_of_substitute(handled.text, finding.text)
        if handled is not None and finding.text == _INTERRUPTED and not _POLLS.match(handled.text):
            handled.before_interrupt = True
