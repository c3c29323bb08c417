"""Keeps lines that are no failures by themselves, but may be the reason of one that follows.

NCCL's network plugin did not start: a job on one machine goes on without it. `which` did not find a program: most
scripts only check that, but if a script then runs the empty result, the shell takes an option for the command.
"""

from __future__ import annotations

from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.recognizers import NOT_INSTALLED, Doubt
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.events.diagnosis import CauseClass
from neuron_top.late_pattern import late_pattern

WORDS: tuple[bytes, ...] = (b"which: no ",)
"""Words of such lines; the others that matter hold words of failures."""
_PLUGIN_FAILED = late_pattern(
    r"\b(?:NET/OFI|aws-ofi-nccl|OFI plugin|NET/Plugin)\b.{0,80}?"
    r"(?i:initiali[sz]ation failed|init\w*\(\) failed|failed to init)"
)
_NO_TRANSPORT = late_pattern(r"\bNo transport found (?:for|between)\b")
"""How NCCL reports that it has no way to reach another worker."""
_NOT_FOUND = late_pattern(r"(?:\S{0,100}/)?which: no \S{1,200} in \(")
_NO_COMMAND = late_pattern(
    r": line \d{1,6}: (?:(?:exec|env|command|sudo|time|nohup|nice): )?-\S{0,60}: "
    r"(?:invalid option|command not found)$"
    r"|: line \d{1,6}: : (?:command not found|No such file or directory)$"
)
"""A shell's error where a command's name was empty."""
_NAME_NOT_FOUND = late_pattern(r": line \d{1,6}: (?P<name>[A-Za-z_]\w{0,60}): command not found$")
"""What a shell makes of `name = value`: the name is a command then."""
_OPTION_WITHOUT_VALUE = late_pattern(
    r"(?i)\bargument (?:-\w/)?--?(?P<argparses>[\w-]{1,60})\S{0,60}: (?:expected (?:one|at least one) argument"
    r"|invalid \w{1,20} value: '')|\boption '?--?(?P<others>[\w-]{1,60})'? requires an argument"
)
_MOST_NAMES = 64
_LINES_TO_USE = 5
"""From a program that was not found down to where a shell was to run it."""


class Suspects:
    """Keeps such lines of one log."""

    def __init__(self) -> None:
        self._plugin: Statement | None = None
        """Where the plugin first reports that it did not start."""
        self._not_found: Statement | None = None
        """The last program that was not found."""

    def note(self, statement: Statement) -> bool:
        """Keep a line that is no failure, if it may be the reason of one; True if a later copy of it counts again."""
        text = statement.text
        if self._plugin is None and ("OFI" in text or "ofi" in text or "NET/" in text) and _PLUGIN_FAILED.search(text):
            self._plugin = statement
        if "which: no " not in text or _NOT_FOUND.match(text) is None:
            return False
        self._not_found = statement
        return True

    def reason(self, statement: Statement, verdict: CauseVerdict) -> tuple[Statement, CauseVerdict] | None:
        """The kept line that is the reason of this failure, and what it means then; None if there is none."""
        if verdict.row is None:
            return None
        if self._plugin is not None and _NO_TRANSPORT.search(statement.text):
            plugin, self._plugin = self._plugin, None
            return plugin, verdict
        if self._not_found is None or not _NO_COMMAND.search(statement.text):
            return None
        program, self._not_found = self._not_found, None
        if statement.line - program.line > _LINES_TO_USE:
            return None
        return program, verdict._replace(cause_class=CauseClass.MISSING_DEPENDENCY, advice=NOT_INSTALLED)


class EmptyOptions:
    """Keeps options of one log that were given no value, and names that a shell took for commands where a script gives
    a variable its value in a wrong way: an option of that name is empty for it."""

    def __init__(self) -> None:
        self._not_set: dict[str, Finding] = {}
        self._empty: dict[str, Finding] = {}

    def read(self, statement: Statement, finding: Finding) -> None:
        """Take a failure; an option's follows from that of the name."""
        if (name := _NAME_NOT_FOUND.search(statement.text)) is not None:
            known, option = self._not_set, name["name"]
        elif (empty := _OPTION_WITHOUT_VALUE.search(statement.text)) is not None:
            known, option = self._empty, empty["argparses"] or empty["others"]
        else:
            return
        option = option.lower().replace("-", "_")
        if len(known) < _MOST_NAMES:
            known.setdefault(option, finding)
        if option in self._not_set and option in self._empty:
            cause, self._empty[option].demoted = self._not_set[option], True
            cause.verdict = cause.verdict._replace(doubt=Doubt.NONE)
