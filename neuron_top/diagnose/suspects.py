"""Keeps lines that are no failures by themselves, but may be the reason of one that follows.

NCCL's network plugin did not start: a job on one machine goes on without it. `which` did not find a program: most
scripts only check that, but if a script then runs the empty result, the shell takes an option for the command. vLLM
did not load one of its libraries of operators: on most devices it goes on without it, unless an operator is asked for.
pip tried again to reach an index: then that is why it found no version of a package.
"""

from __future__ import annotations

import msgspec

from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.recognizers import NOT_INSTALLED, TRIED_AGAIN, Doubt, Weight, recognize
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.verdicts import CauseVerdict, by_row
from neuron_top.events.diagnosis import CauseClass
from neuron_top.events.levels import LogLevel
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
_NOT_LOADED = late_pattern(r"Failed to import from (?:\w{1,60}\.){1,4}(?P<name>\w{1,60})(?: with|:) \w{1,40}Error\(")
_NO_OPERATOR = late_pattern(
    r"Tried to instantiate class '(?P<class>\w{1,60})\."
    r"|'_OpNamespace' '(?P<namespace>\w{1,60})' object has no attribute"
)
"""How PyTorch reports that a library of operators was not loaded, or has not this one."""
_NO_PACKAGE = "(from versions: none)"
"""How pip says that it found no version of a package: because there is none, or because no index answered."""
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
        self._not_loaded: dict[str, Statement] = {}
        """By name, libraries of operators, where it is first said that they were not loaded."""

    def note(self, statement: Statement) -> bool:
        """Keep a line that is no failure, if it may be the reason of one; True if a later copy of it counts again."""
        text = statement.text
        if self._plugin is None and ("OFI" in text or "ofi" in text or "NET/" in text) and _PLUGIN_FAILED.search(text):
            self._plugin = statement
        library = _NOT_LOADED.search(text) if "ailed to import from " in text else None
        if library is not None and len(self._not_loaded) < _MOST_NAMES:
            self._not_loaded.setdefault(library["name"], msgspec.structs.replace(statement, level=LogLevel.NOTSET))
        if "which: no " not in text or _NOT_FOUND.match(text) is None:
            return False
        self._not_found = statement
        return True

    def reason(self, statement: Statement, verdict: CauseVerdict) -> tuple[Statement, CauseVerdict] | None:
        """The kept line that is the reason of this failure, and what it means then; None if there is none."""
        if (library := self._library_of(statement)) is not None:
            row = recognize(library)
            return library, verdict if row is None else by_row(row)
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

    def _library_of(self, statement: Statement) -> Statement | None:
        """Where it is said that the library was not loaded whose operator is missing."""
        operator = _NO_OPERATOR.search(statement.text) if self._not_loaded else None
        return None if operator is None else self._not_loaded.get(operator["class"] or operator["namespace"])


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


class LastTry:
    """Keeps the download that was tried again last: if pip then finds no version of a package, that is why."""

    def __init__(self) -> None:
        self._retried: Finding | None = None

    def read(self, statement: Statement, finding: Finding) -> None:
        """Take a failure."""
        if finding.verdict.row is not None and finding.verdict.row.name == TRIED_AGAIN:
            self._retried = finding
        elif self._retried is not None and _NO_PACKAGE in statement.text:
            retried, self._retried = self._retried, None
            if statement.line - retried.last_line <= _LINES_TO_USE:
                retried.verdict = retried.verdict._replace(weight=Weight.STATEMENT, doubt=Doubt.NONE)
                retried.goes_on_at, finding.demoted = 0, True
