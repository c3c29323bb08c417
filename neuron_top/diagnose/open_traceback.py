"""The state of a process inside a traceback, or shortly after it."""

from __future__ import annotations

from neuron_top.diagnose.exceptions import RaisedIn
from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.statement import Process, Speaker, Statement
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

MOST_LINES = 500
"""Of a traceback."""
LINK_LINES = 12
"""Lines after an exception in which its chain may go on."""
_ORDINARY = (LogLevel.INFO, LogLevel.DEBUG)
_LINES_OF_A_LIVING_PROCESS = 5
"""This many ordinary lines right after a traceback that a program has logged show that it goes on."""
_ENDING = late_pattern(
    r"(?i)\b(?:(?:shut(?:ting|s)?|tear(?:ing|s)?)[ _-]?down|clean(?:ing|s|ed)?[ _-]?up|clos(?:e[sd]?|ing)"
    r"|leav(?:e[sd]?|ing)|releas(?:e[sd]?|ing)|sav(?:e[sd]?|ing)|sync(?:s|ing|ed)?|stop(?:s|ped|ping)?"
    r"|(?:exit|abort|terminat|kill|destroy|finali[sz]|cancel|disconnect|quit|flush|upload|dump|fail)\w*"
    r"|errors?|exceptions?|bye|marking)\b"
)
"""Words of what a program prints while it ends: what it cleans up, and to whom it reports its failure."""


class LoggedTraceback:
    """A traceback that a program logged itself: the lines after it show whether the program has ended."""

    def __init__(self, heading: Finding | None) -> None:
        self.findings = [] if heading is None else [heading]
        """Overcome if the program goes on: the line above the traceback, and the exceptions at its ends."""
        self.ordinary = 0

    def goes_on(self, statement: Statement) -> bool:
        """Take the next line after the traceback; True if it completes the proof that the program goes on."""
        if _ENDING.search(statement.text):
            self.ordinary = -LINK_LINES
        self.ordinary += statement.level in _ORDINARY
        return self.ordinary == _LINES_OF_A_LIVING_PROCESS


class OpenTraceback:
    """The state of one process inside a traceback, or shortly after it."""

    def __init__(self, *, ignored: bool, header: tuple[LogLevel, Speaker]) -> None:
        self.left = MOST_LINES
        self.indent = 0
        """By how much the heading is indented; the exception at the end has the same indentation."""
        self.last = 0
        """Number of its own last line."""
        self.ignored = ignored
        self.in_thread = False
        """It ended a thread other than the main one."""
        self.level = header[0]
        self.header = header
        """Level and speaker of its heading: a logger may put the same header on each line."""
        self.in_frames = True
        self.frames = 0
        self.headless = False
        """Its heading was cut off: what looks like a frame may belong to a stack that was printed for information."""
        self.names_source = False
        """The last line was a frame, so the next one is its source, whether it is indented or not."""
        self.relayed = False
        """Each of its lines has the same mild level, that of a program which passes on another one's output."""
        self.raised_in = RaisedIn.PROGRAM
        """Whose code the last frame is in."""
        self.raised_at = ""
        """The last frame: file, line and function."""
        self.handled_at = ""
        """The last frame of the exception that was being handled."""
        self.caused_by: Finding | None = None
        """The exception before this one in a chain; one that only quotes it explains no more."""
        self.chain: list[Finding] = []
        """Those that led to it, each behind a link."""
        self.is_linked = False
        """The next one goes on with the chain."""
        self.latest: Finding | None = None
        """The exception that was read last."""
        self.handled: Finding | None = None
        """The exception that was being handled when the next one was raised."""
        self.previous: Finding | None = None
        self.previous_is_probe = False
        self.announced: Finding | None = None
        """An exception that quotes the next one."""
        self.vague: Finding | None = None
        """A finding that reads like an exception except for its name: perhaps another process's line (`Loss: 2.3`) that
        cuts this traceback in two."""
        self.warned_of = ""
        """The warning right above its heading. If it quotes the exception, the program has caught that."""
        self.logged: LoggedTraceback | None = None
        self.twin: Process | None = None
        """The key of the other reading of the same traceback: the text before its heading may be a prefix of every
        line, or not."""
