"""Follows npm's report of an error, on a terminal and in its debug log: below the code stand the system call, paths and
versions, and among them the words that say what npm refuses."""

from __future__ import annotations

from neuron_top.diagnose.findings import Finding, move
from neuron_top.diagnose.open_report import OpenReport
from neuron_top.diagnose.statement import Statement
from neuron_top.late_pattern import late_pattern

_LINE = late_pattern(r"(?:npm (?:ERR!|error)|\d{1,6} error)(?: (?P<words>.*))?$")
_CODE = late_pattern(r"(?:npm (?:ERR!|error)|\d{1,6} error) code [A-Z]")
_FACTS = late_pattern(
    r"(?:errno|syscall|dest|command|cwd|argv|pkgid|statusCode|Darwin|Linux|Windows_NT)\b"
    r"|(?:path|file|node|npm) {1,4}\S+$"
    r"|[\[{(}<-]|\d{3}$|\d{3} {1,4}(?:Note|'|$)"
)
"""Lines of the report that give a value, and those around a package's name."""
_MOST_LINES = 12


def heads_report(text: str) -> bool:
    """Whether a line gives the code with which npm's report begins."""
    return _CODE.match(text) is not None


class NpmReport(OpenReport):
    """Looks below a code for what npm says."""

    def __init__(self) -> None:
        super().__init__(_MOST_LINES)

    def read(self, statement: Statement) -> tuple[bool, Finding | None]:
        """Whether a line belongs to the report, and the finding if it now stands in this line."""
        finding = self._finding
        if finding is None or statement.process != self._process:
            return False, None
        line = _LINE.match(statement.text)
        self._left -= 1
        if line is None or self._left <= 0:
            self._finding = None
            return False, None
        words = (line["words"] or "").strip()
        if len(words.split()) < 2 or _FACTS.match(words):
            return True, None
        self._finding = None
        move(finding, statement)
        return True, finding
