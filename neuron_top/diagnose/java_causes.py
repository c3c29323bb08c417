"""Java's stacks: an exception, its frames, then `Caused by:` for what led to it, and so on; the last one says most.

A logger prints the exception below the line that says what failed.
"""

from __future__ import annotations

from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.recognizers import Weight
from neuron_top.diagnose.statement import Statement

_CAUSED_BY = "Caused by: "
_LINES_OF_A_STACK = 200
"""From one cause down to the next."""


class JavaCauses:
    """Reads the failures of a log for the causes of one stack."""

    def __init__(self) -> None:
        self._last: tuple[Statement, Finding] | None = None
        """The last line that was a cause."""

    def read(self, statement: Statement, finding: Finding) -> None:
        """Take a failure: a cause explains the one above it in the same stack."""
        if not statement.text.startswith(_CAUSED_BY):
            return
        last, self._last = self._last, (statement, finding)
        if last is None or finding is last[1] or finding.weight >= Weight.DEATH:
            return
        above, wrapped = last
        is_near = statement.line - above.line <= _LINES_OF_A_STACK and wrapped.last_line == above.line
        wrapped.demoted |= is_near and above.process == statement.process

    @staticmethod
    def log(heading: Finding, finding: Finding) -> None:
        """Take an exception that stands right below an error line: it says why that failed."""
        heading.demoted |= heading is not finding and heading.verdict.row is None and finding.weight < Weight.DEATH
