"""Finds the wait for another process's compile in which a log ends, though nothing failed."""

from __future__ import annotations

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.diagnose.ending import End
from neuron_top.diagnose.findings import Finding, JobProgress
from neuron_top.events.diagnosis import LastWait
from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import paths
from neuron_top.parsers.wrapper import MINUTES_WAITED

_LINES_BEHIND = 60
"""Lines that other processes may print after the last report of a wait, of which one comes each minute."""
_GRAPH = late_pattern(r"must be compiling (?P<path>\S.{0,2000}?),? been waiting for: ")


def last_wait(findings: list[Finding], progress: JobProgress, end: End, lines: int, source: str) -> LastWait | None:
    """The wait in which a log ends: since its last report, no step was made and no compile came to its end."""
    waits = [finding for finding in findings if finding.is_wait]
    wait = max(waits, key=lambda finding: finding.last_line, default=None)
    if wait is None or end.success_line is not None or lines - wait.last_line > _LINES_BEHIND:
        return None
    graph, waited = _GRAPH.search(wait.text), MINUTES_WAITED.search(wait.text)
    if (wait.last_steps, wait.last_compiles) != (progress.steps, progress.compiles) or graph is None or waited is None:
        return None
    entry, minutes = paths.place(graph["path"]), float(waited[1])
    since = None if wait.at is None else wait.at - minutes * 60.0
    return LastWait(
        line=wait.line,
        offset=wait.offset,
        source=source,
        text=wait.text,
        root=entry.root or "",
        module=entry.module or "",
        minutes=minutes,
        since=since if since is not None and is_in_calendar(since) else None,
        is_own=wait.recovered,
        advice="",
    )
