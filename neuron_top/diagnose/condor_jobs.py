"""HTCondor's log of its jobs: an event of a job on a line, its details indented below, `...` behind.

A job that was held or sent away from its machine runs again later: the event that says so takes the failure back.
"""

from __future__ import annotations

from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.recognizers import HTCONDOR_STOPPED, HTCONDORS_EVENT
from neuron_top.diagnose.statement import Statement
from neuron_top.late_pattern import late_pattern

WORDS: tuple[bytes, ...] = (b"job executing on host", b"job was released")
_RUNS_AGAIN = late_pattern(r"\d{3} \((?P<job>[\d.]{5,34})\) .{10,40} (?:Job executing on host|Job was released)")
_JOB = late_pattern(r"\d{3} \(([\d.]{5,34})\) ")
_MOST_JOBS = 4096


class CondorJobs:
    """Keeps the jobs of one log that cannot go on."""

    def __init__(self) -> None:
        self._stopped: dict[str, Finding] = {}

    def read(self, statement: Statement) -> bool:
        """Take a line; whether it says that a job runs again, so that its place counts."""
        event = _RUNS_AGAIN.match(statement.text)
        if event is None:
            return False
        finding = self._stopped.pop(event["job"], None)
        if finding is not None and all(other is not finding for other in self._stopped.values()):
            finding.goes_on_at = statement.line
        return True

    def found(self, statement: Statement, finding: Finding) -> None:
        """Take a failure: that of a job's event is kept until the job runs again."""
        row = finding.verdict.row
        if row is None or row.name not in (HTCONDORS_EVENT, HTCONDOR_STOPPED):
            return
        job = _JOB.match(statement.text)
        if job is not None and len(self._stopped) < _MOST_JOBS:
            self._stopped[job[1]] = finding
