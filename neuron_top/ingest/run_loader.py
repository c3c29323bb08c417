"""Loads a run from the store, or from plain logs that nobody recorded, with what else is known of its graphs."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from neuron_top.cache.scan import catalog
from neuron_top.errors import RefusedForSafety, UsageError
from neuron_top.events import JobDiagnosed, OutputGrew
from neuron_top.events.log_sources import log_source
from neuron_top.ingest import graph_tables
from neuron_top.ingest.log_span import LogSpan, last_clock
from neuron_top.ingest.recordings import load_labeled, nothing_recorded
from neuron_top.ingest.rotated import log_of
from neuron_top.parsers.graph_stats import GraphTableReader, is_graph_table
from neuron_top.parsers.reader import LogReader
from neuron_top.parsers.torch_trace import TorchTraceReader, is_trace
from neuron_top.plain_files import is_file, is_folder
from neuron_top.processes.log_input import STANDARD_INPUT, Notify, changed_at, has_compressed_data, portions, quiet
from neuron_top.run.estimate import Estimator
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.errors import StoreUnusable
from neuron_top.store.location import location_of
from neuron_top.store.records import CompileRecord
from neuron_top.views.report_graphs import Remembered

if TYPE_CHECKING:
    from neuron_top.ingest.advised import AdvisedDiagnoser


def load(
    names: Sequence[str],
    settings: Settings,
    standard_input: IO[bytes] | None = None,
    notify: Notify = quiet,
    into: Run | None = None,
    *,
    diagnosed: bool = False,
) -> Run:
    """The run that these names stand for: log files (all of one run), `-`, or one recording.

    Raises NothingToShow when a name is neither, UsageError when a file cannot be read or both kinds are mixed.
    `notify`: takes remarks for the user. `into`: a new run that takes the events. `diagnosed`: also diagnose console
    logs.
    """
    logs = [name for name in names if is_log(name)]
    if len(logs) == len(names):
        return read_logs(names, settings.history_seconds, standard_input, notify, into, diagnosed=diagnosed)
    if logs or len(names) != 1:
        other = next(name for name in names if name not in logs)
        raise UsageError(f"{other!r} is not a log file; specify log files of one run, or one recording")
    kept = location_of(settings)
    if not kept.exists:
        raise nothing_recorded(kept, names[0])
    with kept.open() as store:
        return load_labeled(store, names[0], settings, into)


def is_log(name: str) -> bool:
    """Whether a name is that of a log to read; a folder without a slash in its name may be meant as a recording."""
    if name == STANDARD_INPUT or os.path.lexists(name):
        return not is_folder(name) or "/" in name
    return False


def read_logs(
    names: Sequence[str],
    history_seconds: float,
    standard_input: IO[bytes] | None = None,
    notify: Notify = quiet,
    into: Run | None = None,
    *,
    diagnosed: bool = False,
    grows: bool = False,
) -> Run:
    """One run out of console logs, plain or compressed; a megabyte of each is in memory at a time.

    `grows`: a file may be the log of a job that goes on, unless it reports a failure; otherwise nothing more can come.
    """
    run = Run(history_seconds) if into is None else into
    tables: dict[Path, None] = {}
    for name in dict.fromkeys(names):
        tables.update(dict.fromkeys(graph_tables.beside(name)))
        _read(run, name, portions(name, notify, standard_input), diagnosed=diagnosed, grows=grows)
    named = {Path(name).absolute() for name in names}
    for table in tables:
        if table.absolute() not in named:
            notify(graph_tables.remark(table))
            for event in graph_tables.read_table(table):
                run.apply(event)
    return run


def _read(run: Run, name: str, portions: Iterator[bytes], *, diagnosed: bool, grows: bool) -> None:
    """Read a console log, a PyTorch trace (TORCH_TRACE) or a table of graphs, which its first line shows."""
    first = next(portions, b"")
    written = changed_at(name)
    span = LogSpan(written)
    span.take(first)
    reader = _reader_of(name, first, span.until)
    if isinstance(reader, LogReader) and (clock := last_clock(name)) is not None:
        run.apply(OutputGrew(path=name, end=0, source=reader.source, written=written, at=clock))
    diagnoser = _diagnoser(reader.source) if diagnosed and isinstance(reader, LogReader) else None
    size = 0
    for data in itertools.chain((first,), portions):
        if size:
            span.take(data)
        size += len(data)
        for event in reader.feed(data):
            run.apply(event)
        if diagnoser is not None:
            diagnoser.feed(data)
    for event in reader.flush():
        run.apply(event)
    if diagnoser is not None:
        diagnoser.flush()
        diagnosis = diagnoser.diagnosis()
        run.apply(JobDiagnosed(diagnosis=diagnosis, source=reader.source))
        grows = grows and not diagnosis.has_surely_failed
    closed = not (grows and _may_grow(name))
    grew = OutputGrew(path=name, end=size, closed=closed, source=reader.source, written=written)
    if isinstance(reader, LogReader):
        grew = msgspec.structs.replace(grew, lines=reader.tally.lines, at=span.last, began=span.first)
    run.apply(grew)


def _may_grow(name: str) -> bool:
    """Whether a log may still be written to: not if it was rotated or compressed, nor if it is a pipe, which has been
    read to its end."""
    return is_file(name) and not is_file(log_of(name)) and not has_compressed_data(name)


def _diagnoser(source: str) -> AdvisedDiagnoser:
    from neuron_top.ingest.advised import AdvisedDiagnoser  # takes a quarter of a second; not always needed

    return AdvisedDiagnoser(source)


def _reader_of(name: str, first: bytes, until: float) -> LogReader | TorchTraceReader | GraphTableReader:
    if is_trace(first):
        return TorchTraceReader.of_file(name)
    if is_graph_table(first):
        return GraphTableReader.of_file(name)
    return LogReader(log_source(name), until=until)


def end_of(run: Run) -> float:
    """The moment a run is looked at from: its end, or its last event."""
    end = run.job.finished if run.job.finished is not None else run.last_time
    return end if end is not None else 0.0


def history(settings: Settings) -> list[CompileRecord]:
    """Measured compiles of all recordings; none where nothing was recorded."""
    kept = location_of(settings)
    if not kept.exists:
        return []
    with kept.open() as store:
        return store.compile_history()


def estimator(settings: Settings) -> Estimator:
    """An estimator of compile times from past compiles; without a readable store, one that knows none."""
    try:
        return Estimator(history(settings))
    except (StoreUnusable, RefusedForSafety):
        return Estimator()


def memory(run: Run, settings: Settings, root: str | None) -> dict[str, Remembered]:
    """What the cache (where one is named) and earlier recordings know of the run's graphs."""
    wanted = set(run.compiles.graphs)
    found: dict[str, Remembered] = {}
    for record in history(settings):
        if record.module in wanted and record.run != run.job.run and record.module not in found:
            found[record.module] = Remembered(seconds=record.seconds, graph_bytes=record.graph_bytes)
    if root is None:
        return found
    for entry in catalog.open_root(root, settings.state_path).entries:
        if entry.module not in wanted:
            continue
        before, flags = found.get(entry.module, Remembered()), entry.flag_list()
        found[entry.module] = Remembered(
            seconds=entry.compile_seconds if entry.compile_seconds is not None else before.seconds,
            flags=tuple(flags) if flags is not None else None,
            artifact_bytes=entry.output_bytes,
            graph_bytes=entry.graph_bytes if entry.graph_bytes is not None else before.graph_bytes,
        )
    return found
