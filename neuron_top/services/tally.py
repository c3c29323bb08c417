"""Logs counted: as a document of counts, or as rows for a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from neuron_top.parsers.tally import Tally
from neuron_top.processes.log_input import portions

if TYPE_CHECKING:  # the counts alone are read without it
    from neuron_top.views.log_tally import LogTally


class TallyService:
    """Reads logs to their end, a megabyte at a time. `tell` takes remarks for the person."""

    def __init__(self, tell: Callable[[str], None], standard_input: IO[bytes] | None = None) -> None:
        """`standard_input` is what the name `-` reads."""
        self._tell, self._standard_input = tell, standard_input

    def counts(self, name: str) -> dict[str, Any]:
        """The published counts of one log, the fastest way. Raises UsageError where it cannot be read."""
        from neuron_top.parsers.counting import CountingReader

        reader = CountingReader(f"log:{name}")
        for data in portions(name, self._tell, self._standard_input):
            reader.feed(data)
        reader.flush()
        return reader.tally.as_json()

    def rows(self, name: str) -> LogTally:
        """One log as rows for a person. Raises UsageError where it cannot be read."""
        from neuron_top.parsers.reader import LogReader
        from neuron_top.run.log_totals import LogTotals
        from neuron_top.views.log_tally import log_tally

        reader, totals = LogReader(f"log:{name}"), LogTotals()
        for data in portions(name, self._tell, self._standard_input):
            for event in reader.feed(data):
                totals.apply(event)
        for event in reader.flush():
            totals.apply(event)
        tally: Tally = reader.tally
        return log_tally(tally, totals)
