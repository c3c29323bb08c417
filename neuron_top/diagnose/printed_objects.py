"""Reads the reason of an error from an object that is printed below it as JSON or YAML, mostly by Ansible.

Of its members the message counts, or, if that only says that something failed, what the program wrote to standard
error. Ansible can also print the message after the object, below a title in capitals.
"""

from __future__ import annotations

import re
from enum import Enum, auto

import msgspec

from neuron_top.diagnose import general
from neuron_top.diagnose.findings import Finding, move
from neuron_top.diagnose.recognizers import ReasonGiven
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.events.levels import LogLevel
from neuron_top.late_pattern import late_pattern

_BEGINS_JSON = ("=> {", ": {")
_BEGINS_YAML = late_pattern(r"=> *(?:changed=\w{4,5} *)?$")
_MEMBER = late_pattern(
    r"\"?(?P<key>msg|message|reason|details?|error|error_message|(?:module_)?stderr|module_stdout|exception)\"?: "
    r"(?P<quote>\"?)(?P<value>[^\s\"{\[].*?)(?P=quote),?$"
)
_JSONS_LINE = late_pattern(r"[\"{}\[\]]|\w{1,60}\": |(?:-?\d[\d.]*|true|false|null),?$")
_ERROR = late_pattern(r"\"error\": \{$")
"""A member whose own members count as the object's."""
_TRACEBACK = "Traceback (most"
_STRIPPED = late_pattern(r"\w{1,60}\": \"")
"""How a member begins that was taken for a string of a notebook, and so has lost its outer quotes."""
_OUTPUT = ("stderr", "module_stderr", "module_stdout", "exception")
"""Members that hold what a program printed."""
_BLOCK = late_pattern(r"[|>][+-]?$")
"""In YAML: the value stands on the lines below."""
_TITLE = late_pattern(r"(?P<key>MSG|STDERR|MODULE_STDERR|STDOUT|MODULE_STDOUT|EXCEPTION):$")
_SAYS_LITTLE = late_pattern(
    r"(?i)(?:non-zero return code|MODULE FAILURE.*|.*\bsee std(?:out|err)(?:/std(?:out|err))? for .*|assertion failed"
    r"|all items completed|one or more items failed|the module failed to execute.*|task failed|unknown error)\.?$"
)
_YAMLS_LINE = late_pattern(r"[\w.-]{1,60}:(?: |$)|- ")
_MOST_LINES = 400
_LINES_TO_TITLE = 2
"""From the end of an object down to a title."""


class _At(Enum):
    """Where the next line is."""

    JSON = auto()
    YAML = auto()
    BEHIND = auto()
    TITLE = auto()
    """Below a title, or a member of YAML whose value stands on the next line."""


class _Object(msgspec.Struct):
    finding: Finding
    at: _At
    left: int
    depth: int = 1
    found: str = ""
    """The value of the member that counts so far."""
    found_key: str = ""
    is_known: bool = False
    """That value matches a row of the table."""
    key: str = ""
    """Of the member that is being read."""
    value: str = ""
    line: int = 0
    behind: int = 0
    """Lines since the end of the object, or since the text below the last title."""


