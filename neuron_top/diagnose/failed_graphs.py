"""Follows graphs by name: which are compiled in this log, which of them failed, and which were compiled after all."""

from __future__ import annotations

import ahocorasick_rs

from neuron_top.diagnose import messages
from neuron_top.diagnose.findings import Finding
from neuron_top.diagnose.statement import Statement
from neuron_top.diagnose.steps_and_compiles import word_search

COMPILE_STARTS = "Call compiler with cmd"
"""Printed by a process that compiles a graph itself; the newest log format has no such line."""
_SUCCEEDED = ("Successfully Completed", "Using a cached neff")
_MOST_FAILED = 64
_MOST_STARTED = 4096


class FailedGraphs:
    """A failed compile has recovered once all its graphs were compiled, or found in the cache."""

    def __init__(self) -> None:
        self.search: ahocorasick_rs.BytesAhoCorasick | None = None
        """Finds the names of graphs that have failed; None if there are none."""
        self._failed: dict[str, Finding] = {}
        self._started: dict[str, None] = {}

    def read(self, statement: Statement) -> None:
        """Note which graphs a line says to be compiled, now or successfully."""
        if COMPILE_STARTS in statement.text:
            for module in messages.MODULE.findall(statement.text):
                if len(self._started) < _MOST_STARTED:
                    self._started[module] = None
        if self._failed and any(words in statement.text for words in _SUCCEEDED):
            for module in messages.MODULE.findall(statement.text):
                self._recovered(module)

    def add(self, finding: Finding, statement: Statement) -> None:
        """Note the graphs that the header of a failed compile names."""
        for module in messages.MODULE.findall(statement.text):
            if len(self._failed) < _MOST_FAILED:
                self._failed[module] = finding
                finding.modules.add(module)
                self._search_failed()

    def started_here(self, statement: Statement) -> bool:
        """Whether a line names a graph whose compile began in this log: who waits for it waits for its own job."""
        return any(module in self._started for module in messages.MODULE.findall(statement.text))

    def _recovered(self, module: str) -> None:
        finding = self._failed.pop(module, None)
        if finding is not None:
            finding.modules.discard(module)
            finding.recovered = not finding.modules
            self._search_failed()

    def _search_failed(self) -> None:
        words = [module.encode() for module in self._failed]
        self.search = word_search(tuple(words)) if words else None
