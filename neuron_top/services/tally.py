"""Counts logs, as a document of counts or as rows for a person, with the tables of compile times beside them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

from neuron_top.events import AnyEvent
from neuron_top.events.log_sources import log_source
from neuron_top.ingest import graph_tables
from neuron_top.ingest.advised import AdvisedDiagnoser
from neuron_top.parsers.graph_stats import GraphTableReader, is_graph_table
from neuron_top.parsers.tally import Tally
from neuron_top.processes.log_input import portions

if TYPE_CHECKING:  # not needed for the counts alone
    from neuron_top.parsers.reader import LogReader
    from neuron_top.views.log_tally import LogTally


class TallyService:
    """Reads logs to their end, a megabyte at a time. `notify` is called with remarks for the person."""

    def __init__(self, notify: Callable[[str], None], standard_input: IO[bytes] | None = None) -> None:
        """`standard_input` is read for the name `-`."""
        self._notify, self._standard_input = notify, standard_input

    def counts(self, name: str) -> dict[str, Any]:
        """The published counts of one log and its diagnosis, computed fast. Raises UsageError if it is unreadable."""
        from neuron_top.parsers.counting import CountingReader

        source = log_source(name)
        reader, diagnoser = CountingReader(source), AdvisedDiagnoser(source)
        for _ in self._events(name, reader, diagnoser):
            pass
        return reader.tally.as_json() | {"diagnosis": diagnoser.diagnosis()}

    def rows(self, name: str) -> LogTally:
        """One log as rows for a person. Raises UsageError if it cannot be read."""
        from neuron_top.parsers.reader import LogReader
        from neuron_top.run.log_totals import LogTotals
        from neuron_top.views.log_tally import log_tally

        source = log_source(name)
        reader, totals, diagnoser = LogReader(source), LogTotals(), AdvisedDiagnoser(source)
        for event in self._events(name, reader, diagnoser):
            totals.apply(event)
        return log_tally(reader.tally, totals, diagnoser.diagnosis())

    def _events(self, name: str, reader: LogReader, diagnoser: AdvisedDiagnoser) -> Iterator[AnyEvent]:
        """The events of a log, counted by its reader, then those of the tables beside it."""
        tables = graph_tables.beside(name)
        data = portions(name, self._notify, self._standard_input)
        first = next(data, b"")
        data = itertools.chain((first,), data)
        if is_graph_table(first):
            yield from _table_events(name, reader.tally, data)
        else:
            for portion in data:
                yield from reader.feed(portion)
                diagnoser.feed(portion)
            yield from reader.flush()
        diagnoser.flush()
        for table in tables:
            self._notify(graph_tables.remark(table))
            for event in graph_tables.read_table(table):
                reader.tally.add(event)
                yield event


def _table_events(name: str, tally: Tally, data: Iterator[bytes]) -> Iterator[AnyEvent]:
    """The events of a named table; all of its lines count as known."""
    reader = GraphTableReader.of_file(name)
    for portion in data:
        tally.measure(portion)
        for event in reader.feed(portion):
            tally.add(event)
            yield event
    for event in reader.flush():
        tally.add(event)
        yield event
    tally.known = tally.lines
