"""Logs counted: as a document of counts, or as rows for a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from neuron_top.diagnose.diagnoser import Diagnoser
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
        """The published counts of one log and its diagnosis, the fastest way. Raises UsageError if it is unreadable."""
        from neuron_top.parsers.counting import CountingReader

        reader, diagnoser = CountingReader(f"log:{name}"), Diagnoser(f"log:{name}")
        for data in portions(name, self._tell, self._standard_input):
            reader.feed(data)
            diagnoser.feed(data)
        reader.flush()
        diagnoser.flush()
        return reader.tally.as_json() | {"diagnosis": diagnoser.diagnosis()}

    def rows(self, name: str) -> LogTally:
        """One log as rows for a person. Raises UsageError where it cannot be read."""
        from neuron_top.parsers.reader import LogReader
        from neuron_top.run.log_totals import LogTotals
        from neuron_top.views.log_tally import log_tally

        reader, totals, diagnoser = LogReader(f"log:{name}"), LogTotals(), Diagnoser(f"log:{name}")
        for data in portions(name, self._tell, self._standard_input):
            for event in reader.feed(data):
                totals.apply(event)
            diagnoser.feed(data)
        diagnoser.flush()
        for event in reader.flush():
            totals.apply(event)
        tally: Tally = reader.tally
        return log_tally(tally, totals, diagnoser.diagnosis())
