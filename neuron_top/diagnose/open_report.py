"""`OpenReport`: what stands below a line that announces it. One is open at a time."""

from __future__ import annotations

from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.statement import Process, Statement


class OpenReport:
    """Keeps the finding whose report is open, and which process prints it."""

    def __init__(self, most_lines: int) -> None:
        self._most_lines = most_lines
        self._finding: Finding | None = None
        self._process: Process = (None, None, "")
        self._left = 0
        """Lines that may still belong to it."""

    @property
    def open(self) -> bool:
        """Whether the next line may belong to a report."""
        return self._finding is not None

    def expect(self, finding: Finding, statement: Statement) -> None:
        """Follow the report below this line."""
        self._finding, self._process, self._left = finding, statement.process, self._most_lines