class PrintedObjects:
    """Reads the lines below an error for the object that it announces."""

    def __init__(self) -> None:
        self._open: _Object | None = None

    @property
    def open(self) -> bool:
        """Whether the next line may belong to an object."""
        return self._open is not None

    def expect(self, finding: Finding, statement: Statement) -> None:
        """Look below this finding's line, if it announces an object."""
        if not statement.level.is_error or finding.line != statement.line:
            return
        if statement.text.endswith(_BEGINS_JSON):
            self._open = _Object(finding, _At.JSON, _MOST_LINES)
        elif "=>" in statement.text and _BEGINS_YAML.search(statement.text):
            self._open = _Object(finding, _At.YAML, _MOST_LINES)

    def read(self, statement: Statement) -> tuple[bool, Finding | None]:
        """Whether the line belongs to an object, and the finding that it moves."""
        within = self._open
        if within is None:
            return False, None
        within.left -= 1
        if within.left <= 0:
            self._open = None
            return False, None
        if within.at is _At.JSON:
            if self._is_torn(within, statement):
                self._open = None
                return False, None
            return True, self._json(within, statement)
        if within.at is _At.YAML:
            return self._yaml(within, statement)
        return self._behind(within, statement)

    @staticmethod
    def _is_torn(within: _Object, statement: Statement) -> bool:
        """Whether the object was cut off, since this line is something else."""
        if statement.line == within.line or not statement.text:
            return False
        is_value = within.depth > 1 or _JSONS_LINE.match(statement.text) is not None
        return not is_value or statement.text.startswith(_TRACEBACK)

    def _json(self, within: _Object, statement: Statement) -> Finding | None:
        text = statement.text
        if statement.line == within.line:  # a line of a value whose line ends were escaped
            return self._go_on(within, statement)
        within.line = statement.line
        is_string = _STRIPPED.match(text) is not None
        if not is_string and text[:1] in ("}", "]"):
            within.depth -= 1
            within.at = within.at if within.depth else _At.BEHIND
        found = _MEMBER.match(f'"{text}"' if is_string else text) if within.depth == 1 else None
        within.key, moved = "", None
        if found is not None:
            within.key, within.value = found["key"], found["value"]
            moved = _take(within, statement)
        if not is_string and text.endswith(("{", "[")) and not (within.depth == 1 and _ERROR.match(text)):
            within.depth += 1
        return moved

    @staticmethod
    def _go_on(within: _Object, statement: Statement) -> Finding | None:
        if not within.key or within.depth != 1:
            return None
        within.value += "\\n" + statement.text
        return _take(within, statement)

    def _yaml(self, within: _Object, statement: Statement) -> tuple[bool, Finding | None]:
        if within.key and statement.text:
            within.value = statement.text
            moved, within.key = _take(within, statement), ""
            return True, moved
        if not _YAMLS_LINE.match(statement.text):
            self._open = within if statement.indented else None
            return statement.indented, None
        found = _MEMBER.match(statement.text)
        if found is None:
            return True, None
        within.key, within.value = found["key"], found["value"].strip("'")
        if _BLOCK.match(within.value):
            return True, None
        moved, within.key = _take(within, statement), ""
        return True, moved

    def _behind(self, within: _Object, statement: Statement) -> tuple[bool, Finding | None]:
        """Read below an object for titles, and what stands under them."""
        if within.at is _At.TITLE and statement.text:
            within.at, within.behind, within.value = _At.BEHIND, 0, statement.text
            return True, _take(within, statement)
        title = _TITLE.match(statement.text)
        if title is not None:
            within.at, within.key = _At.TITLE, title["key"].lower()
            return True, None
        within.behind += 1
        if statement.text or within.behind > _LINES_TO_TITLE:
            self._open = None
        return not statement.text, None


def _take(within: _Object, statement: Statement) -> Finding | None:
    """Move the finding to the member that was just read, if it says more than the one before."""
    is_output, is_same = within.key in _OUTPUT, within.key == within.found_key
    is_better = not within.found or is_same or (is_output and _SAYS_LITTLE.match(within.found) is not None)
    texts = [part.strip() for part in re.split(r"\\r\\n|\\n", within.value) if part.strip()]
    is_little = not is_output and within.is_known and _SAYS_LITTLE.match(texts[0] if texts else "") is not None
    if not is_better or is_little or not texts or within.key == "stdout":
        return None
    said = [msgspec.structs.replace(statement, text=text, level=LogLevel.ERROR, indented=False) for text in texts]
    known = next(((each, meant) for each in said if (meant := _known(each)) is not None), None)
    stated, verdict = known if known is not None else (_most_telling(said) if is_output else said[0], None)
    if not is_output or not is_same:
        within.found, within.found_key = (within.found if is_output else within.value), within.key
    within.is_known |= verdict is not None
    move(within.finding, stated)
    if verdict is not None:
        before = within.finding.verdict
        within.finding.verdict = verdict._replace(weight=min(verdict.weight, before.weight), doubt=before.doubt)
    return within.finding


def _most_telling(output: list[Statement]) -> Statement:
    """The first line that reads like a failure, else the last."""
    plain = (msgspec.structs.replace(each, level=LogLevel.NOTSET) for each in output)
    is_failure = [general.judge(each) is not None for each in plain]
    return output[is_failure.index(True)] if any(is_failure) else output[-1]


def _known(statement: Statement) -> CauseVerdict | None:
    """What the table knows of a line; None for one that states no reason."""
    verdict = general.judge(statement)
    if verdict is None or verdict.row is None or verdict.reason is not ReasonGiven.STATED:
        return None
    return verdict
