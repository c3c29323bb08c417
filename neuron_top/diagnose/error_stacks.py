"""Follows stacks of errors, those of MPICH and HDF5: each line says what led to the one above, so the last one with
words is the reason."""

from __future__ import annotations

from neuron_top.diagnose.findings import Finding, move
from neuron_top.diagnose.open_report import OpenReport
from neuron_top.diagnose.recognizers import Doubt, Weight
from neuron_top.diagnose.statement import Statement
from neuron_top.late_pattern import late_pattern

_HEADING = late_pattern(r".{1,400}, error stack:$|HDF5-DIAG: Error detected in .{1,80}:$")
_LINE = late_pattern(
    r"\w{1,80}\(\d{1,5}\)\.{0,80}:(?P<mpich>.*)|#\d{3}: \S{1,300} line \d{1,6} in \w{1,80}\(\): (?P<hdf5>.*)"
)
_WITHOUT_REASON = late_pattern(
    r"\(unknown\)\(\): |\w{1,80}\(\d{1,5}\)\.{0,80}: ?Failure during collective$|(?:major|minor): "
)
"""Lines of a stack that say nothing of why."""
_MOST_LINES = 64
_OTHERS_BETWEEN = 1
"""Lines between two of a stack: a terminal has broken a long one."""


def heads_stack(text: str) -> bool:
    """Whether a stack of errors stands below this line."""
    return _HEADING.match(text) is not None


class ErrorStacks(OpenReport):
    """Follows the stack below a heading."""

    def __init__(self) -> None:
        super().__init__(_MOST_LINES)
        self._others = 0

    def expect(self, finding: Finding, statement: Statement) -> None:
        """Follow the stack below this heading."""
        super().expect(finding, statement)
        self._others = 0

    def read(self, statement: Statement) -> tuple[bool, Finding | None]:
        """Whether a line belongs to the stack, and the finding if it now stands in this line."""
        finding = self._finding
        if finding is None or statement.process != self._process:
            return False, None
        self._left -= 1
        line = _LINE.match(statement.text)
        says_no_reason = _WITHOUT_REASON.match(statement.text) is not None
        is_part = line is not None or says_no_reason
        self._others = 0 if is_part else self._others + 1
        if self._others > _OTHERS_BETWEEN or self._left <= 0:
            self._finding = None
        if not is_part:
            return False, None
        if line is None or says_no_reason or not (line["mpich"] or line["hdf5"] or "").strip():
            return True, None
        move(finding, statement)
        if finding.weight is Weight.CASCADE:
            finding.verdict = finding.verdict._replace(weight=Weight.MESSAGE, doubt=Doubt.MUCH)
        return True, finding
