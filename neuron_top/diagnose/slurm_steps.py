"""How Slurm ends a step whose task has failed: it says that it waits, ends the other tasks, and reports each."""

from __future__ import annotations

from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.recognizers import KILLED_TASK, STOPS_TASKS
from neuron_top.diagnose.statement import Statement
from neuron_top.events.diagnosis import CauseClass

WORDS: tuple[bytes, ...] = (b"job step aborted",)
_ABORTED = "Job step aborted: "
_CANCELLED = "CANCELLED AT"


class SlurmSteps:
    """Reads the lines of one log for a step that Slurm itself ends."""

    def __init__(self) -> None:
        self._is_ended = False
        self._is_cancelled = False
        """Somebody canceled it before."""

    def read(self, statement: Statement) -> bool:
        """Take a line; whether it says that a step is ended, so that its place counts."""
        is_end = statement.text.startswith(_ABORTED)
        self._is_ended |= is_end and not self._is_cancelled
        return is_end

    def found(self, statement: Statement, finding: Finding) -> None:
        """Take a failure: a task that was killed then was killed by Slurm."""
        row = finding.verdict.row
        if row is None or finding.line != statement.line:
            return
        self._is_cancelled |= _CANCELLED in statement.text and not self._is_ended
        if self._is_ended and row.name in (KILLED_TASK, STOPS_TASKS):
            finding.verdict = finding.verdict._replace(cause_class=CauseClass.INTERRUPTED, advice=STOPS_TASKS)
            finding.stops_others = True
