"""How Slurm ends a step whose task has failed, or which somebody canceled.

It says so, ends the tasks, and reports each.
"""

from __future__ import annotations

from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.recognizers import KILLED_TASK, STOPS_TASKS
from neuron_top.diagnose.statement import Statement
from neuron_top.events.diagnosis import CauseClass, Confidence

WORDS: tuple[bytes, ...] = (b"job step aborted",)
_ABORTED = "Job step aborted: "
_CANCELLED = "CANCELLED AT"


class SlurmSteps:
    """Reads the lines of one log for a step that Slurm itself ends."""

    def __init__(self) -> None:
        self._is_ended = False
        self._is_cancelled = False
        """Somebody canceled it before."""
        self._begins_with_cancel: bool | None = None
        """Whether the first failure is that a step was canceled; None before there is one."""

    def read(self, statement: Statement) -> bool:
        """Take a line; whether it says that a step is ended, so that its place counts."""
        is_end = statement.text.startswith(_ABORTED)
        self._is_ended |= is_end and not self._is_cancelled
        return is_end

    def found(self, statement: Statement, finding: Finding) -> None:
        """Take a failure.

        A task that was killed then was killed by Slurm; who waits for a step that was canceled waits in vain.
        """
        if finding.line != statement.line:
            return
        verdict = finding.verdict
        if self._begins_with_cancel is None:
            self._begins_with_cancel = _CANCELLED in statement.text
        elif self._begins_with_cancel and _only_waited(finding):
            finding.demoted = True
        if verdict.row is None:
            return
        self._is_cancelled |= _CANCELLED in statement.text and not self._is_ended
        if self._is_ended and verdict.row.name in (KILLED_TASK, STOPS_TASKS):
            finding.verdict = verdict._replace(cause_class=CauseClass.INTERRUPTED, advice=STOPS_TASKS)
            finding.stops_others = True


def _only_waited(finding: Finding) -> bool:
    """Whether it is an exception that says no more than that something did not come in time."""
    verdict = finding.verdict
    return verdict.row is None and verdict.cause_class is CauseClass.NETWORK and verdict.confidence is Confidence.LOW
