"""Reads torchrun's report of how its workers ended: one entry each, with a line for its rank; the first to end is last.

The others ended because that one did, so they explain nothing.
"""

from __future__ import annotations

from neuron_top.diagnose.findings import Finding, move
from neuron_top.diagnose.recognizers import Weight
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.verdicts import CauseVerdict
from neuron_top.late_pattern import late_pattern

_OTHERS = "Failures:"
_FIRST = "Root Cause (first observed failure):"
_PART = " : "
"""Between name and value in a line of an entry (`exitcode  : -9`)."""
_RANK = late_pattern(r"\brank\s{0,9} : (\d{1,6}) \(local_rank: \d{1,6}\)$")
_END = late_pattern(r"\bexitcode\s{0,3} : -?\d|\btraceback : Signal \d")
_LINES_TO_END = 4
"""From an entry's rank down to how it ended."""
_MOST_OTHERS = 64


class LauncherReport:
    """Reads the lines of reports, of which a log of several nodes or attempts holds many."""

    def __init__(self) -> None:
        self._rank: tuple[int, int] = (-_LINES_TO_END, 0)
        """The line and the value of the last rank that was read."""
        self._others: list[Finding] = []
        self._in_first = False

    def read(self, statement: Statement) -> None:
        """Follow the report, and set the rank of a line that says how a worker ended."""
        text = statement.text
        if text.endswith(_OTHERS):
            self._others, self._in_first = [], False
        elif text.endswith(_FIRST):
            self._in_first = True
            for finding in self._others:
                finding.demoted = True
        elif _PART not in text:
            return
        elif (rank := _RANK.search(text)) is not None:
            self._rank = statement.line, int(rank[1])
        elif statement.rank is None and _END.search(text):
            line, number = self._rank
            statement.rank = number if statement.line - line <= _LINES_TO_END else None

    def found(self, statement: Statement, verdict: CauseVerdict, finding: Finding) -> bool:
        """Take the finding of such a line; True where it was another worker's, and now is that of the first to end."""
        if verdict.weight is Weight.CASCADE or _END.search(statement.text) is None:  # an exit code of 1 says nothing
            return False
        is_others = any(finding is other for other in self._others)
        if not self._in_first and not is_others and len(self._others) < _MOST_OTHERS:
            self._others.append(finding)
        if not self._in_first or not is_others:
            return False
        self._others = [other for other in self._others if other is not finding]
        move(finding, statement)
        finding.verdict, finding.demoted = verdict, False
        finding.ranks = set() if statement.rank is None else {statement.rank}
        return True
